"""Delimited text (CSV, TSV) with nothing but the standard library, kept to the character.

The text is cut into cells as they are written, quotes included, and put together again from the same pieces:
whatever is not filled comes out as it went in.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..text import counted
from .table import Array, Format, OutputColumn, ReadOptions, Stray, TableError

__all__ = ["FORMAT", "parse_delimited"]

DELIMITERS = ",;\t|"
"""Those that are looked for."""
GAPS = frozenset(["", "na", "n/a", "#n/a", "#na", "<na>", "nan", "-nan", "null", "none", "missing", ".", "?", "-"])
"""What counts as a gap in a column of numbers, in any case of letters and between spaces."""

_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d[\d.]*,\d+(?:[eE][+-]?\d+)?\s*")
_CODE = re.compile(r"\s*[+-]?0\d")  # 00123 is the name of something, not a number
_BYTE_ORDER_MARK = "\ufeff"


class _Layout(NamedTuple):
    """All of a text but its cells."""

    ends: list[str]
    """The line ends."""
    delimiter: str
    header: bool
    mark: bool
    """Whether it begins with a byte order mark."""
    gaps: frozenset[str]
    """What counts as a gap, in small letters."""


class _TextTable:
    """A parsed text: the numbers in it, and all that is needed to write it again."""

    def __init__(self, raw: bytes, lines: list[list[str]], layout: _Layout) -> None:
        self.raw, self._lines, self._layout = raw, lines, layout
        width, header = len(lines[0]), layout.header
        self._rows = [k for k in range(header, len(lines)) if width == 1 or lines[k] != [""]]
        _check_widths(lines, self._rows, width)
        if not self._rows:
            raise TableError("it has no rows below its line of names" if header else "it has no rows")
        first = [_text(cell).strip() for cell in lines[0]]
        self.names = first if header else [f"column {j + 1}" for j in range(width)]
        columns: dict[int, list[float]] = {}
        strays, decimal_commas = [], []
        for j in range(width):
            found, texts = _numbers(self._column(j), layout.gaps)
            if found is not None:
                columns[j] = found
            elif (stray := self._stray(j, texts)) is not None:
                strays.append(stray)
            elif _have_decimal_commas(self._column(j), layout.gaps):
                decimal_commas.append(self.names[j])
        self.strays: Sequence[Stray] = strays
        self.decimal_commas: Sequence[str] = decimal_commas
        self.numeric = list(columns)
        values = np.array(list(columns.values()), dtype=np.float64)
        self.numbers: Array = values.reshape(len(columns), len(self._rows)).T
        self.header_of_numbers = header and all(_number(text) is not None for text in first)

    def gaps(self, column: int) -> int:
        return sum(_is_gap(cell, self._layout.gaps) for cell in self._column(column))

    def place(self, row: int) -> str:
        return f"line {self._line(row)}"

    def encode(self, columns: Sequence[OutputColumn]) -> bytes:
        layout = self._layout
        lines = list(self._lines)  # blank lines stay where they are
        for k, *cells in zip(self._rows, *map(self._cells, columns), strict=True):
            lines[k] = cells
        if layout.header:
            lines[0] = [self._name_cell(column) for column in columns]
        text = "".join(layout.delimiter.join(cells) + end for cells, end in zip(lines, layout.ends, strict=True))
        return ((_BYTE_ORDER_MARK if layout.mark else "") + text).encode()

    def _stray(self, j: int, rows: list[int]) -> Stray | None:
        """The text that keeps column j from being numbers, if it is one text, at these rows, among more numbers."""
        cells = self._column(j)
        numbers = sum(not _is_gap(cell, self._layout.gaps) for cell in cells) - len(rows)
        if len({_text(cells[row]).strip() for row in rows}) != 1 or len(rows) >= numbers:
            return None
        return Stray(self.names[j], _text(cells[rows[0]]).strip(), len(rows), self._line(rows[0]))

    def _line(self, row: int) -> int:
        """The number of the line of the file in which a row begins, counted from 1; cells may hold line ends."""
        before = self._lines[: self._rows[row]]
        return 1 + sum(1 + sum(cell.count("\n") for cell in cells) for cells in before)

    def _name_cell(self, column: OutputColumn) -> str:
        """The cell of the first line as it was written, or a new one for a new name."""
        if column.name == self.names[column.position]:
            return self._lines[0][column.position]
        return _quoted(column.name, self._layout.delimiter)

    def _cells(self, column: OutputColumn) -> list[str]:
        """The cells as they were read, with numbers in the gaps that are filled."""
        cells = self._column(column.position)
        if column.fill is not None:
            for row in np.flatnonzero(column.fill.gaps):
                cells[row] = _written(column.fill.values[row])
        return cells

    def _column(self, j: int) -> list[str]:
        return [self._lines[k][j] for k in self._rows]


def parse_delimited(
    raw: bytes, delimiter: str | None = None, header: bool = True, missing: Sequence[str] = ()
) -> _TextTable:
    """Cut a text into cells; the delimiter is found from its first lines unless it is given.

    ``missing``: what marks a gap besides GAPS.

    >>> table = parse_delimited(b"id;name;height\\nx1;Ann;1.70\\nx2;Bob;\\n")
    >>> table.names, table.numeric
    (['id', 'name', 'height'], [2])
    >>> table.numbers.tolist()
    [[1.7], [nan]]
    """
    if b"\x00" in raw:
        raise TableError("it is not a text file")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise TableError("it is not UTF-8 text; save it as UTF-8") from None
    mark = text.startswith(_BYTE_ORDER_MARK)
    text = text.removeprefix(_BYTE_ORDER_MARK)
    if not text.strip():
        raise TableError("it is empty")
    if delimiter is None:
        delimiter = _sniff(text)
    lines, ends = [], []
    for cells, end in _split(text, delimiter):
        lines.append(cells)
        ends.append(end)
    return _TextTable(
        raw, lines, _Layout(ends, delimiter, header, mark, GAPS.union(text.strip().lower() for text in missing))
    )


def _split(text: str, delimiter: str) -> Iterator[tuple[list[str], str]]:
    """Lines as (cells with their quotes, line end)."""
    if '"' not in text:
        for line in re.findall(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+", text):
            body = line.rstrip("\r\n")
            yield body.split(delimiter), line[len(body) :]
        return
    d = re.escape(delimiter)
    token = re.compile(rf'("(?:[^"]|"")*"|[^{d}\r\n]*)({d}|\r\n|\n|\r|\Z)')
    cells: list[str] = []
    line, at = 1, 0
    while at < len(text) or cells:
        found = token.match(text, at)
        assert found is not None  # the second branch matches anything, the end of the text included
        cell, end = found.groups()
        if cell.startswith('"') and (len(cell) == 1 or not cell.endswith('"')):
            raise TableError(f"line {line} has a quote that is not closed")
        cells.append(cell)
        line += cell.count("\n")
        at = found.end()
        if end != delimiter:
            yield cells, end
            cells = []
            line += 1


def _sniff(text: str) -> str:
    """The delimiter that cuts the first lines into the most cells, each into as many; a comma if none does.

    Where semicolons cut them too, commas that all stand between two digits are decimal commas.

    Twenty lines of at most 64 KiB are looked at: not tuned, round numbers that keep this instant.
    """
    sample = text[:65536].splitlines()[:20]
    first = next((line for line in sample if line.strip()), None)
    if first is None:
        return ","
    best, most = ",", 0
    decimal = _count(first, ";") > 0 and not re.search(r"(?<!\d),|,(?!\d)", "\n".join(sample))
    for delimiter in DELIMITERS.replace(",", "") if decimal else DELIMITERS:
        counts = [_count(line, delimiter) for line in sample if line.strip()]
        steady = sum(count == counts[0] for count in counts) * 2 > len(counts)
        if steady and _count(first, delimiter) > most:
            best, most = delimiter, _count(first, delimiter)
    return best


def _count(line: str, delimiter: str) -> int:
    return re.sub(r'"[^"]*"', "", line).count(delimiter)


def _check_widths(lines: Sequence[Sequence[str]], rows: Sequence[int], width: int) -> None:
    for k in rows:
        if len(lines[k]) != width:
            raise TableError(f"row {k + 1} has {counted(len(lines[k]), 'cell')} where the first has {width}")


def _text(cell: str) -> str:
    """What a cell says, without its quotes."""
    return cell[1:-1].replace('""', '"') if len(cell) > 1 and cell[0] == cell[-1] == '"' else cell


def _quoted(text: str, delimiter: str) -> str:
    """A cell that says this."""
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in (delimiter, '"', "\r", "\n")) else text


def _is_gap(cell: str, gaps: frozenset[str]) -> bool:
    return _text(cell).strip().lower() in gaps


def _number(text: str) -> float | None:
    """The finite number that a text says; codes such as 00123 are not numbers."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and "_" not in text and not _CODE.match(text) else None


