"""The engine for a filter in which every feature has its own doubt: row after row, in NumPy, at every place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ..core.filter import groups as grouping
from ..core.filter.counted import CountedStep, drifted, find, learned, trust
from ..core.filter.groups import Groups
from ..core.filter.masked import observed_gram
from ..core.filter.model import FilterModel
from ..core.filter.recursion import move_gram
from ..core.filter.state import FilterRecord, FilterState, SmallState
from ..core.linalg import Array, matrix_root
from ..core.place import Place, Tall
from . import counted_products as products
from .engine import Filtered, RowBlock, record_of, refreshed, writable
from .products import add_rank_one, residual, row_products
from .rows_numpy import ObservedRow, observed_rows

Equations = tuple[Array, Array, float]
"""The normal equations of a sample: C_ΩᵀC_Ω, C_Ωᵀy_Ω and ‖y_Ω‖²."""


class CountedRows(NamedTuple):
    """Row after row."""

    place: Place
    model: FilterModel
    given: Tall
    """The caller's C, which stays as it is."""

    def run(self, state: FilterState, blocks: Iterable[RowBlock]) -> Filtered:
        """See ``engine.Engine``."""
        state = writable(self.place, state, self.given)
        m, members, records = self.place.total(len, state.C), None, []
        for rows in blocks:
            for row in observed_rows(self.place, rows, m):
                state, members, record = self.row(state, members, row, m)
                records.append(record)
        return Filtered(state, records)

    def row(
        self, state: FilterState, members: Members | None, row: ObservedRow, m: int
    ) -> tuple[FilterState, Members, FilterRecord]:
        """One sample of m features; C and the matrices of the state are changed in place.

        ``members`` are those of the row before, which are looked up again only where the groups have changed.
        """
        place, model, C = self.place, self.model, state.C
        assert state.groups is not None  # for the type checker: this engine is for nothing else
        y, missing_idx, n = row
        groups = state.groups
        if n < m and is_time(state.small.k):
            missing = place.each(products.missing_of, groups.seen, missing_idx)
            groups = with_room(place, groups, missing, state.unseen, state.small.S, model)
        if members is None or members.group is not groups.group:
            members = members_of(place, groups.group, len(groups.shares) + 1)
        counts = members.sizes
        if n < m:
            counts = counts - place.total(products.sizes_among, groups.group, missing_idx, len(counts))
        small, groups, share = drifted(refreshed(place, state.small, C), groups, model.drift, counts)
        G = observed_gram(place, C, small.G, missing_idx, m - n, m)
        b, yy = place.total(row_products, C, y)
        step = found(place, small, groups, model, C, y, groups.group, missing_idx, (G, b, yy), counts)
        e = place.each(residual, C, step.z, y, missing_idx)
        C, ee = moved(place, C, small.G, step, e, b - G.dot(step.z), members)
        record = record_of(float(ee.sum()), n, step.doubt / (small.lam + step.doubt))
        small, groups, weight = learned(small, groups, model, step, ee)
        groups = groups._replace(seen=place.each(products.counted, groups.seen, missing_idx, share, weight))
        groups = regrouped(place, groups, small, model.r)
        return state._replace(C=C, small=small, groups=groups), members, record


def found(
    place: Place,
    small: SmallState,
    groups: Groups,
    model: FilterModel,
    C: Tall,
    y: Tall,
    group: Tall,
    missing_idx: Tall,
    equations: Equations,
    counts: Array,
) -> CountedStep:
    """``counted.find`` for a sample y, given C, groups and gaps of its features and its normal equations."""
    roots = grouping.stack(small.S, groups)
    weights = trust(small, model, roots, counts, groups.n_levels)
    G, b, yy = heard(place, C, y, group, missing_idx, equations, weights)
    return find(small, model, roots, G, b, yy, counts, weights)


def heard(
    place: Place, C: Tall, y: Tall, group: Tall, missing_idx: Tall, equations: Equations, weights: Array
) -> Equations:
    """Normal equations in which the features of each group have these weights, given those with weights of 1."""
    if weights.min() == 1.0:
        return equations
    less = place.total(products.unheard, C, y, group, missing_idx, weights)
    return equations[0] - less[0], equations[1] - less[1], equations[2] - less[2]


class Members(NamedTuple):
    """Which features are in which group."""

    group: Tall
    """The numbers of the features' groups."""
    sizes: Array
    """How many features each group has."""
    largest: int
    """The number of the group that has most."""
    beside: Tall
    """The indices of the features of all others."""


