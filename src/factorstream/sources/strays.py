"""Cells that keep a column from being numbers: a few texts among numbers, or numbers that are written otherwise."""

from __future__ import annotations

import re

from .cells import SIGNS, Cells, has_decimal_comma, may_be_decimal_commas, rewritten
from .table import MOST_TEXTS, Stray, Unread

__all__ = ["OddCells"]

PATIENCE = MOST_TEXTS
"""Texts after which a column is looked at no further if they are more than its numbers: it is one of texts. Not tuned;
it keeps the look at columns of texts instant."""
NAMED = 3
"""Different texts that are named. Not tuned: a sentence."""

_GROUPS = re.compile(r"\d([.' \u00a0\u202f])\d{3}")
_THOUSANDS = re.compile(r"[+\-\u2212]?[1-9]\d{0,2}(?:,\d{3}\.\d*|(?:,\d{3}){2,}(?:\.\d*)?|(?:'\d{3})+(?:\.\d*)?)")


class _Text:
    """What some cells say that are no numbers."""

    def __init__(self, text: str, line: int) -> None:
        self.text, self.line, self.times = text, line, 0
        self.otherwise = rewritten(text) is not None
        """Whether it is a number that is written otherwise."""


class OddCells:
    """A column in which a cell is no number, from that cell on.

    ``numbers`` is how many it had before, and ``points`` whether some of them had a decimal point.
    """

    def __init__(self, numbers: int, points: bool) -> None:
        self._numbers, self._points = numbers, points
        self._otherwise = self._others = 0  # cells with numbers that are written otherwise, and with other texts
        self._texts: dict[str, _Text] = {}
        self._by_cell: dict[str, _Text] = {}
        self._signed = False
        self._decimal: _Text | None = None
        self._grouped: _Text | None = None
        self._groups: set[str] = set()
        self._single: bool | None = None  # whether all commas may be decimal ones; None without commas

    def add(self, cell: str, line: int, cells: Cells) -> bool:
        """Look at the next cell; false where nothing more is to be said of the column."""
        known = self._by_cell.get(cell)
        if known is None:
            value = cells.value(cell)
            if value is not None:
                self._numbers += value == value
                points = cells.form.decimal == "." and value == value
                self._points = self._points or (points and not cells.is_whole(cell))
                return True
            known = self._new(cell, cells.text(cell), line)
        known.times += 1
        self._otherwise += known.otherwise
        self._others += not known.otherwise
        return self._others <= PATIENCE or self._others < self._numbers + self._otherwise

    def _new(self, cell: str, text: str, line: int) -> _Text:
        known = self._texts.get(text) or _Text(text, line)
        if len(self._texts) < PATIENCE:
            self._by_cell[cell] = self._texts[text] = known
        if known.otherwise:
            bare = text.strip(SIGNS)
            self._signed = self._signed or bare != text
            if "," in bare:
                self._look_at_commas(bare, known)
            if _THOUSANDS.fullmatch(bare):
                self._grouped = self._grouped or known
        return known

    def _look_at_commas(self, bare: str, text: _Text) -> None:
        self._single = may_be_decimal_commas([bare]) and self._single is not False
        if has_decimal_comma(bare):
            self._decimal = self._decimal or text
            self._groups |= {" " if mark.isspace() else mark for mark in _GROUPS.findall(bare)}

    def said(self, name: str) -> Stray | Unread | None:
        """What there is to say of the column."""
        if not self._others or (self._decimal is not None and self._otherwise > self._others + self._numbers):
            return self._unread(name)
        if self._others + self._otherwise >= self._numbers:
            return None
        first, *others = sorted(self._texts.values(), key=lambda one: -one.times)
        more = tuple((other.text, other.times) for other in others[: NAMED - 1])
        return Stray(name, first.text, first.times, first.line, more, len(self._texts))

    def _unread(self, name: str) -> Unread:
        shown = self._decimal or self._grouped or next(one for one in self._texts.values() if one.otherwise)
        sure, grouped = self._decimal is not None, self._grouped is not None
        return Unread(
            name,
            shown.text,
            shown.line,
            rewritten(shown.text) or "",
            not self._others and (sure or bool(self._single)),
            sure and not grouped and not self._points,
            "".join(sorted(self._groups)),
            "" if sure or self._grouped is None else "," if "," in self._grouped.text else "'",
            self._signed,
        )
