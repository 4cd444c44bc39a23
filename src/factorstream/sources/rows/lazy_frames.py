"""Lazy frames of polars, which are evaluated while they are read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...extras import require
from ..table import TableError
from .batches import SAMPLED, BatchRows, decoded_bytes
from .cutting import skipped
from .source import RowOptions

__all__ = ["open_object"]


class _LazyBatches:
    """A lazy frame of polars: every pass evaluates its query once more, in batches."""

    where = "The lazy frame"
    index = without_gaps = ()
    n_rows = None

    def __init__(self, frame: Any) -> None:
        if not hasattr(frame, "collect_batches"):
            raise TableError("lazy frames are read with a newer polars; update it, or give frame.collect()")
        self._frame = frame
        sample = frame.head(SAMPLED).collect().to_arrow()
        self.schema, self.row_bytes = sample.schema, decoded_bytes([sample])

    def tables(self, start: int, rows: int) -> Iterator[Any]:
        """Tables of Arrow with the rows from ``start`` on."""
        batches = self._frame.collect_batches(chunk_size=rows, maintain_order=True, lazy=True)
        yield from skipped((batch.to_arrow() for batch in batches), start)


def open_object(frame: Any, options: RowOptions) -> BatchRows:
    """The rows of a lazy frame of polars."""
    require("pyarrow", extra="frames")
    return BatchRows(_LazyBatches(frame), options)
