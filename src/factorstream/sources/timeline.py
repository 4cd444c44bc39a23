"""When the rows of a table are: columns that go up by equal steps, such as dates, years or numbers of rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np

from ..text import named_column
from .date_forms import DAY_NUMBERS, read_dates, rendered
from .steps import Duration, Months, Number, Step, WorkingDays, plain
from .table import Array, Table, TableError

__all__ = [
    "EVEN",
    "LEAST_ROWS",
    "Timeline",
    "are_days",
    "counted_on",
    "counting_columns",
    "counts_with_gaps",
    "followed",
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


class Timeline(NamedTuple):
    """A regular column: where its rows lie, counted in steps, and how it goes on."""

    column: int
    """Its position in the table."""
    steps: Array
    """Of every row from the first one (n_rows,), integers that go up."""
    first: Any
    step: Step
    form: str | None = None
    """How dates are written as text; None for numbers, and for dates that are no text."""
    name: str = "time"
    """Of the column."""

    @property
    def n_left_out(self) -> int:
        """Steps between the first row and the last that have no row."""
        return int(self.steps[-1]) + 1 - len(self.steps)

    @property
    def last(self) -> Any:
        """The number or date of the last row."""
        return self.step.moved(self.first, int(self.steps[-1]))

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

    def steps_of(self, times: Sequence[Any]) -> Array | None:
        """After how many steps of this timeline of dates others come, below zero before its first row.

        None where one of them lies between two steps, or one side has a time zone and the other has none.
        """
        if any((plain(one).tzinfo is None) != (plain(self.first).tzinfo is None) for one in times):
            return None
        steps = [self.step.steps_to(self.first, one) for one in times]
        try:
            met = all(plain(self.step.moved(self.first, k)) == plain(one) for k, one in zip(steps, times, strict=True))
        except ValueError:  # a Saturday, where only working days count
            return None
        return np.array(steps) if met else None


def regular_dates(values: Sequence[Any], form: str | None = None, name: str = "time") -> Timeline | None:
    """The timeline of dates that go up by equal steps; None where they do not."""
    found = _regular(0, values, form) if len(values) >= LEAST_ROWS else None
    return None if found is None else found._replace(name=name)


def followed(table: Table, known: Timeline, most: int) -> Timeline | None:
    """The column of dates of a table, besides those that measure something, whose rows lie on the steps of a timeline.

    They go up, over at most so many steps, and one is enough. Of dates that can be read in several ways, it is the way
    in which that timeline is written or, if that is not among them, the one nearest to the step after its last row.
    """
    found = []
    measured, following = set(table.numeric), int(known.steps[-1]) + 1
    for j, name in enumerate(table.names):
        for form, times in () if j in measured else read_dates(table.cells(j)):
            steps = known.steps_of(times)
            if steps is not None and (np.diff(steps) > 0).all() and steps[-1] - steps[0] <= most:
                one = Timeline(j, steps - steps[0], times[0], known.step, form, name)
                other_form = (form or "").removeprefix("~") != (known.form or "").removeprefix("~")
                found.append(((other_form, abs(steps - following).max(), form != known.form), one))
    return min(found, key=lambda pair: pair[0])[1] if found else None


def timeline(table: Table) -> Timeline | None:
    """The first column of dates that is regular, or the first of numbers that counts; None where there is none."""
    measured = set(table.numeric)
    for j, name in enumerate(table.names):
        if j not in measured and (found := _dates(j, table.cells(j))) is not None:
            return found._replace(name=name)
    for at, j in enumerate(table.numeric):
        if (found := _numbers(j, table.numbers[:, at])) is not None:
            return found._replace(name=table.names[j])
    return None


def refuse_newest_first(table: Table, path: object) -> None:
    """Raise a sentence where a column of dates goes down by equal steps: what needs the order would go backwards."""
    numbers = dict(zip(table.numeric, table.numbers.T, strict=True))
    for j, name in enumerate(table.names):
        readings = [times for _, times in read_dates(numbers[j] if j in numbers else table.cells(j))]
        up, down = ([_regular(j, times[::way], None) is not None for times in readings] for way in (1, -1))
        if any(down) and not any(up):
            which = named_column(name)
            raise TableError(f"{path} cannot be used: {which} goes down; sort the rows from oldest to newest.")


def counting_columns(table: Table) -> list[int]:
    """Positions of the columns of numbers that go by equal steps, which count rows or years and measure nothing.

    Whole numbers may have gaps, see `counts_with_gaps`: so neither a lost number nor a mark of gaps that is also the
    number of a row makes data of them.
    """
    return [
        j
        for at, j in enumerate(table.numeric)
        if _numbers(j, table.numbers[:, at]) is not None or counts_with_gaps(table.numbers[:, at]) is not None
    ]


def counts_with_gaps(given: Array) -> Number | None:
    """The step of whole numbers that all lie on one line over their rows; None where they do not.

    Three of them at least are there, and half of all: fewer may lie so by chance.

    >>> nan = np.nan
    >>> columns = [1950, nan, 1952, 1953], [3, 2, nan, 0], [1, nan, nan, nan, 5, 6, nan], [7, 7, 7], [1, 2, nan, 5]
    >>> [counts_with_gaps(np.array(values)) for values in columns]
    [Number(size=1.0), Number(size=-1.0), None, None, None]
    """
    values = given.astype(np.float64)
    rows = np.flatnonzero(~np.isnan(values))
    if len(rows) < LEAST_ROWS or 2 * len(rows) < len(values):
        return None
    known = values[rows]
    with np.errstate(invalid="ignore"):  # of infinities
        step = (known[1] - known[0]) / (rows[1] - rows[0])
        on_line = (known - known[0] == step * (rows - rows[0])) & (known % 1.0 == 0.0)
        counts = step != 0.0 and step % 1.0 == 0.0 and on_line.all()
    return Number(float(step)) if counts else None


def are_days(values: Array) -> bool:
    """Whether numbers are days such as 20241231 that go up by regular steps.

    >>> are_days(np.array([20241230.0, 20241231.0, 20250101.0])), are_days(np.array([1.0, 2.0, 3.0]))
    (True, False)
    """
    return _dates(0, values) is not None


def counted_on(cells: Sequence[Any], steps: int) -> list[Any]:
    """The numbers that follow those of a column that counts.

    >>> counted_on(["1", "3", "5"], 2)
    [7.0, 9.0]
    """
    values = np.array(cells, dtype=np.float64)
    if (found := _numbers(0, values)) is not None:
        return found.after(steps)
    step = counts_with_gaps(values)
    if step is None:
        return []
    last = int(np.flatnonzero(~np.isnan(values))[-1])
    return [step.moved(float(values[last]), len(values) - 1 - last + k) for k in range(1, steps + 1)]


def _numbers(column: int, given: Array) -> Timeline | None:
    values = given.astype(np.float64)
    if len(values) < LEAST_ROWS or np.isnan(values).any():
        return None
    if (days := _dates(column, values)) is not None:
        return days
    step = float(values[-1] - values[0]) / (len(values) - 1)
    if step <= 0.0 or np.abs(np.diff(values) - step).max() > EVEN * step:
        return None
    return Timeline(column, np.arange(len(values)), float(values[0]), Number(step))


def _dates(column: int, cells: Any) -> Timeline | None:
    """A column of dates whose steps are all multiples of one, in time, months or working days."""
    if len(cells) < LEAST_ROWS:
        return None
    readings = (_regular(column, times, form) for form, times in read_dates(cells))
    return next((found for found in readings if found is not None), None)


def _regular(column: int, times: Sequence[Any], form: str | None) -> Timeline | None:
    if len(times) < 2:
        return None
    starts = [plain(one) for one in times]
    for steps, step in (_in_months(starts), _in_time(starts)):
        if steps is not None and step is not None:
            found = Timeline(column, steps, times[0], step, form)
            if found.n_left_out <= MOST_LEFT_OUT * len(times):
                return found
    return None


def _in_months(times: Sequence[datetime]) -> tuple[Array | None, Step | None]:
    """The steps of dates that lie on the same day of their months, or on the last one."""
    for ends in (False, True):
        starts = [one + timedelta(days=1) for one in times] if ends else times
        day = starts[0].replace(year=2000, month=1) if starts[0].day <= 28 else None
        if any(one.day > 28 or one.replace(year=2000, month=1) != day for one in starts):
            continue
        if ends and starts[0].day > 1:
            continue
        steps, size = _counted(np.array([12 * one.year + one.month for one in starts]))
        return steps, Months(size, ends)
    return None, None


def _in_time(times: Sequence[datetime]) -> tuple[Array | None, Step | None]:
    """The steps of dates that lie a time apart; weekends do not count where no date falls on one."""
    unit = timedelta(microseconds=1)
    steps, size = _counted(np.array([(one - times[0]) // unit for one in times], dtype=np.int64))
    if steps is not None and size % (timedelta(days=1) // unit) == 0:
        days = np.array([one.date() for one in times], dtype="datetime64[D]")
        across_weekends = np.busday_count(days[0], days[-1]) < (days[-1] - days[0]).astype(int)
        if across_weekends and np.is_busday(days).all() and steps[-1] >= len(steps):
            worked, n = _counted(np.busday_count(days[0], days))
            return worked, WorkingDays(n)
    return steps, Duration(timedelta(microseconds=size))


def _counted(ticks: Array) -> tuple[Array | None, int]:
    """Places in units of the largest step that divides all; None where they do not go up."""
    jumps = np.diff(ticks)
    if (jumps <= 0).any():
        return None, 0
    size = int(np.gcd.reduce(jumps))
    return (ticks - ticks[0]) // size, size
