"""What every source of rows gives: blocks of rows, one after another, none kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from ...text import column_names
from ..table import Stray, TableError, Unread

__all__ = [
    "BLOCK_BYTES",
    "Block",
    "Carrying",
    "OtherColumns",
    "RewindError",
    "RowOptions",
    "Source",
    "assumed_of",
    "others_of",
    "refuse_lost",
    "rows_missing",
    "whole_columns_of",
]

BLOCK_BYTES = 8 * 2**20
"""About how many bytes the rows of a block take, in memory or as their file has them. Not tuned: a thousand rows of a
thousand float64 values, enough that the work on a block outweighs the reading of it, and small beside the memory of any
machine."""


ONLY_COUNTING = " but those that count its rows"
"""The end of a sentence about a table whose numbers measure nothing."""


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


class OtherColumns(NamedTuple):
    """Columns of a table that are not among the numbers of a source. They are carried along to the sink."""

    names: tuple[str, ...] = ()
    """All of them, in their order."""
    chosen: bool = False
    """Whether these are the columns that `RowOptions.columns` does not name; then nothing else is known of them."""
    texts: tuple[str, ...] = ()
    """Those of texts, dates and the like."""
    counting: tuple[str, ...] = ()
    """Those of numbers that count rows or years, and measure nothing."""
    strays: tuple[Stray, ...] = ()
    """Of columns that would be numbers but for one text."""
    unread: tuple[Unread, ...] = ()
    """Of columns whose numbers are written with commas or signs."""


@runtime_checkable
class Carrying(Protocol):
    """A source with other columns beside its numbers, which a sink of another format can write."""

    all_names: Sequence[str]
    """Of all columns."""
    positions: Sequence[int]
    """Of the columns of numbers among all."""

    def texts(self, block: Block, columns: Sequence[int]) -> list[list[str | None]]:
        """What some columns say in the rows of a block, column by column; None in gaps."""


def others_of(source: Source) -> OtherColumns:
    """The columns beside the numbers of a source, as far as it tells."""
    others: OtherColumns = getattr(source, "others", OtherColumns())
    return others


def gaps_beside(source: Source, block: Block) -> list[int]:
    """How many gaps each of its other columns has in the rows of a block; zeros where its format does not tell."""
    told: Callable[[Block], list[int]] | None = getattr(source, "gaps_beside", None)
    return [0] * len(others_of(source).names) if told is None else told(block)


def assumed_of(source: Source) -> Sequence[str]:
    """Sentences about what was found out about a text, and could be otherwise."""
    first: str = getattr(source, "first_line", "")
    return [*([first] if first else []), *getattr(source, "assumed", ())]


def whole_columns_of(source: Source) -> frozenset[int]:
    """Which columns of a source, counted from 0, hold whole numbers, by how they are written or by their type."""
    of_array = getattr(getattr(source, "layout", None), "whole_columns", frozenset[int]())
    whole: frozenset[int] = getattr(source, "whole_columns", of_array)
    return whole


def refuse_lost(others: OtherColumns) -> None:
    """Refuse to write an array of a source with other columns, which it has no room for, unless columns were chosen."""
    if others.names and not others.chosen:
        raise TableError(
            f"An array has no room for columns that are not filled: {column_names(others.names)}; write a .csv or "
            ".parquet file, or choose columns of numbers with open_rows(..., columns=...)."
        )


def rows_missing(source: Source, n_rows: int) -> bool:
    """Whether a source has more rows than these.

    Where their number was not known, a source of this package has it in ``rows_read`` once it was read to its end. If
    that has not happened, one that can be read again is asked for its next row.
    """
    known = source.n_rows if source.n_rows is not None else getattr(source, "rows_read", None)
    if known is not None:
        return n_rows < known
    if source.rewinds:
        return next(iter(source.blocks(n_rows)), None) is not None
    return hasattr(source, "rows_read")


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
    decimal: str | None = None
    """The decimal mark of a text; None: a point, unless commas can be nothing else."""
    thousands: str | None = None
    """What stands between thousands in a text; None: nothing, unless marks can be nothing else."""
    encoding: str | None = None
    """Of a text; None: found from its bytes."""
