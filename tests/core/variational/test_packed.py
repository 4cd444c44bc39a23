"""Packed stacks of symmetric matrices against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from factorstream.core.variational.packed import congruence, invert, layout, outer, pack, unpack
from factorstream.cores import compiling
from variational_problems import spd


@pytest.fixture(params=["0", "1"], ids=["LAPACK", "loops"], autouse=True)
def compiled(request, monkeypatch):
    if request.param == "1":
        pytest.importorskip("numba")
    monkeypatch.setenv("FACTORSTREAM_COMPILED", request.param)


@pytest.mark.parametrize("q", [1, 2, 3, 4, 7, 10, 11, 12, 15, 41])
def test_packed_round_trip_and_inverse(q):
    rng = np.random.default_rng(q)
    A, b = spd(rng, q, 5), rng.normal(size=(5, q))
    weight = layout(q).weight
    assert_allclose(unpack(pack(A), q), A)
    assert_allclose(outer(b), pack(b[:, :, None] * b[:, None, :]))
    assert_allclose(pack(A) @ (weight * pack(A)[0]), np.einsum("bij,ij->b", A, A[0]))
    assert_allclose((pack(A) * outer(b)) @ weight, np.einsum("bi,bij,bj->b", b, A, b))
    inverse, x, logdet = invert(pack(A), b)
    assert_allclose(unpack(inverse, q), np.linalg.inv(A), rtol=1e-9, atol=1e-12)
    assert_allclose(x, np.linalg.solve(A, b[..., None])[..., 0], rtol=1e-9)
    assert_allclose(logdet, -np.linalg.slogdet(A)[1])
    T = rng.normal(size=(q, 3))
    assert_allclose(unpack(congruence(pack(A), T, chunk=2), 3), T.T @ A @ T)


def test_packed_empty_and_indefinite():
    _a, x, logdet = invert(np.zeros((3, 0)), np.zeros((3, 0)))
    assert x.shape == (3, 0)
    assert logdet.shape == (3,)
    for q in (2, 12):
        with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
            invert(pack(np.stack([np.eye(q), -np.eye(q)])), np.zeros((2, q)))


@pytest.mark.parametrize("q", [1, 3, 12, 41, 100])
@pytest.mark.parametrize("N", [31, 32, 33, 70])
def test_as_many_inverses_as_there_are_matrices(q, N):
    """The loops take 32 matrices together: also where some are left over, and where a later one is at fault."""
    rng = np.random.default_rng(q)
    A, b = spd(rng, q, N), rng.normal(size=(N, q))
    inverse, x, logdet = invert(pack(A), b)
    assert_allclose(unpack(inverse, q), np.linalg.inv(A), rtol=1e-9, atol=1e-12)
    assert_allclose(x, np.linalg.solve(A, b[..., None])[..., 0], rtol=1e-9, atol=1e-12)
    assert_allclose(logdet, -np.linalg.slogdet(A)[1], rtol=1e-9, atol=1e-12)
    A[-1] -= 2.0 * np.trace(A[-1]) * np.eye(q)
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        invert(pack(A), b)


def test_where_the_compiler_fails_lapack_takes_over(monkeypatch):
    loops = pytest.importorskip("factorstream.core.variational.compiled_inverse")
    rng = np.random.default_rng(0)
    A, b = spd(rng, 12, 5), rng.normal(size=(5, 12))

    def fails(*_):
        raise OSError("no space left")

    monkeypatch.setattr(loops, "invert", fails)
    monkeypatch.setattr(compiling, "_failure", None)
    monkeypatch.setenv("FACTORSTREAM_COMPILED", "1")
    with pytest.warns(RuntimeWarning, match="NumPy takes over"):
        inverse, _, _ = invert(pack(A), b)
    assert_allclose(unpack(inverse, 12), np.linalg.inv(A), rtol=1e-9, atol=1e-12)
