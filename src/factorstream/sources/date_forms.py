"""Dates as texts: in which forms they are read, and written again in the same form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from typing import Any

import numpy as np

__all__ = ["DAY_NUMBERS", "is_date", "other_order", "read_dates", "rendered", "same_order"]

_DAYS = (
    "%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%y/%m/%d",
    "%d-%m-%Y", "%m-%d-%Y",
)  # fmt: skip
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
_ORDERS = {
    "%d/%m/%Y": "day/month/year",
    "%m/%d/%Y": "month/day/year",
    "%d/%m/%y": "day/month/year",
    "%m/%d/%y": "month/day/year",
    "%y/%m/%d": "year/month/day",
    "%d-%m-%Y": "day-month-year",
    "%m-%d-%Y": "month-day-year",
}
"""Forms that may be one another, where all numbers are small."""
_FIELDS = {"%Y": r"\d{4}", "%y": r"\d\d", "%q": r"\d", "%3f": r"\d+", "%b": ".+", "%B": ".+", "%p": ".+", "%z": ".+"}
"""What the fields of a form look like; the others are one digit or more."""
_SHAPES = re.compile(
    "|".join(sorted({re.sub(r"%3f|%\w", lambda one: _FIELDS.get(one[0], r"\d+"), form) for form in _FORMS}))
)
"""What texts look like that may be dates: most texts are none, and to try all forms takes long."""
DAY_NUMBERS = "%Y%m%d"
"""How days are written as whole numbers: 20241231."""


def read_dates(cells: Any) -> Iterator[tuple[str | None, list[Any]]]:
    """Every form in which all of the cells of a column are dates, and these; none where one is missing.

    Texts have the forms above, each with leading zeros and, marked by ~, without. Numbers, as texts too, can be days
    such as 20241231. Dates of Python have no form.

    >>> next(read_dates(["2024Q4", "2025Q1"]))
    ('%YQ%q', [datetime.datetime(2024, 10, 1, 0, 0), datetime.datetime(2025, 1, 1, 0, 0)])
    >>> next(read_dates([20241231.0]))
    ('%Y%m%d', [datetime.datetime(2024, 12, 31, 0, 0)])
    """
    if not len(cells):
        return
    if isinstance(cells[0], date):
        if all(isinstance(cell, date) and type(cell) is type(cells[0]) for cell in cells):
            yield None, list(cells)
    elif (days := _days(cells)) is not None:
        yield DAY_NUMBERS, days
    elif all(isinstance(cell, str) and _SHAPES.fullmatch(cell) for cell in cells):
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


def other_order(cells: Sequence[str], form: str) -> tuple[str, str, datetime] | None:
    """The order of day, month and year in a form, a text, and its date in another order in which all can be read.

    >>> other_order(["24/05/01"], "%d/%m/%y")
    ('day/month/year', '24/05/01', datetime.datetime(2024, 5, 1, 0, 0))
    """
    order = next((one for one in _ORDERS if one in form), None)
    if order is None:
        return None
    known = _read(cells, form) or []
    for other in _ORDERS:
        found = _read(cells, form.replace(order, other)) or []
        if found and "%y/%m/%d" in (order, other) and max(found) - min(found) > max(known) - min(known):
            continue  # days one after another, which would be years
        for cell, one, two in zip(cells, known, found, strict=False):
            if one != two:
                return _ORDERS[order], cell, two
    return None


def same_order(form: str, other: str) -> bool:
    """Whether two forms write days in the same way, but for leading zeros and the time of the day.

    >>> same_order("%d/%m/%Y", "~%d/%m/%Y %H:%M"), same_order("%d/%m/%Y", "%m/%d/%Y")
    (True, False)
    """
    one, another = (form.removeprefix("~").partition(" ")[0] for form in (form, other))
    return one == another


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
    if short:
        for field, value in (("%d", time.day), ("%m", time.month)):
            form = form.replace(field, str(value))
        for field in ("%H", "%I"):
            form = form.replace(field, time.strftime(field).removeprefix("0"))
    text: str = time.strftime(form)
    return f"{text[:-2]}:{text[-2:]}" if form.endswith("%z") else text


def _days(cells: Any) -> list[datetime] | None:
    """The days that numbers such as 20241231 say, all between 1900 and 2100; None where one says none."""
    try:
        if not 19000101 <= float(cells[0]) <= 21001231:
            return None
        numbers = np.array(cells, dtype=np.float64)
        if not (numbers % 1 == 0).all():
            return None
        days = [datetime.strptime(f"{number:.0f}", DAY_NUMBERS) for number in numbers]
    except (TypeError, ValueError):  # a text, nothing, or no such day
        return None
    return days if all(1900 <= day.year <= 2100 for day in days) else None


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
