"""Arrays with a shape and slices: NumPy's and their memory maps, SciPy's sparse ones, datasets of HDF5 and Zarr."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import numpy as np

from .cutting import rows_per_block
from .numbers import ArrayColumns, as_array, is_sparse, whole_shape
from .problems import named
from .source import Block, RowOptions

__all__ = ["OpenedRows", "is_array", "open_array"]

OpenArray = Callable[[], AbstractContextManager[Any]]
"""Opens what has a shape, a type and slices."""


class OpenedRows:
    """The rows of an array, read slice by slice from what a function opens for every pass."""

    names = None
    rewinds = True

    def __init__(self, open_array: OpenArray, where: str, options: RowOptions) -> None:
        self._open, self._where = open_array, where
        with open_array() as array:
            self.n_rows, width = whole_shape(array.shape)
            self.layout = ArrayColumns(width, np.dtype(array.dtype), options)
            chunks = getattr(array, "chunks", None)  # of HDF5 and Zarr: each is unpacked whole
        self.dtype, self.n_columns = self.layout.dtype, self.layout.n_columns
        rows = rows_per_block(options.block_bytes, width * self.dtype.itemsize)
        self._rows = rows - rows % chunks[0] if chunks and chunks[0] < rows else rows

    def blocks(self, start: int = 0) -> Iterator[Block]:
        """The rows from number ``start`` on."""
        with named(self._where), self._open() as array:
            while start < self.n_rows:
                end = min(start - start % self._rows + self._rows, self.n_rows)
                rows = array[start:end]
                yield self.layout.block(start, rows if is_sparse(rows) else as_array(rows))
                start = end


def open_array(array: Any, options: RowOptions) -> OpenedRows:
    """The rows of an array, which stays open."""
    return OpenedRows(partial(nullcontext, array.tocsr() if is_sparse(array) else array), "The array", options)


def is_array(what: Any) -> bool:
    """Whether something is an array of numbers by what it has: a shape, a type of NumPy, and slices. Some sparse ones
    have no slices, and are brought into a form that has."""
    return is_sparse(what) or all(hasattr(what, name) for name in ("shape", "dtype", "__getitem__"))
