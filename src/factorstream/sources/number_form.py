"""How numbers are written in a text: the decimal mark, and what stands between thousands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from ..text import named_column
from .table import Unread

__all__ = ["NOTHING_ASKED", "PLAIN", "Asked", "Doubt", "NumberForm", "Points", "guessed_form", "said_of_form"]

SPACES = " \u00a0\u202f"
"""A space between thousands may be any of these: a plain one, and the two that do not break lines."""


class NumberForm(NamedTuple):
    """How numbers are written in a text: the decimal mark, and the mark between thousands."""

    decimal: str = "."
    thousands: str = ""
    """Empty where nothing stands there."""

    def plain(self, text: str) -> str | None:
        """A number as Python writes it; None where a text is no number of this form. Other texts come out somehow.

        >>> form = NumberForm(",", ".")
        >>> [form.plain(text) for text in ("3,14", "1.200,5", "1.200", "3.14", "17")]
        ['3.14', '1200.5', '1200', None, '17']
        """
        if self.thousands:
            marks = SPACES if self.thousands == " " else self.thousands
            bare = text.strip()
            if any(mark in bare for mark in marks):
                grouped = _grouped(self.decimal, marks).fullmatch(bare)
                if grouped is None:
                    return None
                text = bare.replace(grouped[1], "")
        if self.decimal != ".":
            return None if "." in text else text.replace(self.decimal, ".", 1)
        return text

    def local(self, number: str) -> str:
        """A number that Python has written, with the decimal mark of this form."""
        return number if self.decimal == "." else number.replace(".", self.decimal)


PLAIN = NumberForm()
"""As Python writes numbers."""


@lru_cache(maxsize=16)
def _grouped(decimal: str, marks: str) -> re.Pattern[str]:
    """A number with one of these marks between all its thousands."""
    return re.compile(
        rf"[+\-\u2212]?[1-9]\d{{0,2}}([{re.escape(marks)}])\d{{3}}(?:\1\d{{3}})*(?:{re.escape(decimal)}\d*)?"
    )


class Asked(NamedTuple):
    """What the user has said of the marks; None for nothing."""

    decimal: str | None = None
    thousands: str | None = None

    @property
    def form(self) -> NumberForm:
        """The form to begin with: where points stand between thousands, commas are decimal."""
        return NumberForm(self.decimal or ("," if self.thousands == "." else "."), self.thousands or "")

    @property
    def is_settled(self) -> bool:
        """Whether nothing is left to be guessed."""
        return self.thousands in (".", ",") or self.decimal == "." or None not in self


NOTHING_ASKED = Asked()


class Doubt(NamedTuple):
    """A column whose points may stand between thousands, while it has whole numbers below 1000 without any."""

    column: str
    pointed: str
    """A cell with a point."""
    whole: str
    """A cell without."""


class Points(NamedTuple):
    """Columns that are numbers as they stand, by what their points may be."""

    thousands: Sequence[str] = ()
    """Their points may all stand between thousands, as in 1.200."""
    decimal: Sequence[str] = ()
    """Some point can only be a decimal one, as in 3.14."""
    doubts: Sequence[Doubt] = ()
    """Those of the former that would be misread without a word."""


def guessed_form(unread: Sequence[Unread], points: Points, delimiter: str, asked: Asked) -> NumberForm | None:
    """The form in which more columns of a text are numbers, where there is no doubt about it; None elsewhere.

    Decimal commas: one cell can be nothing else (3,14), commas do not cut the text into cells, and no column has
    decimal points. Points or spaces stand between thousands if they do in a cell with a decimal comma (1.200,50).
    Commas and apostrophes stand between thousands where they can do nothing else (1,200.50, 1,200,300, 1'200).
    """
    if asked.is_settled:
        return None
    readable = [one for one in unread if not one.signed]
    sure = [one for one in readable if one.sure_comma]
    if sure:
        groups = {mark for one in readable for mark in one.groups} | ({asked.thousands} if asked.thousands else set())
        lists = delimiter == "," and asked.decimal is None  # a quoted cell with a comma may well be a list
        points_left = points.thousands and "." not in groups and asked.decimal is None
        if lists or len(groups) > 1 or points_left or (points.decimal and asked.decimal is None):
            return None
        found = NumberForm(",", "".join(groups))
        return None if found == asked.form else found
    marks = {one.thousands for one in readable if one.thousands}
    return NumberForm(".", marks.pop()) if asked == NOTHING_ASKED and len(marks) == 1 else None


def said_of_form(form: NumberForm, unread: Sequence[Unread], asked: Asked) -> str:
    """What is said of a form that was guessed, with the cell that shows it."""
    shown = [one for one in unread if (one.sure_comma if form.decimal == "," else one.thousands)] or list(unread)
    shows = next((one for one in shown if form.thousands and form.thousands in one.groups), shown[0])
    where = f"line {shows.line} of {named_column(shows.column)} has {shows.text!r:.50}"
    between = {".": "points", ",": "commas", "'": "apostrophes", " ": "spaces"}.get(form.thousands, "")
    if form.decimal == ",":
        more = f", and {between} as marks between thousands" if between else ""
        if asked.decimal:
            return f"{between.capitalize()} were taken as marks between thousands: {where}; pass --thousands to decide."
        return f"Commas were taken as decimal commas{more}: {where}; pass --decimal point if they are none."
    remedy = "--decimal comma if they are decimal commas" if form.thousands == "," else "--decimal point if not"
    return f"{between.capitalize()} were taken as marks between thousands: {where}; pass {remedy}."
