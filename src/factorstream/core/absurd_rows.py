"""Absurd values (see ``absurd``) in rows that come together: in a table that is fitted, at a stream's start, or in rows
that a model is asked about."""

from __future__ import annotations

import numpy as np

from ..arrays import as_type, counted, is_here, namespace, positions, taken, to_host
from ..cores import each_piece
from .absurd import COMPARING, EVENTS, NEW, Seen, at, extremes, in_question, some_of
from .absurd_limits import ENOUGH, FAR, limits
from .entries import NO_ENTRIES, Columns, Entries, together
from .fill_values import HUGE, is_fill, is_huge_fill
from .linalg import Array, Rows, is_sparse
from .place import Tall

SAMPLED = 32
"""Values of a column that show at a glance that there is nothing absurd in it. Not tuned: speed only, as long as
absurd values are not half of them."""


AT_ONCE = 1024
"""Columns of which these values are looked at together. Memory only."""


def absurd_entries(X: Rows) -> Entries:
    """The absurd entries of X. Two passes over the numbers and, for columns that may have some, a sort."""
    if X.shape[0] == 0:
        return NO_ENTRIES
    found: list[Entries] = []
    doubtful = positions(_doubtful(X))
    if not len(doubtful):
        return NO_ENTRIES
    by_column = Columns(X, doubtful)
    for j in doubtful.tolist():
        rows, values = by_column(j)
        absurd = absurd_values(values)
        found.append(Entries(rows[absurd], np.full(len(absurd), j), values[absurd]))
    return together(found)


def absurd_beside(seen: Seen, X: Rows) -> Entries:
    """The entries of X that are absurd beside what was seen before. Two passes over the numbers, and one more over the
    columns that have such an entry or are yet unknown."""
    least, greatest = extremes(X)
    if is_here(least):
        m = len(least)
        parts = each_piece(lambda some: _beyond(seen, least, greatest, some), m, COMPARING * m)
        columns, lower, upper = (np.concatenate(of) for of in zip(*parts, strict=True))
    else:
        columns, lower, upper = _beyond(seen, least, greatest, slice(0, least.shape[0]))
    if not len(columns):
        return NO_ENTRIES
    by_column = Columns(X, columns)
    found: list[Entries] = []
    for i, j in enumerate(columns.tolist()):
        rows, values = by_column(j)
        value = values.astype(np.float64)  # limits may be no numbers of float32
        absurd = is_huge_fill(value) if np.isinf(upper[i]) else (value < lower[i]) | (value > upper[i])
        found.append(Entries(rows[absurd], np.full(np.count_nonzero(absurd), j), values[absurd]))
    return together(found)


def merge_seen(a: Seen, b: Seen) -> Seen:
    """What two sets of rows without absurd values leave behind, of arrays that are here."""
    known = np.minimum(a.known + b.known, ENOUGH)
    low, high = np.minimum(a.low, b.low), np.maximum(a.high, b.high)
    return a._replace(low=low, high=high, known=known, quiet=not counted(known < ENOUGH))


def _beyond(seen: Seen, least: Tall, greatest: Tall, features: slice) -> tuple[Array, Array, Array]:
    """Which of these features have a value beyond their limits, or are yet unknown; and the limits of these."""
    seen, least, greatest = some_of(seen, features), least[features], greatest[features]
    outside = (least < seen.low) | (greatest > seen.high)
    some = in_question(outside)
    low, high, known, *_ = some_of(seen, some)
    lower, upper = limits(low, high, known)
    beyond = (at(least, some) < lower) | (at(greatest, some) > upper) | namespace(upper).isinf(upper)
    which = positions(beyond & at(outside, some))
    columns = which if some is None else some[which]
    return columns + features.start, to_host(taken(lower, which)), to_host(taken(upper, which))


