"""The tall products against their definitions."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream.core.place import HERE
from factorstream.tall import products


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("m", "q", "B"), [(50, 4, 6), (1000, 41, 82), (1250, 16, 50), (40_000, 3, 16)])
def test_products(rng, dtype, m, q, B):
    """Also of sizes at which they are taken in pieces, the last piece full or not."""
    C, Y = rng.standard_normal((m, q)).astype(dtype), rng.standard_normal((B, m)).astype(dtype)
    A, D = rng.standard_normal((q, q)), rng.standard_normal((B, q))
    e, g = rng.standard_normal(m).astype(dtype), rng.standard_normal(q)
    tolerance = 1e-12 if dtype == np.float64 else 1e-5
    close = {"rtol": tolerance, "atol": tolerance * np.sqrt(m)}
    C_long, Y_long = C.astype(np.float64), Y.astype(np.float64)
    np.testing.assert_allclose(products.cross(C, Y), C_long.T @ Y_long.T, **close)
    np.testing.assert_allclose(products.self_products(Y), Y_long @ Y_long.T, **close)
    assert products.cross(C, Y).dtype == products.self_products(Y).dtype == np.float64
    combined = products.combine(C, A, Y, D)
    assert combined.dtype == dtype
    np.testing.assert_allclose(combined, C_long @ A + Y_long.T @ D, **close)
    expected = C + np.outer(e, g)
    assert products.add_rank_one(C, e, g) is C
    np.testing.assert_allclose(C, expected, **close)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("layout", ["C", "F", "strided", "strided columns"])
@pytest.mark.parametrize("size", [1.0, 1e30])
def test_gaps_are_found_in_every_layout(rng, dtype, layout, size):
    Y = (size * rng.standard_normal((6, 10))).astype(dtype)
    Y = {"C": Y, "F": np.asfortranarray(Y), "strided": Y[::2], "strided columns": Y[:, ::2]}[layout]
    assert not products.has_gaps(HERE, Y)
    for place in ((0, 0), (1, 2), (-1, -1)):
        gappy = Y.copy(order="K")
        gappy[place] = np.nan
        assert products.has_gaps(HERE, gappy)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("fraction", [0.0, 0.3, 1.0])
def test_gaps_are_cleared_in_place(rng, dtype, fraction):
    Y = rng.standard_normal((6, 10)).astype(dtype)
    missing = rng.random(Y.shape) < fraction
    expected = np.where(missing, 0.0, Y)
    Y[missing] = np.nan
    np.testing.assert_array_equal(products.clear_gaps(Y), missing)
    np.testing.assert_array_equal(Y, expected)


@pytest.mark.parametrize("n_missing", [0, 1, 4, 10])
def test_residual_is_zero_at_the_gaps(rng, n_missing):
    C, x, y = rng.standard_normal((10, 3)), rng.standard_normal(3), rng.standard_normal(10)
    missing_idx = np.sort(rng.permutation(10)[:n_missing])
    expected = y - C @ x
    expected[missing_idx] = 0.0
    np.testing.assert_array_equal(products.residual(C, x, y, missing_idx), expected)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_square_sum(dtype):
    Y = np.random.default_rng(0).standard_normal((5, 7)).astype(dtype)
    for part in (Y, Y.T, Y[::2, ::3], Y[:0], Y[:, :0]):
        assert products.square_sum(part) == pytest.approx(float((part.astype(np.float64) ** 2).sum()), rel=1e-5)
    assert products.square_sum(np.full((2, 2), np.finfo(dtype).max)) == np.inf  # without a warning
    assert not products.has_gaps(HERE, Y)
    Y[3, 2] = np.nan
    assert products.has_gaps(HERE, Y)
    assert products.has_gaps(HERE, Y[::3, ::2])
