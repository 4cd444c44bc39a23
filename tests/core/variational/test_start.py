"""The spectral start."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose

from factorstream.core.variational.fit import FitOptions, fit
from factorstream.core.variational.noise.gaussian import GaussianNoise
from factorstream.core.variational.noise.student import StudentNoise
from factorstream.core.variational.observed import observations
from factorstream.core.variational.predictive import predict, predict_variance
from factorstream.core.variational.start import affordable_rank, shrinkage, shrunk, spectral_start
from variational_problems import problem, solve


def gaussian_start(F, W, r):
    return spectral_start(F, observations(F, W), r, GaussianNoise())


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
    s = gaussian_start(F, W, 3)
    assert_allclose(s.X.T @ s.X, len(F) * np.eye(3), atol=1e-8 * len(F))
    Yc = Y - (W * Y).sum(0) / W.sum(0)
    assert np.sqrt(((s.X @ s.B + s.b - Yc)[W == 0] ** 2).mean()) < 0.25 * Yc.std()


@pytest.mark.parametrize("shape", [(60, 90), (90, 60)])
def test_subspace_start_agrees_with_the_exact_one(shape, monkeypatch):
    _, Y, W = problem(21, *shape, r=4, noise=0.1)
    F = np.where(W > 0, Y - (W * Y).sum(0) / W.sum(0), 0.0)
    exact = gaussian_start(F, W, 4)
    monkeypatch.setattr("factorstream.core.variational.spectrum.EXACT", 10)
    monkeypatch.setattr("factorstream.core.variational.start.WIDTH", 12)
    quick = gaussian_start(F, W, 4)
    assert_allclose(exact.X @ exact.B, quick.X @ quick.B, atol=2e-2 * F.std())


@pytest.mark.parametrize("shape", [(1, 1), (1, 6), (6, 1), (2, 2), (3, 40), (40, 3)])
@pytest.mark.parametrize(
    "options", [FitOptions(), FitOptions(r=3), FitOptions(r=0), FitOptions(noise=StudentNoise(4.0))]
)
def test_tiny_and_degenerate_shapes(shape, options):
    rng = np.random.default_rng(0)
    for Y in (rng.normal(size=shape), np.full(shape, 2.0)):
        for W in (np.ones(shape), np.zeros(shape), (rng.random(shape) < 0.5).astype(float)):
            model = fit(observations(Y, W), options).factors
            coef = solve(model, Y, W)
            assert np.isfinite(predict(coef, model.post)).all()
            assert (predict_variance(coef, model.post, model.prior.mu.size) + model.s2 > 0).all()


def test_components_without_a_square_are_not_started_from():
    kept = shrunk(np.array([4.0, 1e-9, 1e-310, 0.0]), 1.0, 10, 4, least=4, most=4)
    assert kept.size == 2
    assert shrunk(np.array([1e-310, 0.0]), 0.0, 10, 4, least=2, most=2).size == 0


def test_memory_of_a_start():
    """The data centred, the fill, the last fit and what it leaves, and a temporary: nothing of the pass before."""
    Y = np.random.default_rng(0).normal(size=(100, 20_000))
    data = observations(Y, np.ones(Y.shape))
    F, size = data.Y - data.Y.mean(axis=0), data.Y.nbytes
    tracemalloc.start()
    try:
        spectral_start(F, data, 2, GaussianNoise(), max_passes=3)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 3.6 * size
