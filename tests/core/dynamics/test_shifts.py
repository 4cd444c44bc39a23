"""Shifts of single features: sums over windows, their rate, and where they begin."""

from __future__ import annotations

import numpy as np
import pytest

import reference_events as ref
from factorstream.core.dynamics.shifts import (
    CUT,
    LEAST,
    REACH,
    add_scores,
    after_shift,
    begin_sums,
    find_shift,
    how_far,
    is_open,
    off_usual,
    reopened,
    shift_threshold,
    statistics,
)


def sums(scores, known=1e12):
    return begin_sums(np.ones(scores.shape[1]))._replace(scores=scores, known=np.full(scores.shape[1], known))


def test_sums_are_those_of_the_naive_twin(rng):
    scores = 2 * rng.normal(size=(30, 4))
    scores[rng.random(scores.shape) < 0.3] = np.nan
    above, below, _ = statistics(sums(scores))
    np.testing.assert_allclose(np.maximum(above, below), ref.window_sums(scores, least=LEAST, cut=CUT), atol=1e-9)


@pytest.mark.parametrize(("rate", "m"), [(1e-2, 1), (3e-3, 10)])
def test_the_threshold_is_exceeded_as_often_as_asked_for(rate, m):
    """Against a count over 40,000 rows, whose standard error is 5% and 9%."""
    rng, b, count, begun = np.random.default_rng(0), shift_threshold(rate, m), 0, 0
    z = rng.normal(size=(40_000, m))
    root = np.sqrt(np.arange(1, REACH + 1))[:, None]
    for t in range(len(z)):
        last = z[max(begun, t + 1 - REACH) : t + 1][::-1]
        size = np.abs(np.cumsum(last, axis=0))[LEAST - 1 :] / root[LEAST - 1 : len(last)]
        if size.size and size.max() > b:
            count, begun = count + 1, t + 1
    assert 0.7 < count / len(z) / rate < 1.3


@pytest.mark.parametrize("size", [2.0, -3.0])
def test_a_shift_is_found_with_its_feature_its_sign_and_its_first_row(rng, size):
    s, b = sums(np.empty((0, 3))), shift_threshold(1e-4, 3)
    for t in range(100):
        z = rng.normal(size=3)
        z[1] += size * (t >= 60)
        s = add_scores(s, z)
        found = find_shift(s, b)
        if found is not None:
            break
    assert found is not None
    assert 60 < t < 80
    assert found.feature == 1
    assert abs(t + 1 - found.rows - 60) <= 3
    off = off_usual(s, found.rows)
    assert off[:, 1].mean() == pytest.approx(size, abs=1.5)
    assert how_far(s, off)[1] == pytest.approx(np.maximum(*statistics(s)[:2])[found.rows - 1, 1])
    after = after_shift(s, np.array([found.feature]), found.rows)
    for _ in range(40):  # it stays as it is: nothing more to tell
        z = rng.normal(size=3)
        z[1] += size
        after = add_scores(after, z)
        assert find_shift(after, b) is None


def test_what_is_usual_is_not_known_better_than_from_the_values_seen():
    """The mean of five values is uncertain by 1/√5, and so is that of all scores beside it."""
    rng = np.random.default_rng(1)
    far, blind = 0, 0
    for _ in range(400):
        z = (rng.normal(size=(64, 1)) - rng.normal(size=5).mean()).clip(-CUT, CUT)
        far += max(part[-1, 0] for part in statistics(sums(z, known=5.0))[:2]) > 2
        blind += max(part[-1, 0] for part in statistics(sums(z))[:2]) > 2
    assert far / 400 < 0.09  # 4.6% are
    assert blind / 400 > 0.4


def passed(s, rng, rows, at):
    """The sums after rows of two features whose scores have the means `at`; no shift is found in them."""
    b = shift_threshold(1e-4, 2)
    for _ in range(rows):
        s = add_scores(s, rng.normal(size=2) + at)
        assert find_shift(s, b) is None
    return s


@pytest.mark.parametrize("size", [4.0, -4.0])
def test_a_model_that_learns_a_shift_is_no_move_back(rng, size):
    """Scores stay off until the model is learned anew, and are about zero from then on; after that moves are told."""
    s = passed(sums(np.empty((0, 2)), known=300.0), rng, 100, np.zeros(2))
    for _ in range(4):
        s = add_scores(s, rng.normal(size=2) + np.array([size, 0.0]))
    s = after_shift(s, np.array([0]), 4)
    s = passed(s, rng, 40, np.array([size, 0.0]))
    assert is_open(s).tolist() == [True, False]
    s = passed(s, rng, 60, np.array([size, 0.0]))
    assert not is_open(s).any()
    assert abs(s.low[0] - size) < 0.5
    s = reopened(s)
    assert is_open(s).tolist() == [True, False]
    s = passed(s, rng, 100, np.zeros(2))
    assert not is_open(s).any()
    assert abs(s.low[0]) < 0.5
    assert 0.5 < s.var[0] < 1.6
    for _ in range(20):
        s = add_scores(s, rng.normal(size=2) + np.array([size, 0.0]))
    found = find_shift(s, shift_threshold(1e-4, 2))
    assert found is not None
    assert found.feature == 0
