"""Tables that arrive in pieces: some of the rows so far are kept, and learned from again from time to time.

As long as the rows have room, all of them are kept. Then they are a random sample of all rows so far: a row is kept
where a hash of its number is among the smallest. The model is learned anew, by what ``fit`` does with a table, when the
number of rows has grown by an eighth to a quarter. So what is known depends on the rows alone, and not on how they were
divided into calls; a call in which several such points are passed learns at the last of them only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import as_type, copied, dtype_of, namespace, taken
from ..core.absurd import Seen, seen_in
from ..core.absurd_rows import absurd_entries
from ..core.entries import without
from ..core.linalg import Array
from ..core.place import Tall
from ..tall.rows import few_rows, stack
from ._absurd import first_rows, next_rows
from ._kept_rows import scrambled
from ._observing import check_values

MOST_KEPT, LEAST_KEPT, VALUES = 2000, 100, 30_000
"""Rows kept: as many as have so many values, within the two bounds. MOST_KEPT is what corrections of a table are
learned from at most; the others bound how long it takes to learn from them (``benchmarks/table_streams.py``)."""

FIRST_ROWS = 10
"""Rows that are judged together, before any other value is compared with them: as many as other streams start from."""

LOOKS = 4
"""How often a model is learned while the number of rows doubles. Not tuned: what it has not seen is then at most a
fifth of the rows."""

CALIBRATED_FROM = 260
"""Observed entries of the kept rows from which on bounds are calibrated; before that they are the model's own. Derived:
15% of them are hidden, twice as many as 95% bounds need."""


class TableStream(NamedTuple):
    """What the next row of a stream goes on from, beside the model."""

    seed: int
    """Every model of the stream is learned with the same random numbers."""
    rows: Tall
    """Those that are kept, in their order, with NaN for what is missing."""
    numbers: Array
    """Their numbers in the stream."""
    n_rows: int
    """Rows so far, those without any observed entry left out."""
    settled: bool
    """Whether absurd values of the kept rows are missing. Otherwise they are the first rows as they came."""

    @property
    def ended(self) -> bool:
        """Whether it cannot go on: there were rows, and none is kept."""
        return self.n_rows > 0 and len(self.numbers) == 0


class Learned(NamedTuple):
    """A stream after some rows, and what has to be learned from it now."""

    stream: TableStream
    seen: Seen
    rows: Tall | None
    """Rows to learn from; None where the model stays."""


def room(m: int) -> int:
    """How many rows of m columns are kept."""
    return min(MOST_KEPT, max(LEAST_KEPT, VALUES // max(m, 1)))


def new_stream(rows: Tall, seed: int) -> TableStream:
    """A stream before its first row, which is of the kind of ``rows``."""
    return TableStream(seed, copied(rows[:0, :]), np.empty(0, dtype=np.int64), 0, settled=False)


def after_fit(rows: Tall, seed: int) -> TableStream:
    """A stream that goes on after a fit to these rows; an ended one where it has no room for all of them.

    Its next model would be learned from a sample of the rows, and be worse than that of the fit.
    """
    stream, (n, m) = new_stream(rows, seed)._replace(settled=True), rows.shape
    return _with_rows(stream, rows) if n <= room(int(m)) else stream._replace(n_rows=int(n))


def go_on(stream: TableStream, seen: Seen | None, X: Tall) -> Learned:
    """The stream after the rows of X, each of which has data; ``seen`` is what tells absurd values."""
    dtype = dtype_of(stream.rows)
    if stream.settled:
        assert seen is not None  # for the type checker: there were rows
        seen, clean = next_rows(seen, X, dtype)
        return _looked(stream, seen, as_type(clean, dtype))
    first = first_rows(stream.rows, X, np.arange(X.shape[0]), dtype)
    check_values(first.clean)
    n = int(first.kept.shape[0])
    begun = _clean(first.kept[: min(n, FIRST_ROWS), :])
    look = last_look(stream.n_rows, min(n, FIRST_ROWS))
    rows = None if look is None else _clean(first.kept[:look, :])
    if n < FIRST_ROWS:
        stream = stream._replace(rows=copied(first.kept), numbers=np.arange(n), n_rows=n)
        return Learned(stream, seen_in(begun), rows)
    settled = stream._replace(rows=copied(begun), numbers=np.arange(FIRST_ROWS), n_rows=FIRST_ROWS, settled=True)
    seen, rest = next_rows(seen_in(begun), first.kept[FIRST_ROWS:, :], dtype, tell=False)
    after = _looked(settled, seen, rest)
    return after if after.rows is not None else after._replace(rows=rows)


def _looked(stream: TableStream, seen: Seen, X: Tall) -> Learned:
    """The stream after rows whose absurd values are missing."""
    n = stream.n_rows
    look = last_look(n, n + int(X.shape[0]))
    if look is None:
        return Learned(_with_rows(stream, X), seen, None)
    stream = _with_rows(stream, X[: look - n, :])
    return Learned(_with_rows(stream, X[look - n :, :]), seen, stream.rows)


def _clean(rows: Tall) -> Tall:
    return without(rows, absurd_entries(rows))


def _with_rows(stream: TableStream, X: Tall) -> TableStream:
    """With some of the next rows among those that are kept."""
    n, more = stream.n_rows, int(X.shape[0])
    if more == 0:
        return stream
    numbers = np.concatenate([stream.numbers, np.arange(n, n + more)])
    most, kept = room(int(X.shape[1])), np.arange(len(numbers))
    if len(numbers) > most:
        kept = np.sort(np.argsort(scrambled(numbers.astype(np.uint64)), kind="stable")[:most])
    old, new = kept[kept < len(stream.numbers)], kept[kept >= len(stream.numbers)] - len(stream.numbers)
    if len(new) == 0:
        return stream._replace(n_rows=n + more)
    before = stream.rows if len(old) == len(stream.numbers) else taken(stream.rows, old)
    return stream._replace(rows=stack(before, few_rows(X, new)), numbers=numbers[kept], n_rows=n + more)


def reach_of(rows: Tall) -> tuple[Tall, Tall]:
    """What values of each feature are taken to lie within: those of these rows, and as much again on either side.

    A stream has seen values that its model was not learned from. One that lies far beyond these would be followed along
    a straight line, and so decide about all others of its row.
    """
    xp = namespace(rows)
    missing, values = xp.isnan(rows), as_type(rows, np.float64)
    low, high = xp.min(xp.where(missing, np.inf, values), axis=0), xp.max(xp.where(missing, -np.inf, values), axis=0)
    seen = low <= high
    width = xp.where(seen, high, 0.0) - xp.where(seen, low, 0.0)
    return xp.where(seen, low - width, -np.inf), xp.where(seen, high + width, np.inf)


def last_look(before: int, after: int) -> int | None:
    """The last number of rows at which a model is learned, above ``before`` and up to ``after``; None without one."""
    if after < 1:
        return None
    step = max(1, (1 << (after.bit_length() - 1)) // LOOKS)
    look = after - after % step
    return look if look > before else None
