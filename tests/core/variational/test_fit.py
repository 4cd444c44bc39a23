"""Fits: counting, switching off, degenerate data, units."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from factorstream.core.variational import fit as fit_module
from factorstream.core.variational.auto import fit_auto
from factorstream.core.variational.fit import FitOptions, fit
from factorstream.core.variational.noise.student import StudentNoise
from factorstream.core.variational.noise.variance import PerFeatureVariance, PooledVariance
from factorstream.core.variational.observed import observations
from factorstream.core.variational.packed import layout
from factorstream.core.variational.predictive import predict, predict_variance
from factorstream.core.variational.relevance import LearnedPrior
from variational_problems import problem, solve


def test_sweeps_do_not_double_count():
    """Many sweeps over n samples must not make V as small as n * sweeps samples would."""
    _, Y, W = problem(8, n=200, m=30, r=3)
    few, many = (
        fit(observations(Y, W), FitOptions(r=3, tol=-np.inf, max_sweeps=k)).factors.post.V[:, layout(4).diagonal].mean()
        for k in (15, 60)
    )
    assert abs(many / few - 1) < 0.05


def test_unneeded_components_switch_off():
    _rng, Y, W = problem(10, n=300, m=80, r=3, noise=0.5)
    found = fit(observations(Y, W), FitOptions(r=12, prior=LearnedPrior(kappa=0.0), max_sweeps=200, tol=1e-6))
    assert found.history[0].n_components == 12
    assert 3 <= found.factors.prior.mu.size <= 5
    assert (np.diff([h.bound for h in found.history]) > 0).all()  # also across dropped components
    auto = fit_auto(observations(Y, W), np.random.default_rng(0))
    assert 3 <= auto.fit.factors.prior.mu.size <= 5
    assert_allclose(auto.fit.factors.s2.mean() ** 0.5, 0.5, rtol=0.03)


def test_noise_only_and_constant_and_empty_columns():
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(50, 8))
    Y[:, 0], Y[:, 1] = 3.0, (rng.random(50) < 0.5)
    W = (rng.random(Y.shape) > 0.3).astype(float)
    W[:, 2] = 0
    for per_feature in (False, True):
        model = fit(
            observations(Y, W), FitOptions(variance=PerFeatureVariance() if per_feature else PooledVariance())
        ).factors
        coef = solve(model, np.where(W > 0, Y, 0), W)
        mean, var = predict(coef, model.post), predict_variance(coef, model.post, model.prior.mu.size) + model.s2
        assert np.isfinite(mean).all()
        assert (var > 0).all()
        assert_allclose(mean[:, 0], 3.0, atol=0.05 if per_feature else 0.6)


@pytest.mark.parametrize("factor", [1e-6, 1e6, -3.0])
@pytest.mark.parametrize(
    "options",
    [
        FitOptions(),
        FitOptions(r=3, variance=PerFeatureVariance()),
        FitOptions(r=3, noise=StudentNoise(4.0, learned=True)),
    ],
)
def test_scale_changes_the_units_and_nothing_else(factor, options):
    _, Y, W = problem(11, n=80, m=20)
    one, two = fit(observations(Y, W), options), fit(observations(Y * factor, W), options)
    assert len(one.history) == len(two.history)
    a, b = (solve(f.factors, y, f.weights) for y, f in ((Y, one), (Y * factor, two)))
    assert_allclose(
        predict(a, one.factors.post) * factor, predict(b, two.factors.post), rtol=1e-6, atol=1e-6 * abs(factor)
    )
    assert_allclose(one.factors.s2 * factor**2, two.factors.s2, rtol=1e-6)


def test_intervals_cover_on_model_data():
    _, Y, W = problem(15, n=400, m=60, r=4)
    model = fit(observations(np.where(W > 0, Y, 0), W), FitOptions(r=4)).factors
    coef = solve(model, np.where(W > 0, Y, 0), W)
    z = np.abs(Y - predict(coef, model.post)) / np.sqrt(predict_variance(coef, model.post, 4) + model.s2)
    assert 0.935 < (z[W == 0] < 1.96).mean() < 0.965


def test_a_bound_that_is_not_finite_ends_the_fit(monkeypatch):
    """Devices that do not say so leave log-determinants of indefinite matrices that are not numbers."""
    _, Y, W = problem(0)
    real = fit_module.sweep
    monkeypatch.setattr(fit_module, "sweep", lambda *given: real(*given)._replace(bound=float("nan")))
    with pytest.raises(np.linalg.LinAlgError, match="out of all proportion"):
        fit(observations(Y, W), FitOptions(r=3))
