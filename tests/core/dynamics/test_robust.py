"""Student-t noise: weights of entries, against quadrature, entries really left out, and densities that integrate."""

from __future__ import annotations

import numpy as np
import pytest
from factorstream.core.dynamics.robust import (
    evident_weights,
    expected_squares,
    learned_nu,
    left_out,
    normal_size,
    variational_weights,
    weights_bound,
    without_spikes,
)
from scipy.integrate import quad
from scipy.stats import gamma, norm, t

from dynamics_problems import draw, make
from factorstream.core.dynamics.fit import EARLY, STUDENT, expect, fit, weights
from factorstream.core.dynamics.model import initial, predict, smooth, update


@pytest.mark.parametrize("nu", [3.0, 10.0, 200.0])
@pytest.mark.parametrize(("v", "e"), [(0.0, 5.0), (0.3, 5.0), (0.3, 20.0), (50.0, 20.0), (50.0, 300.0), (0.0, 300.0)])
def test_weight_of_a_surprise_equals_the_integral(e, v, nu):
    R = 0.7

    def mass(u, power):  # over log w, where the mode is wide
        w = np.exp(u)
        return np.exp(norm.logpdf(e, scale=np.sqrt(v + R / w)) + gamma.logpdf(w, nu / 2, scale=2 / nu) + 500) * w ** (
            1 + power
        )

    near = np.log((nu + 1) / (nu + e * e / R))
    ends = {"limit": 500, "points": [near, 0.0], "epsabs": 0.0, "epsrel": 1e-10}
    right = quad(mass, near - 30, 4, args=(1,), **ends)[0] / quad(mass, near - 30, 4, args=(0,), **ends)[0]
    found = evident_weights(np.array([e]), np.array([v]), np.array([R]), nu)[0]
    assert found == pytest.approx(right, rel=0.02)


@pytest.mark.parametrize("level", [False, True])
def test_left_out_is_what_a_smoother_without_the_entry_says(level):
    """With levels the exact answer is that of a model without shared states, where the arrow form drops nothing."""
    model = make(3, m=4, r=2, level=level)
    if level:
        r = 0
        model = model._replace(
            A=np.zeros((r, r)), Q=np.zeros((r, r)), P0=np.zeros((r, r)), C=model.C[:, :r], V=np.zeros((4, r, r))
        )
    model = model._replace(V=np.zeros((4, *model.A.shape)))
    _, _, _, Y = draw(make(3, m=4, r=2, level=True), 12, 3)
    w = np.random.default_rng(0).uniform(0.2, 2.0, Y.shape)
    e, v = left_out(model, Y, expect_with_entries(model, Y, w), w)
    for k, i in ((0, 1), (5, 2), (11, 0), (7, 3)):
        if np.isnan(Y[k, i]):
            continue
        without = Y.copy()
        without[k, i] = np.nan
        s = expect_with_entries(model, without, w)
        assert e[k, i] == pytest.approx(Y[k, i] - s.signal[k, i], abs=1e-8)
        assert v[k, i] == pytest.approx(s.var[k, i], abs=1e-8)


def expect_with_entries(model, Y, w):
    return expect(model, Y, w)[0] if model.p0.any() else smooth(model, Y, w)


def test_the_bound_of_a_weight_is_the_density_where_the_signal_is_known():
    """E log N(e; 0, R / w) - KL with the best q(w) is log t(e) when nothing else is unknown, and less for other q."""
    R, nu = 0.5, 4.0
    for e in (0.0, 1.0, 7.0):
        w = (nu + 1) / (nu + e * e / R)
        exact = t.logpdf(e, nu, scale=np.sqrt(R))
        assert norm.logpdf(e, scale=np.sqrt(R / w)) + weights_bound(np.array(w), nu, nu) == pytest.approx(exact)
        assert norm.logpdf(e, scale=np.sqrt(R / w / 2)) + weights_bound(np.array(2 * w), nu, nu) < exact


