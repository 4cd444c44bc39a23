"""How many parameters were spent, and the Student-t law of what is left."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.stats import norm
from scipy.stats import t as student

import reference_variational as ref
from factorstream.core.place import HERE
from factorstream.core.variational import posterior as posteriors
from factorstream.core.variational.fit import FitOptions, fit
from factorstream.core.variational.freedom import (
    fitted_square,
    spent_by_sums,
    spent_parameters,
    student_half_width,
)
from factorstream.core.variational.observed import Observations, observations
from factorstream.core.variational.packed import size, unpack
from factorstream.core.variational.posterior import CoefficientPosterior, FactorPrior, posterior, statistics
from variational_problems import problem, random_factors, solve


@pytest.mark.parametrize("in_pieces", [False, True])
def test_spent_parameters_entry_by_entry(in_pieces, monkeypatch):
    if in_pieces:  # as if the table were wide: two features at a time
        monkeypatch.setattr(posteriors, "BUDGET", 10)
        monkeypatch.setattr(posteriors, "PIECE", 20)
    rng, Y, W = problem(5, n=9, m=6)
    model = random_factors(rng, 6, 3)
    coef = solve(model, Y, W)
    V, S = unpack(model.post.V, 4), np.zeros((9, 4, 4))
    S[:, :3, :3] = unpack(coef.Sigma, 3)
    want = np.zeros(6)
    for k, i in zip(*np.nonzero(W), strict=True):
        mean = float(coef.X[k] @ model.post.C[i])
        want[i] += ref.entry_square(mean, model.post.C[i], V[i], coef.X[k], S[k]) / model.s2[i]
    data = observations(Y, W)
    assert_allclose(spent_parameters(data, data.W, model), want, rtol=1e-9)


def test_sparse_rows_spend_the_same():
    rng, Y, W = problem(6, n=30, m=8)
    model = random_factors(rng, 8, 2)
    row, column = np.nonzero(W)
    stored = [sparse.csr_array((A[row, column], (row, column)), shape=Y.shape) for A in (Y, W)]
    rows = Observations(*stored, *Y.shape, sparse=True)
    data = observations(Y, W)
    assert_allclose(spent_parameters(rows, rows.W, model), spent_parameters(data, data.W, model), rtol=1e-9)


def test_a_regression_on_known_coefficients_spends_as_many_parameters_as_it_has():
    rng, Y, W = problem(7, n=200, m=5, r=3)
    X = np.hstack([rng.normal(size=(200, 3)), np.ones((200, 1))])
    coef = CoefficientPosterior(X, np.zeros((200, size(3))), np.zeros(200))
    stats = statistics(Y, W, coef, 3)
    flat = FactorPrior(np.zeros((5, 4)), 1e-9 * np.eye(4), np.zeros(3), np.eye(3))
    s2 = np.full(5, 0.09)
    post = posterior(stats, flat, s2)
    assert_allclose(spent_by_sums(stats.S, fitted_square(W, coef, post.C), post, s2), 4.0, rtol=1e-6)


def test_a_fit_learns_the_residual_variance_with_the_parameters_taken_off():
    """At the maximum of the bound s2 (N - p) is the sum of squared residuals."""
    _, Y, W = problem(8, n=60, m=15, r=2)
    data = observations(Y, W)
    found = fit(data, FitOptions(r=2, tol=1e-12, max_sweeps=2000))
    coef = solve(found.factors, Y, W)
    residual = W * (Y - coef.X @ found.factors.post.C.T)
    freedom = FitOptions().variance.freedom(W.sum(axis=0), found.spent, HERE)
    assert 0.5 * W.sum() < freedom[0] < W.sum() - 15
    assert found.factors.s2[0] * freedom[0] == pytest.approx((residual**2).sum(), rel=1e-4)


def test_half_widths_are_students():
    freedom = np.array([1.0, 2.5, 40.0, 1e6])
    for level in (0.5, 0.95, 0.999):
        assert_allclose(student_half_width(freedom, level), student.ppf(0.5 + 0.5 * level, freedom), rtol=1e-9)
        assert_allclose(student_half_width(np.array([np.inf]), level), norm.ppf(0.5 + 0.5 * level))
