"""The kernel for stacks of inverses against NumPy.

Needs PyTorch, and a GPU or TRITON_INTERPRET=1 in the environment, with which Triton runs kernels on the host; otherwise
it is skipped.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
from numpy.testing import assert_allclose

from factorstream.core.variational.packed import layout, pack, unpack
from variational_problems import spd


def inverted(A, b):
    """Inverses, solutions and log-determinants, as arrays of NumPy."""
    torch, _ = pytest.importorskip("torch"), pytest.importorskip("triton")
    if not torch.cuda.is_available() and os.environ.get("TRITON_INTERPRET") != "1":
        pytest.skip("no GPU")
    from factorstream.core.variational.triton_inverse import invert

    N, q = b.shape
    given = pack(A), b, layout(q).position, np.zeros((N, q)), np.zeros(N)
    there = [torch.asarray(part, device="cuda" if torch.cuda.is_available() else "cpu") for part in given]
    invert(*there)
    a, _, _, solution, logdet = (part.cpu().numpy() for part in there)
    return unpack(a, q), solution, logdet


@pytest.mark.parametrize("q", [1, 2, 15, 16, 17, 31, 32, 33, 40, 41, 47, 48])
def test_inverse_solution_and_determinant(q):
    rng = np.random.default_rng(q)
    A, b = spd(rng, q, 5), rng.normal(size=(5, q))
    inverse, solution, logdet = inverted(A, b)
    assert_allclose(inverse, np.linalg.inv(A), rtol=1e-9, atol=1e-12)
    assert_allclose(solution, np.linalg.solve(A, b[:, :, None])[:, :, 0], rtol=1e-9, atol=1e-12)
    assert_allclose(logdet, -np.linalg.slogdet(A)[1], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("q", [3, 12, 41])
def test_a_badly_scaled_matrix_loses_no_more_digits_than_by_numpy(q):
    scale = np.geomspace(1e-4, 1e4, q)
    A = spd(np.random.default_rng(q), q, 3) * scale[:, None] * scale
    inverse, _, _ = inverted(A, np.zeros((3, q)))
    ours, numpys = (np.abs(part @ A - np.eye(q)).max() for part in (inverse, np.linalg.inv(A)))
    assert ours <= 10.0 * numpys


@pytest.mark.parametrize("last", [-1.0, 0.0, np.nan])
@pytest.mark.parametrize("q", [2, 12, 41])
def test_a_matrix_that_is_not_positive_definite_is_all_nan_and_the_others_are_not(q, last):
    A = np.stack([np.eye(q), np.diag([*np.ones(q - 1), last]), np.eye(q)])
    for part in inverted(A, np.ones((3, q))):
        assert np.isnan(part[1]).all()
        assert np.isfinite(part[[0, 2]]).all()
