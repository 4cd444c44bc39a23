"""The start of ``start`` for sparse rows, whose gaps are not written out: the same passes, cost by stored entries.

Rows whose gaps are filled with the last fit are a sparse matrix plus one of low rank,

    Z = D + X B + 1 cᵀ        D = F - X B - b at the observed entries, c the change of the mean

and the leading singular vectors of that come from products with it, which cost O(stored entries + (n + m) r).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator, svds

from ..linalg import rows_at
from ..place import HERE, Place, Tall
from .noise.law import NoiseLaw
from .observed import Observations
from .packed import Array
from .posterior import blocks
from .row_mean import TwoWay, without_means
from .sparse_products import ENTRIES, entry_products, less_means
from .start import FIRST_NOISE, Spectrum, noise_after, shrunk, spectral_start, without_rounding

KRYLOV = 20
"""Rows or features up to which the gaps are written out: ARPACK's iteration works in a space of at least 20 vectors,
which would be all of them. Speed only."""


class _Filled(NamedTuple):
    """Z = D + X B + 1 cᵀ."""

    D: Tall  # (n, m) sparse
    X: Array  # (n, r)
    B: Tall  # (r, m)
    c: Tall  # (m,)


def sparse_start(
    data: Observations,
    r: int,
    noise: NoiseLaw,
    max_passes: int = 30,
    tol: float = 1e-3,
    place: Place = HERE,
    means: TwoWay | None = None,
) -> Spectrum:
    """Fill-and-shrink passes over sparse rows, centred on the observed means; see ``spectral_start``.

    ``means`` of rows and columns are taken off before. Beside the rows there is one more array with a value for each
    stored entry.
    """
    n, m = data.n, data.m
    D = data.Y if means is None else without_means(data, means, place).Y
    if min(n, m) <= max(KRYLOV, r + 1):
        F, W = place.each(_dense, D), place.each(_dense, data.W)
        return spectral_start(F, Observations(F, W, n, m), r, noise, max_passes, tol, place=place)
    total, N = place.total(_square_and_count, D)
    s2, k = FIRST_NOISE * total / max(N, 1.0), 0
    X, (B, b) = np.zeros((n, 0)), place.each(_nothing, data.Y)
    of_columns, of_rows = (None, None) if means is None else (means.a, means.b)
    last = 0.0
    while total > 0.0 and k < max_passes and abs(s2 - last) > tol * last:
        k += 1
        b, c = place.each(_new_mean, b, D, B, X.mean(axis=0))
        U, g, V = _leading(_Filled(D, X, B, c), r, n, m, place)
        g2 = g * g
        shrinkage = shrunk(g2, s2, n, m, r, r)
        X = U[:, : shrinkage.size] * np.sqrt(n)
        B = place.each(_loadings, place.put(V, 0), shrinkage * g[: shrinkage.size] / np.sqrt(n))
        D = None  # before there is another of its size
        D = place.each(_residual, data.Y, X, B, b, of_columns, of_rows)
        square, _ = place.total(_square_and_count, D)
        last, s2 = s2, noise_after(square, total, N, shrinkage.size, n, m)
    return Spectrum(without_rounding(X), place.each(_rows_without_rounding, B), b, s2, None, k)


def _leading(Z: _Filled, r: int, n: int, m: int, place: Place) -> tuple[Array, Array, Array]:
    """Left vectors (n, r), singular values (r,) descending and right vectors (m, r) of Z.

    The vectors of the iteration have all features; they come and go between this process and the place.
    """

    def times(v: Array) -> Array:
        Dv, Bv, cv = place.total(_products, Z.D, Z.B, Z.c, place.put(v.ravel(), 0))
        return np.asarray(Dv + Z.X @ Bv + cv)

    def transposed_times(u: Array) -> Array:
        u = u.ravel()
        return place.get(place.each(_transposed_product, Z.D, Z.B, Z.c, u, Z.X.T @ u, float(u.sum())), 0)

    # Not a vector of ones: the columns are centred, so that it is orthogonal to what is looked for.
    begin = np.random.default_rng(0).standard_normal(min(n, m))
    rows = LinearOperator((n, m), matvec=times, rmatvec=transposed_times, dtype=np.dtype(np.float64))
    U, g, Vt = svds(rows, k=r, v0=begin, solver="arpack")
    order = np.argsort(g)[::-1]
    return U[:, order], np.asarray(g[order], dtype=np.float64), Vt[order].T


def _dense(F: Any) -> Array:
    return np.asarray(F.toarray(), dtype=np.float64)


def _square_and_count(F: Any) -> tuple[float, float]:
    return float(F.data @ F.data), float(F.nnz)


def _nothing(F: Any) -> tuple[Array, Array]:
    """Loadings and a mean before the first pass."""
    return np.zeros((0, F.shape[1])), np.zeros(F.shape[1])


def _new_mean(b: Array, D: Any, B: Array, x: Array) -> tuple[Array, Array]:
    """The mean of the filled rows, and by how much they have to be lowered for it; x is the mean of X."""
    more = np.asarray(D.sum(axis=0)) / D.shape[0] + x @ B
    return b + more, -more


def _products(D: Any, B: Array, c: Array, v: Array) -> tuple[Array, Array, float]:
    return np.asarray(D @ v), B @ v, float(c @ v)


def _transposed_product(D: Any, B: Array, c: Array, u: Array, Xu: Array, total: float) -> Array:
    return np.asarray(D.T @ u + B.T @ Xu + c * total)


def _loadings(V: Array, scale: Array) -> Array:
    return np.ascontiguousarray((V[:, : scale.size] * scale).T)


def _rows_without_rounding(B: Array) -> Array:
    return without_rounding(B.T).T.copy()


def _residual(F: Any, X: Array, B: Array, b: Array, of_columns: Array | None, of_rows: Array | None) -> Any:
    """F less the fit X B + b and less the means, if these are given, at the stored entries."""
    D, C = less_means(F, b if of_columns is None else b + of_columns, of_rows), np.ascontiguousarray(B.T)
    for rows in blocks(F.shape[0], 1 + F.indices.size // max(F.shape[0], 1), ENTRIES):
        some = rows_at(F, rows)
        D.data[F.indptr[rows.start] : F.indptr[rows.stop]] -= entry_products(some, X[rows], C)
    return D
