"""Leading singular values and vectors, against those of the whole matrix."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream.core.place import HERE
from factorstream.core.variational import spectrum
from factorstream.core.variational.spectrum import decomposition
from split_place import SPLIT, fetched


def low_rank(rng, n, m):
    return rng.normal(size=(n, 4)) * [9.0, 5.0, 3.0, 1.0] @ rng.normal(size=(4, m)) + 0.01 * rng.normal(size=(n, m))


@pytest.mark.parametrize("place", [HERE, SPLIT], ids=["here", "split"])
@pytest.mark.parametrize("exact", [True, False], ids=["exact", "subspace iteration"])
@pytest.mark.parametrize("shape", [(20, 50), (50, 20)], ids=["wide", "long"])
def test_leading_values_and_reconstruction(rng, monkeypatch, shape, exact, place):
    if not exact:
        monkeypatch.setattr(spectrum, "EXACT", 5)
    Z = low_rank(rng, *shape)
    decompose, factors = decomposition(*shape)
    tall = place.put(Z, 1)
    g2, U = decompose(tall, None, 6, place)
    values = np.linalg.svd(Z, compute_uv=False)
    np.testing.assert_allclose(g2[:4], values[:4] ** 2, rtol=1e-6)
    r, shrunk = 3, np.array([1.0, 0.5, 0.25])
    X, B = factors(tall, U, g2[:r], shrunk, place)
    B = fetched(B, axis=1)
    np.testing.assert_allclose(X.T @ X, shape[0] * np.eye(r), atol=1e-6 * shape[0])
    left, _, right = np.linalg.svd(Z, full_matrices=False)
    expected = (left[:, :r] * values[:r] * shrunk) @ right[:r]
    np.testing.assert_allclose(X @ B, expected, atol=1e-5 * np.abs(expected).max())