def _numbers(cells: list[str], gaps: frozenset[str]) -> tuple[list[float] | None, list[int]]:
    """The column's values, NaN in the gaps, or None unless there is a number and nothing but numbers and gaps.

    Also the rows of the cells that are neither; no more are looked for once two of them say different things.
    """
    values: list[float] = []
    strays: list[int] = []
    for row, cell in enumerate(cells):
        value = _number(cell)
        if value is None:  # less often: a gap, a number in quotes, or text
            value = math.nan if _is_gap(cell, gaps) else _number(_text(cell))
        if value is None:
            strays.append(row)
            if _text(cell).strip() != _text(cells[strays[0]]).strip():
                break
        else:
            values.append(value)
    return (None if strays or all(map(math.isnan, values)) else values), strays


def _have_decimal_commas(cells: list[str], gaps: frozenset[str]) -> bool:
    """Whether all cells of a column are empty or numbers, and some of the numbers have a decimal comma."""
    said = [_text(cell) for cell in cells if not _is_gap(cell, gaps)]
    commas = 0
    for text in said:
        if _DECIMAL_COMMA.fullmatch(text):
            commas += 1
        elif _number(text) is None:
            return False
    return commas > 0


def _written(value: float) -> str:
    """Ten digits, more than a filled value is worth; fifteen for large numbers, which may be times; nothing for NaN.

    >>> _written(0.1 + 0.2), _written(1700000000500.0), _written(1e-7), _written(-0.0), _written(float("nan"))
    ('0.3', '1700000000500', '1e-07', '0', '')
    """
    return "" if math.isnan(value) else format(float(value) + 0.0, ".10g" if abs(value) < 1e9 else ".15g")


def _read(raw: bytes, options: ReadOptions) -> _TextTable:
    tabs = options.delimiter is None and options.ending in (".tsv", ".tab")
    return parse_delimited(raw, "\t" if tabs else options.delimiter, options.header, options.missing)


FORMAT = Format("text", (), _read)
