"""The engine for runs of complete rows: a few tall products per block of them, and the small recursion between.

Passes over the rows Y of a block: one that reads and writes them (origin and units), and three products that read them,
YYᵀ, CᵀYᵀ and YᵀD; gaps are found in the first of these. Over C: two products that read it, the second of which writes
the new one, and a third every 256 rows (``engine.REFRESH``). A device makes the next block ready, its YYᵀ, and CᵀC,
while the small recursion is under way in this process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import isnan
from typing import NamedTuple

import numpy as np

from ..arrays import FromDevice
from ..core.filter.model import FilterModel
from ..core.filter.recursion import run_block
from ..core.filter.state import FilterRecord, FilterState
from ..core.filter.whitened import Loop
from ..core.linalg import Array, gram
from ..core.place import Place, Tall
from .counted_products import counted, n_beside
from .engine import REFRESH, Engine, Filtered, RowBlock, refreshed
from .products import NONE_MISSING, combine, count_missing, cross, has_gaps, is_missing, self_products, some_rows

SHORTEST = 5
"""Complete rows in a run from which on the products of a block pay. Measured for 20 to 4096 features in NumPy: between
3 and 6; speed and rounding only."""


class Known(NamedTuple):
    """Sums over the features for a block of complete rows."""

    K: Array
    """CᵀYᵀ."""
    N: Array
    """YYᵀ."""
    G: Array | None = None
    """CᵀC, where it was asked for as well."""
    m: int | None = None
    """The number of features, where it came with the others."""
    later: FromDevice | None = None
    """CᵀC that is still to come."""


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

    def _if_complete(self, state: FilterState, rows: RowBlock, asked: FromDevice | None) -> Known | None:
        """CᵀYᵀ and YYᵀ of a block in which nothing is missing; None for any other block.

        A missing value is NaN and makes YYᵀ NaN, so that the product itself tells whether the block is complete. The
        first row is looked at before: if it has a gap, the product is not computed. It may have been ``asked`` for
        already, during a complete block, after which all features still share one covariance. From a place that is far
        away, all that the block needs comes in one sum.
        """
        place = self.place
        if asked is None:
            if rows.n < SHORTEST or not may_be_in_blocks(state, self.model):
                return None
            if place.far:
                return self._from_afar(state, rows.Y)
            if not in_blocks(place, state, self.model):
                return None
            if has_gaps(place, place.each(some_rows, rows.Y, 0, 1)):
                return None
            N: Array = place.total(self_products, rows.Y)
            if isnan(N.trace()):
                return None
            if not place.works_ahead:
                return Known(place.total(cross, state.C, rows.Y), N)
            K, later = self._asked(state, rows.Y)
            return Known(K.get(), N, later=later)
        K, later = self._asked(state, rows.Y)  # so that a device has something to do until YYᵀ is here
        N = asked.get()
        return None if isnan(N.trace()) else Known(K.get(), N, later=later)

    def _asked(self, state: FilterState, Y: Tall) -> tuple[FromDevice, FromDevice | None]:
        """CᵀYᵀ, and CᵀC if it is time for it, from a device that works ahead: the latter comes during the recursion."""
        place, wants_gram = self.place, state.small.age >= REFRESH
        K = FromDevice(place.by_row(cross, state.C, Y))
        return K, FromDevice(place.by_row(gram, state.C)) if wants_gram else None

    def _from_afar(self, state: FilterState, Y: Tall) -> Known | None:
        """The same and CᵀC, if it is time for it, in one reduction."""
        groups, wants_gram = state.groups, state.small.age >= REFRESH
        seen, n = (None, 0.0) if groups is None else (groups.seen, groups.n)
        K, N, G, m, beside = self.place.total(block_sums, state.C, Y, seen, n, wants_gram)
        return None if isnan(N.trace()) or beside else Known(K, N, G if wants_gram else None, m)

    def _complete(
        self, state: FilterState, Y: Tall, known: Known | None, coming: Coming
    ) -> tuple[FilterState, list[FilterRecord], FromDevice | None]:
        """Three tall products in, two of which may be ``known`` already, and one out.

        Also the second product of the block that is ``coming``, if this one is complete as a whole. A device makes that
        block ready and works on the product during the small recursion: this is why nobody looks at it before. A CᵀC
        that comes ``later`` takes the place of the one at the start of the block once the block has added to it.
        """
        place, C = self.place, state.C
        K, N, G, m, later = known or Known(place.total(cross, C, Y), place.total(self_products, Y))
        start = state.small if later is not None else refreshed(place, state.small, C, G)
        ahead = coming.first() if known and place.works_ahead else None
        asked = None
        if ahead is not None and ahead.n >= SHORTEST:
            asked = FromDevice(place.by_row(self_products, ahead.Y))
        small, block = run_block(start, self.model, K, N, place.total(len, C) if m is None else m, self.loop())
        C = place.each(combine, C, block.A, Y, block.D)
        if later is not None:
            small = small._replace(G=np.asfortranarray(later.get() + (small.G - start.G)), age=len(N))
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
    if not may_be_in_blocks(state, model):
        return False
    return groups is None or groups.n == 0.0 or place.total(n_beside, groups.seen, groups.n) == 0


def may_be_in_blocks(state: FilterState, model: FilterModel) -> bool:
    """The same as far as it can be told without asking about the features."""
    return state.groups is None or (state.groups.alike and model.drift is None)


def block_sums(
    C: Array, Y: Array, seen: Array | None, n: float, wants_gram: bool
) -> tuple[Array, Array, Array, int, int]:
    """CᵀYᵀ, YYᵀ, CᵀC if it is wanted, how many features there are, and how many were not seen in all of n samples."""
    G = gram(C) if wants_gram else np.zeros((1, 1))
    beside = 0 if seen is None or n == 0.0 else n_beside(seen, n)
    return cross(C, Y), self_products(Y), G, len(C), beside


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
