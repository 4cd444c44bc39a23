"""Columns of a text that hold no numbers, as models take them: labels, true and false, dates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from .date_forms import read_dates, rendered, same_order
from .table import Array

__all__ = ["DAYS", "LABELS", "NUMBERS", "TIMES", "TRUTH", "TextColumn", "TextColumns", "number_column", "text_column"]

NUMBERS, LABELS, TRUTH, DAYS, TIMES = "numbers", "labels", "truth", "days", "times"
"""What a column holds."""

BEGINNING = datetime(1970, 1, 1)
"""Dates are counted in seconds from here."""

LATEST, EARLIEST = (datetime(year, 12, 31) - BEGINNING for year in (9998, 1))
"""The last and the first date that is written. Derived: Python has none beyond the years 1 and 9999."""


class TextColumn(NamedTuple):
    """One column."""

    kind: str
    values: Array
    """Numbers, or dates as seconds, NaN in gaps; or the number of each label among ``labels``, -1 in gaps."""
    labels: tuple[Any, ...] = ()
    spelled: Mapping[Any, str] = {}
    """How labels are written that are no text: true and false."""
    form: str = ""
    """How dates are written, see `read_dates`; or how true is."""
    zone: tzinfo | None = None
    marks: tuple[str, ...] = ()
    """What was taken as a gap, and could be a label: none, -, ..."""

    @property
    def missing(self) -> Array:
        """Which rows are gaps."""
        return self.values < 0 if self.kind in (LABELS, TRUTH) else np.isnan(self.values)

    def texts(self) -> Array:
        """What the cells say (n,), nothing in gaps; numbers are not written here."""
        if self.kind in (LABELS, TRUTH):
            said = [*(self.spelled.get(label, str(label)) for label in self.labels), ""]
            return np.array(said, dtype=object)[self.values]
        return np.array([self._date(value) for value in self.values.tolist()], dtype=object)

    def _date(self, seconds: float) -> str:
        if seconds != seconds:
            return ""
        within = min(max(seconds, EARLIEST.total_seconds()), LATEST.total_seconds())
        moment = BEGINNING + timedelta(seconds=within)
        return rendered(moment if self.zone is None else moment.replace(tzinfo=UTC).astimezone(self.zone), self.form)


class TextColumns:
    """Some columns of a text as a table that models take; the names of its methods are those of Arrow tables."""

    def __init__(self, names: Sequence[str], columns: Sequence[TextColumn]) -> None:
        self.column_names, self.columns = list(names), list(columns)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.columns[0].values), len(self.columns)

    def column(self, k: int) -> TextColumn:
        """One column."""
        return self.columns[k]

    def select(self, some: Sequence[int]) -> TextColumns:
        """A table of these columns."""
        return TextColumns([self.column_names[k] for k in some], [self.columns[k] for k in some])

    def slice(self, first: int, n: int) -> TextColumns:
        """A table of n rows from the first on."""
        rows = slice(first, first + n)
        return TextColumns(self.column_names, [one._replace(values=one.values[rows]) for one in self.columns])


def number_column(values: Array) -> TextColumn:
    """Numbers as a column."""
    return TextColumn(NUMBERS, np.asarray(values, dtype=np.float64))


def text_column(cells: Sequence[str | None], form: str = "") -> TextColumn:
    """Texts as a column: dates where all of them are days or times in one form, else labels.

    ``form`` is that of such a column in another file. It decides where the texts leave it open: where there are none,
    and of dates that can be read in several ways.

    >>> found = text_column(["2024-05-01", None, "2024-05-03"])
    >>> found.kind, found.form, found.values.tolist()
    ('days', '%Y-%m-%d', [1714521600.0, nan, 1714694400.0])
    >>> found = text_column(["Yes", None, "No", "Yes"])
    >>> found.kind, found.labels, found.values.tolist()
    ('labels', ('Yes', 'No'), [0, -1, 1, 0])
    >>> found = text_column(["TRUE", None])
    >>> found.kind, found.labels, found.spelled[False]
    ('truth', (False, True), 'FALSE')
    >>> text_column(["01/02/2024"], "%m/%d/%Y").form, text_column([None], "%m/%d/%Y").kind
    ('%m/%d/%Y', 'days')
    """
    known = [cell for cell in cells if cell is not None]
    if not known and form:
        return _nothing(len(cells), form)
    # months and quarters are labels, which need no place between two
    readings = ((one, times) for one, times in read_dates(known) if one is not None and "%d" in one)
    if (first := next(readings, None)) is not None:
        like_other = (one for one in chain([first], readings) if same_order(one[0], form))
        return _dates(cells, *(next(like_other, first) if form else first))
    if known and all(cell.lower() in ("true", "false") for cell in known):
        at = np.array([-1 if cell is None else int(cell.lower() == "true") for cell in cells], dtype=np.int64)
        spelled = _spelling(known)
        return TextColumn(TRUTH, at, (False, True), spelled, spelled[True])
    number: dict[str, int] = {}
    codes = [-1 if cell is None else number.setdefault(cell, len(number)) for cell in cells]
    return TextColumn(LABELS, np.array(codes, dtype=np.int64), tuple(number))


def _dates(cells: Sequence[str | None], form: str, times: Sequence[datetime]) -> TextColumn:
    values = np.full(len(cells), np.nan)
    values[[k for k, cell in enumerate(cells) if cell is not None]] = [_seconds(one) for one in times]
    return TextColumn(_kind(form), values, form=form, zone=times[0].tzinfo)


def _nothing(n: int, form: str) -> TextColumn:
    """A column without any value, of what has this form."""
    if "%" not in form:
        return TextColumn(TRUTH, np.full(n, -1, dtype=np.int64), (False, True), _spelling([form]), form)
    return TextColumn(_kind(form), np.full(n, np.nan), form=form, zone=UTC if form.endswith("%z") else None)


def _kind(form: str) -> str:
    return TIMES if "%H" in form or "%I" in form else DAYS


def _seconds(time: datetime) -> float:
    return time.timestamp() if time.tzinfo is not None else (time - BEGINNING).total_seconds()


def _spelling(known: Sequence[str]) -> dict[Any, str]:
    """How true and false are written: as they are, or with capitals as the other has them."""
    found = {cell.lower() == "true": cell for cell in reversed(known)}
    other = next(iter(found.values()))
    way = str.upper if other.isupper() else str.capitalize if other[0].isupper() else str.lower
    return {truth: found.get(truth, way(str(truth))) for truth in (False, True)}
