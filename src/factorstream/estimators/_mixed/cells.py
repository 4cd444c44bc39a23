"""Columns of tables in one form, whichever library has them: numbers, or labels, with gaps.

Every library has a class that reads and writes its tables, with the methods of :class:`Frame`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...core.linalg import Array

FLOAT, DECIMAL, WHOLE, TIME, DAY, DURATION, TRUTH, CATEGORY, TEXT, OTHER = (
    "numbers",
    "decimals",
    "whole numbers",
    "times",
    "dates",
    "durations",
    "true and false",
    "categories",
    "text",
    "other values",
)
"""What a column holds. Times, dates and durations are counted in seconds, the first two from the beginning of 1970."""

PER_SECOND = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
DAY_SECONDS = 86400.0
"""Units of time."""

PLAIN = (FLOAT, DECIMAL, WHOLE)
"""What are numbers themselves."""

NUMBERS = (*PLAIN, TIME, DAY, DURATION)
"""What is read as numbers."""

LABELS = (TRUTH, CATEGORY, TEXT)
"""What is read as labels."""


class Cells(NamedTuple):
    """The values of a column."""

    held: str
    missing: Array  # (n,) boolean
    numbers: Array | None = None  # (n,) NaN in gaps
    codes: Array | None = None  # (n,) the number of each label among ``levels``; -1 in gaps
    levels: tuple[Any, ...] = ()  # labels, seen or not
    in_order: bool = False  # the type of the column has ``levels``, in this order
    form: str = ""  # how a text writes dates, or true


class Frame(Protocol):
    """A table of a library."""

    names: list[Any]
    mapped: int
    """Bytes that may lie in a file."""
    is_array: bool
    """Whether an array of numbers could hold the whole table, gaps included, and lose nothing but the names."""

    def held(self, j: int) -> str:
        """What column j holds."""

    def cells(self, j: int) -> Cells:
        """The values of column j."""

    def column(self, j: int) -> Any:
        """Column j as it is."""

    def with_numbers(self, j: int, where: Array, numbers: Array, held: str) -> Any:
        """Column j with these numbers (n,) in the rows marked (n,), in its own type; NaN is a gap. ``held`` is what a
        column without any value is taken to hold."""

    def with_labels(self, j: int, where: Array, codes: Array, levels: Sequence[Any]) -> Any:
        """Column j with labels in the rows marked (n,), by their numbers (n,) among ``levels``, in its own type; None
        is a gap."""

    def of_numbers(self, numbers: Array) -> Any:
        """A column of numbers."""

    def of_truth(self, values: Array) -> Any:
        """A column of true and false."""

    def of_sets(self, j: int, sets: list[tuple[Any, ...]]) -> Any:
        """A column whose entries are several labels of column j each."""

    def table(self, names: Sequence[Any], columns: Sequence[Any], own: Sequence[int] = ()) -> Any:
        """A table of the library, with the rows of this one. The first columns answer the ``own`` ones, by number."""


class KeptLabels:
    """Base of the tables: the labels of a column are read once."""

    def __init__(self) -> None:
        self._kept: dict[int, Cells] = {}

    def cells(self, j: int) -> Cells:
        """The values of column j."""
        found = self._kept.get(j)
        if found is None:
            found = self._cells(j)
            if found.codes is not None:
                self._kept[j] = found
        return found

    def _cells(self, j: int) -> Cells:
        raise NotImplementedError


def frame_of(X: Any) -> Frame | None:
    """X as a frame, where it is a table of pandas or polars, an Arrow table or columns of a text; None otherwise."""
    pandas, polars, arrow = (sys.modules.get(name) for name in ("pandas", "polars", "pyarrow"))
    if pandas is not None and isinstance(X, pandas.DataFrame):
        from .pandas_frame import PandasFrame

        return PandasFrame(X)
    if polars is not None and isinstance(X, polars.DataFrame):
        from .polars_frame import PolarsFrame

        return PolarsFrame(X)
    if arrow is not None and isinstance(X, arrow.Table):
        from .arrow_frame import ArrowFrame

        return ArrowFrame(X)
    columns = sys.modules.get("factorstream.sources.text_columns")
    if columns is not None and isinstance(X, columns.TextColumns):
        from .text_frame import TextFrame

        return TextFrame(X)
    return None


def plain(label: Any) -> Any:
    """A label as a file can keep it: text, a number or a truth value; of anything else what it is written as."""
    if isinstance(label, np.generic):
        label = label.item()
    return label if type(label) in (str, bool, int, float) else str(label)


def labelled(held: str, codes: Array, levels: Sequence[Any], in_order: bool = False) -> Cells:
    """Cells of labels; a label that is None is a gap."""
    codes = np.asarray(codes, dtype=np.int64)
    nothing = [k for k, level in enumerate(levels) if level is None]
    if nothing:
        codes = np.where(np.isin(codes, nothing), -1, codes)
    return Cells(held, codes < 0, codes=codes, levels=tuple(levels), in_order=in_order)


def with_more(own: Sequence[Any], levels: Sequence[Any]) -> list[Any]:
    """The labels of a column's type, and those of ``levels`` that it lacks, each after the one before it there."""
    out, there = list(own), set(own)
    for k, level in enumerate(levels):
        if level not in there:
            later = (out.index(one) for one in levels if one in there)
            out.insert(out.index(levels[k - 1]) + 1 if k else min(later, default=len(out)), level)
            there.add(level)
    return out


def whole(numbers: Array, least: int, greatest: int) -> list[int | None]:
    """Numbers as whole ones that a type can hold; None for NaN."""
    return [None if value != value else int(min(max(round(value), least), greatest)) for value in numbers.tolist()]


def ends(bits: int, signed: bool) -> tuple[int, int]:
    """The least and the greatest whole number of a type.

    >>> ends(8, signed=True), ends(8, signed=False)
    ((-128, 127), (0, 255))
    """
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)


def ticks(numbers: Array, per_second: float) -> list[int | None]:
    """Seconds in a library's own unit of time; None for NaN and for what no 64 bits hold."""
    most = float(2**63 - 2**11)
    counted = numbers * per_second
    return [None if not abs(value) < most else round(value) for value in counted.tolist()]
