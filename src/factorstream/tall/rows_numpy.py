"""The engine that takes one row after another, in NumPy. It knows every model and works at every place."""

from __future__ import annotations

from typing import NamedTuple

from ..core.filter.masked import observed_gram
from ..core.filter.model import FilterModel
from ..core.filter.recursion import absorb
from ..core.filter.state import FilterRecord, SmallState
from ..core.place import Place, Tall
from .engine import Filtered, RowBlock, record_of, refreshed, writable
from .products import complete_row, count_missing, has_gaps, is_missing, move, row_products, row_without_gaps


class NumpyRows(NamedTuple):
    """Row after row."""

    place: Place
    model: FilterModel
    given: Tall
    """The caller's C, which stays as it is."""

    def run(self, small: SmallState, C: Tall, rows: RowBlock) -> Filtered:
        """See ``engine.Engine``."""
        place, missing, m = self.place, rows.missing, self.place.total(len, C)
        C = writable(place, C, self.given)
        if missing is None and has_gaps(place, rows.Y):
            missing = place.each(is_missing, rows.Y)
        n_missing = None if missing is None else place.total(count_missing, missing)
        records = []
        for j in range(rows.n):
            if n_missing is None:
                n, (y, missing_idx) = m, place.each(complete_row, rows.Y, j)
            elif (n := m - int(n_missing[j])) > 0:
                y, missing_idx = place.each(row_without_gaps, rows.Y, missing, j)
            else:
                continue
            small, C, record = filter_row(place, refreshed(place, small, C), self.model, C, y, missing_idx, n)
            records.append(record)
        return Filtered(small, C, records)


def filter_row(
    place: Place, small: SmallState, model: FilterModel, C: Tall, y: Tall, missing_idx: Tall, n: int
) -> tuple[SmallState, Tall, FilterRecord]:
    """One sample with n observed entries; y is zero at the missing ones. C and ``small`` are updated in place."""
    G = observed_gram(place, C, small.G, missing_idx)
    b, yy = place.total(row_products, C, y)
    small, step = absorb(small, model, G, b, yy, n)
    C = place.each(move, C, step.x, y, missing_idx, step.g)
    return small, C, record_of(step.ee, n, step.share)
