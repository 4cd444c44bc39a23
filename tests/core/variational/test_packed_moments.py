"""Second moments of rows, their traces and weighted columns against NumPy's products of whole matrices."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from factorstream.core.variational.observed import weighted_columns
from factorstream.core.variational.packed import layout, outer, pack, size, unpack
from factorstream.core.variational.packed_moments import (
    has_loops,
    leading,
    leading_moments,
    moment_traces,
    second_moments,
    traces,
)
from factorstream.cores import compiling, limited
from variational_problems import spd

N, Q = 1500, 17
"""Rows for several pieces, and for compiled loops where the size decides."""


@pytest.fixture(params=["0", "1"], ids=["NumPy", "loops"], autouse=True)
def compiled(request, monkeypatch):
    if request.param == "1":
        pytest.importorskip("numba")
    monkeypatch.setenv("FACTORSTREAM_COMPILED", request.param)


@pytest.fixture(params=["1", "3"], ids=["one thread", "three threads"], autouse=True)
def threads(request, monkeypatch):
    monkeypatch.setenv("FACTORSTREAM_THREADS", request.param)
    with limited():
        yield


@pytest.mark.parametrize("rows", [0, 1, N])
@pytest.mark.parametrize("q", [1, 2, 6, Q])
def test_moments_and_their_traces(rng, rows, q):
    X, V, S = rng.normal(size=(rows, q)), spd(rng, q, rows), spd(rng, q, rows)
    scale = rng.uniform(0.5, 2.0, rows)
    M = X[:, :, None] * X[:, None, :] + V
    assert_allclose(unpack(second_moments(X, pack(V), scale), q), scale[:, None, None] * M, rtol=1e-12, atol=1e-14)
    want = np.einsum("bij,bji->b", M, S)
    assert_allclose(moment_traces(X, pack(V), pack(S)), want, rtol=1e-11, atol=1e-14)
    assert_allclose(traces(pack(M), pack(S), q), want, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("rows", [0, 1, N])
@pytest.mark.parametrize(("r", "q"), [(0, 1), (1, 2), (5, 5), (Q - 1, Q)])
def test_the_leading_block(rng, rows, r, q):
    X, Sigma, A, K = rng.normal(size=(rows, q)), spd(rng, r, rows), spd(rng, q, rows), spd(rng, r)
    want = X[:, :, None] * X[:, None, :]
    want[:, :r, :r] += Sigma
    assert_allclose(unpack(leading_moments(X, pack(Sigma), r), q), want, rtol=1e-12, atol=1e-14)
    assert_allclose(leading(pack(A), pack(K), r, q), pack(A[:, :r, :r] + K), rtol=1e-12, atol=1e-14)


def test_rows_may_share_one_covariance(rng):
    X, common = rng.normal(size=(N, Q)), pack(spd(rng, Q))
    shared = np.broadcast_to(common, (N, size(Q)))
    assert_allclose(leading_moments(X, shared, Q), outer(X) + common, rtol=1e-12, atol=1e-14)
    assert_allclose(
        second_moments(X, shared, np.broadcast_to(2.0, N)), 2.0 * (outer(X) + common), rtol=1e-12, atol=1e-14
    )


def test_weighted_columns(rng):
    Y = rng.normal(size=(40, 30))
    W = rng.uniform(0.5, 2.0, Y.shape) * (rng.random(Y.shape) < 0.7)
    W[:, 12] = 0.0
    for some in (slice(0, 30), slice(7, 20), slice(5, 5)):
        w, y = W[:, some], Y[:, some]
        wy, square, count = weighted_columns(W, Y, some, has_loops(30, Q))
        assert_allclose(wy, w * y, rtol=1e-15)
        assert_allclose(square, (w * y**2).sum(axis=0), rtol=1e-13)
        assert_allclose(count, (w > 0).sum(axis=0))


def test_where_the_compiler_fails_numpy_takes_over(rng, monkeypatch):
    loops = pytest.importorskip("factorstream.core.variational.compiled_moments")
    X, V = rng.normal(size=(5, Q)), pack(spd(rng, Q, 5))

    def fails(*_):
        raise OSError("no space left")

    monkeypatch.setattr(loops, "moment_traces", fails)
    monkeypatch.setattr(loops, "weighted_columns", fails)
    monkeypatch.setenv("FACTORSTREAM_COMPILED", "1")
    monkeypatch.setattr(compiling, "_failure", None)
    with pytest.warns(RuntimeWarning, match="NumPy takes over"):
        found = moment_traces(X, V, V)
    assert_allclose(found, ((outer(X) + V) * V) @ layout(Q).weight, rtol=1e-12, atol=1e-14)
    monkeypatch.setattr(compiling, "_failure", None)
    with pytest.warns(RuntimeWarning, match="NumPy takes over"):
        _wy, square, _count = weighted_columns(V, V, slice(2, 9), True)
    assert_allclose(square, (V**3).sum(axis=0)[2:9], rtol=1e-12, atol=1e-14)
