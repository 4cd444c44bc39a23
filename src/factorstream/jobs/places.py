"""Where the rows of a file are, as people find them: by lines of a text or rows, and by what a column of time says."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, time
from typing import Any, NamedTuple

import numpy as np

from ..sources.table import Array, Table
from ..sources.timeline import Timeline

__all__ = ["Places", "Where", "along_axis", "places_of", "time_texts", "where_next_rows_are", "where_rows_are"]


class Places(NamedTuple):
    """Where every row of a file is. This is the one way in which commands count rows."""

    word: str
    """``line`` of a text, the line of names being the first, as editors and spreadsheets count; or ``row`` of other
    files, the first being 1."""
    numbers: list[int]


class Where(NamedTuple):
    """Where rows lie along the axis of a picture."""

    x: Array
    """Dates (datetime64, in UTC where they have a zone), the numbers of a column that counts, or `Places`."""
    word: str
    """What the axis is called, where it has no dates."""
    zone: Any = None


def places_of(table: Table) -> Places:
    """The places of all rows of a table."""
    found = [table.place(row).partition(" ") for row in range(len(table.numbers))]
    return Places(found[0][0] if found else "row", [int(number) for _, _, number in found])


def along_axis(values: Sequence[Any], word: str) -> Where:
    """Dates, times or numbers as positions along an axis.

    >>> from datetime import date
    >>> along_axis([date(2024, 5, 1)], "day").x.astype(str).tolist(), along_axis([1949, 1950], "year").x.tolist()
    (['2024-05-01T00:00:00.000000'], [1949.0, 1950.0])
    """
    if not len(values) or isinstance(values[0], int | float):
        return Where(np.array(values, dtype=np.float64), word)
    zone = getattr(values[0], "tzinfo", None)
    if zone is not None:
        values = [one.astimezone(UTC).replace(tzinfo=None) for one in values]
    return Where(np.array(values, dtype="datetime64[us]"), word, zone)


def where_rows_are(table: Table, when: Timeline | None, *, spread: bool) -> Where:
    """Where the rows of a table lie; ``spread``: with the time steps that have no row."""
    if when is None:
        places = places_of(table)
        return along_axis(places.numbers, places.word)
    steps = range(int(when.steps[-1]) + 1) if spread else when.steps.tolist()
    return along_axis([when.step.moved(when.first, k) for k in steps], table.names[when.column])


def where_next_rows_are(table: Table | None, when: Timeline | None, steps: int, seen: int) -> Where:
    """Where the rows after the last one lie; ``seen`` is how many there were where no file says it."""
    if when is not None:
        return along_axis(when.later(steps), "" if table is None else table.names[when.column])
    places = Places("row", [seen]) if table is None else places_of(table)
    return along_axis([places.numbers[-1] + k for k in range(1, steps + 1)], places.word)


def time_texts(values: Sequence[Any]) -> list[str]:
    """Dates and times as texts, without seconds and hours if all of them are zero.

    >>> from datetime import date, datetime
    >>> time_texts([date(2024, 5, 1), datetime(2024, 5, 2)]), time_texts([datetime(2024, 5, 1, 7, 30)])
    (['2024-05-01', '2024-05-02'], ['2024-05-01 07:30'])
    """
    times = [one if isinstance(one, datetime) else datetime(one.year, one.month, one.day) for one in values]
    if all(one.tzinfo is None and one.time() == time() for one in times):
        return [one.date().isoformat() for one in times]
    full = any(one.second or one.microsecond for one in times)
    return [one.isoformat(sep=" ", timespec="auto" if full else "minutes") for one in times]
