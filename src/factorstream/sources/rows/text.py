"""Delimited text, packed by gzip or not, as the command line reads it: same numbers, gaps and lines of names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ...text import named_column
from ..cells import Cells, cell_text
from ..endings import is_packed
from ..first_line import NO_ROWS_OPENED
from ..lines import is_blank, split_lines
from ..number_form import Asked, NumberForm, Points, guessed_form, said_of_form
from ..points import refuse_or_say
from ..stream import Row, TextStream
from ..table import Array, TableError
from ..tables import delimiter_of, open_lines
from ..text_remarks import decimal_commas, why_no_numbers
from .cutting import rows_per_block
from .drafts import GrowingSink, PartsSink, SinkOptions
from .problems import named
from .sink import Sink
from .source import ONLY_COUNTING, Block, RowOptions, Source
from .text_columns import TextColumns, all_numbers, chosen_numbers, points_in, whole_numbers

__all__ = ["TextRows", "make_sink", "open_file"]


class TextRows:
    """The rows of a text. Which columns hold numbers is found in a pass over it, unless columns are given."""

    rewinds = True

    def __init__(self, path: Path, options: RowOptions) -> None:
        self._path, self._options = path, options
        self._asked = Asked(options.decimal, options.thousands)
        self.form = self._asked.form
        """How its numbers are written."""
        self.encoding = "utf-8"
        """Of what has been read in the present pass; all before it is ASCII where it changes."""
        self.assumed: list[str] = []
        """Sentences about what was found out about the text, and could be otherwise."""
        found = self._look()
        if found.others.unread and (form := self._guessed(found)) is not None:
            self.assumed.append(said_of_form(form, found.others.unread, self._asked))
            self.form = form
            found = self._look()
        elif options.columns is None and not any(one.decimal_comma for one in found.others.unread):
            self.assumed += refuse_or_say(self._points(found), self.delimiter, self._asked)
        self.positions, self.n_rows = found.positions, found.n_rows
        """Of the columns of numbers among all."""
        self.others, self.counts_whole = found.others, found.whole
        """The other columns; positions of those among them that count in whole numbers."""
        self.rows_read = found.n_rows
        """How many rows there are, once they were read to the end."""
        self._whole_numbers = found.whole_numbers
        self._refuse_no_numbers(found)
        self.names = None if self.header is None else [self.all_names[j] for j in self.positions]
        self.dtype: np.dtype[Any] = np.dtype(np.float64)
        self.n_columns = len(self.positions)
        self._rows = rows_per_block(options.block_bytes, max(found.row_bytes, 8.0 * self.n_columns))

    def _look(self) -> TextColumns:
        """What the text tells of itself and of its columns."""
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
            columns = self._options.columns
            found = all_numbers(stream) if columns is None else chosen_numbers(stream, columns)
            self.encoding = stream.encoding
            for remark in (stream.encoding_remark, stream.delimiter_remark):
                if remark and remark not in self.assumed:
                    self.assumed.append(remark)
            self.first_line = stream.first_line
            """A sentence where the first line was taken as names or as data and could be the other; else empty."""
        if self._asked.decimal is not None:  # nothing is in doubt
            unread = tuple(one._replace(decimal_comma=False) for one in found.others.unread)
            found = found._replace(others=found.others._replace(unread=unread))
        return found

    def _guessed(self, found: TextColumns) -> NumberForm | None:
        return guessed_form(found.others.unread, self._points(found), self.delimiter, self._asked)

    def _points(self, found: TextColumns) -> Points:
        """The columns of numbers by what their points may be; those that are all written as whole ones have none."""
        columns = [j for j in found.positions if j not in (found.whole_numbers or ())]
        if not columns or self._asked.is_settled:
            return Points()
        with self._stream() as stream:
            return points_in(stream, columns)

    @cached_property
    def whole_columns(self) -> frozenset[int]:
        """Which columns of numbers are all written as whole ones."""
        if (whole := self._whole_numbers) is None:
            with self._stream() as stream:
                whole = whole_numbers(stream, self.positions)
        return frozenset(at for at, j in enumerate(self.positions) if j in whole)

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
                        self.encoding = stream.encoding
                        yield Block(values[: len(lines)], first, lines)
                        first, lines, values = here, [], self._room()
                    values[len(lines)] = self._numbers(stream, row)
                    lines.append(blank + text)
                here, blank = here + 1, ""
            self.encoding = stream.encoding
        self.rows_read = here
        if lines:
            lines[-1] += blank
            yield Block(values[: len(lines)], first, lines)

    def texts(self, block: Block, columns: Sequence[int]) -> list[list[str | None]]:
        """What some columns say in the rows of a block, column by column; None in empty cells.

        Columns that count say nothing but numbers: with gaps, too, they are written as numbers.
        """
        how, rows = Cells((), self.form), []
        counting = {j for j in columns if self.all_names[j] in self.others.counting}
        for text in block.kept:  # blank lines around a row are with it
            cells = [cells for cells, _ in split_lines(text, self.delimiter) if not is_blank(cells, self.width)]
            rows.append([_said(how, cells[0][j], j in counting) for j in columns])
        return [list(column) for column in zip(*rows, strict=True)] or [[] for _ in columns]

    def _refuse_no_numbers(self, found: TextColumns) -> None:
        others = found.others
        if len(found.empty) == len(found.positions):
            but = ONLY_COUNTING if others.counting else ""
            why = why_no_numbers(others.strays, others.unread)
            raise TableError(f"it has no columns of numbers{but}{f' ({why[0]})' if why else ''}")
        if any(one.decimal_comma for one in others.unread):
            thousands = self._points(found).thousands
            problem = decimal_commas(others.unread, len(found.positions) - len(found.empty), thousands)
            if problem is not None:
                raise TableError(problem)

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
            yield TextStream(
                lines,
                delimiter,
                options.header,
                options.missing,
                form=self.form,
                encoding=options.encoding,
                no_rows=NO_ROWS_OPENED,
            )


def _said(how: Cells, cell: str, counts: bool) -> str | None:
    """What a cell says; of one in a column that counts, the number as Python writes it, None where there is none."""
    text = cell_text(cell)
    if counts:
        return None if how.as_written(cell) is None else (how.form.plain(text) or "").strip()
    return text or None


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
