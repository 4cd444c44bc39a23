"""Gram matrices, and covariances that rounding has touched."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream.core.linalg import gram, lifted_cholesky, over_rows, solve_with_ones


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "q"), [(7, 3), (2000, 16), (1500, 17), (500, 48), (4000, 41), (300, 128), (300, 129)])
def test_gram(rng, dtype, n, q):
    """Whole, in tiles, and in tiles of pieces."""
    C = rng.standard_normal((n, q)).astype(dtype)
    G = gram(C)
    assert G.dtype == np.float64
    np.testing.assert_allclose(G, G.T, rtol=1e-13, atol=1e-12)
    np.testing.assert_allclose(G, np.einsum("ij,ik->jk", C, C, dtype=np.float64), rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("size", [1e-12, 1e-9, 1e-6])
def test_a_covariance_that_rounding_made_indefinite_is_lifted(rng, size):
    """By far more than rounding may take at once: it stays behind when a huge sample has faded."""
    Q = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    M = Q @ np.diag([1.0, 0.5, 0.1, 0.01, 0.0, -size]) @ Q.T
    L = lifted_cholesky(M, 10.0 * len(M))
    np.testing.assert_allclose(L @ L.T, M, atol=20 * size)


def test_every_finite_matrix_can_be_lifted():
    assert np.isfinite(lifted_cholesky(-np.eye(3), 1.0)).all()
    for hopeless in (np.zeros((2, 2)), np.full((2, 2), np.nan)):
        with pytest.raises(np.linalg.LinAlgError, match="zero or not finite"):
            lifted_cholesky(hopeless, 1.0)


@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (7, 3), (1024, 1), (1025, 1), (700, 3), (5, 2000), (4, 0)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_least_and_greatest_values_over_rows(rng, shape, order):
    X = np.array(rng.standard_normal(shape), order=order)
    X[rng.random(shape) < 0.3] = np.nan
    values = [[value for value in column if not np.isnan(value)] for column in X.T]
    np.testing.assert_array_equal(over_rows(np.fmin, X, np.inf), [min(column, default=np.inf) for column in values])
    np.testing.assert_array_equal(over_rows(np.fmax, X, -np.inf), [max(column, default=-np.inf) for column in values])


@pytest.mark.parametrize("trans", [False, True])
def test_solving_with_ones_on_the_diagonal(rng, trans):
    """Whatever is on the diagonal and above it."""
    T, B = rng.standard_normal((5, 5)), rng.standard_normal((5, 3))
    whole = np.eye(5) + np.tril(T, -1)
    np.testing.assert_allclose((whole.T if trans else whole) @ solve_with_ones(T, B, trans=trans), B, atol=1e-12)
