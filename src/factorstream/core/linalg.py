"""The few dense operations that are worth calling BLAS and LAPACK for directly."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack
from scipy.sparse import issparse

from ..cores import MULTIPLICATION, PASS, each_piece, pieces, sum_of

Array = NDArray[Any]
SparseRows = Any
"""A scipy.sparse CSR array whose stored entries are the observed ones."""
Rows = Any
"""A dense array, NaN = missing, or sparse rows: whatever has ``shape`` and ``dtype`` and can be sliced by rows."""

SMALL = 10**6
"""Multiplications up to which OpenBLAS takes a product as it is, without copying its factors into tiles first.

A constant of OpenBLAS. Longer sums are quicker in pieces of this size, by a quarter where the factors are narrow
(docs/performance.md); results change by rounding only."""

TILE = 16
"""Columns of a Gram matrix that are made at once: the rest of each tile's rows follows from symmetry.

Two cache lines. Not tuned; results change by rounding only."""


FEW_ENTRIES, MOST_COLUMNS = 20_000, 128
"""Entries of C below which, and columns above which, tiles are not used. Not tuned; speed and rounding only."""


LONG = 1024
"""Entries that are reduced at once where rows are shorter than that. Not tuned; speed only."""


def is_sparse(X: Any) -> bool:
    """Whether X is a scipy.sparse container."""
    return type(X) is not np.ndarray and bool(issparse(X))  # the first is quicker, and almost always enough


def with_values(F: SparseRows, values: Array) -> SparseRows:
    """Sparse rows with the same stored entries, whose numbers they share, and other values."""
    return _assembled(F, values, F.indices, F.indptr)


def _assembled(F: SparseRows, values: Array, indices: Array, indptr: Array) -> SparseRows:
    """Rows with the columns of F that are made of these arrays themselves; SciPy would copy parts of larger ones."""
    out = type(F)((len(indptr) - 1, F.shape[1]), dtype=values.dtype)
    out.data, out.indices, out.indptr = values, indices, indptr
    out.has_sorted_indices = F.has_sorted_indices  # which would be found out anew
    return out


def rows_at(F: Any, rows: slice) -> Any:
    """Some of the rows, next to each other, dense or sparse, without a copy."""
    if not is_sparse(F):
        return F[rows, :]
    low, high, _ = rows.indices(F.shape[0])
    if high - low == F.shape[0]:
        return F
    first, last = (int(end) for end in F.indptr[[low, max(low, high)]])
    return _assembled(F, F.data[first:last], F.indices[first:last], F.indptr[low : max(low, high) + 1] - first)


def piece(length: int, work: int) -> int:
    """How much of a dimension of some length, at ``work`` multiplications per step, a product takes at once."""
    steps = SMALL // max(work, 1)
    return steps if 128 <= steps < length else max(length, 1)


def over_rows(function: np.ufunc, X: Array, initial: float) -> Array:
    """Least or greatest values over the rows of X (m), as ``function`` says.

    Short rows are taken several at a time, as one long row: NumPy is five times as fast at those.
    """
    n, m = X.shape
    if m > n and m > LONG:
        out = np.empty(m, X.dtype)

        def fill(some: slice) -> None:
            function.reduce(X[:, some], axis=0, initial=initial, out=out[some])

        each_piece(fill, m, PASS * X.size)
        return out
    at_once = min(LONG // m, n) if m else 1
    if at_once > 1 and X.flags.c_contiguous:
        whole = n - n % at_once
        X = np.concatenate([function.reduce(X[:whole].reshape(-1, at_once * m)).reshape(-1, m), X[whole:]])
    return np.asarray(function.reduce(X, axis=0, initial=initial))


def _gram_of(C: Array) -> Array:
    C = C.astype(np.float64, copy=False)
    return C.T @ C


def gram(C: Array) -> Array:
    """CᵀC in float64, whatever C is stored in."""
    parts = pieces(len(C), MULTIPLICATION * C.size * C.shape[1])
    if len(parts) > 1:
        return np.asarray(sum_of(_gram_of, [C[some] for some in parts]))
    C = C.astype(np.float64, copy=False)
    n, q = C.shape
    if n * q < FEW_ENTRIES or not TILE < q <= MOST_COLUMNS:
        return C.T @ C
    G = np.empty((q, q))
    rows = piece(n, TILE * q)
    for a in range(0, q, TILE):
        b = a + TILE
        tile = np.matmul(C[:rows, a:b].T, C[:rows, a:], out=G[a:b, a:])
        for start in range(rows, n, rows):
            some = C[start : start + rows]
            tile += some[:, a:b].T @ some[:, a:]
        G[b:, a:b] = tile[:, TILE:].T
    return G


def rank_one(M: Array, u: Array, v: Array, alpha: float = 1.0) -> None:
    """M ← M + α u vᵀ in place, without the temporary that ``np.outer`` would make.

    M must be a contiguous float32 or float64 matrix (rows or columns first). Cost: one pass over M.
    """
    ger = blas.dger if M.dtype == np.float64 else blas.sger
    if M.flags.f_contiguous:
        ger(alpha, u, v, 1, 1, M, 0, 0, 1)
    else:
        ger(alpha, v, u, 1, 1, M.T, 0, 0, 1)


def cholesky(M: Array, rcond: float) -> Array | None:
    """Lower factor L of M = LLᵀ, or None where M is not positive definite to working precision.

    ``rcond`` bounds min(diag L)² / tr(M), a cheap stand-in for 1/cond(M).
    """
    L, info = lapack.dpotrf(M, lower=1)
    if info != 0:
        return None
    d = L.diagonal()
    trace = float(d.dot(d))
    return L if trace < np.inf and np.minimum.reduce(d) ** 2 > rcond * trace else None


def lifted_cholesky(M: Array, lift: float) -> Array:
    """Lower factor of a symmetric M that is positive definite but for rounding: its diagonal is raised until it is.

    By ``lift`` · ε · ‖M‖∞ at first, what rounding is expected to have taken; ten times more each time. With ‖M‖∞
    itself every M is definite, and the last step that is tried lies between 10 and 100 times that: an M that is
    refused is zero or not finite.
    """
    norm = float(np.abs(M).sum(axis=1).max())
    step = lift * float(np.finfo(np.float64).eps) * norm
    while step < 100.0 * norm:
        L = cholesky(M + step * np.eye(len(M)), 0.0)
        if L is not None:
            return L
        step *= 10.0
    raise np.linalg.LinAlgError("A covariance is zero or not finite; look for values that are out of all proportion.")


def cholesky_solve(L: Array, b: Array) -> Array:
    """Solve LLᵀ x = b."""
    x: Array = lapack.dpotrs(L, b, lower=1)[0]
    return x


def triangular_solve(L: Array, B: Array, *, trans: bool = False) -> Array:
    """Solve L X = B, or Lᵀ X = B."""
    X: Array = lapack.dtrtrs(L, B, lower=1, trans=int(trans))[0]
    return X


def solve_with_ones(T: Array, B: Array, *, trans: bool = False) -> Array:
    """Solve (I + T) X = B, or (I + T)ᵀ X = B, for T row by row in memory, with its diagonal and above it ignored."""
    X: Array = blas.dtrsm(1.0, T.T, B.T, side=1, lower=0, trans_a=int(trans), diag=1)
    return X.T


def triangular_inverse(L: Array) -> Array:
    """L⁻¹, lower like L."""
    X: Array = lapack.dtrtri(L, lower=1)[0]
    return X


def matrix_roots(V: Array) -> Array:
    """The same as :func:`matrix_root` for a stack of matrices (K × q × q)."""
    try:
        return np.linalg.cholesky(V)
    except np.linalg.LinAlgError:
        return np.array([matrix_root(each) for each in V]).reshape(V.shape)


def matrix_root(V: Array) -> Array:
    """A square root S of V = SSᵀ for symmetric positive semi-definite V, triangular where V is definite."""
    L = cholesky(V, 0.0)
    if L is None:
        values, vectors = np.linalg.eigh(V)
        L = vectors * np.sqrt(np.maximum(values, 0.0))
    return np.asfortranarray(L)
