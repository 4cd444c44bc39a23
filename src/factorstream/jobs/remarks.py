"""What every command says about how a file was read: what was assumed, and what was taken as text."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from ..sources import text_remarks
from ..sources.cells import Cells, may_be_thousands
from ..sources.table import Table, TableError
from ..sources.text_remarks import decimal_commas, not_written_plainly, one_stray
from ..text import clause, column_names

__all__ = [
    "as_options",
    "empty_columns",
    "named",
    "not_filled",
    "of_one_row",
    "refuse_decimal_commas",
    "remarks",
    "why_no_numbers",
]

ONE_ROW = "One row does not say what its gaps could be; pass more rows, or --model with a model that --save has kept."
"""What is said of a table that no model can be fitted to."""


def named(path: Path) -> str:
    """A file at the beginning of a sentence."""
    return "Standard input" if str(path) == "-" else str(path)


def remarks(table: Table, without: Collection[str] = ()) -> list[str]:
    """Sentences about a table, but not about columns that are left out anyway; none where all is as it looks."""
    said = [table.first_line] if table.first_line else []
    said += table.assumed
    said += [one_stray(stray, as_options) for stray in table.strays if stray.column not in without]
    said += [not_written_plainly(one) for one in table.unread if one.column not in without]
    if empty := [name for name in empty_columns(table) if name not in without]:
        said.append(not_filled(empty))
    return said


def as_options(texts: Sequence[str]) -> str:
    """The options that make gaps of these texts.

    >>> as_options(["<0.5", "-999"])
    "--na '<0.5' --na -999"
    """
    return " ".join(f"--na {shlex.quote(text)}" for text in texts)


def of_one_row(table: Table) -> str:
    """What to do with a table of one row that has gaps; empty for others."""
    return ONE_ROW if len(table.numbers) == 1 and empty_columns(table) else ""


def not_filled(columns: Sequence[str]) -> str:
    """What is said of columns without any value."""
    return f"Columns without any value are not filled: {column_names(columns)}."


def empty_columns(table: Table) -> list[str]:
    """Columns without any value that no model knows."""
    others = sorted(set(range(len(table.names))) - set(table.numeric))
    return [table.names[j] for j in others if all(cell is None or cell != cell for cell in table.cells(j))]


def refuse_decimal_commas(table: Table, path: Path) -> None:
    """Raise a sentence where commas may be decimal ones, and a column with 1.200 may mean 1200 then and be misread.

    Also where more columns have decimal commas than could be read. Other such columns are taken as text, which
    `remarks` says: they may well be lists.

    Raises
    ------
    TableError
        It names the first such column, a cell of it, and what to write.
    """
    commas = any(one.decimal_comma for one in table.unread)
    below = np.nanmax(np.abs(table.numbers), axis=0, initial=0.0) < 1000.0 if commas else []  # 1.200 was read so
    candidates = [j for j, short in zip(table.numeric, below, strict=False) if short and j not in table.whole]
    misread = [table.names[j] for j in candidates if may_be_thousands(filter(None, table.cells(j)))]
    problem = decimal_commas(table.unread, len(table.numeric), misread)
    if problem is not None:
        raise TableError(f"{named(path)} cannot be used: {problem}.")


def why_no_numbers(table: Table, column: str | None = None) -> str:
    """Why a column, or any, is no numbers, as far as one cell or the first line says it; in brackets after a space."""
    strays = [one for one in table.strays if column in (None, one.column)]
    unread = [one for one in table.unread if column in (None, one.column)]
    why = text_remarks.why_no_numbers(strays, unread)
    if table.first_line:
        why.append(clause(table.first_line))
    if column is None and (alone := of_one_row(table)):
        why.append(clause(alone))
    if not strays and not unread and _has_spaces_between_numbers(table):
        why.append("its lines have spaces between numbers; pass --delimiter ' ' if these separate columns")
    return f" ({'; '.join(why)})" if why else ""


def _has_spaces_between_numbers(table: Table) -> bool:
    """Whether a table of one column has rows of several numbers with one space between them."""
    rows = (
        [str(cell).strip().split(" ") for cell in table.cells(0) if cell is not None] if len(table.names) == 1 else []
    )
    return bool(rows) and all(len(row) > 1 and all(map(_is_number_or_gap, row)) for row in rows)


def _is_number_or_gap(text: str) -> bool:
    """Whether a text without spaces around it is a number, or marks a gap."""
    return bool(text) and Cells().value(text) is not None
