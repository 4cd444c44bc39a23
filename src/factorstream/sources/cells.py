"""Single cells of a text: what they say, and how numbers and texts are written into them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

import numpy as np

from .number_form import PLAIN, NumberForm
from .table import Array, as_number

__all__ = [
    "GAPS",
    "LEAST_WHOLE",
    "MINUS",
    "SIGNS",
    "Cells",
    "all_gaps",
    "cell_text",
    "finite_number",
    "has_decimal_comma",
    "is_gap",
    "may_be_decimal_commas",
    "may_be_label",
    "may_be_thousands",
    "quoted",
    "rewritten",
    "said",
    "written",
]

GAPS = frozenset(
    [
        *("", "na", "n/a", "n.a.", "n.a", "#n/a", "#n/a n/a", "#na", "<na>", "nan", "-nan", "nil", "null", "none"),
        *("1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan"),  # NaN as older C libraries print it
        *("#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!"),  # errors of spreadsheets
        *("missing", ".", "..", "...", "?", "-", "--", "---", "–", "—"),
    ]
)
"""What counts as a gap in a column of numbers, in any case of letters and between spaces: what pandas takes as missing,
the errors of spreadsheets, and the marks of statistical offices. docs/command-line.md has the list too."""

NO_LABELS = frozenset(
    ["", "na", "n/a", "n.a.", "n.a", "#n/a", "#n/a n/a", "#na", "<na>", "nan", "-nan", "null", "?", "#null!"]
)
"""Those of them that are hardly ever a label themselves, as none, missing and - may be."""

LEAST_WHOLE = 3
"""Numbers that show that a column of a text has whole ones only. Derived: of numbers with one digit after the point,
all three are whole by chance once in a thousand."""

ROWS_AT_ONCE = 1000
"""Rows whose cells are joined to be looked at. Not tuned: what is found does not depend on it."""
MINUS = "\u2212"
"""The minus sign of typesetters, which stands in tables that were copied from pages."""

_CODE = re.compile(r"\s*[+\-\u2212]?0\d")  # 00123 is the name of something, not a number
_PLAIN = (*"123456789", *(f"-{digit}" for digit in "123456789"), "0.", "-0.")  # how a number begins that is no code
_DECIMAL_COMMA = re.compile(r"[+\-\u2212]?(?:\d+|\d{1,3}(?:[.' \u00a0\u202f]\d{3})+),\d+(?:[eE][+-]?\d+)?")
_GROUPED = re.compile(r"[+\-\u2212]?[1-9]\d{0,2}(?:([,' \u00a0\u202f])\d{3})(?:\1\d{3})*(?:\.\d*)?")
_THOUSANDS = re.compile(r"[+\-\u2212]?[1-9]\d{0,2}(?:\.\d{3})+")
SIGNS = "$€£¥% \u00a0\u202f"
"""What may stand before or after a number."""


class Cells:
    """How to read single cells, and write filled ones."""

    def __init__(self, missing: Sequence[str] = (), form: NumberForm = PLAIN) -> None:
        self.form = form
        """How numbers are written."""
        self.gaps = all_gaps(missing)
        """Texts that are gaps, in small letters."""
        numbers = (as_number(form.plain(text) or text) for text in missing)
        self.marks = {value for value in numbers if value is not None}
        """Numbers that are gaps."""

    def text(self, cell: str) -> str:
        """What a cell says, without its quotes and the spaces around it."""
        return cell_text(cell).strip()

    def is_gap(self, cell: str) -> bool:
        """Whether a cell is empty or says that a value is missing."""
        if is_gap(cell, self.gaps):
            return True
        return bool(self.marks) and as_number(self.form.plain(cell_text(cell)) or "") in self.marks

    def number(self, cell: str) -> float | None:
        """The finite number that a cell says; None of a gap or a text."""
        return None if self.is_gap(cell) else finite_number(self.form.plain(cell_text(cell)) or "")

    def as_written(self, cell: str) -> float | None:
        """The finite number that a cell says, even if it marks a gap; None of any other cell."""
        return finite_number(self.form.plain(cell_text(cell)) or "")

    def value(self, cell: str) -> float | None:
        """The finite number that a cell says, NaN of a gap, None of a text; quicker than asking for each."""
        number = finite_number(self.form.plain(cell) or "")
        if number is None:  # less often: a gap, a number in quotes, or text
            if self.is_gap(cell):
                return math.nan
            number = finite_number(self.form.plain(cell_text(cell)) or "")
        return math.nan if number in self.marks else number

    def values(self, cells: Sequence[str]) -> list[float | None]:
        """What `value` says of every cell; most numbers, and empty cells, are told without it."""
        if self.form != PLAIN:
            return [self.value(cell) if cell else math.nan for cell in cells]
        found: list[float | None] = []
        for cell in cells:
            if not cell:
                found.append(math.nan)
                continue
            try:
                number = float(cell)
            except ValueError:
                found.append(self.value(cell))
                continue
            plain = cell.startswith(_PLAIN) and "_" not in cell and abs(number) < math.inf and number not in self.marks
            found.append(number if plain else self.value(cell))
        return found

    def is_whole(self, cell: str) -> bool:
        """Whether a cell that says a number is written as a whole one: 17, but neither 17.0 nor 1e3."""
        plain = self.form.plain(cell_text(cell)) or ""
        return not any(mark in plain for mark in ".eE")

    def are_whole(self, cells: Sequence[str]) -> bool:
        """Whether all numbers among cells, which are numbers and gaps, are written as whole ones."""
        marks, text = (self.form.decimal, "e", "E"), "".join(cells)
        if not (marks[0] in text or "e" in text or "E" in text):  # most often, and quickly
            return True
        odd = (cell for cell in cells if any(mark in cell for mark in marks))
        return all(self.is_gap(cell) or self.is_whole(cell) for cell in odd)

    def whole_columns(self, rows: Iterable[Sequence[str]], columns: Sequence[int]) -> frozenset[int]:
        """Those columns of numbers and gaps whose numbers, LEAST_WHOLE at least, are all written as whole ones.

        Rows are asked for until no column is left.

        >>> rows = [["1", "2.5", "", "7"], ["2", "3", "4", "8"], ["5", "6", "NA", "9"]]
        >>> sorted(Cells().whole_columns(rows, range(4)))
        [0, 3]
        """
        left, coming = list(columns), iter(rows)
        known = dict.fromkeys(left, 0)
        while left and (lot := list(islice(coming, ROWS_AT_ONCE))):
            left = [j for j in left if self.are_whole([cells[j] for cells in lot])]
            for j in left:
                if known[j] < LEAST_WHOLE:
                    known[j] += sum(not self.is_gap(cells[j]) for cells in lot)
        return frozenset(j for j in left if known[j] >= LEAST_WHOLE)

    def written(self, value: float, delimiter: str = "") -> str:
        """A cell that says a number; empty for NaN and infinities."""
        cell = self.form.local(written(value)) if math.isfinite(value) else ""
        return quoted(cell, delimiter) if delimiter and delimiter in cell else cell

    def all_written(self, values: Array, delimiter: str = "") -> list[str]:
        """What `written` says of every number (n,), in less time.

        >>> Cells().all_written(np.array([0.1 + 0.2, 1700000000500.0, -0.0, np.nan]))
        ['0.3', '1700000000500', '0', '']
        """
        if self.form != PLAIN or not (np.abs(values) < 1e9).all():  # NaN, too
            return [self.written(value, delimiter) for value in values.tolist()]
        return ("%.10g " * len(values) % tuple((values + 0.0).tolist())).split()

    def named(self, text: str, delimiter: str) -> str:
        """A cell that says a text."""
        return quoted(text, delimiter)


def cell_text(cell: str) -> str:
    """What a cell says, without its quotes."""
    return cell[1:-1].replace('""', '"') if len(cell) > 1 and cell[0] == cell[-1] == '"' else cell


def quoted(text: str, delimiter: str) -> str:
    """A cell that says this."""
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in (delimiter, '"', "\r", "\n")) else text


def all_gaps(missing: Sequence[str]) -> frozenset[str]:
    """What counts as a gap, in small letters: GAPS and these texts."""
    return GAPS.union(text.strip().lower() for text in missing)


def is_gap(cell: str, gaps: frozenset[str]) -> bool:
    """Whether a cell says one of these texts, in any case of letters and between spaces."""
    return cell_text(cell).strip().lower() in gaps


def finite_number(text: str) -> float | None:
    """The finite number that a text says; codes such as 00123 are not numbers."""
    try:
        value = float(text)
    except ValueError:
        return finite_number(text.replace(MINUS, "-", 1)) if MINUS in text else None
    if not math.isfinite(value) or "_" in text:
        return None
    return value if text[0] in "123456789" or not _CODE.match(text) else None  # the first test is the quick one


def may_be_label(text: str) -> bool:
    """Whether a text counts as a gap, and could be a label among others.

    >>> [may_be_label(text) for text in ("None", "-", "NA", "", "gravel")]
    [True, True, False, False, False]
    """
    return text.lower() in GAPS - NO_LABELS


def has_decimal_comma(text: str) -> bool:
    """Whether a text is a number with a decimal comma, and no whole number with commas between thousands.

    >>> [has_decimal_comma(text) for text in ("3,14", "1.200,5", "0,125", "3,5 %", "1,200", "1,200.5", "a,5")]
    [True, True, True, True, False, False, False]
    """
    bare = text.strip(SIGNS)
    return bool(_DECIMAL_COMMA.fullmatch(bare)) and not _GROUPED.fullmatch(bare)


def may_be_decimal_commas(texts: Iterable[str]) -> bool:
    """Whether the commas of a column may be decimal ones: one of them is, or none can only stand between thousands.

    >>> columns = (["1,200", "3,14"], ["1,200", "7,350"], ["1,200", "1,200.5"], ["5%"])
    >>> [may_be_decimal_commas(texts) for texts in columns]
    [True, True, False, False]
    """
    commas = [text for text in texts if "," in text]
    single = bool(commas) and all(text.count(",") == 1 and "." not in text for text in commas)
    return single or any(map(has_decimal_comma, commas))


def may_be_thousands(texts: Iterable[str]) -> bool:
    """Whether the points of a column of numbers may stand between thousands: there are some, and no other ones.

    >>> [may_be_thousands(texts) for texts in (["1.200", "17"], ["1.200", "1.5"], ["0.125"], ["1200"])]
    [True, False, False, False]
    """
    points = [text for text in texts if "." in text]
    return bool(points) and all(map(_THOUSANDS.fullmatch, points))


def rewritten(text: str) -> str | None:
    """How to write a number that has a comma, signs of money or per cent; None of any other text.

    >>> rewritten("\N{MINUS SIGN}3,14")
    '-3.14'
    >>> [rewritten(text) for text in ("3,14", "1 200,5 €", "1,200.50", "5 %", "$7", "1,200", "five", "5")]
    ['3.14', '1200.5', '1200.50', '5', '7', '1200, or 1.200 where the comma is a decimal one', None, None]
    """
    bare = text.strip(SIGNS).replace(MINUS, "-", 1)
    if has_decimal_comma(bare):
        return re.sub(r"[^\d,eE+-]", "", bare).replace(",", ".")
    if grouped := _GROUPED.fullmatch(bare):
        plain = bare.replace(grouped[1], "")
        decimal = bare.count(",") == 1 and "." not in bare
        return f"{plain}, or {bare.replace(',', '.')} where the comma is a decimal one" if decimal else plain
    return None if finite_number(text) is not None or finite_number(bare) is None else bare


def written(value: float) -> str:
    """Ten digits, more than a filled value is worth; fifteen for large numbers, which may be times; nothing for NaN.

    >>> written(0.1 + 0.2), written(1700000000500.0), written(1e-7), written(-0.0), written(float("nan"))
    ('0.3', '1700000000500', '1e-07', '0', '')
    """
    return "" if math.isnan(value) else format(float(value) + 0.0, ".10g" if abs(value) < 1e9 else ".15g")


def said(value: Any, delimiter: str, form: NumberForm = PLAIN) -> str:
    """A cell for a value."""
    if value is None:
        return ""
    return quoted(value if isinstance(value, str) else form.local(written(value)), delimiter)
