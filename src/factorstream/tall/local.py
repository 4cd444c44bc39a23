"""Tall products on this machine, by BLAS. Everything that touches a dimension of length m is here.

Another home for the data (a GPU, a cluster of row shards) is another file with the same functions.
"""

from __future__ import annotations

from math import isnan

import numpy as np
from scipy.linalg import blas

from ..core.linalg import Array, gram, piece
from ..core.filter.masked import observed_gram

__all__ = [
    "add_rank_one",
    "clear_gaps",
    "combine",
    "cross",
    "gram",
    "has_gaps",
    "observed_gram",
    "residual",
    "self_products",
    "square_sum",
]


def cross(C: Array, Y: Array) -> Array:
    """K = CᵀYᵀ (q × B); BLAS is faster at its transpose, which has the long rows of Y on the left."""
    m = len(C)
    step = piece(m, len(Y) * C.shape[1]) if len(Y) > 1 else max(m, 1)
    K = Y @ C if step >= m else Y[:, :step] @ C[:step]
    for start in range(step, m, step):
        K += Y[:, start : start + step] @ C[start : start + step]
    return K.T.astype(np.float64, copy=False)


def self_products(Y: Array) -> Array:
    """N = YYᵀ (B × B)."""
    return (Y @ Y.T).astype(np.float64, copy=False)


def combine(C: Array, A: Array, Y: Array, D: Array) -> Array:
    """C₀A + YᵀD (m × q) as a new array; BLAS adds the second product to the first without a temporary."""
    gemm = blas.sgemm if C.dtype == np.float32 else blas.dgemm
    A, D = A.astype(C.dtype, copy=False), D.astype(C.dtype, copy=False)
    out = np.empty(C.shape, C.dtype)
    step = piece(len(C), D.size)
    for start in range(0, len(C), step):
        some = slice(start, start + step)
        gemm(1.0, A.T, C[some].T, 0.0, out[some].T, 0, 0, 1)
        gemm(1.0, D.T, Y[:, some].T, 1.0, out[some].T, 0, 1, 1)
    return out


def square_sum(Y: Array) -> float:
    """The sum of all squares, the quickest pass over the numbers: NaN if one of them is, and infinite likewise."""
    if not (Y.flags.c_contiguous or Y.flags.f_contiguous):
        return sum(square_sum(np.ascontiguousarray(row)) for row in Y)
    values = Y.ravel(order="K")
    if values.size == 0:
        return 0.0
    dot = blas.ddot if Y.dtype == np.float64 else blas.sdot  # says nothing about an overflow, unlike that of NumPy
    return float(dot(values, values))


def has_gaps(Y: Array) -> bool:
    """Whether there is a NaN in Y."""
    return isnan(square_sum(Y))


def clear_gaps(Y: Array) -> Array:
    """Put zeros in place of NaN in Y (C-contiguous), and return where they were (boolean).

    By index: a copy under a random mask takes three times as long, since no processor can foresee its branches.
    """
    missing = np.isnan(Y)
    Y.reshape(-1)[np.flatnonzero(missing)] = 0.0
    return missing


def residual(C: Array, x: Array, y: Array, gone: Array) -> Array:
    """e = y − Cx over the observed entries, zero at the missing ones, whose indices are ``gone``."""
    e: Array = y - C @ x.astype(C.dtype, copy=False)
    e[gone] = 0.0
    return e


def add_rank_one(C: Array, e: Array, g: Array) -> None:
    """C ← C + e gᵀ in place; a matrix product takes two thirds of the time of the rank-one update of BLAS here."""
    gemm = blas.sgemm if C.dtype == np.float32 else blas.dgemm
    g = g.astype(C.dtype, copy=False)
    gemm(1.0, g[:, None], e[:, None], trans_b=1, beta=1.0, c=C.T, overwrite_c=1)
