"""When the rows of a table are: columns that go up by equal steps, such as dates, years or numbers of rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple, Protocol

import numpy as np

from .date_forms import read_dates, rendered
from .table import Array, Table, TableError

__all__ = [
    "Timeline",
    "counted_on",
    "counting_columns",
    "few_dates",
    "refuse_newest_first",
    "regular_dates",
    "timeline",
]

LEAST_ROWS = 3
"""Rows that show a step: two can have any."""
EVEN = 1e-6
"""Largest difference between two steps of a column of numbers, as a share of the step: years with months as
1949.083333333 have 1e-8. Not tuned."""
MOST_LEFT_OUT = 10
"""Steps left out per row, from which on a column is not taken as regular. Not tuned; it keeps a single date of long ago
from filling the memory with empty rows."""


DAY_NUMBERS = "%Y%m%d"
"""How days are written as whole numbers: 20241231."""


class _Step(Protocol):
    """How far a column goes from row to row."""

    def moved(self, first: Any, k: int) -> Any:
        """The value k steps after the first."""


class _Number(NamedTuple):
    size: float

    def moved(self, first: float, k: int) -> float:
        return first + k * self.size


class _Duration(NamedTuple):
    size: timedelta

    def moved(self, first: Any, k: int) -> Any:
        zone = getattr(first, "tzinfo", None)  # in which a day can have 23 hours
        return first + k * self.size if zone is None else (first.astimezone(UTC) + k * self.size).astimezone(zone)


class _Months(NamedTuple):
    n: int
    ends: bool
    """Whether every date is the last day of its month."""

    def moved(self, first: Any, k: int) -> Any:
        day = timedelta(days=1)
        start = first + day if self.ends else first
        month = 12 * start.year + start.month - 1 + k * self.n
        found = start.replace(year=month // 12, month=month % 12 + 1)
        return found - day if self.ends else found


class _WorkingDays(NamedTuple):
    n: int

    def moved(self, first: Any, k: int) -> Any:
        day = np.datetime64(first.strftime("%Y-%m-%d"), "D")
        return first + timedelta(days=int((np.busday_offset(day, k * self.n) - day) / np.timedelta64(1, "D")))


class Timeline(NamedTuple):
    """A regular column: where its rows lie, counted in steps, and how it goes on."""

    column: int
    """Its position in the table."""
    steps: Array
    """Of every row from the first one (n_rows,), integers that go up."""
    first: Any
    step: _Step
    form: str | None = None
    """How dates are written as text; None for numbers, and for dates that are no text."""

    @property
    def n_left_out(self) -> int:
        """Steps between the first row and the last that have no row."""
        return int(self.steps[-1]) + 1 - len(self.steps)

    @property
    def is_dated(self) -> bool:
        """Whether the column holds dates, and not numbers."""
        return isinstance(self.first, date)

    def all_steps(self, n: int) -> list[Any]:
        """The values of the first n steps, as numbers or dates."""
        return [self.step.moved(self.first, k) for k in range(n)]

    def spread(self, X: Array) -> Array:
        """The rows of X at their steps, with rows of NaN where one is left out."""
        if not self.n_left_out:
            return X
        out = np.full((int(self.steps[-1]) + 1, X.shape[1]), np.nan)
        out[self.steps] = X
        return out

    def later(self, steps: int) -> list[Any]:
        """The values of the steps after the last row, as numbers or dates."""
        return [self.step.moved(self.first, int(self.steps[-1]) + k) for k in range(1, steps + 1)]

    def after(self, steps: int) -> list[Any]:
        """What the column says in the steps after the last row, in the way of its own cells."""
        later = self.later(steps)
        if self.form == DAY_NUMBERS:
            return [float(rendered(value, self.form)) for value in later]
        return [rendered(value, self.form) for value in later] if self.form else later

    def steps_after(self, before: Timeline, most: int) -> int | None:
        """How many steps of a timeline of dates lie between its last row and the first row here; 0: it is not after it.

        None where these are more than ``most``, where this timeline does not go on in the steps of the other, or where
        one has a time zone and the other has none.
        """
        end = int(before.steps[-1])
        first, last = _plain(self.first), _plain(before.step.moved(before.first, end))
        if (first.tzinfo is None) != (last.tzinfo is None):
            return None
        if first <= last:
            return 0
        k = next((k for k in range(1, most + 1) if _plain(before.step.moved(before.first, end + k)) >= first), None)
        if k is None:
            return None
        rows = self.all_steps(int(self.steps[-1]) + 1)
        expected = (before.step.moved(before.first, end + k + j) for j in range(len(rows)))
        return k if all(_plain(one) == _plain(two) for one, two in zip(rows, expected, strict=True)) else None


def regular_dates(values: Sequence[Any]) -> Timeline | None:
    """The timeline of dates that go up by equal steps; None where they do not."""
    return _dates(0, values)


def few_dates(table: Table, before: Timeline, most: int) -> Timeline | None:
    """The column of dates of a table with too few rows to show a step, in the steps of the rows before it.

    Of dates that can be read in two ways it is the one that goes on, at most so many steps later.
    """
    found: list[Timeline] = []
    for j in range(len(table.names)):
        cells = [] if j in table.numeric or len(table.numbers) >= LEAST_ROWS else table.cells(j)
        if not cells or any(cell is None for cell in cells):
            continue
        for form, times in read_dates(cells) if isinstance(cells[0], str) else [(None, cells)]:
            if all(isinstance(one, date) for one in times):
                one = Timeline(j, np.arange(len(times)), times[0], before.step, form)
                found += [one] if [*map(_plain, one.all_steps(len(times)))] == [*map(_plain, times)] else []
    return next((one for one in found if one.steps_after(before, most)), found[0] if found else None)


def timeline(table: Table) -> Timeline | None:
    """The first column of dates that is regular, or the first of numbers that counts; None where there is none."""
    for j in range(len(table.names)):
        if j not in table.numeric and (found := _dates(j, table.cells(j))) is not None:
            return found
    for at, j in enumerate(table.numeric):
        if (found := _numbers(j, table.numbers[:, at])) is not None:
            return found
    return None


def refuse_newest_first(table: Table, path: object) -> None:
    """Raise a sentence where a column of dates goes down by equal steps: what needs the order would go backwards."""
    for j, name in enumerate(table.names):
        if j in table.numeric:
            found = _day_numbers(j, table.numbers[::-1, table.numeric.index(j)])
        else:
            found = _dates(j, table.cells(j)[::-1])
        if found is not None:
            raise TableError(f"{path} cannot be used: column {name} goes down; sort the rows from oldest to newest.")


def counting_columns(table: Table) -> list[int]:
    """Positions of the columns of numbers that go up by equal steps, which count rows or years and measure nothing."""
    return [j for at, j in enumerate(table.numeric) if _numbers(j, table.numbers[:, at]) is not None]


def counted_on(cells: Sequence[Any], steps: int) -> list[Any]:
    """The numbers that follow those of a column that counts.

    >>> counted_on(["1", "3", "5"], 2)
    [7.0, 9.0]
    """
    found = _numbers(0, np.array(cells, dtype=np.float64))
    return [] if found is None else found.after(steps)


def _numbers(column: int, given: Array) -> Timeline | None:
    values = given.astype(np.float64)
    if len(values) < LEAST_ROWS or np.isnan(values).any():
        return None
    if (days := _day_numbers(column, values)) is not None:
        return days
    step = float(values[-1] - values[0]) / (len(values) - 1)
    if step <= 0.0 or np.abs(np.diff(values) - step).max() > EVEN * step:
        return None
    return Timeline(column, np.arange(len(values)), float(values[0]), _Number(step))


def _day_numbers(column: int, values: Array) -> Timeline | None:
    """A column of days such as 20241231, all between 1900 and 2100."""
    if (values < 19000101).any() or (values > 21001231).any() or (values % 1 != 0).any():
        return None
    try:
        return _regular(column, [datetime.strptime(f"{value:.0f}", DAY_NUMBERS) for value in values], DAY_NUMBERS)
    except ValueError:  # there is no such day
        return None


def _dates(column: int, cells: Sequence[Any]) -> Timeline | None:
    """A column of dates whose steps are all multiples of one, in time, months or working days."""
    if len(cells) < LEAST_ROWS or any(cell is None for cell in cells):
        return None
    if isinstance(cells[0], str):
        readings = read_dates(cells)
        return next((found for form, times in readings if (found := _regular(column, times, form)) is not None), None)
    return _regular(column, cells, None)


def _regular(column: int, read: Sequence[Any], form: str | None) -> Timeline | None:
    if not all(isinstance(one, date) and type(one) is type(read[0]) for one in read):
        return None
    plain = [_plain(one) for one in read]
    for steps, step in (_in_months(plain), _in_time(plain)):
        if steps is not None and step is not None:
            found = Timeline(column, steps, read[0], step, form)
            if found.n_left_out <= MOST_LEFT_OUT * len(read):
                return found
    return None


def _plain(one: date) -> datetime:
    """A date as the time of its beginning, a time with a zone in UTC."""
    if not isinstance(one, datetime):
        return datetime(one.year, one.month, one.day)
    return one if one.tzinfo is None else one.astimezone(UTC)


def _in_months(times: Sequence[datetime]) -> tuple[Array | None, _Step | None]:
    """The steps of dates that lie on the same day of their months, or on the last one."""
    for ends in (False, True):
        starts = [one + timedelta(days=1) for one in times] if ends else times
        day = starts[0].replace(year=2000, month=1) if starts[0].day <= 28 else None
        if any(one.day > 28 or one.replace(year=2000, month=1) != day for one in starts):
            continue
        if ends and starts[0].day > 1:
            continue
        steps, size = _counted(np.array([12 * one.year + one.month for one in starts]))
        return steps, _Months(size, ends)
    return None, None


def _in_time(times: Sequence[datetime]) -> tuple[Array | None, _Step | None]:
    """The steps of dates that lie a time apart; weekends do not count where no date falls on one."""
    unit = timedelta(microseconds=1)
    steps, size = _counted(np.array([(one - times[0]) // unit for one in times], dtype=np.int64))
    if steps is not None and size % (timedelta(days=1) // unit) == 0:
        days = np.array([one.date() for one in times], dtype="datetime64[D]")
        across_weekends = np.busday_count(days[0], days[-1]) < (days[-1] - days[0]).astype(int)
        if across_weekends and np.is_busday(days).all() and steps[-1] >= len(steps):
            worked, n = _counted(np.busday_count(days[0], days))
            return worked, _WorkingDays(n)
    return steps, _Duration(timedelta(microseconds=size))


def _counted(ticks: Array) -> tuple[Array | None, int]:
    """Places in units of the largest step that divides all; None where they do not go up."""
    jumps = np.diff(ticks)
    if (jumps <= 0).any():
        return None, 0
    size = int(np.gcd.reduce(jumps))
    return (ticks - ticks[0]) // size, size
