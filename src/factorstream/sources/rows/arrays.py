"""Arrays with a shape and slices: NumPy's and their memory maps, SciPy's sparse ones, datasets of HDF5 and Zarr."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .cutting import rows_per_block
from .numbers import ArrayColumns, as_array, is_sparse, whole_shape
from .source import Block, RowOptions

__all__ = ["ArrayRows", "is_array"]


class ArrayRows:
    """The rows of an array, read slice by slice."""

    names = None
    rewinds = True

    def __init__(self, array: Any, options: RowOptions) -> None:
        self._array = array.tocsr() if is_sparse(array) else array
        self.n_rows, width = whole_shape(array.shape)
        self.layout = ArrayColumns(width, array.dtype, options)
        self.dtype, self.n_columns = self.layout.dtype, self.layout.n_columns
        self._rows = rows_per_block(options.block_bytes, width * self.dtype.itemsize)

    def blocks(self, start: int = 0) -> Iterator[Block]:
        """The rows from number ``start`` on."""
        while start < self.n_rows:
            end = min(start - start % self._rows + self._rows, self.n_rows)
            rows = self._array[start:end]
            yield self.layout.block(start, rows if is_sparse(rows) else as_array(rows))
            start = end


def is_array(what: Any) -> bool:
    """Whether something is an array of numbers by what it has: a shape, a type of NumPy, and slices."""
    return all(hasattr(what, name) for name in ("shape", "dtype", "__getitem__"))
