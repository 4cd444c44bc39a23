"""Sparse rows start where the same rows with their gaps written out do, and so end there too."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from factorstream.core.place import HERE
from factorstream.core.variational.factors import Factors
from factorstream.core.variational.fit import FitOptions, fit
from factorstream.core.variational.noise.gaussian import GaussianNoise
from factorstream.core.variational.noise.variance import PerFeatureVariance
from factorstream.core.variational.observed import Observations, observations
from factorstream.core.variational.predictive import predict
from factorstream.core.variational.row_mean import two_way, without_means
from factorstream.core.variational.sparse_start import sparse_start
from factorstream.core.variational.start import spectral_start
from variational_problems import problem, solve


def stored(Y, W):
    row, column = np.nonzero(W)
    Y, W = (sparse.csr_array((A[row, column], (row, column)), shape=A.shape) for A in (Y, W))
    return Observations(Y, W, *Y.shape, sparse=True)


def centred(Y, W):
    return np.where(W > 0, Y - (W * Y).sum(axis=0) / np.maximum(W.sum(axis=0), 1.0), 0.0)


@pytest.mark.parametrize("shape", [(60, 25), (25, 60), (15, 40), (40, 15), (3, 8)])
@pytest.mark.parametrize("missing", [0.0, 0.4, 0.8])
@pytest.mark.parametrize("row_mean", [False, True], ids=["", "row means"])
@pytest.mark.parametrize("entries", [2**21, 100], ids=["", "several blocks"])
def test_the_start_is_that_of_dense_rows(shape, missing, row_mean, entries, monkeypatch):
    monkeypatch.setattr("factorstream.core.variational.sparse_start.ENTRIES", entries)
    _, Y, W = problem(31, *shape, r=2, missing=missing)
    F = centred(Y, W)
    rows, means = observations(F, W), None
    if row_mean:
        means = two_way(rows, HERE)
        rows = without_means(rows, means, HERE)
    dense = spectral_start(rows.Y, rows, 2, GaussianNoise())
    found = sparse_start(stored(F, W), 2, GaussianNoise(), means=means)
    assert found.n_passes == dense.n_passes
    assert found.s2 == pytest.approx(dense.s2, rel=1e-8)
    assert_allclose(found.X @ found.B + found.b, dense.X @ dense.B + dense.b, atol=1e-8)


@pytest.mark.parametrize("shape", [(150, 40), (40, 150), (12, 8)])
@pytest.mark.parametrize("options", [FitOptions(r=3), FitOptions(r=3, variance=PerFeatureVariance()), FitOptions(r=30)])
def test_fits_of_sparse_and_dense_rows_agree_to_rounding(shape, options):
    """They used to stop at different points, up to a seventh of a standard deviation apart."""
    _, Y, W = problem(32, *shape, missing=0.6)
    one, two = (fit(data, options) for data in (observations(np.where(W > 0, Y, 0.0), W), stored(Y, W)))
    assert len(one.history) == len(two.history)
    assert one.history[-1].bound == pytest.approx(two.history[-1].bound, rel=1e-9)
    assert_allclose(filled(two.factors, Y, W), filled(one.factors, Y, W), atol=1e-6)
    assert_allclose(two.factors.s2, one.factors.s2, rtol=1e-6)
    assert_allclose(two.spent, one.spent, rtol=1e-6, atol=1e-6)


def filled(factors: Factors, Y, W):
    return predict(solve(factors, Y, W), factors.post)


@pytest.mark.parametrize("rows", [2, 3, 30])
def test_a_few_rows_of_anything_start(rows):
    """The iteration used to begin with a vector that centred columns are orthogonal to."""
    rng = np.random.default_rng(0)
    for seed in range(40):
        W = (np.random.default_rng(seed).random((rows, 40)) < 0.4).astype(float)
        for Y in (rng.normal(size=W.shape), rng.integers(0, 2, W.shape).astype(float), np.ones(W.shape)):
            found = fit(stored(Y, W), FitOptions(r=2))
            assert np.isfinite(found.factors.post.C).all()
