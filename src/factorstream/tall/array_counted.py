"""The functions of ``counted_products`` for arrays of other libraries than NumPy (see ``array_products``)."""

from __future__ import annotations

from ..arrays import Array, count_by_number, namespace, picked, set_rows
from ..core.filter.groups import LOWEST, STEPS_PER_HALF
from . import counted_products as products
from .array_products import Some, double, instead_of, there

# ------------------------------------------------------------------ sums over the features


@instead_of(products.group_sizes)
def group_sizes(group: Array, n_groups: int) -> Array:
    """How many features each group has."""
    return count_by_number(group, n_groups)


@instead_of(products.sizes_among)
def sizes_among(group: Array, some: Some, n_groups: int) -> Array:
    """How many of some features each group has."""
    return count_by_number(picked(group, some.idx), n_groups)


@instead_of(products.squares)
def squares(e: Array) -> Array:
    """Σ e_i²."""
    xp = namespace(e)
    return xp.sum(e * e, dtype=xp.float64)


@instead_of(products.sums_apart)
def sums_apart(e: Array, group: Array, rows: Array, moves: Array, n_groups: int) -> tuple[Array, Array, Array]:
    """Σ c_i e_i (q), M (q × q), and Σ e_i² by group."""
    e, rows, moves = double(e), double(rows), double(moves)
    M = (rows + 0.5 * moves).T @ moves
    return (e[None, :] @ rows)[0, :], M, count_by_number(group, n_groups, e * e)


@instead_of(products.unheard)
def unheard(C: Array, y: Array, group: Array, gaps: Some, weights: Array) -> tuple[Array, Array, Array]:
    """What is missing from C_ΩᵀC_Ω, C_Ωᵀy_Ω and ‖y_Ω‖² where the features of each group have weights of at most 1."""
    xp = namespace(C)
    less = 1.0 - picked(weights, group)
    if isinstance(gaps, Some):
        less = xp.where(gaps.mask, 0.0, less)
    idx = xp.nonzero(less)[0]
    rows, values, w = double(picked(C, idx, axis=0)), double(picked(y, idx)), picked(less, idx)
    weighted = rows.T * w[None, :]
    return weighted @ rows, (weighted @ values[:, None])[:, 0], xp.sum(w * values * values)


@instead_of(products.n_misplaced)
def n_misplaced(seen: Array, n: float, group: Array, number: Array) -> Array:
    """How many features are in another group than that of the level that they belong to after n samples."""
    return namespace(seen).count_nonzero(picked(number, levels(seen, n)) != group)


# ------------------------------------------------------------------ feature by feature


@instead_of(products.levels)
def levels(seen: Array, n: float) -> Array:
    """The level that each feature belongs to after n samples."""
    xp = namespace(seen)
    share = xp.minimum(xp.maximum(seen / n, 2.0 ** (-LOWEST / STEPS_PER_HALF)), 1.0)
    return xp.astype(xp.round(-STEPS_PER_HALF * xp.log2(share)), xp.int64)


@instead_of(products.numbered)
def numbered(level: Array, number: Array) -> Array:
    """The group of each feature's level, given the numbers of the levels' groups."""
    return picked(number, level)


@instead_of(products.outside)
def outside(group: Array, number: int) -> Some:
    """The features that are not in this group."""
    mask = group != number
    return Some(mask, namespace(group).nonzero(mask)[0])


@instead_of(products.apart)
def apart(C: Array, e: Array, group: Array, beside: Some, gains: Array) -> tuple[Some, Array, Array, Array, Array]:
    """The features ``beside``: which, e_i, groups, rows of C, and by what these move. Also those without a residual."""
    idx = beside.idx
    some, mine = picked(e, idx), picked(group, idx)
    rows, moves = picked(C, idx, axis=0), some[:, None] * picked(there(gains, C), mine, axis=0)
    return beside, some, mine, rows, moves


@instead_of(products.moved_apart)
def moved_apart(C: Array, beside: Some, rows: Array, moves: Array) -> Array:
    """The rows of C that were ``rows``, once they have moved; C changes in place."""
    return set_rows(C, *beside, rows + moves)


@instead_of(products.counted_in_place)
@instead_of(products.counted)
def counted(seen: Array, gaps: Some | None, share: float, weight: float) -> Array:
    """``seen`` one sample later: what is left of it, and ``weight`` more where there was a value."""
    left = seen * share if share < 1.0 else seen
    return namespace(seen).where(gaps.mask, left, left + weight) if isinstance(gaps, Some) else left + weight


@instead_of(products.missing_of)
def missing_of(seen: Array, gaps: Some) -> Array:
    """Which features miss a sample (m, boolean)."""
    return gaps.mask
