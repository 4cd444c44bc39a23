"""The few dense operations that are worth calling BLAS and LAPACK for directly."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack
from scipy.sparse import issparse

Array = NDArray[Any]
SparseRows = Any
"""A scipy.sparse CSR array whose stored entries are the observed ones."""


def is_sparse(X: Any) -> bool:
    """Whether X is a scipy.sparse container."""
    return bool(issparse(X))


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
    return L if d.min() ** 2 > rcond * (d @ d) else None


def cholesky_solve(L: Array, b: Array) -> Array:
    """Solve LLᵀ x = b."""
    x: Array = lapack.dpotrs(L, b, lower=1)[0]
    return x


def triangular_solve(L: Array, B: Array, *, trans: bool = False) -> Array:
    """Solve L X = B, or Lᵀ X = B."""
    X: Array = lapack.dtrtrs(L, B, lower=1, trans=int(trans))[0]
    return X


def triangular_inverse(L: Array) -> Array:
    """L⁻¹, lower like L."""
    X: Array = lapack.dtrtri(L, lower=1)[0]
    return X
