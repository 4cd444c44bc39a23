"""The engine for sparse rows, in NumPy: cost per row O(|Ω| q² + q³), at every place."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core.filter.model import FilterModel
from ..core.filter.recursion import absorb
from ..core.filter.state import FilterRecord, FilterState
from ..core.place import Place, Tall
from .engine import record_of, refreshed
from .sparse_products import gather, n_new, n_stored, new_gram, normal_equations, scatter, settle

SparseFiltered = tuple[FilterState, list[FilterRecord]]


class NumpySparseRows(NamedTuple):
    """Row after row of stored entries."""

    place: Place
    model: FilterModel

    def run(self, state: FilterState, Y: Tall, n: int) -> SparseFiltered:
        """Filter n rows; the arrays of ``state`` are changed in place. Rows with nothing stored change nothing."""
        records: list[FilterRecord] = []
        for k in range(n):
            state, new = self.row(state, Y, k)
            records += new
        return state, records

    def row(self, state: FilterState, Y: Tall, k: int) -> SparseFiltered:
        """Filter row k."""
        place, (C, origin, unseen, small) = self.place, state
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
