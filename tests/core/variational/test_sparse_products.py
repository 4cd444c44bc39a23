"""Products of sparse rows against dense ones, and sweeps by compiled loops against those by SciPy."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from factorstream.core.linalg import rows_at, with_values
from factorstream.core.variational import sparse_products
from factorstream.core.variational.fit import FitOptions, fit, sweep_rules
from factorstream.core.variational.freedom import spent_parameters
from factorstream.core.variational.observed import Observations
from factorstream.core.variational.sparse_products import (
    add_products,
    add_transposed,
    column_counts,
    column_squares,
    entry_products,
    less_means,
    times,
    weighted,
)
from factorstream.core.variational.sweep import sweep
from factorstream.cores import compiling, limited, pieces


@pytest.fixture(params=["0", "1"], ids=["SciPy", "loops"])
def compiled(request, monkeypatch):
    if request.param == "1":
        pytest.importorskip("numba")
    monkeypatch.setenv("FACTORSTREAM_COMPILED", request.param)


@pytest.fixture
def small_lots(monkeypatch):
    """Several lots of columns, several parts of the rows and several blocks of entries."""
    monkeypatch.setattr(sparse_products, "LOT", 64)
    monkeypatch.setattr(sparse_products, "ENTRIES", 50)
    monkeypatch.setattr(import_module("factorstream.cores.pieces"), "PIECE", 200.0)


def stored(rng, n, m, share=0.4, index=np.int64):
    """Rows of which some are empty, columns too, and one row is complete."""
    W = np.where(rng.random((n, m)) < share, rng.uniform(0.3, 1.0, (n, m)), 0.0)
    W[1::4], W[:, 2::5] = 0.0, 0.0
    W[3::7] = 1.0
    W = sparse.csr_array(W)
    W.indices, W.indptr = W.indices.astype(index), W.indptr.astype(index)
    return W


SHAPES = [(0, 5), (1, 1), (3, 40), (60, 7), (50, 45)]


@pytest.mark.usefixtures("compiled", "small_lots")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_products_are_those_of_dense_rows(shape, index, rng):
    n, m = shape
    W = stored(rng, n, m, index=index)
    Y = with_values(W, rng.normal(size=W.nnz))
    dense, values = W.toarray(), Y.toarray()
    M, Z, X, C = (rng.normal(size=s) for s in ((m, 9), (n, 9), (n, 4), (m, 4)))
    assert_allclose(times(W, M), dense @ M, atol=1e-12)
    S, H = rng.normal(size=(m, 9)), rng.normal(size=(m, 4))
    want = S + dense.T @ Z, H + values.T @ X
    add_products(W, Y, S, Z, H, X)
    assert_allclose(S, want[0], atol=1e-12)
    assert_allclose(H, want[1], atol=1e-12)
    row, column = np.repeat(np.arange(n), np.diff(W.indptr)), W.indices
    assert_allclose(entry_products(W, X, C), (X @ C.T)[row, column], atol=1e-12)
    assert_array_equal(column_counts(W), (dense != 0).sum(axis=0))
    assert_allclose(column_squares(Y), (values**2).sum(axis=0), atol=1e-12)
    a, b = rng.normal(size=m), rng.normal(size=n)
    assert_allclose(less_means(Y, a, b).data, (values - a - b[:, None])[row, column], atol=1e-12)
    assert_allclose(weighted(W, Y).toarray(), dense * values)


@pytest.mark.usefixtures("compiled", "small_lots")
def test_entries_in_any_order_and_in_different_places(rng):
    W = stored(rng, 30, 20)
    mixed = W.copy()
    for k in range(30):
        some = slice(W.indptr[k], W.indptr[k + 1])
        order = rng.permutation(some.stop - some.start)
        mixed.indices[some], mixed.data[some] = W.indices[some][order], W.data[some][order]
    mixed.has_sorted_indices = False
    M, Z, S = rng.normal(size=(20, 6)), rng.normal(size=(30, 6)), np.zeros((20, 6))
    assert_allclose(times(mixed, M), W @ M, atol=1e-12)
    add_transposed(mixed, (S, mixed.data, Z))
    assert_allclose(S, W.T @ Z, atol=1e-12)
    other, T, H = stored(rng, 30, 20, 0.1), np.zeros((20, 6)), np.zeros((20, 6))
    add_products(W, other, T, Z, H, Z)
    assert_allclose(T, W.T @ Z, atol=1e-12)
    assert_allclose(H, other.T @ Z, atol=1e-12)
    assert_allclose(weighted(W, other).toarray(), (W * other).toarray())


@pytest.mark.parametrize("rows", [slice(0, 9), slice(3, 7), slice(4, 4), slice(6, 30), slice(0, 0)])
def test_rows_next_to_each_other_share_memory(rows, rng):
    W = stored(rng, 9, 6)
    some = rows_at(W, rows)
    assert some.shape == W[rows].shape
    assert_array_equal(some.toarray(), W.toarray()[rows])
    assert some.nnz == 0 or np.shares_memory(some.data, W.data)
    one = rows_at(stored(rng, 50, 6), slice(3, 4))  # of so small a part SciPy would make a copy
    assert one.data.base is not None


@pytest.mark.usefixtures("small_lots")
def test_the_same_bits_whatever_the_number_of_threads(monkeypatch, rng):
    pytest.importorskip("numba")
    monkeypatch.setenv("FACTORSTREAM_COMPILED", "1")
    W, M, Z, X = stored(rng, 200, 60), rng.normal(size=(60, 9)), rng.normal(size=(200, 9)), rng.normal(size=(200, 4))
    found = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("FACTORSTREAM_THREADS", threads)
        S, H = np.zeros((60, 9)), np.zeros((60, 4))
        with limited():
            assert len(pieces(200, 9.0 * W.nnz)) > 5
            add_products(W, W, S, Z, H, X)
            found.append((times(W, M), S, H, entry_products(W, Z, M)))
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            assert_array_equal(a, b)


def test_where_the_compiler_fails_scipy_takes_over(monkeypatch, rng):
    loops = pytest.importorskip("factorstream.core.variational.compiled_sparse")

    def fails(*_):
        raise OSError("no space left")

    monkeypatch.setenv("FACTORSTREAM_COMPILED", "1")
    for name in ("add_rows", "place_entries", "entry_products"):
        monkeypatch.setattr(loops, name, fails)
    W, M, Z, S = stored(rng, 20, 9), rng.normal(size=(9, 4)), rng.normal(size=(20, 4)), np.zeros((9, 4))
    for ask in (
        lambda: assert_allclose(times(W, M), W @ M),
        lambda: add_transposed(W, (S, W.data, Z)),
        lambda: assert_allclose(entry_products(W, Z, M), (Z @ M.T)[W.nonzero()]),
    ):
        monkeypatch.setattr(compiling, "_failure", None)
        with pytest.warns(RuntimeWarning, match="NumPy takes over"):
            ask()
    assert_allclose(S, W.T @ Z)


@pytest.mark.usefixtures("small_lots")
@pytest.mark.parametrize("weights", [False, True], ids=["plain", "weights"])
@pytest.mark.parametrize("row_mean", [False, True], ids=["", "row means"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(90, 40), (30, 120)], ids=str)
def test_sweeps_by_loops_are_those_by_scipy(shape, dtype, row_mean, weights, monkeypatch, rng):
    pytest.importorskip("numba")
    W = stored(rng, *shape)
    if not weights:
        W = with_values(W, np.ones(W.nnz))
    noise = rng.normal(size=shape)
    values = 3.0 + rng.normal(size=(shape[0], 3)) @ rng.normal(size=(3, shape[1])) + 0.3 * noise
    row = np.repeat(np.arange(shape[0]), np.diff(W.indptr))
    Y = with_values(W, values[row, W.indices].astype(dtype).astype(np.float64))
    data = Observations(Y, W, *shape, sparse=True, plain=not weights)
    options = FitOptions(r=3, row_mean=row_mean, max_sweeps=1, prune=False)
    monkeypatch.setenv("FACTORSTREAM_COMPILED", "0")
    begin = fit(data._replace(plain=False), options).factors
    rules = sweep_rules(options, begin, np.ones(shape[1]))
    found = []
    for compiled in ("0", "1"):
        monkeypatch.setenv("FACTORSTREAM_COMPILED", compiled)
        factors = begin
        for _ in range(3):
            swept = sweep(data, W, factors, rules)
            factors = swept.factors
        found.append((*factors.post, factors.s2, swept.bound, swept.moment, spent_parameters(data, W, factors)))
    for by_scipy, by_loops in zip(*found, strict=True):
        assert_allclose(by_loops, by_scipy, rtol=1e-10, atol=1e-10 * np.abs(by_scipy).max())
