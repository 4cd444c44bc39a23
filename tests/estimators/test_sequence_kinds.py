"""Which kind of model a sequence gets, by what it does to gaps that nobody hid."""

from __future__ import annotations

import numpy as np
import pytest

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


def waves(T, seed=0, m=3, noise=0.02, ahead=12):
    """A sine wave that the features share, at other phases: the rows, and what comes after them without noise."""
    clean = np.sin(np.arange(T + ahead)[:, None] / 4 + np.arange(m))
    return clean[:T] + noise * np.random.default_rng(seed).normal(size=(T, m)), clean[T:]


@pytest.mark.parametrize("how", ["fit", "partial_fit"])
@pytest.mark.parametrize("T", [40, 64, 90, 101])
def test_few_rows_of_a_wave_are_continued_as_a_wave(T, how):
    """Levels continue a wave by a straight line, whose error is that of the mean, about 1 here; states follow it."""
    X, future = waves(T)
    assert rmse(future, getattr(SequenceFilter(3), how)(X).forecast(12)) < 0.2


@pytest.mark.parametrize("T", [40, 90])
def test_few_rows_of_random_walks_keep_their_levels(T):
    """What fills hidden entries best is taken, and for independent random walks that is a level each."""
    levels = error = best = 0.0
    for seed in range(5):
        Y = np.random.default_rng(seed).normal(size=(T + 10, 5)).cumsum(axis=0)
        model = SequenceFilter(3).fit(Y[:T])
        levels += bool((model.level_variance_ > 0).all())
        error += rmse(Y[T:], model.forecast(10)) ** 2
        best += rmse(Y[T:], np.tile(Y[T - 1], (10, 1))) ** 2  # the last value is the best forecast
    assert levels >= 4
    assert error < 1.05 * best
