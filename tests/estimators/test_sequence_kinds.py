"""Which kind of model a sequence gets, by what it does to gaps that nobody hid."""

from __future__ import annotations

import numpy as np

from factorstream import SequenceFilter
from factorstream.experiments.sequences import interpolate
from factorstream.metrics import coverage, rmse
from sequence_problems import gappy


def test_smooth_independent_series_are_not_filled_worse_than_by_straight_lines():
    """Their next row is easy to predict, which must not decide how gaps are filled."""
    Y = np.random.default_rng(0).normal(size=(500, 8)).cumsum(axis=0).cumsum(axis=0)
    X, removed = gappy(Y, 0.2, length=5)
    filled, std = SequenceFilter().fit(X).impute(X, return_std=True)
    assert rmse(Y, filled, where=removed) < 1.05 * rmse(Y, interpolate(X), where=removed)
    assert coverage(Y, filled, std, n_std=1.959964, where=removed) > 0.93


def test_a_daily_cycle_over_a_slow_walk_keeps_its_coverage_when_calibrated():
    rng = np.random.default_rng(100)
    t = np.arange(700)[:, None]
    Y = 10 + 5 * np.sin(t * 2 * np.pi / 24 + 0.3 * rng.normal(size=8)) + 0.1 * rng.normal(size=(700, 8)).cumsum(axis=0)
    X, removed = gappy(Y, 0.2, length=5)
    filled, std = SequenceFilter().fit(X).impute(X, return_std=True)
    assert coverage(Y, filled, std, n_std=1.959964, where=removed) > 0.9
    assert rmse(Y, filled, where=removed) < 0.5 * rmse(Y, interpolate(X), where=removed)
