"""Sentences about columns of texts that were not taken as numbers. Commands and Python say the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ..text import capitalised, counted, named_column
from .cells import has_decimal_comma
from .table import MOST_TEXTS, Stray, Unread

__all__ = ["decimal_commas", "marks_unused", "not_written_plainly", "one_stray", "why_no_numbers"]

_SPACED = re.compile(r"\d[ \u00a0\u202f]\d{3}")


def marks_unused(marks: Sequence[str], nothing: str = "No cell says") -> list[str]:
    """What is said of marks of gaps that no cell has, if there are some: they may be misspelt.

    >>> marks_unused(["-999", "x"])
    ['No cell says -999 or x, which was to mark gaps.']
    """
    return [f"{nothing} {' or '.join(marks)}, which was to mark gaps."] if marks else []


def one_stray(stray: Stray, how_to_mark: Callable[[Sequence[str]], str]) -> str:
    """What is said of a column in which some texts are no numbers; ``how_to_mark`` says how to make gaps of texts."""
    name = capitalised(named_column(stray.column))
    if stray.n_texts == 1:
        where = (
            f"{stray.word} {stray.line} has"
            if stray.n_cells == 1
            else f"{stray.n_cells} cells, the first in {stray.word} {stray.line}, have"
        )
        return (
            f"{name} was taken as text, because one text in it is no finite number: {where} {stray.text!r:.50}; "
            f"correct it, or pass {how_to_mark([stray.text])} if it marks a gap."
        )
    texts = [stray.text, *(text for text, _ in stray.others)]
    others = [f"{text!r:.50} ({counted(n, 'cell')})" for text, n in stray.others]
    rest = stray.n_texts - len(texts)
    more = f" and {rest} more" if rest else ""
    more_than = " or more" if stray.n_texts >= MOST_TEXTS else ""
    return (
        f"{name} was taken as text, because {stray.n_texts}{more_than} texts in it are no finite numbers: "
        f"{stray.text!r:.50} ({counted(stray.n_cells, 'cell')}, the first in {stray.word} {stray.line}), "
        f"{', '.join(others)}{more}; correct them, or pass {how_to_mark(texts)} if they mark gaps."
    )


def not_written_plainly(one: Unread) -> str:
    """What is said of a column of numbers with commas, signs of money or per cent."""
    name = capitalised(named_column(one.column))
    options = ["--decimal comma"] if one.sure_comma or one.decimal_comma else []
    options += ["--thousands comma"] if one.thousands == "," or (one.decimal_comma and not one.sure_comma) else []
    options += ["--thousands space"] if _SPACED.search(one.text) else []
    remedy = f", or pass {' or '.join(options)}" if options and not one.signed else ""
    return (
        f"{name} was taken as text, because its numbers are written with commas or signs: line {one.line} has "
        f"{one.text!r:.50}; write {one.plain}{remedy}."
    )


def why_no_numbers(strays: Sequence[Stray], unread: Sequence[Unread]) -> list[str]:
    """Why no column is numbers, as far as one cell says it."""
    cells = [(f"{one.word} {one.line}", one.column, one.text) for one in strays]
    cells += [(f"line {one.line}", one.column, one.text) for one in unread]
    return [f"{place} of {named_column(column)} has {text!r:.50}" for place, column, text in cells[:1]]


def decimal_commas(unread: Sequence[Unread], n_numbers: int, thousands: Sequence[str]) -> str | None:
    """Why a text would be misread, as the rest of "FILE cannot be used: "; None where it would not.

    Commas may be decimal ones, and a column with 1.200 (``thousands``) may mean 1200 then; or more columns have decimal
    commas than could be read. Other such columns are taken as text: they may well be lists.
    """
    commas = [one for one in unread if one.decimal_comma]
    sure = [one for one in commas if has_decimal_comma(one.text)]
    misread = thousands if commas else []
    if not misread and len(sure) <= n_numbers:
        return None
    column, text, line = (sure or commas)[0][:3]
    has = "has decimal commas" if sure else "may have decimal commas"
    where = f"{named_column(column)} {has} (line {line} has {text!r:.50})"
    if misread:
        return (
            f"{where}, and {named_column(misread[0])} may have points between thousands; pass --decimal comma "
            "--thousands point if they are, or --decimal point if they are decimal points and commas stand in lists"
        )
    return f"{where}; pass --decimal comma if they are, or --decimal point if they stand in lists"
