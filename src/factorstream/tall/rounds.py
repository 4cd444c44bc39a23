"""Rows with gaps on a device, one after another, in rounds: the engine where kernels of our own make a round.

In a round one row moves the dictionary, and the sums that the next row needs are taken (``round_products``), so that C
is read and written once per row. Products of those rows of C that a row misses are made one round ahead: while the
small recursion between two rounds is done in this process, from sums that come in one transfer.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ..arrays import (
    Array,
    FromDevice,
    ToDevice,
    device_of,
    dtype_of,
    in_one_piece,
    launchable,
    namespace,
    picked,
    to_host,
    with_aligned_rows,
)
from ..core.filter.masked import less
from ..core.filter.model import FilterModel
from ..core.filter.recursion import absorb
from ..core.filter.state import FilterRecord, FilterState
from ..core.place import Place
from .array_products import gram
from .engine import Filtered, RowBlock, record_of, refreshed
from .products import count_missing, is_missing
from .repeated_rounds import RepeatedRounds, launch
from .round_products import Numbers, Sums, ends, is_single, moved, packed, read

FEWEST = 20_000
"""Features from which on the kernels are used. Measured on an H200, 64 components and a quarter of the entries missing:
at 20,000 features a row takes .46 ms in rounds and 1.5 by operations of PyTorch; fewer were not tried. Speed and
rounding only."""

LARGEST = 65
"""Columns of C up to which the kernels are used: 64 components and a mean. Larger products do not fit the registers of
the few threads that a program has; speed only."""

UNRECORDED, WORTH_RECORDING = 8, 32
"""Rounds of a kind before it is recorded, and rows of the block that must be left then. Speed only.

On an H200, with 10⁶ features and 64 components, recording takes about as long as 24 rounds gain by it. Not tuned
otherwise."""


def applies(C: Array) -> bool:
    """Whether rows with gaps should go in rounds. In float64 they don't: the kernels multiply float32 only."""
    return launchable(C) and is_single(C) and C.shape[0] >= FEWEST and C.shape[1] <= LARGEST


class Before(NamedTuple):
    """The row that moves C."""

    y: Array
    """Its values (m, NaN = missing)."""
    numbers: Numbers
    group: Array | None = None
    """The numbers of the features' groups (m); None where all move by the same gain."""
    seen: Array | None = None
    """How many rows each feature has had (m), which the round counts; None where nobody asks."""


class Row(NamedTuple):
    """A row with something observed."""

    y: Array
    """Its values (m, NaN = missing)."""
    n: int
    """How many of them are observed."""


