"""Delimited text (CSV, TSV) with nothing but the standard library, kept to the character.

The text is cut into cells as they are written, quotes included, and put together again from the same pieces:
whatever is not filled comes out as it went in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from operator import add
from typing import NamedTuple

import numpy as np

from .cells import Cells, may_be_label, quoted, said
from .encodings import decoded
from .first_line import NO_ROWS, FirstLine, first_line
from .lines import said_of_delimiter, sniff_delimiter
from .number_form import NOTHING_ASKED, Asked, NumberForm, Points, guessed_form, said_of_form
from .points import points_of, refuse_or_say
from .strays import OddCells
from .table import NO_FORMS, Array, Format, NewColumn, OutputColumn, ReadOptions, Stray, TableError, Unread
from .text_columns import TextColumn, TextColumns, number_column, text_column
from .text_lines import TextLines
from .text_numbers import filled_cells, numbers_in, taking
from .text_remarks import marks_unused

__all__ = ["FORMAT", "parse_delimited", "write_delimited"]

_BYTE_ORDER_MARK = "\ufeff"


class _Layout(NamedTuple):
    """All of a text but its cells."""

    delimiter: str
    first: FirstLine
    encoding: str
    mark: bool
    """Whether it begins with a byte order mark."""
    cells: Cells
    """How they are read."""
    asked: Asked
    """What was said of how numbers are written."""


class _TextTable:
    """A parsed text: the numbers in it, and all that is needed to write it again."""

    def __init__(self, lines: TextLines, layout: _Layout) -> None:
        self._lines, self._layout = lines, layout
        width, header = len(lines[0]), layout.first.header
        blank = lines.empty() if width > 1 else np.zeros(len(lines), dtype=bool)
        self._rows: Array = header + np.flatnonzero(~blank[header:])
        if not self._rows.size:
            raise TableError(NO_ROWS if header else "it has no rows")
        first = [layout.cells.text(cell) for cell in lines[0]]
        self.names = first if header else [f"column {j + 1}" for j in range(width)]
        found = numbers_in(lines, self._rows, width, layout.cells)
        self.numeric, self.numbers = found.columns, found.values
        self._others = self._kept_cells(width)
        odd = [self._odd(j, row) for j, row in sorted(found.odd.items())]
        self.strays: Sequence[Stray] = [one for one in odd if isinstance(one, Stray)]
        self.unread: Sequence[Unread] = [one for one in odd if isinstance(one, Unread)]
        if layout.asked.decimal is not None:  # nothing is in doubt
            self.unread = [one._replace(decimal_comma=False) for one in self.unread]
        self.first_line = layout.first.remark
        self.assumed: Sequence[str] = ()

    @property
    def raw(self) -> bytes:
        """The file as it was read, made anew: its bytes are not kept beside its characters."""
        return self._encoded(self._lines.text)

    @cached_property
    def whole(self) -> frozenset[int]:
        values = self.numbers
        all_whole = (np.isnan(values) | (values == np.rint(values))).all(axis=0)  # else no cell has to be looked at
        columns = [j for j, may_be in zip(self.numeric, all_whole, strict=True) if may_be]
        return self._layout.cells.whole_columns(self._all_cells(), columns)

    def points(self) -> Points:
        """The columns of numbers by what their points may be."""
        columns = [j for j in self.numeric if j not in self.whole]
        return points_of(self._all_cells(), columns, self.names, self._layout.cells)

    def gaps(self, column: int) -> int:
        return sum(map(self._layout.cells.is_gap, self._column(column)))

    def cells(self, column: int) -> list[str | None]:
        cells = self._layout.cells
        return [None if cells.is_gap(cell) else cells.text(cell) for cell in self._column(column)]

    def as_columns(
        self, positions: Sequence[int], numbers: Mapping[int, Array], forms: Mapping[int, str] = NO_FORMS
    ) -> TextColumns:
        others = {j: self._other_column(j, forms.get(j, "")) for j in positions if j not in numbers}
        found = [others[j] if j in others else number_column(numbers[j]) for j in positions]
        return TextColumns([self.names[j] for j in positions], found)

    def _other_column(self, j: int, form: str) -> TextColumn:
        cells = self._layout.cells
        marks = sorted({text for cell in set(self._column(j)) if may_be_label(text := cells.text(cell))})
        return text_column(self.cells(j), form)._replace(marks=tuple(marks))

    def answered(self, lots: Sequence[TextColumn]) -> Array:
        found: Array = np.concatenate([column.texts() for column in lots])
        return found

    def place(self, row: int) -> str:
        return f"line {self._line(row)}"

    def encode(self, columns: Sequence[OutputColumn]) -> Iterator[bytes]:
        layout, lines = self._layout, self._lines
        written_to = 0  # lines of the text that are written
        if layout.mark:
            yield _BYTE_ORDER_MARK.encode(layout.encoding)
        if layout.first.header:
            (end,) = lines.ends(0, 1)
            yield (layout.delimiter.join(self._name_cells(columns)) + end).encode(layout.encoding)
            written_to = 1
        for first, lot in lines.lots(self._rows, max(len(columns), len(self.names))):
            rows = self._rows[first : first + len(lot)]
            ends = lines.ends(written_to, rows[-1] + 1)
            texts = [""] * len(ends)  # blank lines stay where they are
            filled = filled_cells(lot, columns, first, layout.cells, layout.delimiter)
            for k, cells in zip((rows - written_to).tolist(), filled, strict=True):
                texts[k] = layout.delimiter.join(cells)
            yield "".join(map(add, texts, ends)).encode(layout.encoding)
            written_to = int(rows[-1]) + 1
        yield "".join(lines.ends(written_to, len(lines))).encode(layout.encoding)

    def encode_new(self, columns: Sequence[NewColumn]) -> bytes:
        layout = self._layout
        end = self._lines.ends(0, 1)[0] or "\n"
        names = [column.name for column in columns] if layout.first.header else None
        text = _joined(names, map(self._new_cells, columns), layout.delimiter, end)
        return self._encoded(text)

    def unused(self, marks: Sequence[str]) -> list[str]:
        """Those of some marks of gaps that no cell says; what is a gap anyway is not asked for."""
        always = Cells((), self._layout.cells.form)
        left = {mark: Cells((mark,), always.form) for mark in marks if not always.is_gap(mark)}
        for _, lot in self._lines.lots(self._rows, len(self.names)) if left else ():
            cells = [cell for cell in set().union(*lot) if not always.is_gap(cell)]
            left = {mark: one for mark, one in left.items() if not any(map(one.is_gap, cells))}
            if not left:
                break
        return list(left)

    def _encoded(self, text: str) -> bytes:
        return (_BYTE_ORDER_MARK + text if self._layout.mark else text).encode(self._layout.encoding)

    def _new_cells(self, column: NewColumn) -> list[str]:
        """Cells of a new column; of a copy, the very cells, since a text such as NA is a gap only among numbers."""
        if column.like is not None and list(column.values) == self.cells(column.like):
            return self._column(column.like)
        return [said(value, self._layout.delimiter, self._layout.cells.form) for value in column.values]

    def _odd(self, j: int, first: int) -> Stray | Unread | None:
        """What to say of column j, in which ``first`` is the first row whose cell is neither a number nor a gap."""
        column, cells = self._column(j), self._layout.cells
        points = cells.form.decimal == "." and not cells.are_whole(column[:first])
        odd = OddCells(sum(value == value for value in cells.values(column[:first])), points)
        for row in range(first, len(column)):
            if not odd.add(column[row], self._line(row), cells):
                break
        return odd.said(self.names[j])

    def _line(self, row: int) -> int:
        """The number of the line of the file in which a row begins, counted from 1; cells may hold line ends."""
        return self._lines.number(int(self._rows[row]))

    def _name_cells(self, columns: Sequence[OutputColumn]) -> Iterator[str]:
        """The cells of the first line as they were written, and new ones for new names."""
        first = self._lines[0]
        for position, name, _ in columns:
            yield first[position] if name == self.names[position] else quoted(name, self._layout.delimiter)

    def _kept_cells(self, width: int) -> dict[int, list[str]]:
        """The cells of the columns that are not numbers; texts that come again are kept once."""
        columns = sorted(set(range(width)) - set(self.numeric))
        kept: dict[int, list[str]] = {j: [] for j in columns}
        once: dict[str, str] = {}
        for _, lot in self._lines.lots(self._rows, width) if columns else ():
            for j, cells in zip(columns, zip(*map(taking(columns, width), lot), strict=True), strict=True):
                kept[j] += [once.setdefault(cell, cell) for cell in cells]
        return kept

    def _all_cells(self) -> Iterator[list[str]]:
        """The cells of every row."""
        for _, lot in self._lines.lots(self._rows, len(self.names)):
            yield from lot

    def _column(self, j: int) -> list[str]:
        found = self._others.get(j)
        return [cells[j] for cells in self._all_cells()] if found is None else found


def parse_delimited(
    raw: bytes,
    delimiter: str | None = None,
    header: bool | None = None,
    missing: Sequence[str] = (),
    *,
    asked: Asked = NOTHING_ASKED,
    encoding: str | None = None,
) -> _TextTable:
    """Cut a text into cells. What is not given is found: the delimiter, the encoding, how numbers are written, and
    whether there is a line of names.

    ``missing``: what marks a gap besides GAPS.

    >>> table = parse_delimited(b"id;name;height\\nx1;Ann;1.70\\nx2;Bob;\\n")
    >>> table.names, table.numeric
    (['id', 'name', 'height'], [2])
    >>> table.numbers.tolist()
    [[1.7], [nan]]
    >>> parse_delimited(b"height;weight\\n1,70;62\\n1,81;\\n").numbers.tolist()
    [[1.7, 62.0], [1.81, nan]]
    """
    content = decoded(raw, encoding)
    mark = content.text.startswith(_BYTE_ORDER_MARK)
    text = content.text.removeprefix(_BYTE_ORDER_MARK)
    if not text.strip():
        raise TableError("it is empty")
    said = [content.remark] if content.remark else []
    if delimiter is None:
        delimiter = sniff_delimiter(text)
        said += filter(None, [said_of_delimiter(delimiter)])
    lines = TextLines(text, delimiter)

    def table(form: NumberForm) -> _TextTable:
        cells = Cells(missing, form)
        first = first_line(lines, cells, header)
        return _TextTable(lines, _Layout(delimiter, first, content.encoding, mark, cells, asked))

    return _with_form(table(asked.form), table, delimiter, asked, said, missing)


def _with_form(
    found: _TextTable,
    table: Callable[[NumberForm], _TextTable],
    delimiter: str,
    asked: Asked,
    said: Sequence[str],
    missing: Sequence[str],
) -> _TextTable:
    """A table in the form in which its numbers are written, and sentences about what was found out."""
    said = list(said)
    points = Points() if asked.is_settled else found.points()
    form = guessed_form(found.unread, points, delimiter, asked) if found.unread else None
    if form is None and not any(one.decimal_comma for one in found.unread):
        said += refuse_or_say(points, delimiter, asked)
    elif form is not None:
        said.append(said_of_form(form, found.unread, asked))
        found = table(form)
    found.assumed = [*said, *marks_unused(found.unused(missing))]
    return found


def write_delimited(columns: Sequence[NewColumn], delimiter: str = ",", header: bool = True, end: str = "\n") -> bytes:
    """New columns as text.

    >>> write_delimited([NewColumn("a", [1.5, float("nan")]), NewColumn("b, c", ["x", "y"])])
    b'a,"b, c"\\n1.5,x\\n,y\\n'
    """
    names = [column.name for column in columns] if header else None
    cells = ([said(value, delimiter) for value in column.values] for column in columns)
    return _joined(names, cells, delimiter, end).encode()


def _joined(names: Sequence[str] | None, columns: Iterable[Sequence[str]], delimiter: str, end: str) -> str:
    """The text of columns of cells, below a line of their names unless there are none."""
    first = [] if names is None else [[quoted(name, delimiter) for name in names]]
    return "".join(delimiter.join(cells) + end for cells in [*first, *zip(*columns, strict=True)])


def _read(raw: bytes, options: ReadOptions) -> _TextTable:
    tabs = options.delimiter is None and options.ending in (".tsv", ".tab")
    return parse_delimited(
        raw,
        "\t" if tabs else options.delimiter,
        options.header,
        options.missing,
        asked=Asked(options.decimal, options.thousands),
        encoding=options.encoding,
    )


FORMAT = Format("text", (), _read)
