"""Delimited text (CSV, TSV) with nothing but the standard library, kept to the character.

The text is cut into cells as they are written, quotes included, and put together again from the same pieces:
whatever is not filled comes out as it went in.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["DELIMITERS", "Delimited", "TableError", "parse_delimited"]

Array = NDArray[Any]

DELIMITERS = ",;\t|"
GAPS = frozenset(["", "na", "n/a", "#n/a", "#na", "<na>", "nan", "-nan", "null", "none", "missing", ".", "?", "-"])
"""What counts as a gap in a column of numbers, in any case of letters and between spaces."""

_CODE = re.compile(r"\s*[+-]?0\d")
_MARK = "\ufeff"


class TableError(ValueError):
    """A file that cannot be read as a table; the message is one sentence for the person who named it."""


class Bounds(NamedTuple):
    """The interval of every entry of ``numbers``."""

    lower: Array
    upper: Array


class Delimited:
    """A parsed text: the numbers in it, and all that is needed to write it again.

    ``names`` are all columns, ``numeric`` the positions of those that hold numbers and ``numbers``
    (n_rows, len(numeric)) their values, NaN in the gaps.
    """

    raw = b""

    def __init__(self, lines: list[list[str]], ends: list[str], delimiter: str, header: bool, mark: bool) -> None:
        self._lines, self._ends, self._delimiter, self._header, self._mark = lines, ends, delimiter, header, mark
        width = len(lines[0])
        self._rows = [k for k in range(header, len(lines)) if width == 1 or lines[k] != [""]]
        _check_widths(lines, self._rows, width)
        if not self._rows:
            raise TableError("it has no rows below its line of names" if header else "it has no rows")
        texts = [_text(cell).strip() for cell in lines[0]]
        self.names = texts if header else [f"column {j + 1}" for j in range(width)]
        columns = {j: found for j in range(width) if (found := _numbers(self._column(j))) is not None}
        self.numeric = list(columns)
        values = np.array(list(columns.values()), dtype=np.float64)
        self.numbers: Array = values.reshape(len(columns), len(self._rows)).T
        self.header_of_numbers = header and all(_number(text) is not None for text in texts)

    def gaps(self, column: int) -> int:
        """How many cells of any column, numbers or not, are gaps."""
        return sum(_is_gap(cell) for cell in self._column(column))

    def encode(self, filled: Array, bounds: Bounds | None) -> bytes:
        """The text again with ``filled`` (n_rows, len(numeric)) in its gaps, and bounds after each filled column."""
        gaps = np.isnan(self.numbers)
        lines = [list(cells) for cells in self._lines]
        for at in reversed(range(len(self.numeric))):  # from the right, so that positions stay right
            if gaps[:, at].any():
                self._fill(lines, at, gaps[:, at], filled, bounds)
        text = "".join(self._delimiter.join(cells) + end for cells, end in zip(lines, self._ends, strict=True))
        return ((_MARK if self._mark else "") + text).encode()

    def _fill(self, lines: list[list[str]], at: int, gaps: Array, filled: Array, bounds: Bounds | None) -> None:
        column = self.numeric[at]
        for row, k in enumerate(self._rows):
            cells = lines[k]
            if gaps[row]:
                cells[column] = _written(filled[row, at])
            if bounds is not None:
                pair = [_written(side[row, at]) if gaps[row] else cells[column] for side in bounds]
                cells[column + 1 : column + 1] = pair
        if bounds is not None and self._header:
            name = self.names[column]
            lines[0][column + 1 : column + 1] = [
                _quoted(f"{name}_{side}", self._delimiter) for side in ("lower", "upper")
            ]

    def _column(self, j: int) -> list[str]:
        return [self._lines[k][j] for k in self._rows]


def parse_delimited(raw: bytes, delimiter: str | None = None, header: bool = True) -> Delimited:
    """Cut a text into cells; the delimiter is found from its first lines unless it is given.

    >>> table = parse_delimited(b"id;name;height\\nx1;Ann;1.70\\nx2;Bob;\\n")
    >>> table.names, table.numeric
    (['id', 'name', 'height'], [2])
    >>> table.encode(np.array([[1.7], [1.8]]), None)
    b'id;name;height\\nx1;Ann;1.70\\nx2;Bob;1.8\\n'
    """
    if b"\x00" in raw:
        raise TableError("it is not a text file")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise TableError("it is not UTF-8 text; save it as UTF-8") from None
    mark = text.startswith(_MARK)
    text = text.removeprefix(_MARK)
    if not text.strip():
        raise TableError("it is empty")
    if delimiter is None:
        delimiter = _sniff(text)
    lines, ends = [], []
    for cells, end in _split(text, delimiter):
        lines.append(cells)
        ends.append(end)
    return Delimited(lines, ends, delimiter, header, mark)


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
    """The delimiter that cuts the first lines into the most cells, each into as many; a comma if none does."""
    sample = text[:65536].splitlines()[:20]
    first = next((line for line in sample if line.strip()), None)
    if first is None:
        return ","
    best, most = ",", 0
    for delimiter in DELIMITERS:
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
            raise TableError(f"row {k + 1} has {_cells(len(lines[k]))} where the first has {width}")


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count} cells"


def _text(cell: str) -> str:
    """What a cell says, without its quotes."""
    return cell[1:-1].replace('""', '"') if len(cell) > 1 and cell[0] == cell[-1] == '"' else cell


def _quoted(text: str, delimiter: str) -> str:
    """A cell that says this."""
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in (delimiter, '"', "\r", "\n")) else text


def _is_gap(cell: str) -> bool:
    return _text(cell).strip().lower() in GAPS


def _number(text: str) -> float | None:
    """The finite number that a text says; codes such as 00123 are not numbers."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and "_" not in text and not _CODE.match(text) else None


def _numbers(cells: list[str]) -> list[float] | None:
    """The column's values, NaN in the gaps; None unless there is a number and nothing but numbers and gaps."""
    values: list[float] = []
    for cell in cells:
        value = _number(cell)
        if value is None:  # less often: a gap, a number in quotes, or text
            value = math.nan if _is_gap(cell) else _number(_text(cell))
        if value is None:
            return None
        values.append(value)
    return None if all(map(math.isnan, values)) else values


def _written(value: float) -> str:
    """Ten digits, more than a filled value is worth; fifteen for large numbers, which may be times.

    >>> _written(0.1 + 0.2), _written(1700000000500.0), _written(1e-7), _written(-0.0)
    ('0.3', '1700000000500', '1e-07', '0')
    """
    return format(float(value) + 0.0, ".10g" if abs(value) < 1e9 else ".15g")
