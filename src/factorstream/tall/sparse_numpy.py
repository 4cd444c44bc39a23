"""The engine for sparse rows, in NumPy: cost per row O(|Ω| q² + q³), at every place."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from ..core.filter.model import FilterModel
from ..core.filter.recursion import absorb
from ..core.filter.state import FilterRecord, FilterState
from ..core.place import Place, Tall
from .engine import Filtered, RowBlock, record_of, refreshed
from .products import copied, still_unseen
from .sparse_products import gather, n_new, n_stored, new_gram, normal_equations, scatter, settle


class NumpySparseRows(NamedTuple):
    """Row after row of stored entries."""

    place: Place
    model: FilterModel

    def run(self, state: FilterState, blocks: Iterable[RowBlock]) -> Filtered:
        """See ``engine.Engine``."""
        return row_by_row(self.place, state, blocks, self.row)

    def row(self, state: FilterState, Y: Tall, k: int) -> tuple[FilterState, list[FilterRecord]]:
        """Filter row k, with the arrays of ``state`` changed in place. It has no record if nothing is stored."""
        place = self.place
        n = place.total(n_stored, Y, k)
        if n == 0:
            return state, []
        state = with_origins(place, state._replace(small=refreshed(place, state.small, state.C)), Y, k)
        seen, rows, y = place.each(gather, state.C, state.origin, Y, k)
        G, b, yy = place.total(normal_equations, rows, y)
        small, step = absorb(state.small, self.model, G, b, yy, n)
        C = place.each(scatter, state.C, seen, rows, y, step.x, step.g)
        return state._replace(C=C, small=small), [record_of(step.ee, n, step.share)]


OneRow = Callable[[FilterState, Tall, int], tuple[FilterState, list[FilterRecord]]]
"""Takes row k of some rows; no record where nothing is stored."""


def row_by_row(place: Place, state: FilterState, blocks: Iterable[RowBlock], row: OneRow) -> Filtered:
    """Take all rows in order; the arrays of the caller's ``state`` stay as they are."""
    state, records = own_copy(place, state), []
    for rows in blocks:
        for k in range(rows.n):
            state, new = row(state, rows.Y, k)
            records += new
    return Filtered(settled(place, state), records)


def with_origins(place: Place, state: FilterState, Y: Tall, k: int) -> FilterState:
    """The state once the features that have their first value in row k have an origin, and an empty row of C."""
    unseen = state.unseen
    if unseen is None or not place.total(n_new, unseen, Y, k):
        return state
    G = np.asfortranarray(state.small.G - place.total(new_gram, state.C, unseen, Y, k))
    C, origin, unseen = place.each(settle, state.C, state.origin, unseen, Y, k)
    return state._replace(C=C, origin=origin, unseen=unseen, small=state.small._replace(G=G))


def own_copy(place: Place, state: FilterState) -> FilterState:
    """The state with copies of its arrays with a feature axis: nothing else of that length is touched in a call."""
    C, origin = place.each(copied, state.C), place.each(copied, state.origin)
    unseen = None if state.unseen is None else place.each(copied, state.unseen)
    groups = state.groups
    if groups is not None:
        groups = groups._replace(seen=place.each(copied, groups.seen))
    return state._replace(C=C, origin=origin, unseen=unseen, groups=groups)


def settled(place: Place, state: FilterState) -> FilterState:
    """The state without a mask once all features have had a value."""
    return state if state.unseen is None else state._replace(unseen=still_unseen(place, state.unseen))
