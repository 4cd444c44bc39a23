"""Arrays of Dask, chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...cluster.chunks import checked, results, row_chunks, started, whole_rows
from .numbers import ArrayColumns, whole_shape
from .source import Block, RowOptions

__all__ = ["one_by_one", "open_object"]


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
        for (_, first, _), values in zip(chunks, one_by_one([chunk.values for chunk in chunks]), strict=True):
            skip = max(start - first, 0)
            yield self.layout.block(first + skip, values[skip:] if skip else values)


def one_by_one(tasks: Sequence[Any]) -> Iterator[Any]:
    """The results of tasks in this process; each is started when the one before it is asked for."""
    coming = started(tasks[0]) if tasks else ()
    for i in range(len(tasks)):
        here, coming = coming, started(tasks[i + 1]) if i + 1 < len(tasks) else ()
        (result,) = results(*here)
        yield result


def open_object(array: Any, options: RowOptions) -> _ChunkedRows:
    """The rows of an array of Dask."""
    return _ChunkedRows(array, options)
