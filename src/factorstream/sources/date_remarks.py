"""What there is to say of columns that look like dates and do not say when the rows are, or may say it otherwise."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from ..text import capitalised, named_column
from .date_forms import other_order, read_dates
from .table import Table
from .timeline import LEAST_ROWS, Timeline

__all__ = ["date_remarks"]

_TIME = re.compile(r"\d{1,2}:\d{2}(?::\d{2})?(?:\s*[ap]m)?", re.IGNORECASE)
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_LIKE_A_DATE = re.compile(
    r"\d{4}([-/.])\d{1,2}\1\d{1,2}(?:\D.*)?|\d{1,2}([-/.])\d{1,2}\2\d{2}(?:\d{2})?(?:\D.*)?"
    rf"|(?:\w{{1,9}},?\W)?{_MONTH}\W.*\d.*|\d.{{0,4}}\W?{_MONTH}(?:\W.*)?|\d{{4}}\W?q[1-4]|q[1-4]\W?\d{{2,4}}",
    re.IGNORECASE,
)
FEW_ODD = 0.1
"""Share of a column's cells below which those that are no dates are pointed out. Not tuned: it decides what is said."""
EQUALLY_SPACED = "so rows were taken as equally spaced"
SAME_HOUR = "is the hour repeated when clocks go back"


def date_remarks(table: Table, when: Timeline | None) -> list[str]:
    """Sentences for work that takes the rows in time; ``when`` is the column that says when they are, if one does."""
    if when is not None and when.is_dated:
        return _doubt(table, when)
    found = (_remark(table, j) for j in sorted(set(range(len(table.names))) - set(table.numeric)))
    said = [remark for remark in found if remark]
    return said if said or when is not None else [f"No column goes up by equal steps, {EQUALLY_SPACED}."]


def _doubt(table: Table, when: Timeline) -> list[str]:
    """Dates such as 01/02/2024 throughout can be read in two ways."""
    cells = table.cells(when.column)
    found = None if when.form is None else other_order(cells, when.form)
    if found is None:
        return []
    order, cell, other = found
    name = capitalised(named_column(table.names[when.column]))
    return [f"{name} was read as {order}; if {cell} means {other:%Y-%m-%d}, write it so."]


def _remark(table: Table, j: int) -> str:
    """Why a column does not say when the rows are; nothing where it does not look as if it did."""
    cells, name = table.cells(j), capitalised(named_column(table.names[j]))
    known = [cell for cell in cells if cell is not None]
    if len(cells) < LEAST_ROWS or not known:
        return ""
    times = _times(known)
    if times is not None:
        return f"{name} {_why(table, cells, times)}, {EQUALLY_SPACED}."
    place, first = table.place(next(k for k, cell in enumerate(cells) if cell is not None)), str(known[0])
    if all(_TIME.fullmatch(str(cell)) for cell in known):
        return f"{name} has times without dates ({place} has {first}), {EQUALLY_SPACED}; write 2024-12-31 23:00."
    if all(_LIKE_A_DATE.fullmatch(str(cell)) for cell in known):
        form = f"in a form that is not known, or in several ({place} has {first!r:.50})"
        return f"{name} may be dates {form}, {EQUALLY_SPACED}; write 2024-12-31."
    odd = [k for k, cell in enumerate(cells) if cell is not None and not _LIKE_A_DATE.fullmatch(str(cell))]
    if 0 < len(odd) < FEW_ODD * len(known):
        return f"{name} has {str(cells[odd[0]])!r:.50} among dates in {table.place(odd[0])}, {EQUALLY_SPACED}."
    return ""


def _times(known: Sequence[Any]) -> list[Any] | None:
    """The dates that all cells are; None where they are something else."""
    return next((times for _, times in read_dates(known)), None)


def _why(table: Table, cells: Sequence[Any], times: Sequence[Any]) -> str:
    """What keeps dates from going up by equal steps."""
    empty = [k for k, cell in enumerate(cells) if cell is None]
    if empty:
        more = f" and {len(empty) - 1} more rows" if len(empty) > 1 else ""
        return f"has no date in {table.place(empty[0])}{more}"
    seen = {times[0]}
    for k in range(1, len(times)):
        if times[k] in seen:
            clock = isinstance(times[k], datetime) and times[k].tzinfo is None and (times[k].hour or times[k].minute)
            hint = f" (if it {SAME_HOUR}, write times in UTC)" if clock else ""
            return f"has {cells[k]} again in {table.place(k)}{hint}"
        if times[k] < times[k - 1]:
            return f"goes back in {table.place(k)} (sort the rows by it if it says when they are)"
        seen.add(times[k])
    return "goes up by unequal steps"
