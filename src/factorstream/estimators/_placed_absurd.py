"""Absurd values, and infinities, of rows that stay at another place: every feature is judged there, on its own."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..core.absurd import Seen, judge, seen_in
from ..core.absurd_limits import ENOUGH
from ..core.absurd_rows import absurd_beside, absurd_entries
from ..core.entries import NO_ENTRIES, Entries, together
from ..core.linalg import Array
from ..core.place import Place, Placed, Tall
from ..tall.placed_rows import PlacedRows
from ..tall.places import place_of
from ..tall.starting import check_range
from ._infinity import refuse_infinity


class Found(NamedTuple):
    """Of the features of one piece: which entries are absurd, by rows and by columns within the piece."""

    row: Tall
    column: Tall
    value: Tall


def next_rows_there(
    seen: Seen, X: PlacedRows, dtype: np.dtype[Any], first: int = 0
) -> tuple[Seen, Entries, PlacedRows]:
    """What is seen after the next rows of a stream, their absurd entries, and the rows without these; in one wait.

    ``first`` is the number of the first row, for messages.
    """
    after, found = X.place.each(_judged, seen_there(seen, X.place), X.tall)
    return _told(Seen._make((*after, False)), found, X, dtype, np.arange(first, first + X.shape[0]))


def rows_beside(seen: Seen, X: PlacedRows, dtype: np.dtype[Any], numbers: Array) -> tuple[Entries, PlacedRows]:
    """The entries that are absurd beside what was seen, and the rows without them; ``numbers`` are those of the rows.

    The same whenever it is asked, given what was seen.
    """
    found = X.place.each(_beside, seen, X.tall)
    return _told(seen, found, X, dtype, numbers)[1:]


def rows_together(X: PlacedRows, dtype: np.dtype[Any], numbers: Array) -> tuple[Seen, Entries, PlacedRows]:
    """What is seen in rows that are judged together, their absurd entries, and the rows without these."""
    after, found = X.place.each(_judged_together, X.tall)
    return _told(Seen._make((*after, False)), found, X, dtype, numbers)


def seen_here(seen: Seen) -> Seen:
    """What is seen of the features, in this process."""
    if not isinstance(seen.low, Placed):
        return seen
    place = place_of(seen.low)
    fields = [place.get(part, 0) for part in seen[:5]]
    return Seen._make((*fields, _is_quiet(fields[2], fields[3])))


def seen_there(seen: Seen, place: Place) -> Seen:
    """What is seen of the features, at the place."""
    if isinstance(seen.low, Placed):
        return seen
    return Seen._make((*(place.put(part, 0) for part in seen[:5]), False))


def _told(
    after: Seen, found: Found, X: PlacedRows, dtype: np.dtype[Any], numbers: Array
) -> tuple[Seen, Entries, PlacedRows]:
    """One wait for what there is to say about rows with these ``numbers``; more where something is wrong."""
    place = X.place
    limit = float(np.finfo(dtype).max) ** 0.25
    n_absurd, n_infinite, n_large = place.total(_facts, after[:2], found.row, X.tall, limit)
    if n_infinite:
        column = int(np.flatnonzero(place.get(place.each(_has_infinity, X.tall), 0))[0])
        values = X.columns_here(np.array([column]))
        refuse_infinity(values, lambda at: (int(numbers[at[0]]), column))
    if n_large:
        low, high = (place.get(part, 0) for part in after[:2])
        check_range(max(float((-low).max()), float(high.max())), dtype, smallest=0.0)
    if not n_absurd:
        return after, NO_ENTRIES, X
    all_columns = place.put(np.arange(X.shape[1]), 0)
    parts = (found.row, place.each(_numbered, all_columns, found.column), found.value)
    rows, columns, values = (place.get(part, 0) for part in parts)
    return after, together([Entries(numbers[rows], columns, values)]), X.without(found.row, found.column)


# ------------------------------------------------------------------ for one piece of the features


def _judged(seen: Seen, X: Array) -> tuple[tuple[Array, ...], Found]:
    after, entries = judge(seen._replace(quiet=_is_quiet(seen.known, seen.strikes)), _finite(X))
    return after[:5], Found(*entries)


def _judged_together(X: Array) -> tuple[tuple[Array, ...], Found]:
    X = _finite(X)
    entries = absurd_entries(X)
    clean = X
    if len(entries.row):
        clean = X.copy()
        clean[entries.row, entries.column] = np.nan
    return seen_in(clean)[:5], Found(*entries)


def _beside(seen: Seen, X: Array) -> Found:
    return Found(*absurd_beside(seen, _finite(X)))


def _finite(X: Array) -> Array:
    """X without infinities: they are refused afterwards."""
    return np.where(np.isinf(X), np.nan, X) if np.isinf(X).any() else X


def _is_quiet(known: Array, strikes: Array) -> bool:
    return not ((known < ENOUGH).any() or (strikes > 0).any())


def _facts(extremes: tuple[Array, Array], rows: Array, X: Array, limit: float) -> tuple[int, int, int]:
    """How many entries are absurd, how many infinite, and how many features have values that are too large."""
    low, high = extremes
    return len(rows), int(np.count_nonzero(np.isinf(X))), int(np.count_nonzero((-low >= limit) | (high >= limit)))


def _has_infinity(X: Array) -> Array:
    return np.asarray(np.isinf(X).any(axis=0))


def _numbered(numbers: Array, columns: Array) -> Array:
    return numbers[columns]
