"""Delimited text, packed by gzip or not, as the command line reads it: same numbers, gaps and lines of names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...text import column_names, counted, named_column
from ..endings import is_packed
from ..stream import Row, TextStream
from ..table import Array, TableError
from ..tables import delimiter_of, open_lines
from .cutting import rows_per_block
from .drafts import GrowingSink, PartsSink, SinkOptions
from .problems import named
from .sink import Sink
from .source import Block, RowOptions, Source

__all__ = ["TextRows", "make_sink", "open_file"]

SAMPLED = 1000
"""Rows whose length tells how many make a block, where not all are looked at. Not tuned: a block is about as long."""


class _Found(NamedTuple):
    """What one look at a text tells."""

    positions: list[int]
    """Of the columns of numbers."""
    row_bytes: float
    """Of a row, on average."""
    n_rows: int | None


class TextRows:
    """The rows of a text. Which columns hold numbers is found in a pass over it, unless columns are given."""

    rewinds = True

    def __init__(self, path: Path, options: RowOptions) -> None:
        self._path, self._options = path, options
        with self._stream() as stream:
            self.all_names, self.width, self.delimiter, self.mark = (
                stream.names,
                stream.width,
                stream.delimiter,
                stream.mark,
            )
            """Of all columns, numbers or not; how many; what is between their cells; the text's first character."""
            self.header = stream.header.cells if stream.header else None
            """The cells of the line of names as they are written; None where there is none."""
            self.header_end = stream.header.end if stream.header else "\n"
            found = _chosen(stream, options) if options.columns is not None else _all_numbers(stream)
        self.positions, self.n_rows = found.positions, found.n_rows
        """Of the columns of numbers among all."""
        if not self.positions:
            raise TableError("it has no columns of numbers")
        self.names = None if self.header is None else [self.all_names[j] for j in self.positions]
        self.dtype: np.dtype[Any] = np.dtype(np.float64)
        self.n_columns = len(self.positions)
        self._rows = rows_per_block(options.block_bytes, max(found.row_bytes, 8.0 * self.n_columns))

    def blocks(self, start: int = 0) -> Iterator[Block]:
        """The rows from number ``start`` on; ``block.kept`` is their lines, blank ones before a row with it."""
        first, here, blank = start, 0, ""
        lines: list[str] = []
        values = self._room()
        with named(str(self._path)), self._stream() as stream:
            for row in stream.rows():
                text = stream.delimiter.join(row.cells) + row.end
                if stream.is_blank(row):
                    blank += text
                    continue
                if here >= start:
                    if lines and here % self._rows == 0:
                        yield Block(values[: len(lines)], first, lines)
                        first, lines, values = here, [], self._room()
                    values[len(lines)] = self._numbers(stream, row)
                    lines.append(blank + text)
                here, blank = here + 1, ""
        if lines:
            lines[-1] += blank
            yield Block(values[: len(lines)], first, lines)

    def _room(self) -> Array:
        return np.empty((self._rows if self.n_rows is None else min(self._rows, self.n_rows), self.n_columns))

    def _numbers(self, stream: TextStream, row: Row) -> list[float | None]:
        found = stream.cells.values([row.cells[j] for j in self.positions])
        if None in found:
            j = self.positions[found.index(None)]
            text, column = stream.cells.text(row.cells[j]), named_column(self.all_names[j])
            raise TableError(f"line {row.line} has {text!r} in {column} where a number is needed")
        return found

    @contextmanager
    def _stream(self) -> Iterator[TextStream]:
        options = self._options
        with open_lines(self._path) as lines:
            delimiter = delimiter_of(self._path, options.delimiter)
            yield TextStream(lines, delimiter, options.header, options.missing)


def open_file(path: Path, options: RowOptions) -> TextRows:
    """The rows of a text."""
    return TextRows(path, options)


def make_sink(path: Path, like: Source, options: SinkOptions) -> Sink:
    """Write a text, packed by gzip or not."""
    from .text_output import PackedText, TextAppender

    appender = TextAppender(path, like, options)
    if is_packed(path):
        return PartsSink(path, PackedText(appender), options)
    return GrowingSink(path, appender, options)


def _all_numbers(stream: TextStream) -> _Found:
    """The columns with nothing but numbers and gaps, one number at least: the same as of a text that is read whole."""
    left = list(range(stream.width))
    empty = set(left)
    n = size = 0
    for row in stream.rows():
        if stream.is_blank(row):
            continue
        n += 1
        size += sum(map(len, row.cells)) + stream.width
        values = stream.cells.values([row.cells[j] for j in left])
        if empty:
            empty -= {j for j, value in zip(left, values, strict=True) if value is not None and value == value}
        if None in values:
            left = [j for j, value in zip(left, values, strict=True) if value is not None]
    return _Found([j for j in left if j not in empty], size / max(n, 1), n)


def _chosen(stream: TextStream, options: RowOptions) -> _Found:
    """The columns that were asked for; what is no number in them is refused when it is met."""
    positions: list[int] = []
    for column in options.columns or ():
        if isinstance(column, int):
            if not 0 <= column < stream.width:
                raise TableError(f"it has {counted(stream.width, 'column')}, and their positions count from 0")
            positions.append(column)
        elif column in stream.names:
            positions.append(stream.names.index(column))
        else:
            raise TableError(f"it has no column {column}; it has {column_names(stream.names)}")
    sizes = [sum(map(len, row.cells)) + stream.width for row in islice(stream.rows(), SAMPLED)]
    return _Found(positions, sum(sizes) / max(len(sizes), 1), None)
