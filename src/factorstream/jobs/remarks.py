"""What every command says about how a file was read: what was assumed, and what was taken as text."""

from __future__ import annotations

import shlex
from pathlib import Path

from ..sources.table import Table, TableError
from ..text import listed

__all__ = ["empty_columns", "named", "named_column", "refuse_decimal_commas", "remarks", "why_no_numbers"]


def named(path: Path) -> str:
    """A file at the beginning of a sentence."""
    return "Standard input" if str(path) == "-" else str(path)


def named_column(name: str) -> str:
    """A column at the beginning of a sentence; where there are no names it is called "column 3" already."""
    return f"Column {name.removeprefix('column ')}" if name else "The column without a name"


def remarks(table: Table) -> list[str]:
    """Sentences about a table; none where everything is as it looks."""
    said = [table.first_line] if table.first_line else []
    for column, text, count, line in table.strays:
        where = f"line {line} has" if count == 1 else f"{count} cells, the first in line {line}, have"
        said.append(
            f"{named_column(column)} was taken as text, because one text in it is no finite number: {where} "
            f"{text!r:.50}; correct it, or pass --missing={shlex.quote(text)} if it marks a gap."
        )
    for one in table.unread:
        said.append(
            f"{named_column(one.column)} was taken as text, because its numbers are written with commas or signs: line "
            f"{one.line} has {one.text!r:.50}; write {one.plain}."
        )
    if empty := empty_columns(table):
        said.append(
            f"Columns without any value stay empty: {listed(name or 'the one without a name' for name in empty)}."
        )
    return said


def empty_columns(table: Table) -> list[str]:
    """Columns without any value that no model knows."""
    others = (j for j in range(len(table.names)) if j not in table.numeric)
    return [table.names[j] for j in others if all(cell is None or cell != cell for cell in table.cells(j))]


def refuse_decimal_commas(table: Table, path: Path) -> None:
    """Raise a sentence where numbers have decimal commas: then 1.200 means 1200 elsewhere in the file, if it is there.

    Raises
    ------
    TableError
        It names the first such column, a cell of it, and what to write.
    """
    for one in table.unread:
        if one.decimal_comma:
            name = named_column(one.column)
            raise TableError(
                f"{named(path)} cannot be used: {name[0].lower()}{name[1:]} has decimal commas (line {one.line} has "
                f"{one.text!r:.50}); write {one.plain}, with points in place of commas and nothing between thousands."
            )


def why_no_numbers(table: Table) -> str:
    """Why no column is numbers, as far as one cell says it; in brackets after a space."""
    cells = [(one.line, one.column, one.text) for one in table.strays]
    cells += [(one.line, one.column, one.text) for one in table.unread]
    return "".join(f" (line {line} of column {column} has {text!r:.50})" for line, column, text in cells[:1])
