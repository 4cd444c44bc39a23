"""What the filter with one doubt per feature does to arrays with a feature axis: plain functions (see ``products``).

``group`` (m) are the numbers of the features' groups; those above ``n_levels`` hold one feature each.
"""

from __future__ import annotations

import numpy as np

from ..arrays import namespace
from ..core.filter.groups import CHOOSING, IN_ALL, chosen_levels, is_young, sizes_of
from ..core.linalg import Array, SparseRows
from ..cores import MULTIPLICATION, PASS, each_piece, sum_of_pieces

# ------------------------------------------------------------------ sums over the features


def group_sizes(group: Array, n_groups: int) -> Array:
    """How many features each group has."""
    return sizes_of(group, n_groups).astype(np.float64)


def sizes_among(group: Array, idx: Array, n_groups: int) -> Array:
    """How many of the features ``idx`` each group has."""
    return group_sizes(group[idx], n_groups)


def squares(e: Array) -> float:
    """Σ e_i²."""
    return float(e.dot(e))


def sums_apart(e: Array, group: Array, rows: Array, moves: Array, n_groups: int) -> tuple[Array, Array, Array]:
    """Of features beside the largest group, as :func:`apart` has them: Σ c_i e_i (q), M (q × q), and Σ e_i² by group.

    CᵀC changes by M + Mᵀ as they move: for C ← C + P it is CᵀP + PᵀC + PᵀP, and M = (C + P/2)ᵀP.
    """
    e, rows, moves = (part.astype(np.float64, copy=False) for part in (e, rows, moves))

    def of(part: slice) -> Array:
        return (rows[part] + 0.5 * moves[part]).T @ moves[part]

    M = sum_of_pieces(of, len(rows), rows.size * (2 * PASS + MULTIPLICATION * rows.shape[1]))
    squares_of = np.bincount(group, weights=e * e, minlength=n_groups)
    return e @ rows, M, squares_of.astype(np.float64, copy=False)  # bincount of nothing is a vector of integers


def unheard(C: Array, y: Array, group: Array, missing_idx: Array, weights: Array) -> tuple[Array, Array, float]:
    """What is missing from C_ΩᵀC_Ω, C_Ωᵀy_Ω and ‖y_Ω‖² where the features of each group have weights of at most 1."""
    less = 1.0 - weights[group]
    less[missing_idx] = 0.0
    idx = np.flatnonzero(less)

    def part(some: slice) -> tuple[Array, Array, float]:
        of = idx[some]
        rows, values, w = C[of].astype(np.float64, copy=False), y[of].astype(np.float64, copy=False), less[of]
        weighted = rows.T * w
        return weighted @ rows, weighted @ values, float(w @ values**2)

    cost = len(idx) * C.shape[1] * (2 * PASS + MULTIPLICATION * C.shape[1])
    G, b, yy = sum_of_pieces(part, len(idx), cost)
    return G, b, yy


def n_beside(seen: Array, n: float) -> int:
    """How many features belong to another level than that of the features seen in all of n samples."""
    return int(namespace(seen).count_nonzero(seen < IN_ALL * n))


def n_misplaced(seen: Array, n: float, group: Array, number: Array) -> int:
    """How many features are in another group than that of the level that they belong to after n samples."""

    def misplaced(some: slice) -> int:
        return int(np.count_nonzero(number[chosen_levels(seen[some], n)] != group[some]))

    return int(sum_of_pieces(misplaced, len(seen), CHOOSING * len(seen)))


# ------------------------------------------------------------------ feature by feature


def levels(seen: Array, n: float) -> Array:
    """The level that each feature belongs to after n samples."""
    return np.concatenate(each_piece(lambda some: chosen_levels(seen[some], n), len(seen), CHOOSING * len(seen)))


def numbered(level: Array, number: Array) -> Array:
    """The group of each feature's level, given the numbers of the levels' groups."""
    return number[level]


def outside(group: Array, number: int) -> Array:
    """The indices of the features that are not in this group."""
    return np.flatnonzero(group != number)


def apart(C: Array, e: Array, group: Array, idx: Array, gains: Array) -> tuple[Array, Array, Array, Array, Array]:
    """Those of the features ``idx`` that have a residual: indices, e_i, groups, rows of C, and by what these move."""
    some = e[idx]
    moving = np.flatnonzero(some)
    idx, some = idx[moving], some[moving]
    mine = group[idx]
    gains, rows = gains.astype(C.dtype, copy=False), np.empty((len(idx), C.shape[1]), C.dtype)
    moves = np.empty_like(rows)

    def fill(part: slice) -> None:
        C.take(idx[part], axis=0, out=rows[part], mode="clip")
        np.multiply(some[part, None], gains[mine[part]], out=moves[part])

    each_piece(fill, len(idx), 3 * PASS * rows.size)
    return idx, some, mine, rows, moves


def moved_apart(C: Array, idx: Array, rows: Array, moves: Array) -> Array:
    """The rows ``idx`` of C, which were ``rows``, once they have moved; C changes in place."""

    def fill(part: slice) -> None:
        C[idx[part]] = rows[part] + moves[part]

    each_piece(fill, len(idx), 3 * PASS * rows.size)
    return C


def counted(seen: Array, missing_idx: Array, share: float, weight: float) -> Array:
    """``seen`` one sample later: what is left of it, and ``weight`` more where there was a value."""
    seen = seen * share + weight
    seen[missing_idx] -= weight
    return seen


def counted_in_place(seen: Array, missing_idx: Array, share: float, weight: float) -> Array:
    """The same in place."""
    if share < 1.0:
        seen *= share
    seen += weight
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


def renumbered(group: Array, numbers: Array) -> Array:
    """The positions of the groups among these ``numbers``, which are in order."""
    return np.searchsorted(numbers, group)


def scattered(C: Array, idx: Array, rows: Array) -> Array:
    """C with these rows ``idx``, in place."""
    C[idx] = rows
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
    first: Array = unseen & ~namespace(Y).isnan(Y[j, :])
    return first
