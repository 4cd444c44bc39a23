"""What the filter with one doubt per feature does to arrays with a feature axis: plain functions (see ``products``).

``group`` (m) are the numbers of the features' groups; the first ``n_levels`` + 1 hold many features, the others one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import blas

from ..core.filter.groups import chosen_levels, is_young
from ..core.linalg import Array, SparseRows

# ------------------------------------------------------------------ sums over the features


def group_sizes(group: Array, missing_idx: Array, n_groups: int) -> Array:
    """How many observed features each group has."""
    sizes = np.bincount(group, minlength=n_groups)
    if len(missing_idx):
        sizes = sizes - np.bincount(group[missing_idx], minlength=n_groups)
    return sizes.astype(np.float64)


def group_squares(e: Array, group: Array, n_groups: int) -> Array:
    """Σ e_i² of every group."""
    if n_groups == 1:
        return np.array([e @ e], dtype=np.float64)
    return np.bincount(group, weights=e * e, minlength=n_groups)


def group_products(C: Array, W: Array) -> Array:
    """Σ c_i e_i of the groups with many features, whose residuals are the columns of W (groups × q)."""
    return (W.T @ C).astype(np.float64, copy=False)


def own_gram_change(C: Array, e: Array, group: Array, n_levels: int, gains: Array) -> Array:
    """By how much the features of their own change CᵀC beyond Σ e_i² g gᵀ: Σ c_i e_i g_iᵀ and its transpose."""
    alone = np.flatnonzero(group > n_levels)
    half = (C[alone] * e[alone, None]).T @ gains[group[alone]]
    return np.asarray(half + half.T, dtype=np.float64)


def n_beside(seen: Array, n: float) -> int:
    """How many features belong to another level than that of the features seen in all of n samples."""
    return int(np.count_nonzero(chosen_levels(seen, n)))


# ------------------------------------------------------------------ feature by feature


def columns(e: Array, group: Array, many: Array) -> Array:
    """e_i in the column of the feature's group, one column for each of the groups ``many``, zeros elsewhere."""
    W = np.empty((len(e), len(many)), e.dtype)
    for column, number in enumerate(many):
        np.multiply(e, group == number, out=W[:, column])
    return W


def moved(C: Array, e: Array, group: Array, n_levels: int, many: Array, W: Array, gains: Array) -> Array:
    """c_i ← c_i + e_i g in place, g the gain of the feature's group; the others as in ``counted_rows.Residuals``."""
    gains = gains.astype(C.dtype, copy=False)
    if len(C) and len(many):
        gemm = blas.sgemm if C.dtype == np.float32 else blas.dgemm
        gemm(1.0, gains[many].T, W.T, beta=1.0, c=C.T, overwrite_c=1)  # without a temporary of C's size
    if len(gains) > n_levels + 1:
        alone = np.flatnonzero(group > n_levels)
        C[alone] += e[alone, None] * gains[group[alone]]
    return C


def counted(seen: Array, missing_idx: Array, share: float, weight: float) -> Array:
    """``seen`` one sample later: what is left of it, and ``weight`` more where there was a value."""
    seen = seen * share + weight
    seen[missing_idx] -= weight
    return seen


def missing_of(seen: Array, missing_idx: Array) -> Array:
    """Which features miss a sample (m, boolean), given their indices."""
    missing = np.zeros(len(seen), dtype=bool)
    missing[missing_idx] = True
    return missing


def missing_beside(seen: Array, observed: Array) -> Array:
    """The same, given the indices of those that were observed."""
    missing = np.ones(len(seen), dtype=bool)
    missing[observed] = False
    return missing


def wanting_own(seen: Array, group: Array, missing: Array, n_levels: int, r: int) -> Array:
    """Which features miss a sample, are young, and share a group (m, boolean)."""
    wanting: Array = missing & is_young(seen, r) & (group <= n_levels)
    return wanting


def not_unseen(wanting: Array, unseen: Array) -> Array:
    """Without the features that have had no value at all."""
    return wanting & ~unseen


def taken(values: Array, idx: Array) -> Array:
    """The values of some features."""
    return values[idx]


def scattered(C: Array, idx: Array, rows: Array, *how: Any) -> Array:
    """The rows ``idx`` of C, given as ``rows``, moved as in :func:`moved`; C changes in place."""
    C[idx] = moved(rows, *how)
    return C


def counted_at(seen: Array, idx: Array, share: float, weight: float) -> Array:
    """As :func:`counted`, in place, for a sample in which the features ``idx`` were observed."""
    if share < 1.0:
        seen *= share
    seen[idx] += weight
    return seen


def new_in_row(unseen: Array, Y: SparseRows, k: int) -> Array:
    """Which features have their first value in row k (m, boolean)."""
    new = np.zeros(len(unseen), dtype=bool)
    idx = Y.indices[Y.indptr[k] : Y.indptr[k + 1]]
    new[idx] = unseen[idx]
    return new


def first_in_row(unseen: Array, Y: Array, j: int) -> Array:
    """The same for row j of dense rows."""
    first: Array = unseen & ~np.isnan(Y[j])
    return first
