"""What every command says about how a file was read: what was assumed, and what was taken as text."""

from __future__ import annotations

import shlex
from pathlib import Path

from ..sources.cells import has_decimal_comma, may_be_thousands
from ..sources.table import Table, TableError
from ..text import capitalised, clause, column_names, named_column

__all__ = ["empty_columns", "named", "refuse_decimal_commas", "remarks", "why_no_numbers"]


def named(path: Path) -> str:
    """A file at the beginning of a sentence."""
    return "Standard input" if str(path) == "-" else str(path)


def remarks(table: Table) -> list[str]:
    """Sentences about a table; none where everything is as it looks."""
    said = [table.first_line] if table.first_line else []
    for column, text, count, line in table.strays:
        name = capitalised(named_column(column))
        where = f"line {line} has" if count == 1 else f"{count} cells, the first in line {line}, have"
        said.append(
            f"{name} was taken as text, because one text in it is no finite number: {where} "
            f"{text!r:.50}; correct it, or pass --missing={shlex.quote(text)} if it marks a gap."
        )
    for one in table.unread:
        name = capitalised(named_column(one.column))
        said.append(
            f"{name} was taken as text, because its numbers are written with commas or signs: line "
            f"{one.line} has {one.text!r:.50}; write {one.plain}."
        )
    if empty := empty_columns(table):
        said.append(f"Columns without any value are not filled: {column_names(empty)}.")
    return said


def empty_columns(table: Table) -> list[str]:
    """Columns without any value that no model knows."""
    others = (j for j in range(len(table.names)) if j not in table.numeric)
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
    commas = [one for one in table.unread if one.decimal_comma]
    sure = [one for one in commas if has_decimal_comma(one.text)]
    misread = [table.names[j] for j in table.numeric if commas and may_be_thousands(filter(None, table.cells(j)))]
    if misread or len(sure) > len(table.numeric):
        column, text, line, plain, _ = (sure or commas)[0]
        has = "has decimal commas" if sure else "may have decimal commas"
        why = f", and {named_column(misread[0])} may have points between thousands" if misread else ""
        raise TableError(
            f"{named(path)} cannot be used: {named_column(column)} {has} (line {line} has {text!r:.50}){why}; write "
            f"{plain}, with points in place of decimal commas and nothing between thousands."
        )


def why_no_numbers(table: Table) -> str:
    """Why no column is numbers, as far as one cell or the first line says it; in brackets after a space."""
    cells = [(one.line, one.column, one.text) for one in table.strays]
    cells += [(one.line, one.column, one.text) for one in table.unread]
    why = [f"line {line} of {named_column(column)} has {text!r:.50}" for line, column, text in cells[:1]]
    if table.first_line:
        why.append(clause(table.first_line))
    return f" ({'; '.join(why)})" if why else ""
