"""Delimited text that arrives line by line: every row is there as soon as its line is, and none is kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple

import numpy as np

from .cells import Cells
from .encodings import LineDecoder
from .first_line import NO_ROWS, first_line
from .lines import (
    DELIMITERS,
    LINE,
    SNIFFED_LINES,
    ends_in_quotes,
    is_blank,
    other_width,
    said_of_delimiter,
    sniff_delimiter,
    split_lines,
)
from .number_form import PLAIN, NumberForm
from .table import Array, TableError

__all__ = ["Row", "TextStream", "records"]

_BYTE_ORDER_MARK = "\ufeff"


class Row(NamedTuple):
    """One line of a table."""

    cells: list[str]
    """As they are written, quotes included; a blank line has one."""
    end: str
    """The line end."""
    line: int
    """The number of the line in which it begins, counted from 1."""


class TextStream:
    """The rows of a text, cut into cells; the first line and the first row are read at once, and more rows if they are
    needed to tell whether the first line is names. ``no_rows`` is what is said of a text without a row."""

    def __init__(
        self,
        lines: Iterable[bytes],
        delimiter: str | None = None,
        header: bool | None = None,
        missing: Sequence[str] = (),
        *,
        form: NumberForm = PLAIN,
        encoding: str | None = None,
        no_rows: str = NO_ROWS,
    ) -> None:
        self._missing = missing
        self.cells = Cells(missing, form)
        self._decoder = LineDecoder(lines, encoding)
        texts = _lines(self._decoder)
        line = next(texts, "\n")
        self.mark = _BYTE_ORDER_MARK if line.startswith(_BYTE_ORDER_MARK) else ""
        texts = chain([line.removeprefix(_BYTE_ORDER_MARK)], texts)
        self.delimiter_remark = ""
        """A sentence where the delimiter was found, and is no comma."""
        if delimiter is None:
            begin = _beginning(texts, 1 + (header is not False))
            delimiter, texts = sniff_delimiter("".join(begin)), chain(begin, texts)
            self.delimiter_remark = said_of_delimiter(delimiter)
        self.delimiter = delimiter
        coming = map(self._cut, records(texts, delimiter))
        top = next(coming, None)
        if top is None or top.cells == [""]:
            raise TableError("it is empty, or begins with an empty line")
        self.width = len(top.cells)
        ahead: list[Row] = []

        def below() -> Iterator[Row]:
            for row in coming:
                ahead.append(row)
                yield row

        names, self.first_line = first_line(chain([top.cells], (row.cells for row in below())), self.cells, header)
        """A sentence where the first line was taken as names or as data and could be the other; else empty."""
        self.header = top if names else None
        """The line of names; None where there is none."""
        first = next((row for row in chain(ahead[:], below()) if not self.is_blank(row)), None) if names else top
        if first is None:
            raise TableError(no_rows)
        self.first = first
        """The first row of data."""
        self._rows = chain([] if names else [top], ahead, coming)
        self.names = (
            [self.cells.text(cell) for cell in self.header.cells]
            if self.header
            else [f"column {j + 1}" for j in range(self.width)]
        )

    def rows(self) -> Iterator[Row]:
        """All rows of data, in order; a line that is not as wide as the first is refused."""
        for row in self._rows:
            if len(row.cells) != self.width and not self.is_blank(row):
                raise TableError(other_width(row.line, row.cells, self.width))
            yield row

    def is_blank(self, row: Row) -> bool:
        """Whether there is nothing in a line, which is then no row of a table with several columns."""
        return is_blank(row.cells, self.width)

    def numbers(self, row: Row, columns: Sequence[int]) -> tuple[Array, list[bool]]:
        """The numbers in some columns of a row, NaN where there is none; and whether a cell is a gap."""
        found = [self.cells.number(row.cells[j]) for j in columns]
        return (
            np.array([[np.nan if value is None else value for value in found]]),
            [self.cells.is_gap(row.cells[j]) for j in columns],
        )

    def use_form(self, form: NumberForm) -> None:
        """Read numbers in another form from now on."""
        self.cells = Cells(self._missing, form)

    @property
    def encoding(self) -> str:
        """Of what has been read so far."""
        return self._decoder.encoding

    @property
    def encoding_remark(self) -> str:
        """A sentence where the encoding was guessed; so far."""
        return self._decoder.remark

    def encoded(self, cells: Sequence[str], end: str) -> bytes:
        """A line of these cells."""
        return (self.delimiter.join(cells) + end).encode(self.encoding)

    def _cut(self, record: _Record) -> Row:
        row, *others = split_lines(record.text, self.delimiter, record.line)
        if others:  # lines were joined for a quote that is none: no row may get lost
            raise TableError(f"line {record.line} has a quote that is not closed")
        return Row(*row, record.line)


class _Record(NamedTuple):
    """The text of one row; quoted cells may hold line ends."""

    text: str
    line: int
    """The number of the line in which it begins, counted from 1."""


def records(lines: Iterable[str], delimiter: str) -> Iterator[_Record]:
    """Rows; a line that ends inside a quoted cell is continued by the next."""
    waiting: list[str] = []
    inside = False
    for number, line in enumerate(lines, 1):
        waiting.append(line)
        inside = ends_in_quotes(line, delimiter, inside)
        if not inside:
            yield _Record("".join(waiting), number - len(waiting) + 1)
            waiting = []
    if waiting:
        yield _Record("".join(waiting), number - len(waiting) + 1)


def _beginning(lines: Iterator[str], n_rows: int) -> list[str]:
    """The lines of the first rows, in which the delimiter is looked for: until then it may be any."""
    taken: list[str] = []
    inside = False
    for line in islice(lines, SNIFFED_LINES):
        taken.append(line)
        inside = ends_in_quotes(line, DELIMITERS, inside)
        n_rows -= not inside
        if n_rows == 0:
            break
    return taken


def _lines(lines: Iterable[str]) -> Iterator[str]:
    """Lines of text; a carriage return alone ends one, too."""
    for text in lines:
        if "\r" in text:
            yield from LINE.findall(text)
        else:
            yield text