class Rounds:
    """A dictionary on a device, which rows move one after another. It is a copy."""

    def __init__(self, C: Array) -> None:
        self._wide, (self.m, self.q) = with_aligned_rows(C), C.shape
        self._sent = ToDevice(C)
        self._asked: FromDevice | None = None
        self._out: dict[tuple[int, bool], Array] = {}
        self._second = False
        self._ahead: tuple[Row, Array] | None = None
        self._gains: Array = np.zeros((1, self.q))
        self._repeated: dict[tuple[int, bool], RepeatedRounds] = {}
        self._met: dict[tuple[int, bool], int] = {}
        self._last: Array | None = None

    @property
    def C(self) -> Array:
        """The dictionary as it is after all rounds."""
        return self._wide[:, : self.q]

    def take(self, C: Array) -> None:
        """Go on with what somebody else has made of the dictionary."""
        self._wide[:, : self.q], self._ahead, self._last = C, None, None

    def start(self, before: Before | None, after: Row | None, following: Row | None = None, *, left: int = 0) -> None:
        """Ask the device for a round; it works on, and :meth:`sums` waits for it.

        ``following`` is the row after the next one, if it is known: the device begins with it before anybody waits.
        ``left`` is how many rows there are from it on.
        """
        C, q = self._wide, self.q
        given: tuple[Array | None, ...] = None, None, None, None
        self._gains = np.zeros((1, q)) if before is None else before.numbers.gains
        K = len(self._gains)
        if before is not None:
            if (
                after is not None
                and following is not None
                and (repeated := self._of_kind(before, after, following, left))
            ):
                self._repeat(repeated, before, after, following)
                return
            numbers = self._sent.put(packed(before.numbers, dtype_of(C)))
            given = before.y, numbers, before.group, before.seen
        out = self._sums_of(after, K)
        next_y, by_missing = (None, False) if after is None else (after.y, self._by_missing(after))
        launch("go", C, q, K, *given, next_y, by_missing, out)
        self._wait_for(out)
        self._ahead = self._last = None
        if following is not None:
            self._ahead = following, self._sums_of(following, K)

    def _wait_for(self, out: Array) -> None:
        self._asked = FromDevice(out, None if self._asked is None else self._asked.room)

    def _of_kind(self, before: Before, after: Row, following: Row, left: int) -> RepeatedRounds | None:
        """The recording that can do this round; None if there is none."""
        q, by_missing, K = self.q, self._by_missing(after), len(before.numbers.gains)
        size, kind = ends(q, K).pulls, (K, by_missing)
        if self._ahead is None or self._ahead[0] is not after or self._ahead[1].shape[0] != size:
            return None  # products of the next row have not been made, or not in a vector of this length
        if self._by_missing(following) != by_missing:
            return None
        found = self._repeated.get(kind)
        if found is None or found.seen is not before.seen:
            self._met[kind] = self._met.get(kind, 0) + 1
            if self._met[kind] <= UNRECORDED or left < WORTH_RECORDING:
                return None
            numbers = self._sent.put(np.zeros(2 + q + K * q, dtype_of(self._wide)))
            found = RepeatedRounds(self._wide, q, K, by_missing, numbers, before.group, before.seen)
            self._repeated[kind], self._met[kind] = found, 0
        return found

    def _repeat(self, rounds: RepeatedRounds, before: Before, after: Row, following: Row) -> None:
        """A recorded round."""
        assert self._ahead is not None  # for the type checker: see _of_kind
        if self._ahead[1] is not rounds.ahead or self._last is not before.y:
            rounds.begin(before.y, after.y, self._ahead[1])
        rounds.take(self._sent.put(packed(before.numbers, dtype_of(self._wide))), before.group)
        rounds.move()
        self._wait_for(rounds.out)
        rounds.following[...] = following.y
        rounds.products()
        self._ahead, self._last = (following, rounds.ahead), after.y

    def _sums_of(self, row: Row | None, K: int) -> Array:
        """Room for the sums of a round before K groups move, with the products that ``row`` needs of C as it is."""
        size = ends(self.q, K).pulls
        if self._ahead is not None and self._ahead[0] is row and self._ahead[1].shape[0] == size:
            return self._ahead[1]
        self._second = not self._second  # the other one is on its way to this process
        out = self._out.get((size, self._second))
        if out is None:
            xp = namespace(self._wide)
            out = xp.zeros((size,), dtype=xp.float64, device=device_of(self._wide))
            self._out[size, self._second] = out
        if row is not None:
            launch("chosen_products", self._wide, self.q, row.y, self._by_missing(row), out)
        return out

    def sums(self) -> Sums:
        """Of the round that was started last, with ``square`` as it is after the move."""
        assert self._asked is not None  # for the type checker: a round was started
        sums = read(self._asked.get(), self.q, len(self._gains))
        return sums._replace(square=moved(sums, self._gains))

    def equations(self, sums: Sums, row: Row, G: Array) -> tuple[Array, Array, float]:
        """C_ΩᵀC_Ω, C_Ωᵀy_Ω and ‖y_Ω‖² of the row that the sums are for, given CᵀC."""
        square: Array | None = sums.square
        if row.n == self.m:
            return G, sums.b, sums.yy
        if self._by_missing(row):
            square = less(G, sums.square)
        if square is None:
            xp = namespace(self.C)
            square = to_host(gram(picked(self.C, xp.nonzero(~xp.isnan(row.y))[0], axis=0)))
        return square, sums.b, sums.yy

    def _by_missing(self, row: Row) -> bool:
        """Whether fewer features are missing than observed."""
        return bool(2 * row.n > self.m)


def rows_of(place: Place, rows: RowBlock, m: int) -> list[Row | None]:
    """The rows of a block of m features; None for one with nothing observed."""
    missing = place.each(is_missing, rows.Y) if rows.missing is None else rows.missing
    counts = (m - place.total(count_missing, missing)).tolist()
    return [Row(in_one_piece(rows.Y[j, :]), int(n)) if n else None for j, n in enumerate(counts)]


class RoundRows(NamedTuple):
    """Row after row, where all features share a covariance."""

    place: Place
    model: FilterModel

    def run(self, state: FilterState, blocks: Iterable[RowBlock]) -> Filtered:
        """See ``engine.Engine``; the given C is left as it was, and the matrices of the small state change in place."""
        rounds, small, before = Rounds(state.C), state.small, None
        records: list[FilterRecord] = []
        for rows in blocks:
            some = [row for row in rows_of(self.place, rows, rounds.m) if row is not None]
            for j, row in enumerate(some):
                rounds.start(before, row, *some[j + 1 : j + 2], left=len(some) - j - 1)
                sums = rounds.sums()
                small = refreshed(self.place, small, rounds.C)
                small, step = absorb(small, self.model, *rounds.equations(sums, row, small.G), row.n)
                records.append(record_of(step.ee, row.n, step.share))
                before = Before(row.y, Numbers(step.x, np.asarray(step.g)[None], step.weight))
        if before is not None:
            rounds.start(before, None)
        return Filtered(state._replace(C=rounds.C, small=small), records)