def members_of(place: Place, group: Tall, n_groups: int) -> Members:
    """From the numbers of the features' groups."""
    sizes = place.total(products.group_sizes, group, n_groups)
    largest = int(sizes.argmax())
    return Members(group, sizes, largest, place.each(products.outside, group, largest))


def moved(
    place: Place, C: Tall, G: Array, step: CountedStep, e: Tall, h: Array, members: Members
) -> tuple[Tall, Array]:
    """C once every feature has moved by its residual times the gain of its group, and Σ e_i² per group; h = Σ c_i e_i.

    The largest group moves as all features of a shared covariance do, and the others one by one. C and G = CᵀC change
    in place.
    """
    largest, n_groups = members.largest, len(members.sizes)
    gain, ee, all_squares = step.gains[largest], np.zeros(n_groups), place.total(products.squares, e)
    if members.sizes[largest] == members.sizes.sum():
        ee[largest] = all_squares
        move_gram(G, h, all_squares, gain)
        return place.each(add_rank_one, C, e, gain), ee
    idx, *of, rows, moves = place.each(products.apart, C, e, members.group, members.beside, step.gains)
    h_apart, M, ee = place.total(products.sums_apart, *of, rows, moves, n_groups)
    ee[largest] = max(all_squares - float(ee.sum()), 0.0)
    move_gram(G, h - h_apart, ee[largest], gain)
    G += M + M.T
    C = place.each(add_rank_one, C, e, gain)  # also the others, whose rows are then set to what they are to be
    return place.each(products.moved_apart, C, idx, rows, moves), ee


def is_time(k: int) -> bool:
    """Whether groups are looked at before or after sample k."""
    return k <= grouping.EVERY_ROW or k % grouping.EVERY == 0


def with_room(place: Place, groups: Groups, missing: Tall, unseen: Tall | None, S: Array, model: FilterModel) -> Groups:
    """The groups once young features that miss this sample have one of their own, where there is room for all of them.

    Until now such a feature had the history of its group; from here on it has another one. If there is too little room,
    features of their own that are no longer young give theirs up.
    """
    wanting = place.each(products.wanting_own, groups.seen, groups.group, missing, groups.n_levels, model.r)
    if unseen is not None:
        wanting = place.each(products.not_unseen, wanting, unseen)
    wanted = place.total(np.count_nonzero, wanting)
    if wanted == 0:
        return groups
    features = np.flatnonzero(place.get(wanting, 0))
    seen, group = place.get(groups.seen, 0), place.get(groups.group, 0)
    most = grouping.room(len(seen), model.q)
    taken = len(groups.shares) - groups.n_levels
    if taken and wanted > most - taken:
        group, groups = grouping.releveled(seen, groups._replace(group=group), S, model.r, mature_too=True)
        groups = groups._replace(group=place.put(group, 0))
        taken = len(groups.shares) - groups.n_levels
    if wanted > most - taken:
        return groups
    roots = grouping.stack(S, groups)[group[features]]
    group, groups = grouping.with_own(group, groups, features, roots)
    return groups._replace(group=place.put(group, 0))


def with_newcomers(place: Place, groups: Groups, new: Tall, small: SmallState, model: FilterModel) -> Groups:
    """The groups once features that have their first value now have one of their own, where there is room.

    ``new`` says which (m, boolean). Nothing is known of them but the prior; and their mean, which is counted from the
    first value, is off by as much as a value is from its mean.
    """
    features = np.flatnonzero(place.get(new, 0))
    taken = len(groups.shares) - groups.n_levels
    if len(features) == 0 or len(features) > grouping.room(place.total(len, groups.seen), model.q) - taken:
        return groups
    V0 = groups.prior @ groups.prior.T
    if model.has_mean:
        V0[-1, -1] = np.trace(V0[:-1, :-1]) + small.lam
    roots = np.repeat(matrix_root(V0)[None], len(features), axis=0)
    group, groups = grouping.with_own(place.get(groups.group, 0), groups, features, roots)
    return groups._replace(group=place.put(group, 0))


def regrouped(place: Place, groups: Groups, small: SmallState, r: int) -> Groups:
    """The groups with levels chosen anew, if it is time."""
    if not is_time(small.k):
        return groups
    group = place.get(groups.group, 0)
    group, groups = grouping.releveled(place.get(groups.seen, 0), groups._replace(group=group), small.S, r)
    return groups._replace(group=place.put(group, 0))
