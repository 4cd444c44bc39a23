"""What every source of rows gives: blocks of rows, one after another, none kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

__all__ = ["BLOCK_BYTES", "Block", "RewindError", "RowOptions", "Source"]

BLOCK_BYTES = 8 * 2**20
"""About how many bytes the rows of a block take, in memory or as their file has them. Not tuned: a thousand rows of a
thousand float64 values, enough that the work on a block outweighs the reading of it, and small beside the memory of any
machine."""


class RewindError(ValueError):
    """Rows that can be read only once were asked for again; the message says what to give instead."""


class Block(NamedTuple):
    """Some rows of a source."""

    values: Any
    """The numbers (n, n_columns): an array of floats with NaN in the gaps, or a CSR matrix whose stored entries are the
    observed ones."""
    first: int
    """The number of its first row in the source, counted from 0."""
    kept: Any = None
    """The same rows as their format has them, other columns included; a sink of that format writes from it what is not
    filled. None where the values say it all."""


@runtime_checkable
class Source(Protocol):
    """Rows that come in blocks. The bytes of a block are about the same in every format, whatever the number of rows.

    A source that stands for a file opens it when blocks are asked for, and keeps no handle in between.
    """

    @property
    def names(self) -> Sequence[str] | None:
        """The names of the columns of numbers; None where they have none."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the blocks' values: float32 or float64."""

    @property
    def n_rows(self) -> int | None:
        """How many rows there are; None where that is not known before they have been read."""

    @property
    def n_columns(self) -> int:
        """How many columns the blocks' values have."""

    @property
    def rewinds(self) -> bool:
        """Whether `blocks` can be called again. If not, a second call raises `RewindError`."""

    def blocks(self, start: int = 0) -> Iterator[Block]:
        """The rows from number ``start`` on. Blocks end at the same rows wherever reading began."""


class RowOptions(NamedTuple):
    """What a reader may need besides the rows."""

    columns: tuple[str | int, ...] | None = None
    """Names or positions of the columns whose numbers are wanted, in this order; None: all columns of numbers."""
    missing: tuple[str, ...] = ()
    """More texts and numbers that mark a gap."""
    dataset: str | None = None
    """Which array of a file that has several."""
    delimiter: str | None = None
    """Between the cells of a text; None: found from its first lines."""
    header: bool | None = None
    """Whether the first line of a text holds names; None: found from the first lines."""
    block_bytes: int = BLOCK_BYTES
    """About how many bytes the rows of a block take."""
