"""The engine that takes one row after another, in NumPy. It knows every model and works at every place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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

    def run(self, small: SmallState, C: Tall, blocks: Iterable[RowBlock]) -> Filtered:
        """See ``engine.Engine``."""
        C = writable(self.place, C, self.given)
        m, records = self.place.total(len, C), []
        for rows in blocks:
            for y, missing_idx, n in observed_rows(self.place, rows, m):
                small = refreshed(self.place, small, C)
                small, C, record = filter_row(self.place, small, self.model, C, y, missing_idx, n)
                records.append(record)
        return Filtered(small, C, records)


def observed_rows(place: Place, rows: RowBlock, m: int) -> Iterator[tuple[Tall, Tall, int]]:
    """Row after row with zeros at its gaps, the indices of these, and how many of its m entries are observed."""
    missing = rows.missing
    if missing is None and has_gaps(place, rows.Y):
        missing = place.each(is_missing, rows.Y)
    if missing is None:
        for j in range(rows.n):
            yield *place.each(complete_row, rows.Y, j), m
        return
    for j, n_missing in enumerate(place.total(count_missing, missing).tolist()):
        if n_missing < m:
            yield *place.each(row_without_gaps, rows.Y, missing, j), m - n_missing


def filter_row(
    place: Place, small: SmallState, model: FilterModel, C: Tall, y: Tall, missing_idx: Tall, n: int
) -> tuple[SmallState, Tall, FilterRecord]:
    """One sample with n observed entries; y is zero at the missing ones. C and ``small`` are updated in place."""
    G = observed_gram(place, C, small.G, missing_idx)
    b, yy = place.total(row_products, C, y)
    small, step = absorb(small, model, G, b, yy, n)
    C = place.each(move, C, step.x, y, missing_idx, step.g)
    return small, C, record_of(step.ee, n, step.share)
