"""Columns that count rows or years, found while the rows pass: what `counting_columns` finds in a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..table import Array
from ..timeline import EVEN, LEAST_ROWS, are_days

__all__ = ["Counting", "CountingSoFar"]

LOT = 1000
"""Rows that are looked at together. Not tuned: the columns that measure something are known after the first lot."""


class Counting:
    """Which columns go by equal steps, or are days such as 20241231, and so measure nothing.

    Whole numbers may have gaps, as `counts_with_gaps` says.

    >>> counting = Counting(2)
    >>> counting.add(np.array([[1.0, 5.0], [2.0, 5.5], [3.0, 4.0]]))
    >>> counting.found().tolist()
    [0]
    """

    def __init__(self, n_columns: int) -> None:
        self._left = np.arange(n_columns)  # what may still count; all arrays below are of these columns
        self._dated = np.ones(n_columns, dtype=bool)
        self._upward = np.ones(n_columns, dtype=bool)  # goes up by equal steps, or is days, without a gap
        self._line = _Line.of(n_columns)
        self._whole = np.ones(n_columns, dtype=bool)
        self._least, self._most = np.full(n_columns, np.inf), np.full(n_columns, -np.inf)
        self._first = self._last = np.empty((0, n_columns))
        self._waiting: list[Array] = []
        self._n_rows = self._n_waiting = 0

    @property
    def undecided(self) -> list[int]:
        """Positions of the columns that may still turn out to count; if there are none, more rows change nothing."""
        found: list[int] = self._left.tolist()
        return found

    def add(self, values: Array) -> None:
        """Look at the next rows, all columns of them; what is in those that are decided does not matter."""
        if len(self._left):
            self._waiting.append(np.asarray(values[:, self._left], dtype=np.float64))
            self._n_waiting += len(values)
            if self._n_waiting >= LOT:
                self._look()

    def found(self) -> Array:
        """The positions of the columns that count."""
        self._look()
        if self._n_rows < LEAST_ROWS or not len(self._left):
            return np.empty(0, dtype=np.intp)
        with np.errstate(invalid="ignore"):  # of columns with gaps
            step = (self._last[-1] - self._first[0]) / (self._n_rows - 1)
            even = np.maximum(self._most - step, step - self._least) <= EVEN * step
        upward = self._upward & (even | self._dated)
        return np.asarray(self._left[upward | self._line.counts(self._n_rows)])

    def are_whole(self, columns: Array) -> Array:
        """Whether all values of columns that count are whole numbers (boolean)."""
        return self._whole[np.isin(self._left, columns)]

    def _look(self) -> None:
        if not self._n_waiting or not len(self._left):
            return
        self._line.add(np.vstack(self._waiting), self._n_rows)
        values = np.vstack([self._last, *self._waiting])
        self._n_rows += self._n_waiting
        self._waiting, self._n_waiting = [], 0
        with np.errstate(invalid="ignore"):
            steps = np.diff(values, axis=0)
            up = ~np.isnan(values).any(axis=0) & (steps > 0.0).all(axis=0)
            self._whole &= (np.isnan(values) | (values % 1.0 == 0.0)).all(axis=0)
            self._least = np.fmin(self._least, np.min(steps, axis=0, initial=np.inf))
            self._most = np.fmax(self._most, np.max(steps, axis=0, initial=-np.inf))
            even = ~(self._most - self._least > 2.0 * EVEN * self._most)  # else no step is near to all others
        self._dated &= [bool(rises) and are_days(column) for rises, column in zip(up, values.T, strict=True)]
        self._first = values[:1] if not len(self._first) else self._first
        self._last = values[1 - LEAST_ROWS :]  # with the next row, enough to tell days
        self._upward &= up & (even | self._dated)
        self._keep(self._upward | self._line.on_line)

    def _keep(self, stay: Array) -> None:
        self._left, self._dated, self._whole = self._left[stay], self._dated[stay], self._whole[stay]
        self._upward, self._line = self._upward[stay], self._line.kept(stay)
        self._least, self._most = self._least[stay], self._most[stay]
        self._first, self._last = self._first[:, stay], self._last[:, stay]


class CountingSoFar:
    """Which columns have gone by equal steps in all rows so far, one row after another, and their next numbers.

    Gaps after the first rows do not count: where one is, the column is taken to have gone on.

    >>> so_far = CountingSoFar(2)
    >>> for row in ([1.0, 5.0], [2.0, 7.0], [3.0, 6.0], [np.nan, 8.0]):
    ...     so_far.add(np.array(row))
    >>> so_far.next().tolist(), so_far.found.tolist()
    ([5.0, nan], [True, False])
    """

    def __init__(self, n_columns: int) -> None:
        self._goes_on = np.ones(n_columns, dtype=bool)
        self._step, self._last = np.full(n_columns, np.nan), np.full(n_columns, np.nan)
        self._n_rows = 0

    @property
    def found(self) -> Array:
        """Which columns count, as far as the rows so far show (boolean)."""
        shown = self._n_rows >= LEAST_ROWS
        whole_down = (self._step < 0.0) & (self._step % 1.0 == 0.0) & (self._last % 1.0 == 0.0)
        return np.asarray(self._goes_on & ((self._step > 0.0) | whole_down) & shown)

    def next(self) -> Array:
        """The number that the next row has in every column that counts; NaN in others."""
        return np.where(self.found, self._last + self._step, np.nan)

    def add(self, values: Array) -> None:
        """Look at the next row (n_columns,), NaN in the gaps."""
        values = np.where(np.isnan(values), self.next(), values)
        if self._n_rows == 1:
            self._step = values - self._last
        elif self._n_rows > 1:
            self._goes_on &= np.abs(values - self._last - self._step) <= EVEN * np.abs(self._step)
        self._goes_on &= ~np.isnan(values)
        self._last = values
        self._n_rows += 1


@dataclass
class _Line:
    """Columns whose whole numbers lie on one line over the rows, gaps left out, as far as the rows have passed."""

    on_line: Array
    """Which still do (boolean)."""
    row: Array
    """Of the first number; NaN where there was none yet."""
    value: Array
    """The first number."""
    step: Array
    """From a row to the next, as the first two numbers tell; NaN until then."""
    seen: Array
    """How many numbers there were."""

    @classmethod
    def of(cls, n_columns: int) -> _Line:
        """Before the first row."""
        nothing = np.full(n_columns, np.nan)
        return cls(np.ones(n_columns, dtype=bool), nothing, nothing, nothing, np.zeros(n_columns, dtype=np.int64))

    def add(self, values: Array, first_row: int) -> None:
        """Look at the next rows, the first of which has this number."""
        known = ~np.isnan(values)
        rows = np.arange(first_row, first_row + len(values), dtype=np.float64)[:, None]
        self._remember(values, known, rows, self.seen == 0, first=True)
        self._remember(values, known & (rows > self.row), rows, np.isnan(self.step), first=False)
        with np.errstate(invalid="ignore"):
            on_line = (values - self.value == self.step * (rows - self.row)) | (rows == self.row)
            whole = values % 1.0 == 0.0
            steps = np.isnan(self.step) | ((self.step != 0.0) & (self.step % 1.0 == 0.0))
        self.seen = self.seen + known.sum(axis=0)
        self.on_line = self.on_line & steps & (~known | (on_line & whole)).all(axis=0)

    def _remember(self, values: Array, known: Array, rows: Array, which: Array, *, first: bool) -> None:
        """Take the first known number below as the first one of these columns, or as what tells their step."""
        which = which & known.any(axis=0)
        at = known.argmax(axis=0)
        row, value = rows[at, 0], values[at, np.arange(values.shape[1])]
        if first:
            self.row, self.value = np.where(which, row, self.row), np.where(which, value, self.value)
            return
        with np.errstate(invalid="ignore"):
            step = (value - self.value) / np.where(which, row - self.row, 1.0)
        self.step = np.where(which, step, self.step)

    def counts(self, n_rows: int) -> Array:
        """Which columns count after so many rows (boolean)."""
        return self.on_line & (self.seen >= LEAST_ROWS) & (2 * self.seen >= n_rows)

    def kept(self, stay: Array) -> _Line:
        """Some of the columns."""
        return _Line(*(part[stay] for part in (self.on_line, self.row, self.value, self.step, self.seen)))
