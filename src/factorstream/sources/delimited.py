"""Delimited text (CSV, TSV) with nothing but the standard library, kept to the character.

The text is cut into cells as they are written, quotes included, and put together again from the same pieces:
whatever is not filled comes out as it went in.
"""

from __future__ import annotations

import codecs
import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from ..text import counted
from .cells import (
    Cells,
    all_gaps,
    cell_text,
    finite_number,
    has_decimal_comma,
    is_gap,
    may_be_decimal_commas,
    quoted,
    rewritten,
    said,
    written,
)
from .first_line import NO_ROWS, FirstLine, first_line
from .lines import is_blank, sniff_delimiter, split_lines
from .table import Array, Format, NewColumn, OutputColumn, ReadOptions, Stray, TableError, Unread

__all__ = ["FORMAT", "parse_delimited", "write_delimited"]

_BYTE_ORDER_MARK = "\ufeff"


class _Layout(NamedTuple):
    """All of a text but its cells."""

    ends: list[str]
    """The line ends."""
    delimiter: str
    first: FirstLine
    encoding: str
    mark: bool
    """Whether it begins with a byte order mark."""
    gaps: frozenset[str]
    """What counts as a gap, in small letters."""


class _TextTable:
    """A parsed text: the numbers in it, and all that is needed to write it again."""

    def __init__(self, raw: bytes, lines: list[list[str]], layout: _Layout) -> None:
        self.raw, self._lines, self._layout = raw, lines, layout
        width, header = len(lines[0]), layout.first.header
        self._rows = [k for k in range(header, len(lines)) if not is_blank(lines[k], width)]
        self._check_widths(width)
        if not self._rows:
            raise TableError(NO_ROWS if header else "it has no rows")
        first = [cell_text(cell).strip() for cell in lines[0]]
        self.names = first if header else [f"column {j + 1}" for j in range(width)]
        columns: dict[int, list[float]] = {}
        strays, unread = [], []
        for j in range(width):
            found, texts = _numbers(self._column(j), layout.gaps)
            if found is not None:
                columns[j] = found
            elif (other := self._unread(j, texts)) is not None:
                unread.append(other)
            elif (stray := self._stray(j, texts)) is not None:
                strays.append(stray)
        self.strays: Sequence[Stray] = strays
        self.unread: Sequence[Unread] = unread
        self.numeric = list(columns)
        values = np.array(list(columns.values()), dtype=np.float64)
        self.numbers: Array = values.reshape(len(columns), len(self._rows)).T
        self.first_line = layout.first.remark

    def gaps(self, column: int) -> int:
        return sum(is_gap(cell, self._layout.gaps) for cell in self._column(column))

    def cells(self, column: int) -> list[str | None]:
        gaps = self._layout.gaps
        return [None if is_gap(cell, gaps) else cell_text(cell).strip() for cell in self._column(column)]

    def place(self, row: int) -> str:
        return f"line {self._line(row)}"

    def encode(self, columns: Sequence[OutputColumn]) -> bytes:
        layout = self._layout
        lines = list(self._lines)  # blank lines stay where they are
        for k, *cells in zip(self._rows, *map(self._cells, columns), strict=True):
            lines[k] = cells
        if layout.first.header:
            lines[0] = [self._name_cell(column) for column in columns]
        text = "".join(layout.delimiter.join(cells) + end for cells, end in zip(lines, layout.ends, strict=True))
        return ((_BYTE_ORDER_MARK if layout.mark else "") + text).encode(layout.encoding)

    def encode_new(self, columns: Sequence[NewColumn]) -> bytes:
        layout = self._layout
        end = layout.ends[0] or "\n"
        names = [column.name for column in columns] if layout.first.header else None
        text = _joined(names, map(self._new_cells, columns), layout.delimiter, end)
        return ((_BYTE_ORDER_MARK if layout.mark else "") + text).encode(layout.encoding)

    def _new_cells(self, column: NewColumn) -> list[str]:
        """Cells of a new column; of a copy, the very cells, since a text such as NA is a gap only among numbers."""
        if column.like is not None and list(column.values) == self.cells(column.like):
            return self._column(column.like)
        return [said(value, self._layout.delimiter) for value in column.values]

    def _unread(self, j: int, rows: list[int]) -> Unread | None:
        """What to say of column j, some rows of which are no numbers, if numbers are written in another way there."""
        cells = self._column(j)
        texts = {row: cell_text(cells[row]).strip() for row in rows}
        if not texts or any(rewritten(text) is None for text in texts.values()):
            return None
        for row in range(rows[-1] + 1, len(cells)):
            text = cell_text(cells[row]).strip()
            if not is_gap(cells[row], self._layout.gaps) and finite_number(text) is None:
                if rewritten(text) is None:
                    return None
                texts[row] = text
        row = next((row for row, text in texts.items() if has_decimal_comma(text)), rows[0])
        plain = rewritten(texts[row]) or ""
        return Unread(self.names[j], texts[row], self._line(row), plain, may_be_decimal_commas(texts.values()))

    def _stray(self, j: int, rows: list[int]) -> Stray | None:
        """The text that keeps column j from being numbers, if it is one text, at these rows, among more numbers."""
        cells = self._column(j)
        numbers = sum(not is_gap(cell, self._layout.gaps) for cell in cells) - len(rows)
        if len({cell_text(cells[row]).strip() for row in rows}) != 1 or len(rows) >= numbers:
            return None
        return Stray(self.names[j], cell_text(cells[rows[0]]).strip(), len(rows), self._line(rows[0]))

    def _line(self, row: int) -> int:
        """The number of the line of the file in which a row begins, counted from 1; cells may hold line ends."""
        return self._line_numbers[self._rows[row]]

    def _check_widths(self, width: int) -> None:
        for row, k in enumerate(self._rows):
            if (n := len(self._lines[k])) != width:
                raise TableError(f"line {self._line(row)} has {counted(n, 'cell')} where the first has {width}")

    @cached_property
    def _line_numbers(self) -> list[int]:
        """Where every line of cells begins, found once for all rows."""
        heights = (1 + sum(cell.count("\n") for cell in cells) for cells in self._lines)
        return list(accumulate(heights, initial=1))

    def _name_cell(self, column: OutputColumn) -> str:
        """The cell of the first line as it was written, or a new one for a new name."""
        if column.name == self.names[column.position]:
            return self._lines[0][column.position]
        return quoted(column.name, self._layout.delimiter)

    def _cells(self, column: OutputColumn) -> list[str]:
        """The cells as they were read, with numbers in the gaps that are filled."""
        cells = self._column(column.position)
        if column.fill is not None:
            for row in np.flatnonzero(column.fill.gaps):
                cells[row] = written(column.fill.values[row])
        return cells

    def _column(self, j: int) -> list[str]:
        return [self._lines[k][j] for k in self._rows]


