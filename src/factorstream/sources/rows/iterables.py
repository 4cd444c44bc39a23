"""Blocks that some code makes: a generator, a list of arrays, or a function that begins them again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from ...text import counted
from ..table import TableError
from .cutting import recut, rows_per_block, skipped
from .numbers import ArrayColumns, as_array, is_sparse, joined
from .source import Block, RewindError, RowOptions

__all__ = ["MadeRows", "PassingRows"]


class _Pieces:
    """What rows of every kind of iterable have in common. The first piece says how many columns there are."""

    names = None
    n_rows = None
    rows_read: int | None = None
    """How many rows there are, once they were read to the end."""

    def __init__(self, first: Any, options: RowOptions) -> None:
        self.layout = ArrayColumns(first.shape[1], first.dtype, options)
        self.dtype, self.n_columns = self.layout.dtype, self.layout.n_columns
        self._rows = rows_per_block(options.block_bytes, first.shape[1] * self.dtype.itemsize)

    def _cut(self, pieces: Iterator[Any], start: int) -> Iterator[Block]:
        same = (self._checked(piece) for piece in pieces)
        end = start
        for first, rows in recut(skipped(same, start), self._rows, start, joined):
            end = first + int(rows.shape[0])
            yield self.layout.block(first, rows)
        self.rows_read = end

    def _checked(self, piece: Any) -> Any:
        if piece.shape[1] != self.layout.width:
            had = counted(self.layout.width, "column")
            raise TableError(f"A block has {counted(piece.shape[1], 'column')} where the first had {had}.")
        return piece


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
        self._make = make
        super().__init__(_first(_pieces(make())), options)

    def blocks(self, start: int = 0) -> Iterator[Block]:
        """The rows from number ``start`` on."""
        return self._cut(_pieces(self._make()), start)


def _first(pieces: Iterator[Any]) -> Any:
    first = next(pieces, None)
    if first is None:
        raise TableError("There are no rows in these blocks.")
    return first


def _pieces(blocks: Iterable[Any]) -> Iterator[Any]:
    """Blocks as arrays or CSR matrices; a single row is one, and blocks without rows are passed over."""
    for block in blocks:
        rows = block.tocsr() if is_sparse(block) else as_array(block.values if isinstance(block, Block) else block)
        rows = rows[None] if rows.ndim == 1 else rows
        if rows.ndim != 2 or not rows.shape[1]:
            raise TableError(f"A block has shape {rows.shape}, where rows and columns are needed.")
        if rows.dtype.kind not in "fiu":
            raise TableError("A block does not hold real numbers.")
        if rows.shape[0]:
            yield rows
