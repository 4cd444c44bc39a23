"""The engine for sparse rows, in NumPy: cost per row O(|Ω| q² + q³), at every place."""

from __future__ import annotations

from collections.abc import Iterable
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
        state, records = own_copy(self.place, state), []
        for rows in blocks:
            for k in range(rows.n):
                state, new = self.row(state, rows.Y, k)
                records += new
        return Filtered(settled(self.place, state), records)

    def row(self, state: FilterState, Y: Tall, k: int) -> tuple[FilterState, list[FilterRecord]]:
        """Filter row k, with the arrays of ``state`` changed in place. It has no record if nothing is stored."""
        place, (C, origin, unseen, small, _) = self.place, state
        n = place.total(n_stored, Y, k)
        if n == 0:
            return state, []
        small = refreshed(place, small, C)
        if unseen is not None and place.total(n_new, unseen, Y, k):
            small = small._replace(G=np.asfortranarray(small.G - place.total(new_gram, C, unseen, Y, k)))
            C, origin, unseen = place.each(settle, C, origin, unseen, Y, k)
        seen, rows, y = place.each(gather, C, origin, Y, k)
        G, b, yy = place.total(normal_equations, rows, y)
        small, step = absorb(small, self.model, G, b, yy, n)
        C = place.each(scatter, C, seen, rows, y, step.x, step.g)
        return FilterState(C, origin, unseen, small), [record_of(step.ee, n, step.share)]


def own_copy(place: Place, state: FilterState) -> FilterState:
    """The state with copies of its arrays with a feature axis: nothing else of that length is touched in a call."""
    C, origin = place.each(copied, state.C), place.each(copied, state.origin)
    unseen = None if state.unseen is None else place.each(copied, state.unseen)
    return state._replace(C=C, origin=origin, unseen=unseen)


def settled(place: Place, state: FilterState) -> FilterState:
    """The state without a mask once all features have had a value."""
    return state if state.unseen is None else state._replace(unseen=still_unseen(place, state.unseen))
