"""Automatic settings."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

from factorstream.core.variational.auto import _blank, fit_auto
from factorstream.core.variational.conformal import half_width
from factorstream.core.variational.factors import normal_variance
from factorstream.core.variational.fit import FitOptions
from factorstream.core.variational.noise.student import StudentNoise
from factorstream.core.variational.observed import observations
from factorstream.core.variational.predictive import predict, predict_variance
from variational_problems import problem, solve


def test_robust_auto_fit_calibrates_to_the_good_entries():
    rng, Y, W = problem(22, n=400, m=50, r=3, noise=0.3)
    bad = (rng.random(Y.shape) < 0.05) & (W > 0)
    Z = np.where(bad, 50.0 * rng.normal(size=Y.shape), Y)
    auto = fit_auto(observations(Z, W), rng, FitOptions(r=3, noise=StudentNoise(4.0)))
    model = auto.fit.factors
    coef = solve(model, np.where(W > 0, Z, 0), auto.fit.weights)
    std = np.sqrt(predict_variance(coef, model.post, 3) + normal_variance(model))
    width = half_width(auto.calibration.scores, np.full(50, np.inf), 0.95)
    inside = np.abs(Y - predict(coef, model.post)) < width * std
    assert 0.92 < inside[W == 0].mean() < 0.98


def test_auto_fit_is_seeded_and_ignores_what_is_missing():
    _, Y, W = problem(20, n=80, m=20)
    runs = [
        fit_auto(observations(np.where(W > 0, Y, junk), W), np.random.default_rng(3)) for junk in (0.0, np.nan, 1e9)
    ]
    for other in runs[1:]:
        assert_allclose(runs[0].fit.factors.post.C, other.fit.factors.post.C)


def test_values_that_are_blank_already_are_not_copied():
    W = np.array([[1.0, 0.0], [1.0, 1.0]])
    blank, other = np.array([[2.0, 0.0], [0.0, 3.0]]), np.array([[2.0, np.nan], [0.0, 3.0]])
    assert _blank(blank, W) is blank
    np.testing.assert_array_equal(_blank(other, W), blank)
    assert np.isnan(other[0, 1])
