"""Data frames of Dask, partition by partition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...extras import require
from .batches import SAMPLED, BatchRows, decoded_bytes
from .cutting import skipped
from .dask_arrays import one_by_one
from .source import RowOptions

__all__ = ["open_object"]


class _PartitionBatches:
    """A frame of Dask, whose partitions are made and come to this process, one after another, in every pass.

    Its index is no feature; one of whole numbers without a name, which only counts rows, is left out.
    """

    where = "The frame"
    without_gaps = ()
    n_rows = None

    def __init__(self, frame: Any) -> None:
        import pandas as pd
        import pyarrow as pa

        self._frame = frame
        some = frame.head(SAMPLED, npartitions=-1, compute=True)
        self._keeps_index = some.index.name is not None or not pd.api.types.is_integer_dtype(some.index)
        self.schema = pa.Schema.from_pandas(some, preserve_index=self._keeps_index)
        columns = {str(name) for name in frame.columns}
        self.index = {name for name in self.schema.names if name not in columns}
        self.row_bytes = decoded_bytes([self._table(some)])

    def tables(self, start: int, rows: int) -> Iterator[Any]:
        """Tables of Arrow with the rows from ``start`` on."""
        yield from skipped(map(self._table, one_by_one(self._frame.to_delayed())), start)

    def _table(self, part: Any) -> Any:
        import pyarrow as pa

        return pa.Table.from_pandas(part, schema=self.schema, preserve_index=self._keeps_index)


def open_object(frame: Any, options: RowOptions) -> BatchRows:
    """The rows of a frame of Dask."""
    require("pyarrow", extra="frames")
    return BatchRows(_PartitionBatches(frame), options)
