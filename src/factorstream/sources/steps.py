"""How far columns of dates and numbers go from row to row, and back: after how many steps a value comes."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple, Protocol

import numpy as np

__all__ = ["Duration", "Months", "Number", "Step", "WorkingDays", "plain"]


class Step(Protocol):
    """How far a column goes from row to row."""

    def moved(self, first: Any, k: int) -> Any:
        """The value k steps after the first."""

    def steps_to(self, first: Any, value: Any) -> int:
        """After how many steps the value comes that lies on a step; of others, any number."""


class Number(NamedTuple):
    """Of numbers."""

    size: float

    def moved(self, first: float, k: int) -> float:
        """The value k steps after the first."""
        return first + k * self.size

    def steps_to(self, first: float, value: float) -> int:
        """After how many steps a value comes."""
        return round((value - first) / self.size)


class Duration(NamedTuple):
    """Of dates and times that lie a time apart."""

    size: timedelta

    def moved(self, first: Any, k: int) -> Any:
        """The value k steps after the first."""
        zone = getattr(first, "tzinfo", None)  # in which a day can have 23 hours
        return first + k * self.size if zone is None else (first.astimezone(UTC) + k * self.size).astimezone(zone)

    def steps_to(self, first: Any, value: Any) -> int:
        """After how many steps a value comes."""
        apart: timedelta = plain(value) - plain(first)
        return apart // self.size


class Months(NamedTuple):
    """Of dates on the same day of their months, or on the last one."""

    n: int
    ends: bool
    """Whether every date is the last day of its month."""

    def moved(self, first: Any, k: int) -> Any:
        """The value k steps after the first."""
        start = self._start(first)
        month = 12 * start.year + start.month - 1 + k * self.n
        found = start.replace(year=month // 12, month=month % 12 + 1)
        return found - timedelta(days=1) if self.ends else found

    def steps_to(self, first: Any, value: Any) -> int:
        """After how many steps a value comes."""
        one, two = self._start(first), self._start(value)
        return int(12 * (two.year - one.year) + two.month - one.month) // self.n

    def _start(self, value: Any) -> Any:
        return value + timedelta(days=1) if self.ends else value


class WorkingDays(NamedTuple):
    """Of dates from Monday to Friday."""

    n: int

    def moved(self, first: Any, k: int) -> Any:
        """The value k steps after the first."""
        day = _day(first)
        return first + timedelta(days=int((np.busday_offset(day, k * self.n) - day) / np.timedelta64(1, "D")))

    def steps_to(self, first: Any, value: Any) -> int:
        """After how many steps a value comes."""
        return int(np.busday_count(_day(first), _day(value))) // self.n


def _day(one: date) -> np.datetime64:
    return np.datetime64(one.strftime("%Y-%m-%d"), "D")


def plain(one: date) -> datetime:
    """A date as the time of its beginning, a time with a zone in UTC."""
    if not isinstance(one, datetime):
        return datetime(one.year, one.month, one.day)
    return one if one.tzinfo is None else one.astimezone(UTC)
