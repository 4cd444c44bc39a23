"""Data sets of Arrow: many files as one table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .batches import SAMPLED, BatchRows, decoded_bytes
from .cutting import skipped
from .source import RowOptions

__all__ = ["DatasetBatches", "open_object"]


class DatasetBatches:
    """A data set of Arrow: many files as one table."""

    index = without_gaps = ()

    def __init__(self, dataset: Any, where: str = "The data set") -> None:
        self.where, self._dataset = where, dataset
        self.schema, self.n_rows = dataset.schema, dataset.count_rows()
        self.row_bytes = decoded_bytes([dataset.head(SAMPLED)])

    def tables(self, start: int, rows: int) -> Iterator[Any]:
        """Tables of Arrow with the rows from ``start`` on; nothing is read ahead, as it may be large."""
        import pyarrow as pa

        found = self._dataset.to_batches(batch_size=rows, batch_readahead=0, fragment_readahead=0, use_threads=False)
        yield from skipped((pa.Table.from_batches([batch]) for batch in found), start)


def open_object(dataset: Any, options: RowOptions) -> BatchRows:
    """The rows of a data set of Arrow."""
    return BatchRows(DatasetBatches(dataset), options)
