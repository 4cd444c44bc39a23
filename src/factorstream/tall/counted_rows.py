"""The engine for a filter in which every feature has its own doubt: row after row, in NumPy, at every place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ..core.filter import groups as grouping
from ..core.filter.coefficients import Coefficients
from ..core.filter.counted import condition, drifted, learned, step_of, trust, weighted_root
from ..core.filter.groups import Counts, Groups, Stacked, all_groups
from ..core.filter.masked import observed_gram
from ..core.filter.model import FilterModel
from ..core.filter.recursion import belief, move_gram, normal_equations
from ..core.filter.state import FilterRecord, FilterState, SmallState
from ..core.linalg import Array, matrix_root
from ..core.place import Place, Tall
from . import counted_products as products
from . import lagging
from .engine import Filtered, RowBlock, record_of, refreshed, writable
from .lagging import in_lots, settled
from .levels import in_levels, sizes_by_group
from .products import add_rank_one, copied, residual, row_products
from .rows_numpy import ObservedRow, filter_row

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
        assert state.groups is not None  # for the type checker: this engine is for nothing else
        state = state._replace(groups=state.groups._replace(seen=self.place.each(copied, state.groups.seen)))
        m, of_groups, records = self.place.total(len, state.C), None, []
        for rows in blocks:
            for some in in_lots(self.place, rows, m):
                for j in range(len(some)):
                    state, of_groups, record = self.row(state, of_groups, some, j, m)
                    records.append(record)
                state = state._replace(C=settled(state.C))
        return Filtered(state, records)

    def row(
        self, state: FilterState, known: tuple[Stacked, Members] | None, rows: Sequence[ObservedRow], j: int, m: int
    ) -> tuple[FilterState, tuple[Stacked, Members], FilterRecord]:
        """Sample j of a lot, of m features; C, ``groups.seen`` and the matrices of the state are changed in place.

        ``known`` is what the row before knew of the groups. It is made again only where they have changed. C may lag
        behind the rows of the lot.
        """
        row = rows[j]
        place, model, (C, origin, unseen, small, groups) = self.place, self.model, state
        assert groups is not None  # for the type checker
        missing_idx, n = row.missing_idx, row.n
        if n < m and is_time(small.k):
            missing = place.each(products.missing_of, groups.seen, missing_idx)
            groups = with_room(place, groups, missing, unseen, small.S, model)
        if known is None or known[1].group is not groups.group:
            small, groups, of_groups = with_stack(small, groups)
            known = of_groups, members_of(place, groups.group, of_groups.n_groups)
        only, share = None if model.drift is not None else known[1].counts.only, 1.0
        if j == 0 or only is None:
            C = settled(C)
            small = refreshed(place, small, C)
        if only is not None and place.lag > 1:
            small, C, record, weight = lagging.filter_row(small, model, C, rows, j, m, known[0], only)
        elif only is not None and known[0].n_groups == 1:
            small, C, record, weight = filter_row(place, small, model, C, row, m)
        else:
            small, C, record, weight, share = self._grouped(small, C, *known, row, m)
        seen = place.each(products.counted_in_place, groups.seen, missing_idx, share, weight)
        groups = Groups(seen, groups.group, groups.roots, groups.shares, share * groups.n + weight, groups.prior)
        return FilterState(C, origin, unseen, small, regrouped(place, groups, small, model.r)), known, record

    def _grouped(
        self, small: SmallState, C: Tall, of_groups: Stacked, members: Members, row: ObservedRow, m: int
    ) -> tuple[SmallState, Tall, FilterRecord, float, float]:
        """``rows_numpy.filter_row`` where there are several groups, or a drift; also what that leaves of all counts."""
        place, model, (y, missing_idx, n) = self.place, self.model, row
        counts = members.counts if n == m else observed(place, members, missing_idx, n)
        share = drifted(small, of_groups, model.drift, counts)
        G = observed_gram(place, C, small.G, missing_idx, m - n, m)
        b, yy = place.total(row_products, C, y)
        values = Values(C, y, members.group, missing_idx)
        return *taken_in(place, small, model, of_groups, members, counts, values, (G, b, yy)), share


class Values(NamedTuple):
    """A sample, feature by feature."""

    C: Tall
    """The features' rows of the dictionary."""
    y: Tall
    """Their values, zero where missing."""
    group: Tall
    """The numbers of their groups."""
    missing_idx: Tall
    """Which of them are missing."""


