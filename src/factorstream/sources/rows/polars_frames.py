"""Data frames of polars."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...extras import require
from .batches import SAMPLED, BatchRows, decoded_bytes
from .source import RowOptions

__all__ = ["open_object"]


class _PolarsBatches:
    """A frame of polars."""

    where = "The frame"
    index = ()

    def __init__(self, frame: Any) -> None:
        self._frame, self.n_rows = frame, len(frame)
        self.schema = frame.clear().to_arrow().schema
        self.row_bytes = decoded_bytes([frame.head(SAMPLED).to_arrow()])
        self.without_gaps = {name for name in frame.columns if not frame[name].null_count()}

    def tables(self, start: int, rows: int) -> Iterator[Any]:
        """Tables of Arrow with the rows from ``start`` on."""
        for first in range(start, len(self._frame), rows):
            yield self._frame.slice(first, rows).to_arrow()


def open_object(frame: Any, options: RowOptions) -> BatchRows:
    """The rows of a frame of polars."""
    require("pyarrow", extra="frames")
    return BatchRows(_PolarsBatches(frame), options)
