"""Entries left out of their rows, beside rows that are solved once more without them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from factorstream.core.variational.factors import Factors
from factorstream.core.variational.fit import FitOptions, fit
from factorstream.core.variational.left_out import rows_to_leave_out, without
from factorstream.core.variational.observed import observations
from factorstream.core.variational.packed import unpack
from factorstream.core.variational.posterior import coefficients


@pytest.fixture
def fitted(rng):
    X = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 7)) + 0.3 * rng.standard_normal((60, 7)) + 1.0
    W = (rng.random(X.shape) < 0.8).astype(float)
    data = observations(np.where(W > 0, X, 0.0), W)
    return data, fit(data, FitOptions(r=3)).factors


def solved_without(data, factors: Factors, temper: float, k: int, J: list[int]):
    """x_k and Σ_k from the normal equations of a row, written out; the columns J say nothing, but V_j stays."""
    r, C, s2 = factors.r, factors.post.C, factors.s2
    V = unpack(factors.post.V, r + 1)
    A, h = factors.prior.K.copy(), factors.prior.K @ factors.prior.mu
    for i in np.flatnonzero(data.W[k] > 0):
        a = temper * data.W[k, i] / s2[i]
        A += a * V[i, :r, :r]
        h -= a * V[i, :r, r]
        if i not in J:
            A += a * np.outer(C[i, :r], C[i, :r])
            h += a * (data.Y[k, i] - C[i, r]) * C[i, :r]
    return np.linalg.solve(A, h), np.linalg.inv(A)


@pytest.mark.parametrize("temper", [1.0, 0.2])
@pytest.mark.parametrize("J", [[2], [0, 4, 5]])
def test_equal_to_a_row_that_is_solved_without_the_entries(fitted, temper, J):
    data, factors = fitted
    coef = coefficients(data._replace(W=temper * data.W), factors.post, factors.s2, factors.prior)
    found = without(rows_to_leave_out(data, coef, factors, temper), J)
    r, C = factors.r, factors.post.C
    V = unpack(factors.post.V, r + 1)
    for k in range(data.n):
        x, Sigma = solved_without(data, factors, temper, k, J)
        assert_allclose(found.fills[k], C[:, :r] @ x + C[:, r], rtol=1e-4, atol=1e-5)
        full = np.append(coef.X[k, :r], 1.0)
        for t, j in enumerate(J):
            spread = C[j, :r] @ Sigma @ C[j, :r]
            doubt = full @ V[j] @ full + np.trace(V[j, :r, :r] @ unpack(coef.Sigma, r)[k])
            assert_allclose(found.variance[k, t], factors.s2[j] + spread + doubt, rtol=1e-4)


def test_an_entry_that_is_left_out_has_no_say(fitted):
    """Another value of an observed entry changes nothing in what the rest of the row says of it."""
    data, factors = fitted
    moved = data._replace(Y=data.Y.copy())
    moved.Y[:, 3] += 5.0

    def fills(rows):
        coef = coefficients(rows, factors.post, factors.s2, factors.prior)
        return without(rows_to_leave_out(rows, coef, factors, 1.0), [3]).fills

    assert_allclose(fills(moved), fills(data), rtol=1e-4, atol=1e-4)
