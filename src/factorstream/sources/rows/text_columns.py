"""What one pass over a text tells of its columns: which are numbers, which count rows, and why others are texts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from ...text import column_names, counted
from ..cells import LEAST_WHOLE
from ..number_form import Points
from ..points import points_of
from ..strays import OddCells
from ..stream import Row, TextStream
from ..table import Stray, TableError, Unread
from .counting import LOT, Counting
from .source import OtherColumns

__all__ = ["TextColumns", "all_numbers", "chosen_numbers", "points_in", "whole_numbers"]

SAMPLED = 1000
"""Rows whose length tells how many make a block, where not all are looked at. Not tuned: a block is about as long."""


class TextColumns(NamedTuple):
    """What one look at a text tells."""

    positions: list[int]
    """Of the columns of numbers. One without any value is a column of numbers too."""
    row_bytes: float
    """Of a row, on average."""
    n_rows: int | None
    others: OtherColumns
    whole: frozenset[int] = frozenset()
    """Positions of the columns that count in whole numbers."""
    empty: frozenset[int] = frozenset()
    """Positions of the columns of numbers without any value."""
    whole_numbers: frozenset[int] | None = None
    """Positions of the columns of numbers that are all written as whole ones; None where nobody has looked."""


class _Pass:
    """The columns of a text while its rows pass."""

    def __init__(self, stream: TextStream) -> None:
        self._stream = stream
        self.left = list(range(stream.width))  # nothing but numbers and gaps so far
        self.known = np.zeros(stream.width, dtype=np.int64)
        self.stopped: dict[int, OddCells] = {}
        self.counting = Counting(stream.width)
        self.whole = self.left  # nothing but whole numbers and gaps so far
        self._lot: list[list[float | None]] = []

    def add(self, row: Row) -> None:
        cells = self._stream.cells
        if self.stopped:
            self._add_stopped(row)
        values = cells.values([row.cells[j] for j in self.left])
        if None in values:
            self.look()
            for j, value in zip(self.left, values, strict=True):
                if value is None:
                    points = cells.form.decimal == "." and j not in self.whole
                    self.stopped[j] = OddCells(int(self.known[j]), points)
                    self.stopped[j].add(row.cells[j], row.line, cells)
            kept = [k for k, value in enumerate(values) if value is not None]
            self.left, values = [self.left[k] for k in kept], [values[k] for k in kept]
        self._lot.append(values)
        if self.whole and not cells.are_whole([row.cells[j] for j in self.whole]):
            self.whole = [j for j in self.whole if j in self.left and cells.are_whole([row.cells[j]])]
        if len(self._lot) >= LOT:
            self.look()

    def look(self) -> None:
        """Count the numbers of the last rows."""
        if self._lot:
            numbers = np.full((len(self._lot), self._stream.width), np.nan)  # NaN: a text counts nothing
            numbers[:, self.left] = np.array(self._lot, dtype=np.float64).reshape(len(self._lot), len(self.left))
            self.known += np.isfinite(numbers).sum(axis=0)
            self.counting.add(numbers)
            self._lot = []

    def _add_stopped(self, row: Row) -> None:
        done = [j for j, one in self.stopped.items() if not one.add(row.cells[j], row.line, self._stream.cells)]
        for j in done:
            del self.stopped[j]


def all_numbers(stream: TextStream) -> TextColumns:
    """The columns with nothing but numbers and gaps, without those that count rows: as of a text that is read whole."""
    seen = _Pass(stream)
    n = size = 0
    for row in stream.rows():
        if not stream.is_blank(row):
            n += 1
            size += sum(map(len, row.cells)) + stream.width
            seen.add(row)
    seen.look()
    counting = seen.counting.found()
    whole = counting[seen.counting.are_whole(counting)]
    positions = [j for j in seen.left if j not in counting]
    names = stream.names
    said = [one for j in sorted(seen.stopped) if (one := seen.stopped[j].said(names[j])) is not None]
    strays = tuple(one for one in said if isinstance(one, Stray))
    unread = tuple(one for one in said if isinstance(one, Unread))
    texts = [names[j] for j in range(stream.width) if j not in seen.left]
    others = OtherColumns(
        names=_names_without(names, positions),
        texts=tuple(name for name in texts if name not in {one.column for one in said}),
        counting=tuple(names[j] for j in counting),
        strays=strays,
        unread=unread,
    )
    empty = frozenset(j for j in positions if not seen.known[j])
    whole_numbers = frozenset(j for j in positions if j in seen.whole and seen.known[j] >= LEAST_WHOLE)
    return TextColumns(positions, size / max(n, 1), n, others, frozenset(whole.tolist()), empty, whole_numbers)


def chosen_numbers(stream: TextStream, columns: Sequence[str | int]) -> TextColumns:
    """The columns that were asked for; what is no number in them is refused when it is met."""
    positions: list[int] = []
    for column in columns:
        if isinstance(column, int):
            if not 0 <= column < stream.width:
                raise TableError(f"it has {counted(stream.width, 'column')}, and their positions count from 0")
            positions.append(column)
        elif column in stream.names:
            positions.append(stream.names.index(column))
        else:
            raise TableError(f"it has no column {column}; it has {column_names(stream.names)}")
    sizes = [sum(map(len, row.cells)) + stream.width for row in islice(stream.rows(), SAMPLED)]
    others = OtherColumns(_names_without(stream.names, positions), chosen=True)
    return TextColumns(positions, sum(sizes) / max(len(sizes), 1), None, others)


def points_in(stream: TextStream, positions: Sequence[int]) -> Points:
    """The columns of numbers by what their points may be, as in 1.200 or in 3.14."""
    rows = (row.cells for row in stream.rows() if not stream.is_blank(row))
    return points_of(rows, positions, stream.names, stream.cells)


def whole_numbers(stream: TextStream, positions: Sequence[int]) -> frozenset[int]:
    """Positions of the columns whose numbers are all written as whole ones; the text is read until there are none."""
    return stream.cells.whole_columns((row.cells for row in stream.rows() if not stream.is_blank(row)), positions)


def _names_without(names: Sequence[str], positions: Sequence[int]) -> tuple[str, ...]:
    return tuple(name for j, name in enumerate(names) if j not in positions)
