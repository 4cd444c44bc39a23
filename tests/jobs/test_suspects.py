"""Numbers that probably stand for missing values are pointed out, and others are not."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream.jobs import suspects
from factorstream.jobs.suspects import DEPTH, Extremes, suspects_in


def found(values):
    return [(one.value, one.times) for one in suspects_in(np.array([values], dtype=float).T, ["a"])]


LIKERT = [1, 2, 3, 4, 5] * 10


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([*range(18, 80), -999, -999, -999], [(-999, 3)]),
        ([*range(18, 80), 999], [(999, 1)]),  # a fill value of loggers: once is enough
        ([0.5, 0.75, 1.5, 9.96921e36], [(9.96921e36, 1)]),
        ([0.5, 0.75, 1.5, 1e20, 1e20], [(1e20, 2)]),
        ([*LIKERT, *[99] * 3], [(99, 3)]),
        ([*LIKERT, *[99] * 3, *[98] * 4], [(99, 3), (98, 4)]),
        ([*LIKERT, *[99] * 3, *[98] * 4, *[97] * 5], [(99, 3), (98, 4), (97, 5)]),
        ([*LIKERT, *[99] * 3, *[-99] * 4], [(-99, 4), (99, 3)]),
        ([*range(-20, 40), *[-999] * 80], [(-999, 80)]),  # more of them than of all others
        ([*np.linspace(0, 1, 50), *[500.5] * 3], [(500.5, 3)]),
        ([*[20.0] * 9, 9999], [(9999, 1)]),
        ([1, 2] * 20 + [9] * 3, [(9, 3)]),
        # the only numbers below zero
        ([*range(0, 1000), -999, -999, -999], [(-999, 3)]),
        ([*LIKERT, *[-9] * 3], [(-9, 3)]),
        ([*LIKERT, *[-9] * 3, *[-8] * 4], [(-9, 3), (-8, 4)]),
        ([*range(0, 100), -1, -1, -1], [(-1, 3)]),
        ([*range(0, 100000, 100), *[-9999] * 3], [(-9999, 3)]),
        # and what is none
        ([*LIKERT, 99], []),  # one answer may be a slip of the pen
        ([*LIKERT, 99, 99], []),
        ([0, 1] * 20, []),
        ([0] * 20 + [1] * 5, []),
        ([1, 10, 100, 1000] * 5, []),  # levels of an experiment
        ([0, 0.1, 1, 10, 100, 1000] * 5, []),
        ([*range(900, 1100, 3), 999, 999, 999], []),  # among its like
        (list(np.random.default_rng(0).lognormal(0, 2, 500)), []),
        (list(np.random.default_rng(0).standard_cauchy(500)), []),
        ([*range(0, 100), -1, -1], []),
        ([-1, 0, 1, 2] * 20, []),  # a score
        ([*range(0, 100), -2, -2, -2], []),
        ([*range(-3, 1000), -99, -99, -99], []),  # others are negative too
        ([*range(0, 100), *[-9] * 300], []),  # most of the column
        ([999, 999, 999], []),  # nothing else is known of the column
        ([np.nan] * 5, []),
    ],
)
def test_single_columns(values, expected):
    assert found(values) == expected


def test_blocks_find_the_same_as_all_rows_at_once():
    rng = np.random.default_rng(3)
    X = rng.integers(1, 6, size=(400, 30)).astype(float)
    X[rng.random(X.shape) < 0.05] = 99
    X[rng.random(X.shape) < 0.03] = -999
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:, 0] = rng.normal(size=400)
    names = [f"c{j}" for j in range(30)]
    expected = suspects_in(X, names)
    assert len(expected) == 58
    for size in (1, 7, 399):
        blocks = Extremes(30)
        for first in range(0, 400, size):
            blocks.add(X[first : first + size])
        assert blocks.suspects(names) == expected


def test_extremes_are_those_that_sorting_finds():
    rng = np.random.default_rng(4)
    X = rng.integers(-4, 5, size=(60, 5)).astype(float)
    X[rng.random(X.shape) < 0.3] = np.nan
    extremes = Extremes(5)
    for part in np.array_split(X, 7):
        extremes.add(part)
    for j, column in enumerate(X.T):
        values, times = np.unique(column[~np.isnan(column)], return_counts=True)
        assert extremes._low.values[:, j].tolist() == values[:DEPTH].tolist()
        assert extremes._low.times[:, j].tolist() == times[:DEPTH].tolist()
        assert extremes._high.values[:, j].tolist() == (-values[::-1][:DEPTH]).tolist()
        assert extremes._high.times[:, j].tolist() == times[::-1][:DEPTH].tolist()


def test_columns_that_cannot_have_codes_are_left_out_and_no_others(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 40))
    X[:, ::2] = np.round(X[:, ::2])
    X[:3, 1::5] = rng.choice([-9999.0, 99.0, 999.0, -1.0, 1e20], size=X[:3, 1::5].shape)
    X[rng.random(X.shape) < 0.1] = np.nan
    names = [f"c{j}" for j in range(X.shape[1])]
    quick = suspects_in(X, names)
    monkeypatch.setattr(suspects, "_may_be_code", lambda ends: np.ones(X.shape[1], dtype=bool))
    assert len(quick) > 3
    assert suspects_in(X, names) == quick
