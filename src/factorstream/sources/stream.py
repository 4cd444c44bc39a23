"""Delimited text that arrives line by line: every row is there as soon as its line is, and none is kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..text import counted
from .cells import Cells
from .delimited import sniff_delimiter, split_lines
from .table import Array, TableError

__all__ = ["Row", "TextStream"]

_BYTE_ORDER_MARK = "\ufeff"


class Row(NamedTuple):
    """One line of a table."""

    cells: list[str]
    """As they are written, quotes included; a blank line has one."""
    end: str
    """The line end."""


class TextStream:
    """The rows of a text, cut into cells; the first line and the first row are read at once."""

    def __init__(
        self,
        lines: Iterable[bytes],
        delimiter: str | None = None,
        header: bool = True,
        missing: Sequence[str] = (),
    ) -> None:
        self.cells = Cells(missing)
        self._lines = _whole_lines(lines)
        first = next(self._lines, "")
        self.mark = _BYTE_ORDER_MARK if first.startswith(_BYTE_ORDER_MARK) else ""
        first = first.removeprefix(_BYTE_ORDER_MARK)
        second = next(self._lines, "") if header else ""
        if not first.strip():
            raise TableError("it is empty, or begins with an empty line")
        if header and not second:
            raise TableError("it has no rows below its line of names")
        self.delimiter = sniff_delimiter(first + second) if delimiter is None else delimiter
        self.header = self._cut(first) if header else None
        """The line of names; None where there is none."""
        self.first = self._cut(second if header else first)
        """The first row of data."""
        self.width = len(self.header.cells if self.header else self.first.cells)
        self.names = (
            [self.cells.text(cell) for cell in self.header.cells]
            if self.header
            else [f"column {j + 1}" for j in range(self.width)]
        )

    def rows(self) -> Iterator[Row]:
        """All rows of data, in order; a line that is not as wide as the first is refused."""
        number = 1 + (self.header is not None)
        row = self.first
        while True:
            if len(row.cells) != self.width and not self.is_blank(row):
                raise TableError(f"row {number} has {counted(len(row.cells), 'cell')} where the first has {self.width}")
            yield row
            line = next(self._lines, None)
            if line is None:
                return
            row = self._cut(line)
            number += 1

    def is_blank(self, row: Row) -> bool:
        """Whether there is nothing in a line, which is then no row of a table with several columns."""
        return self.width > 1 and row.cells == [""]

    def numbers(self, row: Row, columns: Sequence[int]) -> tuple[Array, list[bool]]:
        """The numbers in some columns of a row, NaN where there is none; and whether a cell is a gap."""
        found = [self.cells.number(row.cells[j]) for j in columns]
        return (
            np.array([[np.nan if value is None else value for value in found]]),
            [self.cells.is_gap(row.cells[j]) for j in columns],
        )

    def encoded(self, cells: Sequence[str], end: str) -> bytes:
        """A line of these cells."""
        return (self.delimiter.join(cells) + end).encode()

    def _cut(self, line: str) -> Row:
        return Row(*next(split_lines(line, self.delimiter)))


def _whole_lines(lines: Iterable[bytes]) -> Iterator[str]:
    """Lines of text; one that ends inside quotes is continued by the next."""
    waiting = b""
    for line in lines:
        waiting += line
        if waiting.count(b'"') % 2 == 0:
            yield _decoded(waiting)
            waiting = b""
    if waiting:
        yield _decoded(waiting)


def _decoded(line: bytes) -> str:
    if b"\x00" in line:
        raise TableError("it is not a text file")
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        raise TableError("it is not UTF-8 text; save it as UTF-8") from None
