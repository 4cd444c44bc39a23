"""Dates as texts: in which forms they are read, and written again in the same form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

__all__ = ["is_date", "other_order", "read_dates", "rendered"]

_DAYS = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%y", "%d/%m/%y", "%m/%d/%y")
_TIMES = ("", " %H:%M", " %H:%M:%S")
_FORMS = (
    *(day + time for day in _DAYS for time in _TIMES),
    *(f"{day} {time} %p" for day in ("%m/%d/%Y", "%m/%d/%y") for time in ("%I:%M", "%I:%M:%S")),
    *(f"%Y-%m-%dT%H:%M{rest}" for rest in ("", ":%S", ":%SZ", ":%S%z", ":%S.%3f", ":%S.%3fZ", ":%S.%f", ":%S.%fZ")),
    "%Y-%m-%d %H:%M:%S%z", "%Y-%m-%d %H:%M:%S.%3f", "%Y-%m-%d %H:%M:%S.%f",
    "%Y-%m", "%YQ%q", "%Y-Q%q", "%Y Q%q", "Q%q %Y",
    "%d %b %Y", "%d %B %Y", "%d-%b-%Y", "%d-%b-%y", "%b %d, %Y", "%B %d, %Y", "%b %Y", "%B %Y", "%b-%Y", "%b-%y",
)  # fmt: skip
"""How dates are written, in the words of `strftime`, and %q for a quarter, %3f for thousandths of a second. The
day comes before the month where all rows can be read both ways."""
_QUARTER, _THOUSANDTHS = "%q", "%3f"


def read_dates(cells: Sequence[str]) -> Iterator[tuple[str, list[datetime]]]:
    """Every form in which all of the texts are dates, and these.

    Each form comes with leading zeros and, marked by ~, without.

    >>> next(read_dates(["2024Q4", "2025Q1"]))
    ('%YQ%q', [datetime.datetime(2024, 10, 1, 0, 0), datetime.datetime(2025, 1, 1, 0, 0)])
    """
    for form in _FORMS:
        for mark in ("", "~"):
            if found := _read(cells, mark + form):
                yield mark + form, found


def is_date(text: str) -> bool:
    """Whether a text is a date in one of the forms.

    >>> is_date("31 Dec 2024"), is_date("Dec"), is_date("20.5")
    (True, False, False)
    """
    return next(read_dates([text]), None) is not None


def other_order(cells: Sequence[str], form: str) -> tuple[str, datetime] | None:
    """A text, and its date with the month before the day, where a form has it the other way and all can be read so."""
    if "%d/%m" not in form:
        return None
    found = _read(cells, form.replace("%d/%m", "%m/%d")) or []
    return next(((cell, time) for cell, time in zip(cells, found, strict=False) if time.day != time.month), None)


def rendered(time: Any, form: str) -> str:
    """A date as its column writes it.

    >>> rendered(datetime(2024, 5, 1, 7, 5), "~%m/%d/%Y %H:%M"), rendered(datetime(2024, 10, 1), "Q%q %Y")
    ('5/1/2024 7:05', 'Q4 2024')
    """
    form, short = form.removeprefix("~"), form.startswith("~")
    if _QUARTER in form:
        form = form.replace(_QUARTER, str((time.month + 2) // 3))
    if _THOUSANDTHS in form:
        form = form.replace(_THOUSANDTHS, f"{time.microsecond // 1000:03d}")
    text: str = time.strftime(form)
    if short:
        text = re.sub(r"(?<![\d:])0(\d)", r"\1", text)
    return f"{text[:-2]}:{text[-2:]}" if form.endswith("%z") else text


def _read(cells: Sequence[str], form: str) -> list[datetime] | None:
    """The dates that texts say in one form; None where one does not, or would not be written again as it is."""
    found = []
    for cell in cells:
        try:
            time = _parsed(cell, form.removeprefix("~"))
        except ValueError:
            return None
        if rendered(time, form) != cell:
            return None
        found.append(time)
    return found


def _parsed(cell: str, form: str) -> datetime:
    if _QUARTER not in form:
        return datetime.strptime(cell, form.replace(_THOUSANDTHS, "%f"))
    quarter = re.fullmatch(form.replace("%Y", r"(?P<year>\d{4})").replace(_QUARTER, "(?P<quarter>[1-4])"), cell)
    if quarter is None:
        raise ValueError
    return datetime(int(quarter["year"]), 3 * int(quarter["quarter"]) - 2, 1)
