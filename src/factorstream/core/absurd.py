"""Values that are out of all proportion: fill values, mixed-up units, bits that flipped.

Least squares follows a value by its size, so that one entry a million deviations away leaves nothing of what a stream
has learned. It says nothing about the data; here it is found, and the callers take it as missing.

The rule, for each feature on its own
    A value is absurd if it lies further outside the range of the feature's other values than FAR times a unit, which
    is the length of that range. The size of the values is the unit instead where the range may be rounding (below
    ROUNDING of the size) and, if it is more, where there are fewer than ENOUGH values; of one or two values FAR² times
    their size. Without any value but zeros nothing is known, and only huge fill values of file formats are absurd.
In a stream (:func:`judge`)
    The others are the values before it that were not absurd. So the order of the rows matters, and their division into
    calls does not. A feature that stays where an absurd value was has changed, and is followed: an absurd value counts
    WEIGHT, an ordinary one takes 1 back, and from PATIENCE on it is believed, unless it is a fill value.
In rows that come together (``absurd_rows``)
    The others are the values nearer to the median, at least half of all.

Normal values would have to be 30,000 deviations away. Those of a law as wild as Cauchy's are absurd with a probability
of less than 1/FAR for each time that the number of values doubles.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .fill_values import is_fill, is_huge_fill
from .linalg import Array, Rows, is_sparse

FAR = 1e4
"""Units outside the range from which on a value is absurd. Not tuned: one 10⁶ deviations away has to be, where the
range of a wide law is some 50 deviations long, and a sensor of 13 bits that wakes up must not."""

ENOUGH = 10
"""Values whose range is a unit on its own: that of a few can be tiny by chance. Not tuned."""

ROUNDING = 1e-6
"""Share of the size of the values below which their range may be rounding, in single precision. Not tuned."""

WEIGHT, PATIENCE = 9, 72
"""Eight absurd values in sequence are believed; more where others lie between, but for fewer than one in ten. Not
tuned: few enough to be followed soon, and more than a fault that lasts for a few rows."""

COUNTED_AT_ONCE = 256
"""Rows whose gaps are counted together. Memory only."""


class Seen(NamedTuple):
    """What a stream remembers of its features, to tell absurd values."""

    low: Array
    """The least value so far (m); ∞ without any."""
    high: Array
    """The greatest (m); -∞ without any."""
    known: Array
    """How many, up to ENOUGH (m)."""
    strikes: Array
    """WEIGHT for every absurd value, less 1 for every ordinary one since, not below 0 (m)."""
    quiet: bool
    """Whether a value within the range of its feature changes nothing: all counts are ENOUGH, all strikes 0."""


class Entries(NamedTuple):
    """Some entries of a table, by rows."""

    row: Array
    column: Array
    value: Array


NO_ENTRIES = Entries(np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp), np.empty(0))


def nothing_seen(m: int) -> Seen:
    """Of m features, before any row."""
    return Seen(np.full(m, np.inf), np.full(m, -np.inf), np.zeros(m, np.int8), np.zeros(m, np.int8), False)


def seen_in(X: Rows) -> Seen:
    """What rows without absurd values leave behind."""
    low, high = extremes(X)
    count = np.minimum(_counts(X), ENOUGH).astype(np.int8)
    return Seen(low, high, count, np.zeros_like(count), bool(count.min(initial=ENOUGH) == ENOUGH))


def extremes(X: Rows) -> tuple[Array, Array]:
    """Least and greatest value of every feature (float64); ∞ and -∞ without any. Two passes over the numbers."""
    if is_sparse(X):
        low, high = np.full(X.shape[1], np.inf), np.full(X.shape[1], -np.inf)
        np.fmin.at(low, X.indices, X.data)
        np.fmax.at(high, X.indices, X.data)
        return low, high
    low, high = np.fmin.reduce(X, axis=0, initial=np.inf), np.fmax.reduce(X, axis=0, initial=-np.inf)
    return low.astype(np.float64), high.astype(np.float64)


def _counts(X: Rows) -> Array:
    """Values of every feature, as far as ENOUGH asks for."""
    if is_sparse(X):
        return np.bincount(X.indices, minlength=X.shape[1])
    count = np.zeros(X.shape[1], np.int64)
    for first in range(0, X.shape[0], COUNTED_AT_ONCE):
        count += np.count_nonzero(~np.isnan(X[first : first + COUNTED_AT_ONCE]), axis=0)
        if count.min(initial=ENOUGH) >= ENOUGH:
            break
    return count


def limits(low: Any, high: Any, count: Any) -> tuple[Any, Any]:
    """Beyond these a value is absurd, given the range and the number of the others; infinite where nothing is known."""
    with np.errstate(over="ignore", invalid="ignore"):
        length, size = high - low, np.maximum(np.abs(low), np.abs(high))
        reach = FAR * np.where(length > ROUNDING * size, length, size)
        reach = np.where(count < ENOUGH, FAR * np.maximum(length, size), reach)
        reach = np.where(count < 3, FAR * FAR * size, reach)
        reach = np.where((count > 0) & (size > 0), reach, np.inf)
        return np.where(count > 0, low, 0.0) - reach, np.where(count > 0, high, 0.0) + reach


def judge(seen: Seen, X: Rows) -> tuple[Seen, Entries]:
    """What is seen after the rows of X, in order, and which of their entries are absurd.

    Two passes over X, where no value lies outside the range of its feature. Otherwise the columns that may hold
    something absurd, or in which the unit may change, are taken value by value.
    """
    if seen.quiet and _inside(seen, X):
        return seen, NO_ENTRIES
    low, high = extremes(X)
    present = low <= high
    lower, upper = limits(seen.low, seen.high, seen.known)
    settled = (seen.known >= ENOUGH) & (seen.strikes == 0)
    inside = (low >= seen.low) & (high <= seen.high)
    with np.errstate(over="ignore", invalid="ignore"):
        varies = seen.high - seen.low > ROUNDING * np.maximum(np.abs(seen.low), np.abs(seen.high))
    # The limits of a feature that varies can only move apart: who keeps to the first keeps to all that follow.
    fine = settled & (inside | (varies & (low >= lower) & (high <= upper)))
    low, high = np.minimum(seen.low, low), np.maximum(seen.high, high)
    count, strikes = seen.known.copy(), seen.strikes.copy()
    by_column = Columns(X)
    found: list[Entries] = []
    for j in np.flatnonzero(~fine & present).tolist():
        rows, values = by_column(j)
        before = float(seen.low[j]), float(seen.high[j]), int(seen.known[j]), int(seen.strikes[j])
        low[j], high[j], count[j], strikes[j], absurd = _judge_column(values, *before)
        found.append(Entries(rows[absurd], np.full(len(absurd), j), values[absurd]))
    quiet = bool(count.min(initial=ENOUGH) == ENOUGH and not strikes.any())
    return Seen(low, high, count, strikes, quiet), together(found)


def _inside(seen: Seen, X: Rows) -> bool:
    """Whether no value lies outside the range of its feature."""
    if is_sparse(X):
        out = (X.data < seen.low[X.indices]) | (X.data > seen.high[X.indices])
    elif len(X) == 1:
        out = (seen.low > X) | (seen.high < X)
    else:
        low, high = extremes(X)
        out = (low < seen.low) | (high > seen.high)
    return not out.any()


def _judge_column(
    values: Array, low: float, high: float, count: int, strikes: int
) -> tuple[float, float, int, int, list[int]]:
    """The same for the values of one feature; the absurd ones by their positions."""
    absurd: list[int] = []
    at = 0
    while at < len(values):
        if count >= ENOUGH and strikes == 0:  # on to the next value outside the range
            out = np.flatnonzero((values[at:] < low) | (values[at:] > high))
            if not len(out):
                break
            at += int(out[0])
        value = float(values[at])
        if _is_absurd(value, low, high, count):
            strikes += WEIGHT
            if strikes < PATIENCE or is_fill(value):
                strikes = min(strikes, PATIENCE)
                absurd.append(at)
                at += 1
                continue
            strikes = 0
        low, high, count, strikes = min(low, value), max(high, value), min(count + 1, ENOUGH), max(strikes - 1, 0)
        at += 1
    return low, high, count, strikes, absurd


def _is_absurd(value: float, low: float, high: float, count: int) -> bool:
    if low <= value <= high:
        return False
    lower, upper = limits(low, high, count)
    return bool(is_huge_fill(value) if np.isinf(upper) else value < lower or value > upper)


# ------------------------------------------------------------------ entries


class Columns:
    """The observed entries of rows, column by column."""

    def __init__(self, X: Rows) -> None:
        self._X = X.tocsc() if is_sparse(X) else X

    def __call__(self, j: int) -> tuple[Array, Array]:
        """Rows and values of a column's entries."""
        X = self._X
        if is_sparse(X):
            part = slice(X.indptr[j], X.indptr[j + 1])
            order = np.argsort(X.indices[part], kind="stable")
            return X.indices[part][order], X.data[part][order]
        rows = np.flatnonzero(~np.isnan(X[:, j]))
        return rows, X[rows, j]


def together(parts: list[Entries]) -> Entries:
    """Some lots of entries as one."""
    if not parts:
        return NO_ENTRIES
    row, column, value = (np.concatenate(part) for part in zip(*parts, strict=True))
    order = np.lexsort((column, row))
    return Entries(row[order], column[order], value[order])


def without(X: Rows, entries: Entries) -> Rows:
    """A copy of X in which these entries are missing; X itself where there are none."""
    if not len(entries.row):
        return X
    if not is_sparse(X):
        X = X.copy()
        X[entries.row, entries.column] = np.nan
        return X
    stored, m = X.tocoo(), np.int64(X.shape[1])
    keep = ~np.isin(stored.row * m + stored.col, entries.row * m + entries.column)
    return type(X)((stored.data[keep], (stored.row[keep], stored.col[keep])), shape=X.shape)