def absurd_values(values: Array) -> Array:
    """Which of a feature's values are absurd, by their positions.

    In the order of their distances from the median, of two middle values the one nearer to zero: with the first one
    that is absurd given those before it, all that follow are, unless they are enough different numbers to be believed.
    Huge fill values are, whatever the others: all values of a sensor may be that.
    """
    values = values.astype(np.float64)
    huge = is_huge_fill(values)
    if huge.any():
        rest = np.flatnonzero(~huge)
        return np.sort(np.concatenate([np.flatnonzero(huge), rest[absurd_values(values[rest])]]))
    n = len(values)
    if n < 2:
        return np.empty(0, dtype=np.intp)
    middle = np.partition(values, [(n - 1) // 2, n // 2])[[(n - 1) // 2, n // 2]]
    with np.errstate(over="ignore"):
        order = np.argsort(np.abs(values - middle[np.argmin(np.abs(middle))]), kind="stable")
    others, half = values[order], (n + 1) // 2
    value = others[half:]
    low, high = np.minimum.accumulate(others)[half - 1 : -1], np.maximum.accumulate(others)[half - 1 : -1]
    lower, upper = limits(low, high, np.cumsum(others != 0.0)[half - 1 : -1])
    absurd = np.where(np.isinf(upper), is_huge_fill(value), (value < lower) | (value > upper))
    if not absurd.any():
        return np.empty(0, dtype=np.intp)
    fill = is_fill(value)
    doubted = absurd & ~_come_again(value, fill, n)
    first, last = int(np.argmax(absurd)), int(np.argmax(doubted)) if doubted.any() else n
    beyond = np.arange(n - half)
    return np.sort(order[half:][(beyond >= last) | (fill & (beyond >= first))])


def _come_again(value: Array, fill: Array, n: int) -> Array:
    """Whether a value and those after it are often enough, and of enough different numbers, to be believed."""
    _, where = np.unique(value[::-1], return_index=True)
    different = np.zeros(len(value), dtype=bool)
    different[len(value) - 1 - where] = True  # each number counts where it comes last
    different, often = np.cumsum((different & ~fill)[::-1])[::-1], np.cumsum(~fill[::-1])[::-1]
    return np.asarray((different >= EVENTS) & (often * (NEW + 1) >= n))


def _doubtful(X: Rows) -> Tall:
    """Which columns have to be searched for absurd values (m, boolean).

    Those whose range is more than FAR times the median distance of some sampled values from their own median, and
    those whose extremes are as large as huge fill values.
    """
    if is_sparse(X):
        stored = X.tocsc()
        return _far_apart(*_of_stored(stored.data, stored.indptr))
    low, high = extremes(X)
    few = X[:: max(1, X.shape[0] // SAMPLED), :]
    if not is_here(X):
        return _far_apart(low, high, as_type(few, np.float64))
    out = np.empty(X.shape[1], dtype=bool)
    for first in range(0, X.shape[1], AT_ONCE):
        some = slice(first, first + AT_ONCE)
        out[some] = _far_apart(low[some], high[some], few[:, some].astype(np.float64))
    return out


def _far_apart(low: Tall, high: Tall, few: Tall) -> Tall:
    """The same, given the columns' extremes and a few of their values."""
    xp = namespace(few)
    ordered = np.sort if is_here(few) else xp.sort  # the standard's is stable, which takes twice as long
    half = counted(~xp.isnan(few), axis=0) - 1
    half = xp.where(half > 0, half, 0)[None, :] // 2
    with np.errstate(over="ignore", invalid="ignore"):
        middle = xp.take_along_axis(ordered(few, axis=0), half, axis=0)  # NaN comes last
        usual = xp.take_along_axis(ordered(xp.abs(few - middle), axis=0), half, axis=0)[0, :]
        far = (low < high) & ~(high - low <= FAR * usual)
        return far | (xp.maximum(-low, high) >= HUGE)


def _of_stored(data: Array, starts: Array) -> tuple[Array, Array, Array]:
    """Least, greatest and SAMPLED values of every column of a CSC array; those of an empty column are NaN."""
    count = np.diff(starts)
    if not len(data):
        return np.zeros(len(count)), np.zeros(len(count)), np.zeros((1, len(count)))
    at = starts[:-1] + np.arange(SAMPLED)[:, None] * count // SAMPLED
    few = np.where(count > 0, data[np.minimum(at, len(data) - 1)].astype(np.float64), np.nan)
    low, high = np.full(len(count), np.nan), np.full(len(count), np.nan)
    full = np.flatnonzero(count)
    low[full], high[full] = np.minimum.reduceat(data, starts[full]), np.maximum.reduceat(data, starts[full])
    return low, high, few
