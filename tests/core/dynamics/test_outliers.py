"""Weights of a sequence's entries: entries really left out, outliers that levels must not follow."""

from __future__ import annotations

import numpy as np
import pytest

from dynamics_problems import draw, make, without_states
from factorstream.core.dynamics.fit import EARLY, fit
from factorstream.core.dynamics.noise import LearnedStudentSpec
from factorstream.core.dynamics.outliers import expect, expected_squares, left_out, weights
from factorstream.core.dynamics.smoother import smooth


@pytest.mark.parametrize("level", [False, True])
def test_left_out_is_what_a_smoother_without_the_entry_says(level):
    """With levels the exact answer is that of a model without shared states, where the arrow form drops nothing."""
    model = make(3, m=4, r=2, level=level)
    model = without_states(model) if level else model
    _, _, _, Y = draw(make(3, m=4, r=2, level=True), 12, 3)
    w = np.random.default_rng(0).uniform(0.2, 2.0, Y.shape)
    e, v = left_out(model, Y, expect(model, Y, w, entries=True)[0], w)
    for k, i in ((0, 1), (5, 2), (11, 0), (7, 3)):
        if np.isnan(Y[k, i]):
            continue
        without = Y.copy()
        without[k, i] = np.nan
        s = expect(model, without, w, entries=True)[0]
        assert e[k, i] == pytest.approx(Y[k, i] - s.signal[k, i], abs=1e-8)
        assert v[k, i] == pytest.approx(s.var[k, i], abs=1e-8)


def test_expected_weights_are_positive_and_one_where_missing():
    model = make(0, m=4, nu=4.0)
    _, _, _, Y = draw(model, 30, 0)
    Y[3, 1] = np.nan
    w = model.noise.expected_weights(expected_squares(model, Y, smooth(model, Y)))
    assert (w > 0).all()
    assert w[3, 1] == 1.0


@pytest.mark.parametrize("seed", [1, 3])
def test_the_bound_rises_with_levels_once_outliers_are_found(seed):
    model = make(seed, m=6, r=2, level=True, R=0.1, nu=4.0)
    _, _, _, Y = draw(model, 300, seed)
    Z = (Y - np.nanmean(Y, 0)) / np.nanstd(Y, 0)
    bound = np.array(fit(Z, 4, noise=LearnedStudentSpec(), sweeps=30, tol=-1.0).history[EARLY + 2 :])
    assert np.diff(bound).min() > -0.5  # unit roots and the arrow form cost a fraction of a nat


def test_a_level_does_not_follow_outliers():
    """The level has all the freedom to: its noise is small beside its steps."""
    rng = np.random.default_rng(5)
    Y = np.cumsum(0.1 * rng.normal(size=(500, 3)), axis=0)
    bad = rng.random(Y.shape) < 0.03
    X = np.where(bad, Y + 5.0, Y + 0.01 * rng.normal(size=Y.shape))
    f = fit(X, 2, noise=LearnedStudentSpec())
    w = weights(f.model, X)
    assert (w[bad] < 0.01).mean() > 0.98
    assert (w[~bad] < 0.01).mean() < 0.01
    assert np.abs(f.smoothed.signal - Y)[bad].max() < 0.5


def test_gaussian_entries_have_no_weights():
    model = make(0, m=4)
    assert weights(model, draw(model, 30, 0)[3]) is None
