"""Start, robustness, calibration and automatic settings."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import gamma as gamma_law

from factorstream.core.variational.auto import fit_auto
from factorstream.core.variational.conformal import borrowed_gaps, calibrate, gaussian_half_width, half_width
from factorstream.core.variational.posterior import (
    coefficients,
    moments,
    second_moment,
)
from factorstream.core.variational.predictive import predict, predict_variance
from factorstream.core.variational.robust import (
    NO_TAILS,
    TailSums,
    learn_nu,
    noise_variance,
    robust_coefficients,
    tail_bound,
    tail_weights,
)
from factorstream.core.variational.start import affordable_rank, shrinkage, spectral_start
from factorstream.core.variational.sweep import Options, fit
from variational_problems import problem, random_model

# ---------------------------------------------------------------- start


def test_shrinkage_and_ranks():
    g = shrinkage(np.array([1e4, 5e3, 10.0]), 1.0, 50, 100)
    assert g.size == 2
    assert (np.diff(g) < 0).all()
    assert (g > 0).all()
    assert (g < 1).all()
    assert affordable_rank(100, 50, 5000.0) * (150 - affordable_rank(100, 50, 5000.0)) <= 2500
    assert affordable_rank(10, 5, 0.0) == 0


@pytest.mark.parametrize("shape", [(30, 80), (80, 30)])
def test_start_reconstructs(shape):
    _, Y, W = problem(16, *shape, r=3, noise=0.05)
    F = np.where(W > 0, Y - (W * Y).sum(0) / W.sum(0), 0.0)
    s = spectral_start(F, W, 3)
    assert_allclose(s.X.T @ s.X, len(F) * np.eye(3), atol=1e-8 * len(F))
    Yc = Y - (W * Y).sum(0) / W.sum(0)
    assert np.sqrt(((s.X @ s.B + s.b - Yc)[W == 0] ** 2).mean()) < 0.25 * Yc.std()


@pytest.mark.parametrize("shape", [(60, 90), (90, 60)])
def test_subspace_start_agrees_with_the_exact_one(shape, monkeypatch):
    _, Y, W = problem(21, *shape, r=4, noise=0.1)
    F = np.where(W > 0, Y - (W * Y).sum(0) / W.sum(0), 0.0)
    exact = spectral_start(F, W, 4)
    monkeypatch.setattr("factorstream.core.variational.start.EXACT", 10)
    monkeypatch.setattr("factorstream.core.variational.start.WIDTH", 12)
    quick = spectral_start(F, W, 4)
    assert_allclose(exact.X @ exact.B, quick.X @ quick.B, atol=2e-2 * F.std())


@pytest.mark.parametrize("shape", [(1, 1), (1, 6), (6, 1), (2, 2), (3, 40), (40, 3)])
@pytest.mark.parametrize("options", [Options(), Options(r=3), Options(r=0), Options(nu=4.0)])
def test_tiny_and_degenerate_shapes(shape, options):
    rng = np.random.default_rng(0)
    for Y in (rng.normal(size=shape), np.full(shape, 2.0)):
        for W in (np.ones(shape), np.zeros(shape), (rng.random(shape) < 0.5).astype(float)):
            model = fit(Y, W, options).model
            coef = coefficients(Y, W, model.post, model.s2, model.prior)
            assert np.isfinite(predict(coef, model.post)).all()
            assert (predict_variance(coef, model.post, model.prior.mu.size) + model.s2 > 0).all()


# ---------------------------------------------------------------- robust


def test_tail_bound_is_the_gamma_integral():
    """0.5 E log u - KL(q || p) by numerical expectation over q(u)."""
    nu0, nu, d = 5.0, 3.0, np.array([0.2, 4.0])
    a, rate = 0.5 * (nu0 + 1), 0.5 * (nu0 + d)
    want = 0.0
    for b in rate:
        q, p = gamma_law(a, scale=1 / b), gamma_law(nu / 2, scale=2 / nu)
        want += q.expect(lambda u, q=q, p=p: 0.5 * np.log(u) - q.logpdf(u) + p.logpdf(u))
    tails = TailSums(2.0, nu0, float(np.log(rate).sum()), float((a / rate).sum()))
    assert_allclose(tail_bound(tails, nu), want, rtol=1e-6)
    best = learn_nu(tails, nu)
    assert all(tail_bound(tails, best) >= tail_bound(tails, v) for v in (best * 0.9, min(best * 1.1, 1e3)))
    assert learn_nu(NO_TAILS, 4.0) == 4.0


def test_outliers_lose_their_weight():
    rng, Y, W = problem(17, n=150, m=40, r=3, noise=0.1)
    bad = (rng.random(Y.shape) < 0.05) & (W > 0)
    Z = np.where(bad, 50.0 * rng.normal(size=Y.shape), Y)
    miss = W == 0

    def error(options):
        f = fit(Z, W, options)
        coef, _ = robust_coefficients(Z, W > 0, f.model.post, f.model.s2, f.model.prior, f.model.nu)
        return np.sqrt(((predict(coef, f.model.post) - Y)[miss] ** 2).mean()), f

    clean, robust = error(Options(r=3))[0], error(Options(r=3, nu=4.0, learn_nu=True))
    assert robust[0] < 0.2
    assert clean > 3 * robust[0]
    assert robust[1].weights[bad].mean() < 0.1 < 0.5 < robust[1].weights[(W > 0) & ~bad].mean()


def test_robust_auto_fit_calibrates_to_the_good_entries():
    rng, Y, W = problem(22, n=400, m=50, r=3, noise=0.3)
    bad = (rng.random(Y.shape) < 0.05) & (W > 0)
    Z = np.where(bad, 50.0 * rng.normal(size=Y.shape), Y)
    auto = fit_auto(Z, W, rng, Options(r=3, nu=4.0))
    model = auto.fit.model
    coef = coefficients(np.where(W > 0, Z, 0), auto.fit.weights, model.post, model.s2, model.prior)
    std = np.sqrt(predict_variance(coef, model.post, 3) + noise_variance(model.s2, model.nu))
    inside = np.abs(Y - predict(coef, model.post)) < half_width(auto.calibration.scores, 0.95) * std
    assert 0.92 < inside[W == 0].mean() < 0.98


def test_weights_formula():
    rng, Y, W = problem(18, n=6, m=5)
    model = random_model(rng, 5, 2)
    coef = coefficients(Y, W, model.post, model.s2, model.prior)
    Z = moments(coef, 2)
    w, tails = tail_weights(Y, W > 0, coef, second_moment(model.post, 1 / model.s2), model.post.C, Z, model.s2, 4.0)
    d = ((Y - predict(coef, model.post)) ** 2 + predict_variance(coef, model.post, 2)) / model.s2
    assert_allclose(w, np.where(W > 0, 5.0 / (4.0 + d), 0), rtol=1e-9)
    assert_allclose(tails.log_rate, (W * np.log((4 + d) / 2)).sum(), rtol=1e-9)


# ---------------------------------------------------------------- calibration


def test_borrowed_gaps_have_the_shape_of_gaps():
    rng = np.random.default_rng(0)
    seen = np.ones((50, 100), dtype=bool)
    for k in range(50):
        s = rng.integers(0, 80)
        seen[k, s : s + 20] = False
    hidden = borrowed_gaps(seen, 0.05, rng)
    assert not (hidden & ~seen).any()
    assert 0.04 < hidden.sum() / seen.sum() < 0.08
    for k in np.flatnonzero(hidden.any(axis=1)):
        j = np.flatnonzero(hidden[k])
        assert j.max() - j.min() < 20  # inside one borrowed run
    assert borrowed_gaps(np.ones((50, 100), dtype=bool), 0.1, rng).mean() == pytest.approx(0.1, abs=0.02)


def test_half_width():
    scores = np.sort(np.abs(np.random.default_rng(0).normal(size=20000)) * 1.5)
    assert half_width(scores, 0.95) == pytest.approx(1.5 * 1.96, rel=0.04)
    assert half_width(scores[:400] * 1e-3, 0.95) == gaussian_half_width(0.95)
    with pytest.raises(ValueError, match="too few"):
        half_width(scores[:10], 0.95)
    for level in (0.0, 1.0, -1.0, np.nan):
        with pytest.raises(ValueError, match="between 0 and 1"):
            half_width(scores, level)


def test_temper_stays_one_on_model_data():
    rng, Y, W = problem(19, n=300, m=60, r=4)
    hidden = borrowed_gaps(W > 0, 0.05, rng)
    kept = np.where(hidden, 0.0, W)
    model = fit(Y, kept, Options(r=4)).model
    found = calibrate(Y, kept, hidden, model.post, model.s2, model.prior)
    assert found.temper == 1.0
    assert found.scores.size == hidden.sum()
    assert half_width(found.scores, 0.95) == pytest.approx(1.96, rel=0.12)


def test_auto_fit_is_seeded_and_ignores_what_is_missing():
    _, Y, W = problem(20, n=80, m=20)
    runs = [fit_auto(np.where(W > 0, Y, junk), W, np.random.default_rng(3)) for junk in (0.0, np.nan, 1e9)]
    for other in runs[1:]:
        assert_allclose(runs[0].fit.model.post.C, other.fit.model.post.C)
