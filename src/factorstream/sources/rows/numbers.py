"""Arrays of any kind of number as blocks of floats with NaN in the gaps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ...text import counted
from ..table import Array, TableError, marks_of
from .source import Block, RowOptions

__all__ = ["ArrayColumns", "as_array", "float_type", "is_sparse", "joined", "whole_shape"]


def float_type(kind: np.dtype[Any]) -> np.dtype[Any]:
    """The floats that hold the numbers of a type: float32 for itself and shorter ones, float64 for all others.

    >>> float_type(np.dtype("f2")), float_type(np.dtype("i2"))
    (dtype('float32'), dtype('float64'))
    """
    if kind.kind not in "fiu":
        raise TableError("it does not hold real numbers")
    return np.dtype(np.float32 if kind.kind == "f" and kind.itemsize <= 4 else np.float64)


def is_sparse(rows: Any) -> bool:
    """Whether rows are a sparse matrix or array of SciPy."""
    return bool(sparse.issparse(rows))


def joined(parts: list[Any]) -> Any:
    """Rows of several arrays or CSR matrices below one another."""
    if is_sparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    return np.concatenate(parts)


class ArrayColumns:
    """Which columns of arrays are wanted, and how their numbers become floats."""

    def __init__(self, width: int, kind: np.dtype[Any], options: RowOptions) -> None:
        self.width, self.kind, self.dtype = width, kind, float_type(kind)
        """Of the arrays: columns, type, and the type of the floats."""
        self.positions = _positions(options.columns, width)
        """Of the columns that are wanted; None: all."""
        self.n_columns = width if self.positions is None else len(self.positions)
        self._marks = marks_of(options.missing, self.dtype)

    @property
    def becomes_float(self) -> bool:
        """Whether whole numbers may have gaps, because some of them mark one; they are then written as floats."""
        return self.kind.kind != "f" and bool(self._marks.size)

    @property
    def whole_columns(self) -> frozenset[int]:
        """Which columns hold whole numbers: all of them, or none."""
        return frozenset(range(self.n_columns) if self.kind.kind in "iu" else ())

    def block(self, first: int, raw: Any) -> Block:
        """The block of some rows."""
        values: Any = raw if self.positions is None else raw[:, self.positions]
        if is_sparse(values):
            return Block(values.astype(self.dtype, copy=False), first)
        values = np.asarray(values)
        if values.dtype != self.dtype:
            values = values.astype(self.dtype)
        if self._marks.size:
            gaps = np.isin(values, self._marks)
            values = np.where(gaps, self.dtype.type(np.nan), values) if gaps.any() else values
        return Block(values, first, None if values is raw else raw)


def _positions(columns: Sequence[str | int] | None, width: int) -> list[int] | None:
    if columns is None:
        return None
    positions = [column for column in columns if isinstance(column, int)]
    if len(positions) < len(columns):
        raise TableError("its columns have no names; give their positions, counted from 0")
    if any(not 0 <= position < width for position in positions):
        raise TableError(f"it has {counted(width, 'column')}, and their positions count from 0 to {width - 1}")
    return positions


def whole_shape(shape: Sequence[int]) -> tuple[int, int]:
    """The rows and columns of an array; one without any is refused."""
    if len(shape) != 2 or 0 in shape:
        raise TableError(f"its array has shape {tuple(shape)}, where rows and columns are needed")
    return int(shape[0]), int(shape[1])


def as_array(rows: Any) -> Array:
    """Rows as an array of NumPy; masked entries are gaps."""
    if isinstance(rows, np.ma.MaskedArray):
        return np.ma.filled(rows.astype(float_type(rows.dtype)), np.nan)
    return np.asarray(rows)
