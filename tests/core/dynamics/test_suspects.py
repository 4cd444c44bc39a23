"""Entries far off: an outlier comes and goes, a shift stays."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream.core.dynamics.suspects import PATIENCE, no_suspects, suspect, suspected, verdicts


def judge(values, m=3, i=1):
    """The verdict on feature i that has these values, where 0 ± 1 was expected; and the rows it took."""
    s, ahead = no_suspects(m), (np.zeros((PATIENCE, m)), np.ones((PATIENCE, m)))
    for t, value in enumerate(values):
        y = np.zeros(m)
        y[i] = value
        far = np.arange(m) == i if t == 0 else np.zeros(m, dtype=bool)
        s, verdict = verdicts(suspect(s, y, far, ahead))
        if verdict is not None:
            assert not suspected(s).any()
            return verdict, t + 1
    return None, len(values)


@pytest.mark.parametrize(
    ("values", "moved"),
    [
        ([9, 0.5, -1, 0.2], False),
        ([9, 8, 10, 9.5], True),
        ([9, 8, -1, 9.5], True),  # an outlier on the way does not decide
        ([9, 9, 0, 0], False),
        ([6, 2.5, 2.8, 2.4], True),  # noise made the first one look further off
        ([-9, np.nan, -8, np.nan, -9, -10], True),
    ],
)
def test_the_values_after_it_decide(values, moved):
    verdict, rows = judge(values)
    assert verdict.which.tolist() == [1]
    assert verdict.moved.tolist() == [moved]
    assert verdict.rows.tolist() == [rows] == [len(values)]
    expected = np.nanmean(values) if moved else values[0]
    np.testing.assert_allclose(verdict.size, expected)


def test_without_values_it_counts_as_an_outlier_when_patience_ends():
    verdict, rows = judge([9] + [np.nan] * PATIENCE)
    assert rows == PATIENCE
    assert not verdict.moved.any()


def test_another_feature_is_judged_by_the_forecast_made_before_the_first():
    """What a filter foretells after an outlier is spoiled: an entry that was to be expected before joins nobody."""
    s, ahead = no_suspects(2), (np.zeros((PATIENCE, 2)), np.ones((PATIENCE, 2)))
    s = suspect(s, np.array([9.0, 0.0]), np.array([True, False]), ahead)
    s = suspect(s, np.array([0.0, 0.5]), np.array([False, True]), ahead)
    assert suspected(s).tolist() == [True, False]
    s = suspect(s, np.array([0.0, 8.0]), np.array([False, True]), ahead)
    assert suspected(s).tolist() == [True, True]
