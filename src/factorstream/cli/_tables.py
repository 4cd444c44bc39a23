"""Small tables on standard output: drawn by rich on a terminal, comma-separated for other programs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..sources.table import NewColumn

__all__ = ["print_columns"]


def print_columns(columns: Sequence[NewColumn], title: str) -> None:
    """Print a table: for people on a terminal where rich is installed, and as CSV elsewhere."""
    if sys.stdout.isatty():
        try:
            from rich.console import Console
            from rich.table import Table
            from rich.text import Text
        except ImportError:
            pass
        else:
            table = Table(title=Text(title, "table.title"))  # rich takes brackets in a plain str as markup
            for column in columns:
                table.add_column(Text(column.name), justify="left" if _has_text(column) else "right", overflow="fold")
            for cells in zip(*(column.values for column in columns), strict=True):
                table.add_row(*(Text(cell if isinstance(cell, str) else f"{cell:g}") for cell in cells))
            Console().print(table)
            return
    from ..sources.delimited import write_delimited

    sys.stdout.write(write_delimited(columns).decode())
    sys.stdout.flush()


def _has_text(column: NewColumn) -> bool:
    return any(isinstance(value, str) for value in column.values)
