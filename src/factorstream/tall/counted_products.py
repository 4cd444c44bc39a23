"""What the filter with one doubt per feature does to arrays with a feature axis: plain functions (see ``products``).

``group`` (m) are the numbers of the features' groups; the first ``n_levels`` + 1 hold many features, the others one.
"""

from __future__ import annotations

import numpy as np

from ..core.filter.groups import chosen_levels
from ..core.linalg import Array, SparseRows

# ------------------------------------------------------------------ sums over the features


def group_sizes(group: Array, missing_idx: Array, n_groups: int) -> Array:
    """How many observed features each group has."""
    sizes = np.bincount(group, minlength=n_groups)
    if len(missing_idx):
        sizes = sizes - np.bincount(group[missing_idx], minlength=n_groups)
    return sizes.astype(np.float64)


def group_products(C: Array, e: Array, group: Array, n_levels: int, n_groups: int) -> tuple[Array, Array]:
    """Σ c_i e_i of every group with many features (levels + 1 × q), and Σ e_i² of every group."""
    ee = np.bincount(group, weights=e * e, minlength=n_groups)
    return (by_level(e, group, n_levels).T @ C).astype(np.float64, copy=False), ee


def own_gram_change(C: Array, e: Array, group: Array, n_levels: int, gains: Array) -> Array:
    """By how much the features of their own change CᵀC beyond Σ e_i² g gᵀ: Σ c_i e_i g_iᵀ and its transpose."""
    alone = np.flatnonzero(group > n_levels)
    half = (C[alone] * e[alone, None]).T @ gains[group[alone]]
    return np.asarray(half + half.T, dtype=np.float64)


def n_beside(seen: Array, n: float) -> int:
    """How many features belong to another level than that of the features seen in all of n samples."""
    return int(np.count_nonzero(chosen_levels(seen, n)))


# ------------------------------------------------------------------ feature by feature


def by_level(e: Array, group: Array, n_levels: int) -> Array:
    """e_i in the column of the feature's level, zeros elsewhere (m × levels + 1)."""
    columns = np.zeros((len(e), n_levels + 1), e.dtype)
    if n_levels == 0:
        columns[:, 0] = np.where(group == 0, e, 0.0)
    else:
        many = np.flatnonzero(group <= n_levels)
        columns[many, group[many]] = e[many]
    return columns


def moved(C: Array, e: Array, group: Array, n_levels: int, gains: Array) -> Array:
    """c_i ← c_i + e_i g in place, g the gain of the feature's group."""
    gains = gains.astype(C.dtype, copy=False)
    C += by_level(e, group, n_levels) @ gains[: n_levels + 1]
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


def wanting_own(seen: Array, group: Array, missing: Array, n_levels: int, young_below: float) -> Array:
    """Which features miss a sample, are young, and share a group (m, boolean)."""
    wanting: Array = missing & (seen < young_below) & (group <= n_levels)
    return wanting


def not_unseen(wanting: Array, unseen: Array) -> Array:
    """Without the features that have had no value at all."""
    return wanting & ~unseen


def taken(values: Array, idx: Array) -> Array:
    """The values of some features."""
    return values[idx]


def scattered(C: Array, idx: Array, rows: Array, e: Array, group: Array, n_levels: int, gains: Array) -> Array:
    """The rows ``idx`` of C, given as ``rows``, moved as in :func:`moved`; C changes in place."""
    C[idx] = moved(rows, e, group, n_levels, gains)
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
