"""Blocks that some code makes: a generator, a list of arrays, or a function that begins them again."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ...text import column_names, counted
from ..table import Array, TableError
from .cutting import recut, rows_per_block, skipped
from .numbers import ArrayColumns, as_array, is_sparse, joined
from .source import Block, RewindError, RowOptions

__all__ = ["MadeRows", "PassingRows"]


class _Piece(NamedTuple):
    """A block, and what its columns are called if it is a frame."""

    labels: list[Hashable] | None
    rows: Any


class _Pieces:
    """What rows of every kind of iterable have in common. The first piece says how many columns there are."""

    n_rows = None
    rows_read: int | None = None
    """How many rows there are, once they were read to the end."""

    def __init__(self, first: _Piece, options: RowOptions) -> None:
        self._labels, (_, width), kind = first.labels, first.rows.shape, first.rows.dtype
        names = _names(self._labels)
        if names is not None and options.columns is not None:
            options = options._replace(columns=tuple(_position(column, names) for column in options.columns))
        self.layout = ArrayColumns(width, kind, options)
        chosen = self.layout.positions
        self.names = names if names is None or chosen is None else [names[j] for j in chosen]
        """Of the columns, where the first block is a frame with names."""
        self.dtype, self.n_columns = self.layout.dtype, self.layout.n_columns
        self._rows = rows_per_block(options.block_bytes, width * self.dtype.itemsize)

    def _cut(self, pieces: Iterator[_Piece], start: int) -> Iterator[Block]:
        same = (self._checked(piece) for piece in pieces)
        end = start
        for first, rows in recut(skipped(same, start), self._rows, start, joined):
            end = first + int(rows.shape[0])
            yield self.layout.block(first, rows)
        if self.rows_read is not None and end != self.rows_read:
            raise TableError(
                f"These blocks had {counted(self.rows_read, 'row')} in one pass and {end} in the next; give a function "
                "that returns the same rows every time."
            )
        self.rows_read = end

    def _checked(self, piece: _Piece) -> Any:
        """The rows of a piece with the columns of the first one: by what they are called where both are frames."""
        labels, rows = piece
        if rows.shape[1] != self.layout.width:
            had = counted(self.layout.width, "column")
            raise TableError(f"A block has {counted(rows.shape[1], 'column')} where the first had {had}.")
        if labels is None or self._labels is None or labels == self._labels:
            return rows
        at = {label: j for j, label in enumerate(labels)}
        if len(at) < len(labels) or at.keys() != set(self._labels):
            given = column_names(map(str, labels))
            raise TableError(f"A block has other names of columns ({given}) than the first; give all blocks the same.")
        return rows[:, [at[label] for label in self._labels]]


class PassingRows(_Pieces):
    """The rows of an iterator, which can be read once."""

    rewinds = False

    def __init__(self, pieces: Iterable[Any], options: RowOptions) -> None:
        coming = _pieces(pieces)
        first = _first(coming)
        super().__init__(first, options)
        self._coming: Iterator[Any] | None = chain([first], coming)

    def blocks(self, start: int = 0) -> Iterator[Block]:
        """The rows from number ``start`` on."""
        if self._coming is None:
            raise RewindError(
                "These rows can be read once, and have been; give a function that returns their blocks, or a file."
            )
        coming, self._coming = self._coming, None
        return self._cut(coming, start)


class MadeRows(_Pieces):
    """The rows of the iterables that a function returns, or of a collection: each call begins them again."""

    rewinds = True

    def __init__(self, make: Callable[[], Iterable[Any]], options: RowOptions) -> None:
        self._make, made = make, make()
        self._begun: Iterable[Any] | None = made
        """What the function returned first, until it is clear that it returns another one the next time."""
        super().__init__(_first(_pieces(made)), options)

    def blocks(self, start: int = 0) -> Iterator[Block]:
        """The rows from number ``start`` on."""
        made, begun, self._begun = self._make(), self._begun, None
        if made is begun and isinstance(made, Iterator):
            raise RewindError(
                "The function returned one iterator twice, whose first rows are gone; let it make a new one every "
                "time, as a function with yield does."
            )
        return self._cut(_pieces(made), start)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_begun": None}  # a generator cannot be sent to other processes


def _first(pieces: Iterator[_Piece]) -> _Piece:
    first = next(pieces, None)
    if first is None:
        raise TableError("There are no rows in these blocks; of an iterator that was read before none are left.")
    return first


def _position(column: str | int, names: list[str]) -> int:
    if isinstance(column, int):
        return column
    if column not in names:
        raise TableError(f"it has no column {column}; it has {column_names(names)}")
    return names.index(column)


def _labels(block: Any) -> list[Hashable] | None:
    """What the columns of a frame, or of a table of Arrow, are called; None for arrays."""
    of_arrow = hasattr(
        type(block), "column_names"
    )  # the class is asked: a frame of pandas has its columns as attributes
    labels = block.column_names if of_arrow else getattr(block, "columns", None)
    return None if labels is None else list(labels)


def _names(labels: Sequence[Hashable] | None) -> list[str] | None:
    """The labels where they are names, each there once."""
    names = [label for label in labels or () if isinstance(label, str)]
    return names if names and len(set(names)) == len(labels or ()) else None


def _pieces(blocks: Iterable[Any]) -> Iterator[_Piece]:
    """Blocks as arrays or CSR matrices; a single row is one, and blocks without rows are passed over."""
    for block in blocks:
        labels = _labels(block)
        rows = block.tocsr() if is_sparse(block) else as_array(block.values if isinstance(block, Block) else block)
        rows = rows[None] if rows.ndim == 1 else rows
        if rows.ndim != 2 or not rows.shape[1]:
            raise TableError(f"A block has shape {rows.shape}, where rows and columns are needed.")
        if rows.dtype.kind not in "fiu":
            if labels is None:
                raise TableError("A block does not hold real numbers.")
            rows = _by_columns(block, labels)
        if rows.shape[0]:
            yield _Piece(labels, rows)


def _by_columns(block: Any, labels: list[Hashable]) -> Array:
    """The numbers of a frame whose columns have types without a common one of NumPy, such as Int64 of pandas."""
    columns, others = [], []
    for j, label in enumerate(labels):
        column = block.iloc[:, j] if hasattr(block, "iloc") else block[label]
        of_pandas = getattr(getattr(column, "dtype", None), "kind", "") in ("f", "i", "u")
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan) if of_pandas else np.asarray(column)
        columns.append(numbers)
        if numbers.dtype.kind not in "fiu":
            others.append(str(label))
    if others:
        raise TableError(f"A block has columns that hold no real numbers: {column_names(others)}; leave them out.")
    return np.column_stack(columns)
