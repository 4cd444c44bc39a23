"""Data frames of Dask, partition by partition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...extras import require
from .batches import SAMPLED, BatchRows, decoded_bytes
from .cutting import skipped
from .dask_arrays import one_by_one
from .pandas_frames import named_by_text
from .source import RowOptions

__all__ = ["open_object"]


class _PartitionBatches:
    """A frame of Dask, whose partitions are made and come to this process, one after another, in every pass.

    Its index is no feature; one that only counts rows is left out.
    """

    where = "The frame"
    without_gaps = ()
    n_rows = None

    def __init__(self, frame: Any) -> None:
        import pyarrow as pa

        self._frame = frame
        some = named_by_text(frame.head(SAMPLED, npartitions=-1, compute=True))
        self._keeps_index = not _only_counts(some.index)
        self.schema = pa.Schema.from_pandas(some, preserve_index=self._keeps_index)
        self.index = {name for name in self.schema.names if name not in some.columns}
        self.row_bytes = decoded_bytes([self._table(some)])

    def tables(self, start: int, rows: int) -> Iterator[Any]:
        """Tables of Arrow with the rows from ``start`` on."""
        yield from skipped(map(self._table, one_by_one(self._frame.to_delayed())), start)

    def _table(self, part: Any) -> Any:
        import pyarrow as pa

        return pa.Table.from_pandas(named_by_text(part), schema=self.schema, preserve_index=self._keeps_index)


def _only_counts(index: Any) -> bool:
    """Whether an index is one without a name that goes up by one from 0, maybe from 0 again in other partitions."""
    numbers = np.asarray(index)
    if index.name is not None or numbers.dtype.kind not in "iu":
        return False
    return not numbers[:1].any() and bool(((np.diff(numbers) == 1) | (numbers[1:] == 0)).all())


def open_object(frame: Any, options: RowOptions) -> BatchRows:
    """The rows of a frame of Dask."""
    require("pyarrow", extra="frames")
    return BatchRows(_PartitionBatches(frame), options)
