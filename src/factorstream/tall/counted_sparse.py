"""The engine for sparse rows where every feature has its own doubt: the features that a row observes, and no others.

All features are looked at only when groups are chosen anew (``counted_rows.is_time``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ..core.filter.counted import drifted
from ..core.filter.groups import Stacked, in_columns, stacked
from ..core.filter.model import FilterModel
from ..core.filter.state import FilterRecord, FilterState
from ..core.linalg import Array
from ..core.place import Place, Tall
from . import counted_products as products
from .counted_rows import Values, is_time, members_of, regrouped, taken_in, with_newcomers, with_room, with_stack
from .engine import Filtered, RowBlock, refreshed
from .products import NONE_MISSING
from .sparse_numpy import own_copy, settled, with_origins
from .sparse_products import gather, n_new, n_stored, normal_equations


class CountedSparseRows(NamedTuple):
    """Row after row of stored entries."""

    place: Place
    model: FilterModel

    def run(self, state: FilterState, blocks: Iterable[RowBlock]) -> Filtered:
        """See ``engine.Engine``."""
        state, known, records = own_copy(self.place, state), None, []
        for rows in blocks:
            for k in range(rows.n):
                state, known, new = self.row(state, known, rows.Y, k)
                records += new
        return Filtered(settled(self.place, state), records)

    def row(
        self, state: FilterState, known: tuple[Tall, Stacked] | None, Y: Tall, k: int
    ) -> tuple[FilterState, tuple[Tall, Stacked] | None, list[FilterRecord]]:
        """Filter row k, with the arrays of ``state`` changed in place. It has no record if nothing is stored.

        ``known`` are the covariances of all groups that the row before had, and the numbers of the features' groups
        then. They are put together again only where groups have changed.
        """
        place, model = self.place, self.model
        n = place.total(n_stored, Y, k)
        if n == 0:
            return state, known, []
        state = with_first_values(place, state._replace(small=refreshed(place, state.small, state.C)), Y, k, model)
        C, origin, unseen, small, groups = state
        assert groups is not None  # for the type checker: this engine is for nothing else
        idx, rows, y = place.each(gather, C, origin, Y, k)
        if is_time(small.k):
            missing = place.each(products.missing_beside, groups.seen, idx)
            groups = with_room(place, groups, missing, unseen, small.S, model)
        if known is None or known[0] is not groups.group:
            small, groups, of_groups = with_stack(small, groups)
            known = groups.group, of_groups
        group, share = place.each(products.taken, groups.group, idx), 1.0
        if model.drift is not None:
            share = drifted(small, known[1], model.drift, members_of(place, group, known[1].n_groups).counts)
        numbers, of_row = some_groups(known[1], place.get(group, 0))
        members = members_of(place, place.each(products.renumbered, group, numbers), len(numbers))
        equations, values = place.total(normal_equations, rows, y), Values(rows, y, members.group, NONE_MISSING)
        small, rows, record, weight = taken_in(place, small, model, of_row, members, members.counts, values, equations)
        C = place.each(products.scattered, C, idx, rows)
        known[1].roots[numbers] = of_row.roots
        seen = place.each(products.counted_at, groups.seen, idx, share, weight)
        groups = groups._replace(seen=seen, n=share * groups.n + weight)
        return FilterState(C, origin, unseen, small, regrouped(place, groups, small, model.r)), known, [record]


def some_groups(groups: Stacked, group: Array) -> tuple[Array, Stacked]:
    """Group 0, all levels and the groups of some features, in their order: their numbers, and copies of them.

    A row changes no others, and features of their own may be many.
    """
    first = groups.n_levels + 1
    numbers = np.concatenate([np.arange(first), np.unique(group[group >= first])])
    return numbers, stacked(in_columns(groups.roots[numbers]), groups.shares[numbers], groups.n_levels)


def with_first_values(place: Place, state: FilterState, Y: Tall, k: int, model: FilterModel) -> FilterState:
    """The state once the features that have their first value in row k have an origin and a group."""
    unseen, groups = state.unseen, state.groups
    if unseen is None or not place.total(n_new, unseen, Y, k):
        return state
    assert groups is not None  # for the type checker
    new = place.each(products.new_in_row, unseen, Y, k)  # now: the mask changes in place with the origins
    state = with_origins(place, state, Y, k)
    return state._replace(groups=with_newcomers(place, groups, new, state.small, model))
