"""Several files, or other sources of rows, that follow each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from ...text import counted
from ..table import TableError
from .cutting import recut, rows_per_block, skipped
from .numbers import joined
from .problems import whole_sentences
from .source import Block, OtherColumns, RowOptions, Source, assumed_of, others_of, whole_columns_of

__all__ = ["FollowingRows", "open_several"]

Item = TypeVar("Item")

OpenOne = Callable[[Any, RowOptions], Source]
"""Opens one of them."""


class FollowingRows:
    """The rows of several sources with the same columns, one source after another."""

    rewinds = True

    def __init__(self, parts: Sequence[Source], lengths: Sequence[int | None], options: RowOptions) -> None:
        self._parts, self._lengths = list(parts), list(lengths)
        self.names, self.n_columns = parts[0].names, parts[0].n_columns
        self.dtype: np.dtype[Any] = np.result_type(*(part.dtype for part in parts))
        self.n_rows = None if None in lengths else sum(length or 0 for length in lengths)
        self.carries_more = any(_width(part) > part.n_columns for part in parts)
        """Whether there are columns besides those of numbers, which a file for all of them would not have."""
        self.others = _all_others([others_of(part) for part in parts])
        """These columns."""
        self.assumed = _once(assumed_of(part) for part in parts)
        """Sentences about what was found out about texts, and could be otherwise."""
        self.rows_read = self.n_rows
        """How many rows there are, once they were read to the end."""
        self._rows = rows_per_block(options.block_bytes, self.n_columns * self.dtype.itemsize)

    @property
    def whole_columns(self) -> frozenset[int]:
        """Which columns hold whole numbers in all of them."""
        return frozenset.intersection(*map(whole_columns_of, self._parts))

    def blocks(self, start: int = 0) -> Iterator[Block]:
        """The rows from number ``start`` on."""
        end = start
        for first, values in recut(self._values(start), self._rows, start, joined):
            end = first + int(values.shape[0])
            yield Block(values.astype(self.dtype, copy=False), first)
        self.rows_read = end

    def _values(self, start: int) -> Iterator[Any]:
        """The numbers from row ``start`` on; a source of known length that ends before it is not read."""
        for part, length in zip(self._parts, self._lengths, strict=True):
            if length is None:
                for block in part.blocks():
                    yield from skipped([block.values], start)
                    start = max(start - int(block.values.shape[0]), 0)
            elif length <= start:
                start -= length
            else:
                yield from (block.values for block in part.blocks(start))
                start = 0


def open_several(given: Sequence[Any], shown: Sequence[str], open_one: OpenOne, options: RowOptions) -> Source:
    """Sources that follow each other. Columns are found by their names, and are those that hold numbers in any of them.

    ``shown`` are the names of the sources in messages.
    """
    parts = [open_one(one, options) for one in given]
    if len(parts) == 1:
        return parts[0]
    lengths = [part.n_rows for part in parts]  # what is opened with chosen columns may not know its own
    names = [None if part.names is None else list(part.names) for part in parts]
    if any(one != names[0] for one in names) and options.columns is None:
        known = _all_names(names, shown)
        chosen = options._replace(columns=tuple(known))
        same = [one == known for one in names]
        for k in range(len(parts)):
            if not same[k]:
                with whole_sentences(shown[k]):
                    parts[k] = open_one(given[k], chosen)
    for part, name in zip(parts, shown, strict=True):
        if part.n_columns != parts[0].n_columns:
            has, had = counted(part.n_columns, "column"), counted(parts[0].n_columns, "column")
            raise TableError(
                f"{name} has {has} of numbers where {shown[0]} has {had}; give files with the same columns."
            )
    return FollowingRows(parts, lengths, options)


def _all_names(names: Sequence[list[str] | None], shown: Sequence[str]) -> list[str]:
    """The names of columns that hold numbers in some source: a column can be all gaps in one, and numbers in others."""
    known: dict[str, None] = {}
    for one, name in zip(names, shown, strict=True):
        if one is None or len(set(one)) < len(one):
            why = "has no names of columns" if one is None else "has two columns of one name"
            raise TableError(f"{name} {why}, and the others have other columns; give files with the same columns.")
        known |= dict.fromkeys(one)
    return list(known)


def _all_others(others: Sequence[OtherColumns]) -> OtherColumns:
    """What is left out of any of several sources, every column once."""
    return OtherColumns(
        _once(one.names for one in others),
        all(one.chosen for one in others),
        _once(one.texts for one in others),
        _once(one.counting for one in others),
        _once(one.strays for one in others),
        _once(one.unread for one in others),
    )


def _once(lists: Iterable[Iterable[Item]]) -> tuple[Item, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(lists)))


def _width(part: Source) -> int:
    """How many columns a source has, those that are no numbers too."""
    if (schema := getattr(part, "schema", None)) is not None:
        return len(schema)
    return int(getattr(getattr(part, "layout", part), "width", part.n_columns))
