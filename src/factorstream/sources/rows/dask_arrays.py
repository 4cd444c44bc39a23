"""Arrays of Dask, chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...cluster.chunks import checked, results, row_chunks, started, whole_rows
from .numbers import ArrayColumns, whole_shape
from .source import Block, RowOptions

__all__ = ["open_object"]


class _ChunkedRows:
    """The rows of an array of Dask: a block is a chunk of rows, which comes to this process when it is asked for.

    Where there is a cluster, it makes the next chunk meanwhile.
    """

    names = None
    rewinds = True

    def __init__(self, array: Any, options: RowOptions) -> None:
        self._array = whole_rows(checked(array, "open_rows"))
        self.n_rows, width = whole_shape(array.shape)
        self.layout = ArrayColumns(width, self._array.dtype, options)
        self.dtype, self.n_columns = self.layout.dtype, self.layout.n_columns

    def blocks(self, start: int = 0) -> Iterator[Block]:
        """The rows from number ``start`` on."""
        chunks = [chunk for chunk in row_chunks(self._array) if chunk.first + chunk.n_rows > start]
        coming = started(chunks[0].values) if chunks else ()
        for i, (_, first, _) in enumerate(chunks):
            here, coming = coming, started(chunks[i + 1].values) if i + 1 < len(chunks) else ()
            (values,) = results(*here)
            skip = max(start - first, 0)
            yield self.layout.block(first + skip, values[skip:] if skip else values)


def open_object(array: Any, options: RowOptions) -> _ChunkedRows:
    """The rows of an array of Dask."""
    return _ChunkedRows(array, options)
