"""Values that are out of all proportion: fill values, mixed-up units, bits that flipped.

Least squares follows a value by its size, so that one entry a million deviations away leaves nothing of what a stream
has learned. It says nothing about the data; here it is found, and the callers take it as missing.

The rule, for each feature on its own
    A value is absurd if it lies further outside the range of the feature's other values than FAR times a unit, which
    is the length of that range. The size of the values is the unit instead where the range may be rounding (below
    ROUNDING of the size) and, if it is more, where there are fewer than ENOUGH values; of one or two values FAR² times
    their size. Zeros belong to the range, but do not count as values here: a thousand dry days do not say how much
    it rains. Huge fill values of file formats are absurd, whatever the others are; without any value but zeros nothing
    is known, and nothing else is.
Values that come again
    What is far away and comes again is data: rare events, or a feature that has changed its level or its unit. Only
    fill values never are, and one number again and again may be a logger's mark of its own.
In a stream (:func:`judge`)
    The others are the values before it that were not absurd. So the order of the rows matters, and their division into
    calls does not. An absurd value counts NEW, or AGAIN if it is the same number as the last absurd one; an ordinary
    value takes 1 back, and an absurd value with which the sum reaches PATIENCE is believed.
In rows that come together (``absurd_rows``)
    The others are the values nearer to the median, at least half of all. Values further out are believed if they are
    EVENTS different numbers, and as many as one in NEW + 1 of all.
In rows that a model is asked about (``absurd_rows``)
    The others are all values that it has learned from. Each is judged on its own: a question changes nothing, and so
    nothing is believed for coming again.

Normal values would have to be 30,000 deviations away. Those of a law as wild as Cauchy's are absurd with a probability
of less than 1/FAR for each time that the number of values doubles.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import (
    as_type,
    beside,
    copied,
    counted,
    device_of,
    is_here,
    least_and_greatest,
    namespace,
    positions,
    taken,
    to_host,
)
from ..cores import PASS, TINY, each_piece
from .absurd_limits import ENOUGH, limits, varies
from .entries import NO_ENTRIES, Columns, Entries, together
from .fill_values import is_fill, is_huge_fill
from .linalg import Array, Rows, is_sparse, over_rows
from .place import Tall

EVENTS = 8
"""So many absurd values, one directly after another in a stream, or different ones in a fit, are taken as data after
all. Not tuned: few enough that a real change is soon followed, and more than a fault of a few rows has."""

NEW, AGAIN = 999, 99
"""What an absurd value counts: values are believed in the end if they are absurd more often than once in 1000, or once
in 100 where it is always the same number. Not tuned: rare events are data, and bits that flip are rarer."""

PATIENCE = EVENTS * NEW
"""When the sum of what a feature's absurd values count (NEW or AGAIN each, less 1 for every ordinary value since)
reaches this, an absurd value is taken as data. Derived: EVENTS different ones in sequence reach it."""

COMPARING = 16 * PASS
"""What it costs to compare the extremes of a feature with its limits: so many operations on an array. Speed only."""

COUNTED_AT_ONCE = 256
"""Rows whose values are counted together, at most; the first few are often enough. Memory and speed only."""


class Seen(NamedTuple):
    """What a stream remembers of its features, to tell absurd values; beside its rows, where these are elsewhere."""

    low: Tall
    """The least value so far (m); ∞ without any."""
    high: Tall
    """The greatest (m); -∞ without any."""
    known: Tall
    """How many, zeros left out, up to ENOUGH (m)."""
    strikes: Tall
    """NEW or AGAIN for every absurd value, less 1 for every ordinary one since, not below 0 (m)."""
    last: Tall
    """The last absurd value (m); NaN without any."""
    quiet: bool
    """Whether a value within the range of its feature changes nothing: all counts are ENOUGH, all strikes 0."""


def nothing_seen(m: int) -> Seen:
    """Of m features, before any row."""
    none = np.zeros(m, np.int16)
    return Seen(np.full(m, np.inf), np.full(m, -np.inf), none, none.copy(), np.full(m, np.nan), False)


def seen_in(X: Rows) -> Seen:
    """What rows without absurd values leave behind."""
    low, high = extremes(X)
    count = _up_to_enough(_counts(X))
    none = nothing_seen(X.shape[1])
    return Seen(low, high, count, beside(none.strikes, X), beside(none.last, X), not counted(count < ENOUGH))


def _up_to_enough(count: Tall) -> Tall:
    return as_type(namespace(count).where(count < ENOUGH, count, ENOUGH), np.int16)


def extremes(X: Rows) -> tuple[Tall, Tall]:
    """Least and greatest value of every feature (float64); ∞ and -∞ without any."""
    if is_sparse(X):
        low, high = np.full(X.shape[1], np.inf), np.full(X.shape[1], -np.inf)
        np.fmin.at(low, X.indices, X.data)
        np.fmax.at(high, X.indices, X.data)
        return low, high
    if not is_here(X):
        low, high = least_and_greatest(X)
        return as_type(low, np.float64), as_type(high, np.float64)
    low, high = over_rows(np.fmin, X, np.inf), over_rows(np.fmax, X, -np.inf)
    return low.astype(np.float64, copy=False), high.astype(np.float64, copy=False)


def _counts(X: Rows) -> Tall:
    """Values of every feature that are not zero, as far as ENOUGH asks for."""
    if is_sparse(X):
        return np.bincount(X.indices[X.data != 0], minlength=X.shape[1])
    xp = namespace(X)
    count, first, step = xp.zeros(X.shape[1], dtype=xp.int64, device=device_of(X)), 0, 2 * ENOUGH
    while first < X.shape[0] and (first == 0 or counted(count < ENOUGH)):
        count += counted(xp.abs(X[first : min(first + step, X.shape[0]), :]) > 0, axis=0)  # NaN is not
        first, step = first + step, min(2 * step, COUNTED_AT_ONCE)
    return count


def judge(seen: Seen, X: Rows, known: tuple[Tall, Tall] | None = None) -> tuple[Seen, Entries]:
    """What is seen after the rows of X, in order, and which of their entries are absurd.

    Two passes over X, where no value lies outside the range of its feature, and a third for features with few values.
    Otherwise the columns that may hold something absurd, or in which the unit may change, are taken value by value. The
    :func:`extremes` may be ``known`` already.
    """
    one = known is None and not is_sparse(X) and X.shape[0] == 1
    least, greatest = (X[0, :], X[0, :]) if one else known or extremes(X)
    if seen.quiet and is_here(least) and len(least) >= TINY and (grown := _grown(seen, least, greatest)) is not None:
        return grown, NO_ENTRIES
    outside = (least < seen.low) | (greatest > seen.high)
    if not seen.quiet:
        outside |= (least <= greatest) & ((seen.known < ENOUGH) | (seen.strikes > 0))
    if not counted(outside):
        return seen, NO_ENTRIES
    some = in_question(outside)
    part, outside = some_of(seen, some), at(outside, some)
    least, greatest = as_type(at(least, some), np.float64), as_type(at(greatest, some), np.float64)
    fine = _keep_to_limits(part, least, greatest) | ~outside
    xp = namespace(least)
    low, high = xp.where(least < part.low, least, part.low), xp.where(greatest > part.high, greatest, part.high)
    few, wrong = counted(outside & fine & (part.known < ENOUGH)), positions(~fine)
    if not few and not len(wrong):  # a few ranges have grown, and that is all
        return seen._replace(low=_written(seen.low, some, low), high=_written(seen.high, some, high)), NO_ENTRIES
    new = part._replace(low=low, high=high)
    if few:
        new = new._replace(known=xp.where(fine, _up_to_enough(part.known + at(_counts(X), some)), part.known))
    found = NO_ENTRIES
    if len(wrong):
        old = Seen(part.low, part.high, new.known, part.strikes, part.last, False)
        judged, found = _judge_columns(X, old, wrong, wrong if some is None else some[wrong])
        new = Seen._make((*(_written(a, ~fine, b) for a, b in zip(new[:5], judged, strict=True)), False))
    new = Seen._make((*(_written(a, some, b) for a, b in zip(seen[:5], new[:5], strict=True)), False))
    return new._replace(quiet=not counted(new.known < ENOUGH) and not counted(new.strikes > 0)), found


def _grown(seen: Seen, least: Tall, greatest: Tall) -> Seen | None:
    """Quiet features after values between these extremes; None where one may be absurd. Many are taken in pieces."""

    def look(some: slice) -> tuple[int, bool]:
        which = np.flatnonzero((least[some] < seen.low[some]) | (greatest[some] > seen.high[some])) + some.start
        return len(which), bool(_keep_to_limits(some_of(seen, which), least[which], greatest[which]).all())

    n_outside, fine = zip(*each_piece(look, len(least), COMPARING * len(least)), strict=True)
    if not any(n_outside):
        return seen
    return seen._replace(low=np.fmin(seen.low, least), high=np.fmax(seen.high, greatest)) if all(fine) else None


def in_question(outside: Array) -> Array | None:
    """The numbers of some features, or None for all, which is as quick on a device as some of them are."""
    return np.flatnonzero(outside) if is_here(outside) else None


def at(values: Tall, some: Array | slice | None) -> Tall:
    """The entries of ``some`` features."""
    return values if some is None else values[some]


def some_of(seen: Seen, some: Array | slice | None) -> Seen:
    """What is known of ``some`` features."""
    return Seen._make((*(at(field, some) for field in seen[:5]), False))


def _written(values: Tall, some: Tall | None, new: Tall) -> Tall:
    """Values, of which ``some`` are ``new``: by their numbers or a mask, or all of them."""
    if some is None:
        return new
    out = copied(values)
    out[some] = beside(new, values)
    return out


def _judge_columns(X: Rows, seen: Seen, which: Array, columns: Array) -> tuple[list[Array], Entries]:
    """The fields of what is seen of these features after the values of their columns, and the absurd entries."""
    fields = [np.array(to_host(taken(field, which))) for field in seen[:5]]
    by_column = Columns(X, columns)
    found: list[Entries] = []
    for i, j in enumerate(columns.tolist()):
        rows, values = by_column(j)
        low, high, known, strikes, last = (field[i].item() for field in fields)
        judged, absurd = _judge_column(values, _Column(low, high, known, strikes, last))
        for field, number in zip(fields, judged, strict=True):
            field[i] = number
        found.append(Entries(rows[absurd], np.full(len(absurd), j), values[absurd]))
    return fields, together(found)


def _keep_to_limits(seen: Seen, least: Tall, greatest: Tall) -> Tall:
    """Features whose values, between these extremes, cannot be absurd in any order (boolean)."""
    lower, upper = limits(seen.low, seen.high, seen.known)
    inside = (least >= seen.low) & (greatest <= seen.high)
    steady = (seen.known >= ENOUGH) & varies(seen.low, seen.high)
    within = inside | (steady & (least >= lower) & (greatest <= upper))
    return (seen.strikes == 0) & within


class _Column(NamedTuple):
    """What is remembered of one feature; see ``Seen``."""

    low: float
    high: float
    known: int
    strikes: int
    last: float


def _judge_column(values: Array, seen: _Column) -> tuple[_Column, list[int]]:
    """The same for the values of one feature; the absurd ones by their positions."""
    low, high, count, strikes, last = seen
    values = values.astype(np.float64, copy=False)  # limits may be no numbers of float32
    absurd: list[int] = []
    at = 0
    while at < len(values):
        if strikes == 0:  # on to the next value that may be absurd
            steady = count >= ENOUGH and varies(low, high)
            lower, upper = limits(low, high, count) if steady else (low, high)
            rest = values[at:]
            out = np.flatnonzero((rest < lower) | (rest > upper))
            passed = rest[: out[0]] if len(out) else rest
            count = min(count + int(np.count_nonzero(passed)), ENOUGH)
            low, high = float(passed.min(initial=low)), float(passed.max(initial=high))
            at += len(passed)
            if not len(out):
                break
        value = float(values[at])
        if _is_absurd(value, low, high, count):
            strikes += AGAIN if value == last else NEW
            last = value
            if strikes < PATIENCE or is_fill(value):
                strikes = min(strikes, PATIENCE)
                absurd.append(at)
                at += 1
                continue
            strikes = 0
        low, high, strikes = min(low, value), max(high, value), max(strikes - 1, 0)
        count = min(count + (value != 0.0), ENOUGH)
        at += 1
    return _Column(low, high, count, strikes, last), absurd


def _is_absurd(value: float, low: float, high: float, count: int) -> bool:
    if low <= value <= high:
        return False
    lower, upper = limits(low, high, count)
    return bool(is_huge_fill(value) if np.isinf(upper) else value < lower or value > upper)