@pytest.mark.parametrize("level", [False, True])
def test_scores_under_heavy_tails_never_promise_more_than_one(level):
    model = make(2, m=1, r=1, level=level)._replace(nu=3.0)
    s = predict(model, update(model, initial(model), np.array([0.4]))[0])
    mass = quad(lambda y: np.exp(update(model, s, np.array([y]))[1].logp), -400, 400, limit=400, points=[0.0])[0]
    assert 0.8 < mass < 1.0 + 1e-6


def test_degrees_of_freedom_are_learned():
    rng = np.random.default_rng(0)
    model = make(0, m=3)._replace(nu=10.0, R=np.full(3, 1.0))
    for nu, low, high in ((4.0, 3.0, 6.0), (np.inf, 25.0, 201.0)):
        Y = rng.standard_normal((20_000, 3)) if np.isinf(nu) else rng.standard_t(nu, (20_000, 3))
        now = model
        for _ in range(300):
            w = (now.nu + 1) / (now.nu + Y**2)
            now = now._replace(nu=learned_nu(now, Y, w))
        assert low < now.nu < high


def test_variational_weights_are_positive_and_one_where_missing():
    model = make(0, m=4)._replace(nu=4.0)
    _, _, _, Y = draw(model, 30, 0)
    Y[3, 1] = np.nan
    w = variational_weights(expected_squares(model, Y, smooth(model, Y)), model.nu)
    assert (w > 0).all()
    assert w[3, 1] == 1.0


@pytest.mark.parametrize("seed", [1, 3])
def test_the_bound_rises_with_levels_once_outliers_are_found(seed):
    model = make(seed, m=6, r=2, level=True, R=0.1)._replace(nu=4.0)
    _, _, _, Y = draw(model, 300, seed)
    Z = (Y - np.nanmean(Y, 0)) / np.nanstd(Y, 0)
    bound = np.array(fit(Z, 4, noise=STUDENT, sweeps=30, tol=-1.0).history[EARLY + 2 :])
    assert np.diff(bound).min() > -0.5  # unit roots and the arrow form cost a fraction of a nat


def test_sizes_of_errors_are_normal_under_the_model():
    rng = np.random.default_rng(0)
    v, R = np.full(200_000, 0.5), np.full(200_000, 0.3)
    e = np.sqrt(v) * rng.standard_normal(v.size) + np.sqrt(R) * rng.standard_t(4.0, v.size)
    for held, z in ((0.8, 1.2816), (0.95, 1.96)):
        assert np.quantile(normal_size(e, v, R, 4.0), held) == pytest.approx(z, rel=0.02)


def test_spikes_are_left_out_of_a_start_and_nothing_else():
    rng = np.random.default_rng(1)
    Y = np.cumsum(rng.normal(size=(400, 3)), axis=0)
    Y[200:, 0] += 50.0  # a step is no spike
    Y[:, 1] = 7.0  # nor is a constant
    Y[100, 1] = 8.0
    Y[50, 2], Y[300, 2], Y[10:20, 2] = 1e6, -1e6, np.nan
    kept = without_spikes(Y)
    lost = np.isnan(kept) & ~np.isnan(Y)
    assert lost[50, 2]
    assert lost[300, 2]
    assert not lost[:, 1].any()
    assert not lost[200:204, 0].any()
    assert lost.mean() < 0.01  # the walk's own largest steps
    assert without_spikes(Y[:5]) is not None
    assert np.isnan(without_spikes(np.full((9, 2), np.nan))).all()


def test_a_level_does_not_follow_outliers():
    """The level has all the freedom to: its noise is small beside its steps."""
    rng = np.random.default_rng(5)
    Y = np.cumsum(0.1 * rng.normal(size=(500, 3)), axis=0)
    bad = rng.random(Y.shape) < 0.03
    X = np.where(bad, Y + 5.0, Y + 0.01 * rng.normal(size=Y.shape))
    f = fit(X, 2, level=True, noise=STUDENT)
    w = weights(f.model, X)
    assert (w[bad] < 0.01).mean() > 0.98
    assert (w[~bad] < 0.01).mean() < 0.01
    assert np.abs(f.smoothed.signal - Y)[bad].max() < 0.5