def taken_in(
    place: Place,
    small: SmallState,
    model: FilterModel,
    of_groups: Stacked,
    members: Members,
    counts: Counts,
    values: Values,
    equations: Equations,
) -> tuple[SmallState, Tall, FilterRecord, float]:
    """The state after a sample, given its normal equations, and the weight with which it counts.

    ``members`` are the groups of the features of ``values``, and ``counts`` says how many are observed. The rows of C
    among these values, the matrices of ``small`` and the covariances ``of_groups`` change in place.
    """
    G, b, _ = equations
    given = place, small, model, of_groups, counts
    step = step_of(small, model, of_groups, counts, found(*given, lambda: values, equations))
    e = place.each(residual, values.C, step.z, values.y, values.missing_idx)
    C, ee, squares = moved(place, values.C, small.G, step.gains, e, b - G.dot(step.z), members)
    condition(of_groups, step, counts)
    record = record_of(squares, counts.n, step.doubt / (small.lam + step.doubt))
    return learned(small, model, step, counts, ee), C, record, small.lam / step.lam


def found(
    place: Place,
    small: SmallState,
    model: FilterModel,
    of_groups: Stacked,
    counts: Counts,
    by_feature: Callable[[], Values],
    equations: Equations,
) -> Coefficients:
    """The coefficients of a sample, given its normal equations; its values are asked for where some count less."""
    weights = trust(small, model, of_groups, counts)
    if weights is not None:
        less = place.total(products.unheard, *by_feature(), weights)
        equations = equations[0] - less[0], equations[1] - less[1], equations[2] - less[2]
    prior = belief(small, model, weighted_root(of_groups, counts, weights))
    return model.step.find(normal_equations(model, *equations, counts.n), prior)


def with_stack(small: SmallState, groups: Groups) -> tuple[SmallState, Groups, Stacked]:
    """A copy of all covariances in one array, and the state with parts of that array in the place of its own."""
    of_groups = all_groups(small.S, groups)
    return small._replace(S=of_groups.roots[0]), groups._replace(roots=of_groups.roots[1:]), of_groups


class Members(NamedTuple):
    """Which features are in which group."""

    group: Tall
    """The numbers of the features' groups."""
    counts: Counts
    """How many features each group has."""
    largest: int
    """The number of the group that has most."""
    beside: Tall
    """The indices of the features of all others."""


def members_of(place: Place, group: Tall, n_groups: int) -> Members:
    """From the numbers of the features' groups."""
    counts, largest = sizes_by_group(place, group, n_groups)
    return Members(group, counts, largest, place.each(products.outside, group, largest))


def observed(place: Place, members: Members, missing_idx: Tall, n: int) -> Counts:
    """How many features of each group are among the n that a sample has."""
    sizes, _, only = members.counts
    if only is not None:
        by_group = np.zeros(len(sizes))
        by_group[only] = n
        return Counts(by_group, n, only)
    return Counts(sizes - place.total(products.sizes_among, members.group, missing_idx, len(sizes)), n, None)


def moved(
    place: Place, C: Tall, G: Array, gains: Array, e: Tall, h: Array, members: Members
) -> tuple[Tall, Array | float, float]:
    """C once every feature has moved by its residual times the gain of its group; Σ e_i² by group, and of all features.

    The largest group moves as all features of a shared covariance do, and the others one by one. C and G = CᵀC change
    in place; h = Σ c_i e_i. Where all features are in one group there is one sum for both.
    """
    largest = members.largest
    gain, all_squares = gains[largest], place.total(products.squares, e)
    if members.counts.only is not None:
        move_gram(G, h, all_squares, gain)
        return place.each(add_rank_one, C, e, gain), all_squares, all_squares
    idx, *of, rows, moves = place.each(products.apart, C, e, members.group, members.beside, gains)
    h_apart, M, ee = place.total(products.sums_apart, *of, rows, moves, len(gains))
    ee[largest] = max(all_squares - float(ee.sum()), 0.0)
    move_gram(G, h - h_apart, ee[largest], gain)
    G += M + M.T
    C = place.each(add_rank_one, C, e, gain)  # also the others, whose rows are then set to what they are to be
    return place.each(products.moved_apart, C, idx, rows, moves), ee, all_squares


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
    wanted, m = int(place.total(np.count_nonzero, wanting)), place.total(len, groups.seen)
    most, taken = grouping.room(m, model.q, model.row_mean), len(groups.shares) - groups.n_levels
    if wanted == 0 or (wanted > most and taken == 0):
        return groups
    features = np.flatnonzero(place.get(wanting, 0))
    seen, group = place.get(groups.seen, 0), place.get(groups.group, 0)
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
    if (
        len(features) == 0
        or len(features) > grouping.room(place.total(len, groups.seen), model.q, model.row_mean) - taken
    ):
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
    if groups.alike and place.total(products.n_beside, groups.seen, groups.n) == 0:
        return groups  # as they most often are
    if len(groups.shares) == groups.n_levels:
        return in_levels(place, groups, small.S)
    group = place.get(groups.group, 0)
    group, groups = grouping.releveled(place.get(groups.seen, 0), groups._replace(group=group), small.S, r)
    return groups._replace(group=place.put(group, 0))
