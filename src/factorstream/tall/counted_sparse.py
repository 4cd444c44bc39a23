"""The engine for sparse rows where every feature has its own doubt: the features that a row observes, and no others.

All features are looked at only when groups are chosen anew (``counted_rows.is_time``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..core.filter.counted import condition, drifted, learned, step_of
from ..core.filter.model import FilterModel
from ..core.filter.state import FilterRecord, FilterState
from ..core.place import Place, Tall
from . import counted_products as products
from .counted_rows import Values, found, is_time, members_of, moved, regrouped, with_newcomers, with_room, with_stack
from .engine import Filtered, RowBlock, record_of, refreshed
from .products import NONE_MISSING, residual
from .sparse_numpy import row_by_row, with_origins
from .sparse_products import gather, n_new, n_stored, normal_equations


class CountedSparseRows(NamedTuple):
    """Row after row of stored entries."""

    place: Place
    model: FilterModel

    def run(self, state: FilterState, blocks: Iterable[RowBlock]) -> Filtered:
        """See ``engine.Engine``."""
        return row_by_row(self.place, state, blocks, self.row)

    def row(self, state: FilterState, Y: Tall, k: int) -> tuple[FilterState, list[FilterRecord]]:
        """Filter row k, with the arrays of ``state`` changed in place. It has no record if nothing is stored."""
        place, model = self.place, self.model
        n = place.total(n_stored, Y, k)
        if n == 0:
            return state, []
        state = self._with_newcomers(state._replace(small=refreshed(place, state.small, state.C)), Y, k)
        assert state.groups is not None  # for the type checker: this engine is for nothing else
        C, origin, unseen, small, groups = state
        idx, rows, y = place.each(gather, C, origin, Y, k)
        if is_time(small.k):
            missing = place.each(products.missing_beside, groups.seen, idx)
            groups = with_room(place, groups, missing, unseen, small.S, model)
        group = place.each(products.taken, groups.group, idx)
        small, groups, of_groups = with_stack(small, groups)
        members = members_of(place, group, of_groups.n_groups)
        share = drifted(small, of_groups, model.drift, members.counts)
        G, b, yy = place.total(normal_equations, rows, y)
        values = Values(rows, y, group, NONE_MISSING)
        x = found(place, small, model, of_groups, members.counts, values, (G, b, yy))
        step = step_of(small, model, of_groups, members.counts, x)
        e = place.each(residual, rows, step.z, y, NONE_MISSING)
        rows, ee, squares = moved(place, rows, small.G, step.gains, e, b - G.dot(step.z), members)
        C = place.each(products.scattered, C, idx, rows)
        condition(of_groups, step, members.counts)
        weight = small.lam / step.lam
        record = record_of(squares, n, step.doubt / (small.lam + step.doubt))
        small = learned(small, model, step, members.counts, ee)
        seen = place.each(products.counted_at, groups.seen, idx, share, weight)
        groups = groups._replace(seen=seen, n=share * groups.n + weight)
        return FilterState(C, origin, unseen, small, regrouped(place, groups, small, model.r)), [record]

    def _with_newcomers(self, state: FilterState, Y: Tall, k: int) -> FilterState:
        """The state once the features that have their first value in row k have an origin and a group."""
        place, unseen = self.place, state.unseen
        if unseen is None or not place.total(n_new, unseen, Y, k):
            return state
        groups = state.groups
        assert groups is not None  # for the type checker
        new = place.each(products.new_in_row, unseen, Y, k)  # now: the mask changes in place with the origins
        state = with_origins(place, state, Y, k)
        return state._replace(groups=with_newcomers(place, groups, new, state.small, self.model))
