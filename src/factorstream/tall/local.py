"""Tall products on this machine, by BLAS. Everything that touches a dimension of length m is here.

Another home for the data (a GPU, a cluster of row shards) is another file with the same functions.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas

from ..core.linalg import Array, rank_one
from ..core.masked import gram, observed_gram

__all__ = ["add_rank_one", "combine", "cross", "gram", "observed_gram", "residual", "self_products"]


def cross(C: Array, Y: Array) -> Array:
    """K = CᵀYᵀ (q × B)."""
    return (C.T @ Y.T).astype(np.float64, copy=False)


def self_products(Y: Array) -> Array:
    """N = YYᵀ (B × B)."""
    return (Y @ Y.T).astype(np.float64, copy=False)


def combine(C: Array, A: Array, Y: Array, D: Array) -> Array:
    """C₀A + YᵀD (m × q) as a new array; BLAS adds the second product to the first without a temporary."""
    gemm = blas.sgemm if C.dtype == np.float32 else blas.dgemm
    A, D = A.astype(C.dtype, copy=False), D.astype(C.dtype, copy=False)
    out: Array = gemm(1.0, D.T, Y.T, trans_b=1, beta=1.0, c=gemm(1.0, A.T, C.T), overwrite_c=1)
    return out.T


def residual(C: Array, x: Array, y: Array, missing: Array) -> Array:
    """e = y − Cx over the observed entries, zero at the missing ones."""
    e: Array = y - C @ x.astype(C.dtype, copy=False)
    e[missing] = 0.0
    return e


def add_rank_one(C: Array, e: Array, g: Array) -> None:
    """C ← C + e gᵀ in place."""
    rank_one(C, e, g)