def parse_delimited(
    raw: bytes, delimiter: str | None = None, header: bool | None = None, missing: Sequence[str] = ()
) -> _TextTable:
    """Cut a text into cells; the delimiter, and whether there is a line of names, are found unless they are given.

    ``missing``: what marks a gap besides GAPS.

    >>> table = parse_delimited(b"id;name;height\\nx1;Ann;1.70\\nx2;Bob;\\n")
    >>> table.names, table.numeric
    (['id', 'name', 'height'], [2])
    >>> table.numbers.tolist()
    [[1.7], [nan]]
    """
    text, encoding = _decoded(raw)
    mark = text.startswith(_BYTE_ORDER_MARK)
    text = text.removeprefix(_BYTE_ORDER_MARK)
    if not text.strip():
        raise TableError("it is empty")
    if delimiter is None:
        delimiter = sniff_delimiter(text)
    lines, ends = [], []
    for cells, end in split_lines(text, delimiter):
        lines.append(cells)
        ends.append(end)
    first = first_line(lines, Cells(missing), header)
    return _TextTable(raw, lines, _Layout(ends, delimiter, first, encoding, mark, all_gaps(missing)))


def _decoded(raw: bytes) -> tuple[str, str]:
    """A text and its encoding: UTF-8, or UTF-16 where it begins with the mark of this."""
    marks = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
    encoding = marks.get(raw[:2], "utf-8")
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError:
        raise TableError("it is not UTF-8 text; save it as UTF-8") from None
    if "\x00" in text:
        raise TableError("it is not a text file")
    return text, encoding


def write_delimited(columns: Sequence[NewColumn], delimiter: str = ",", header: bool = True, end: str = "\n") -> bytes:
    """New columns as text.

    >>> write_delimited([NewColumn("a", [1.5, math.nan]), NewColumn("b, c", ["x", "y"])])
    b'a,"b, c"\\n1.5,x\\n,y\\n'
    """
    names = [column.name for column in columns] if header else None
    cells = ([said(value, delimiter) for value in column.values] for column in columns)
    return _joined(names, cells, delimiter, end).encode()


def _joined(names: Sequence[str] | None, columns: Iterable[Sequence[str]], delimiter: str, end: str) -> str:
    """The text of columns of cells, below a line of their names unless there are none."""
    first = [] if names is None else [[quoted(name, delimiter) for name in names]]
    return "".join(delimiter.join(cells) + end for cells in [*first, *zip(*columns, strict=True)])


def _numbers(cells: list[str], gaps: frozenset[str]) -> tuple[list[float] | None, list[int]]:
    """The column's values, NaN in the gaps, or None unless there is a number and nothing but numbers and gaps.

    Also the rows of the cells that are neither; no more are looked for once two of them say different things.
    """
    values: list[float] = []
    strays: list[int] = []
    for row, cell in enumerate(cells):
        value = finite_number(cell)
        if value is None:  # less often: a gap, a number in quotes, or text
            value = math.nan if is_gap(cell, gaps) else finite_number(cell_text(cell))
        if value is None:
            strays.append(row)
            if cell_text(cell).strip() != cell_text(cells[strays[0]]).strip():
                break
        else:
            values.append(value)
    return (None if strays or all(map(math.isnan, values)) else values), strays


def _read(raw: bytes, options: ReadOptions) -> _TextTable:
    tabs = options.delimiter is None and options.ending in (".tsv", ".tab")
    return parse_delimited(raw, "\t" if tabs else options.delimiter, options.header, options.missing)


FORMAT = Format("text", (), _read)
