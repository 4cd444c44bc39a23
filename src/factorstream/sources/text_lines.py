"""A text in memory as lines of cells that are cut when they are asked for: it takes the room of its characters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate

import numpy as np

from .lines import ends_in_quotes, split_lines
from .table import Array, TableError

__all__ = ["CELLS_AT_ONCE", "TextLines"]

CELLS_AT_ONCE = 2**16
"""Cells that are cut together: about 4 MiB of Python's strings. Not tuned: what is done with them takes longer than to
begin with the next ones."""

LEAST_LINES = 32
"""Lines that are cut together at least, however long they are. Not tuned: what is done once for a column and these
lines then takes less time than what is done for every cell."""

_END, _PLAIN_END = re.compile(r"\r\n|\n|\r"), re.compile("\n")


class TextLines(Sequence[list[str]]):
    """Lines as cells with their quotes, as `split_lines` cuts them. A quoted cell may hold line ends.

    >>> lines = TextLines('a,b\\n1,"x\\ny"\\n\\n2,', ",")
    >>> list(lines), lines.ends(0, 4), lines.number(3)
    ([['a', 'b'], ['1', '"x\\ny"'], [''], ['2', '']], ['\\n', '\\n', '\\n', ''], 5)
    """

    def __init__(self, text: str, delimiter: str) -> None:
        self.text, self._delimiter, self._quotes = text, delimiter, '"' in text
        stops, nexts = _boundaries(text, delimiter) if self._quotes else _line_ends(text)
        self._starts: Array = np.concatenate([[0], nexts[:-1]]).astype(np.int64)
        self._stops: Array = np.array(stops, dtype=np.int64)
        self._nexts: Array = np.array(nexts, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._starts)

    def __getitem__(self, k):  # type: ignore[no-untyped-def]  # Sequence has two kinds of them
        if isinstance(k, slice):
            return [self[at] for at in range(*k.indices(len(self)))]
        line = self.text[self._starts[k] : self._stops[k]]
        if not self._quotes or '"' not in line:
            return line.split(self._delimiter)
        ((cells, _),) = split_lines(line, self._delimiter, self.number(k))
        return cells

    def ends(self, first: int, last: int) -> list[str]:
        """The line ends of some lines."""
        return [self.text[a:b] for a, b in zip(self._stops[first:last], self._nexts[first:last], strict=True)]

    def empty(self) -> Array:
        """Which lines have no character (n,)."""
        none: Array = self._starts == self._stops
        return none

    def number(self, k: int) -> int:
        """The number of the line of the file in which line k of cells begins, counted from 1."""
        return self._numbers[k] if self._quotes else k + 1

    def lots(self, rows: Array, width: int) -> Iterator[tuple[int, list[list[str]]]]:
        """The cells of some lines, so many together as are cut at once, after how many came before them."""
        size = max(LEAST_LINES, CELLS_AT_ONCE // width)
        for first in range(0, len(rows), size):
            yield first, [self[k] for k in rows[first : first + size].tolist()]

    @cached_property
    def _numbers(self) -> list[int]:
        text = self.text
        heights = (1 + text.count("\n", a, b) for a, b in zip(self._starts, self._stops, strict=True))
        return list(accumulate(heights, initial=1))


def _line_ends(text: str) -> tuple[list[int], list[int]]:
    """Where every line ends, without and with its line end."""
    end = _END if "\r" in text else _PLAIN_END  # which is quicker
    found = [match.span() for match in end.finditer(text)]
    if not found or found[-1][1] < len(text):
        found.append((len(text), len(text)))
    stops, nexts = zip(*found, strict=True)
    return list(stops), list(nexts)


def _boundaries(text: str, delimiter: str) -> tuple[list[int], list[int]]:
    """The same where quoted cells may hold line ends."""
    stops, nexts = [], []
    first = start = 0  # where the line of cells begins, and the line of the text
    inside = False
    for stop, behind in zip(*_line_ends(text), strict=True):
        inside = ends_in_quotes(text[start:behind], delimiter, inside)
        if not inside:
            if first < start and not _is_one_line(text[first:stop], delimiter):
                return _boundaries_of_all(text, delimiter)
            stops.append(stop)
            nexts.append(behind)
            first = behind
        start = behind
    return _boundaries_of_all(text, delimiter) if inside else (stops, nexts)


def _is_one_line(text: str, delimiter: str) -> bool:
    """Whether lines that were joined for a quote are one line of cells, and the quote is no other character."""
    try:
        return len(list(split_lines(text, delimiter))) == 1
    except TableError:
        return False


def _boundaries_of_all(text: str, delimiter: str) -> tuple[list[int], list[int]]:
    """Where every line ends, by cutting the whole text: where a quote is not closed, or stands for itself."""
    stops, nexts, at = [], [], 0
    for cells, end in split_lines(text, delimiter):
        stops.append(at + len(delimiter.join(cells)))
        at = stops[-1] + len(end)
        nexts.append(at)
    return stops, nexts
