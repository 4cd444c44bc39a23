"""The engine for runs of complete rows: a few tall products per block of them, and the small recursion between.

Passes over the rows Y of a block: one that reads and writes them (origin and units), and three products that read them,
YYᵀ, CᵀYᵀ and YᵀD; gaps are found in the first of these. Over C: two products that read it, the second of which writes
the new one, and a third every 256 rows (``engine.REFRESH``). A device makes YYᵀ of the next block while the small
recursion is under way in this process.
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
        asked = None
        for rows, coming in with_next(blocks) if self.place.works_ahead else ((rows, None) for rows in blocks):
            N, asked = self._if_complete(state, rows, asked), None
            for part, complete in runs(self.place, rows) if N is None else [(rows, True)]:
                if complete and (N is not None or in_blocks(self.place, state, self.model)):
                    state, new, asked = self._complete(state, part.Y, N, None if N is None else coming)
                else:
                    state, new = self.singles().run(state, [part])
                records += new
        return Filtered(state, records)

    def _if_complete(self, state: FilterState, rows: RowBlock, asked: Array | None) -> Array | None:
        """YYᵀ of a block in which nothing is missing; None for any other block.

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
        N: Array = place.total(self_products, rows.Y) if asked is None else to_host(asked)
        return None if isnan(N.trace()) else N

    def _complete(
        self, state: FilterState, Y: Tall, N: Array | None, coming: RowBlock | None
    ) -> tuple[FilterState, list[FilterRecord], Array | None]:
        """Three tall products in, the second of which may be known already, and one out.

        Also the second product of the block that is ``coming``, if this one is complete as a whole. A device works on
        it during the small recursion.
        """
        place, C = self.place, state.C
        K, N = place.total(cross, C, Y), place.total(self_products, Y) if N is None else N
        small = refreshed(place, state.small, C)
        asked = None if coming is None or coming.n < SHORTEST else place.by_row(self_products, coming.Y)
        small, block = run_block(small, self.model, K, N, place.total(len, C), self.loop())
        C = place.each(combine, C, block.A, Y, block.D)
        groups = state.groups
        if groups is not None:
            seen = place.each(counted, groups.seen, NONE_MISSING, 1.0, block.weight)
            groups = groups._replace(n=groups.n + block.weight, seen=seen)
        return state._replace(C=C, small=small, groups=groups), [block.record], asked


def with_next(blocks: Iterable[RowBlock]) -> Iterator[tuple[RowBlock, RowBlock | None]]:
    """Every block and the one after it, which the last does not have."""
    blocks = iter(blocks)
    rows = next(blocks, None)
    while rows is not None:
        coming = next(blocks, None)
        yield rows, coming
        rows = coming


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
