"""The engine that takes one row after another, in NumPy. It knows every model and works at every place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..core.filter.masked import observed_gram
from ..core.filter.model import FilterModel
from ..core.filter.recursion import absorb
from ..core.filter.state import FilterRecord, FilterState, SmallState
from ..core.place import Place, Tall
from .engine import Filtered, RowBlock, record_of, refreshed, writable
from .products import all_gaps, complete_row, count_missing, has_gaps, is_missing, move, row_products, row_without_gaps


class NumpyRows(NamedTuple):
    """Row after row."""

    place: Place
    model: FilterModel
    given: Tall
    """The caller's C, which stays as it is."""

    def run(self, state: FilterState, blocks: Iterable[RowBlock]) -> Filtered:
        """See ``engine.Engine``."""
        C, origin, unseen, small, groups = writable(self.place, state, self.given)
        m, records = self.place.total(len, C), []
        for rows in blocks:
            for row in observed_rows(self.place, rows, m):
                small = refreshed(self.place, small, C)
                small, C, record, _ = filter_row(self.place, small, self.model, C, row, m)
                records.append(record)
        return Filtered(FilterState(C, origin, unseen, small, groups), records)


class ObservedRow(NamedTuple):
    """One row, ready for the filter."""

    y: Tall
    """Its values less the origin (m), zero at the gaps."""
    missing_idx: Tall
    """The indices of the gaps."""
    n: int
    """How many entries are observed."""


def observed_rows(place: Place, rows: RowBlock, m: int) -> Iterator[ObservedRow]:
    """Row after row of m features, those with nothing observed left out."""
    missing = rows.missing
    if missing is None and has_gaps(place, rows.Y):
        missing = place.each(is_missing, rows.Y)
    if missing is None:
        for j in range(rows.n):
            y, missing_idx = place.each(complete_row, rows.Y, j)
            yield ObservedRow(y, missing_idx, m)
        return
    gaps, start = place.each(all_gaps, missing), 0
    for j, n_missing in enumerate(place.total(count_missing, missing).tolist()):
        stop = start + n_missing
        if n_missing < m:
            y, missing_idx = place.each(row_without_gaps, rows.Y, gaps, j, start, stop)
            yield ObservedRow(y, missing_idx, m - n_missing)
        start = stop


def filter_row(
    place: Place, small: SmallState, model: FilterModel, C: Tall, row: ObservedRow, m: int
) -> tuple[SmallState, Tall, FilterRecord, float]:
    """One sample of m features, and the weight with which it counts; C and the matrices of ``small`` are changed."""
    y, missing_idx, n = row
    G = observed_gram(place, C, small.G, missing_idx, m - n, m)
    b, yy = place.total(row_products, C, y)
    small, step = absorb(small, model, G, b, yy, n)
    C = place.each(move, C, step.x, y, missing_idx, step.g)
    return small, C, record_of(step.ee, n, step.share), step.weight
