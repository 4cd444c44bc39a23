"""The engine for runs of complete rows: a few tall products per block of them, and the small recursion between.

Passes over the rows Y of a block: one that reads and writes them (origin and units), and three products that read them,
YYᵀ, CᵀYᵀ and YᵀD; gaps are found in the first of these. Over C: two products that read it, the second of which writes
the new one, and a third every 256 rows (``engine.REFRESH``). A device makes the next block ready, and its YYᵀ, while
the small recursion is under way in this process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import isnan
from typing import NamedTuple

import numpy as np

from ..arrays import to_host
from ..core.filter.model import FilterModel
from ..core.filter.recursion import run_block
from ..core.filter.state import FilterRecord, FilterState
from ..core.filter.whitened import Loop
from ..core.linalg import Array
from ..core.place import Place, Tall
from .counted_products import counted, n_beside
from .engine import Engine, Filtered, RowBlock, refreshed
from .products import NONE_MISSING, combine, count_missing, cross, has_gaps, is_missing, self_products, some_rows

SHORTEST = 5
"""Complete rows in a run from which on the products of a block pay. Measured for 20 to 4096 features in NumPy: between
3 and 6; speed and rounding only."""


class Blocks(NamedTuple):
    """Complete rows in runs; single ones, and those with gaps, by the engine ``singles``."""

    place: Place
    model: FilterModel
    singles: Callable[[], Engine]
    """Asked for when the first such row comes: to load compiled code takes a while, and many streams have no gaps."""
    loop: Callable[[], Loop]
    """The loop of the small recursion, asked for when the first run of complete rows comes."""

    def run(self, state: FilterState, blocks: Iterable[RowBlock]) -> Filtered:
        """See ``engine.Engine``."""
        records: list[FilterRecord] = []
        coming, asked = Coming(blocks), None
        while (rows := coming.taken()) is not None:
            known, asked = self._if_complete(state, rows, asked), None
            for part, complete in runs(self.place, rows) if known is None else [(rows, True)]:
                if complete and (known is not None or in_blocks(self.place, state, self.model)):
                    state, new, asked = self._complete(state, part.Y, known, coming)
                else:
                    state, new = self.singles().run(state, [part])
                records += new
        return Filtered(state, records)

    def _if_complete(self, state: FilterState, rows: RowBlock, asked: Array | None) -> tuple[Array, Array] | None:
        """CᵀYᵀ and YYᵀ of a block in which nothing is missing; None for any other block.

        A missing value is NaN and makes YYᵀ NaN, so that the product itself tells whether the block is complete. The
        first row is looked at before: if it has a gap, the product is not computed. It may have been ``asked`` for
        already, during a complete block, after which all features still share one covariance.
        """
        place = self.place
        if asked is None:
            if rows.n < SHORTEST or not in_blocks(place, state, self.model):
                return None
            if has_gaps(place, place.each(some_rows, rows.Y, 0, 1)):
                return None
            N: Array = place.total(self_products, rows.Y)
            return None if isnan(N.trace()) else (place.total(cross, state.C, rows.Y), N)
        K = place.by_row(cross, state.C, rows.Y)  # so that a device has something to do until YYᵀ is here
        N = to_host(asked)
        return None if isnan(N.trace()) else (to_host(K), N)

    def _complete(
        self, state: FilterState, Y: Tall, known: tuple[Array, Array] | None, coming: Coming
    ) -> tuple[FilterState, list[FilterRecord], Array | None]:
        """Three tall products in, two of which may be ``known`` already, and one out.

        Also the second product of the block that is ``coming``, if this one is complete as a whole. A device makes that
        block ready and works on the product during the small recursion: this is why nobody looks at it before.
        """
        place, C = self.place, state.C
        K, N = known or (place.total(cross, C, Y), place.total(self_products, Y))
        small = refreshed(place, state.small, C)
        ahead = coming.first() if known and place.works_ahead else None
        asked = None if ahead is None or ahead.n < SHORTEST else place.by_row(self_products, ahead.Y)
        small, block = run_block(small, self.model, K, N, place.total(len, C), self.loop())
        C = place.each(combine, C, block.A, Y, block.D)
        groups = state.groups
        if groups is not None:
            seen = place.each(counted, groups.seen, NONE_MISSING, 1.0, block.weight)
            groups = groups._replace(n=groups.n + block.weight, seen=seen)
        return state._replace(C=C, small=small, groups=groups), [block.record], asked


class Coming:
    """The blocks that are still to come, the first of which may be looked at before it is taken."""

    def __init__(self, blocks: Iterable[RowBlock]) -> None:
        self._blocks, self._seen = iter(blocks), list[RowBlock]()

    def first(self) -> RowBlock | None:
        """The next block, which stays; None after the last."""
        if not self._seen:
            self._seen = [rows for rows in [next(self._blocks, None)] if rows is not None]
        return self._seen[0] if self._seen else None

    def taken(self) -> RowBlock | None:
        """The next block, which is gone then."""
        rows = self.first()
        self._seen = []
        return rows


def in_blocks(place: Place, state: FilterState, model: FilterModel) -> bool:
    """Whether the block recursion knows the state: all features share one covariance, and go on to do so.

    Before the first sample (n = 0) no feature has missed one.
    """
    groups = state.groups
    if groups is None:
        return True
    if not groups.alike or model.drift is not None:
        return False
    return groups.n == 0.0 or place.total(n_beside, groups.seen, groups.n) == 0


def runs(place: Place, rows: RowBlock) -> Iterator[tuple[RowBlock, bool]]:
    """Cut a block into runs of complete rows (True) and runs of others; short ones of complete rows are among these."""
    if rows.n < SHORTEST or not has_gaps(place, rows.Y):
        yield rows, rows.n >= SHORTEST  # ``singles`` looks for gaps itself
        return
    missing = place.each(is_missing, rows.Y)
    complete = place.total(count_missing, missing) == 0
    for start, stop in _pieces(complete):
        if stop - start < SHORTEST:
            complete[start:stop] = False
    pieces = _pieces(complete)
    if len(pieces) > 1:
        missing = None  # of use to few of these rows; it would be kept until the last of them is done
    for start, stop in pieces:
        yield RowBlock(place.each(some_rows, rows.Y, start, stop), stop - start, missing), bool(complete[start])


def _pieces(marks: Array) -> list[tuple[int, int]]:
    """Where runs of equal marks begin and end."""
    ends = [*(np.flatnonzero(marks[1:] != marks[:-1]) + 1).tolist(), len(marks)]
    return list(zip([0, *ends[:-1]], ends, strict=True))
