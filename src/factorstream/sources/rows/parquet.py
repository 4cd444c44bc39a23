"""Parquet files, row group by row group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...extras import require
from ..table import TableError
from .batch_output import BatchParts
from .batches import SAMPLED, BatchRows, decoded_bytes
from .cutting import skipped
from .drafts import PartsSink, SinkOptions
from .sink import Sink
from .source import RowOptions, Source

__all__ = ["make_sink", "open_file"]


class _ParquetBatches:
    """The batches of a Parquet file. It is mapped into memory, so that one large row group is not held."""

    index = ()

    def __init__(self, path: Path) -> None:
        import pyarrow as pa

        self.where, self._path = str(path), path
        try:
            with self._open() as file:
                self.schema, metadata = file.schema_arrow, file.metadata
                self.n_rows: int | None = metadata.num_rows
                self.without_gaps = _without_gaps(metadata)
                self._ends = np.cumsum([metadata.row_group(k).num_rows for k in range(metadata.num_row_groups)])
                self.row_bytes = decoded_bytes(file.iter_batches(batch_size=SAMPLED))
        except pa.ArrowException:
            raise TableError("it is not a Parquet file that can be read") from None

    def tables(self, start: int, rows: int) -> Iterator[Any]:
        """Tables of Arrow with the rows from ``start`` on; row groups before it are not read."""
        group = int(np.searchsorted(self._ends, start, side="right"))
        before = int(self._ends[group - 1]) if group else 0
        yield from skipped(self._batches(group, rows), start - before)

    def _batches(self, group: int, rows: int) -> Iterator[Any]:
        """The batches from a row group on. Each group has its own reader: one for all would hold what it has read."""
        import pyarrow as pa

        for k in range(group, len(self._ends)):
            with self._open() as file:
                for batch in file.iter_batches(batch_size=rows, row_groups=[k], use_threads=False):
                    yield pa.Table.from_batches([batch])

    def _open(self) -> Any:
        import pyarrow.parquet as pq

        return pq.ParquetFile(self._path, memory_map=True)


def open_file(path: Path, options: RowOptions) -> BatchRows:
    """The rows of a Parquet file."""
    require("pyarrow", extra="frames")
    return BatchRows(_ParquetBatches(path), options)


def _without_gaps(metadata: Any) -> set[str]:
    """Columns of which every row group says that nothing is missing; groups may say nothing."""
    known = {metadata.schema.column(j).path: j for j in range(metadata.num_columns)}
    for k in range(metadata.num_row_groups):
        group = metadata.row_group(k)
        for name, j in list(known.items()):
            statistics = group.column(j).statistics
            if statistics is None or not statistics.has_null_count or statistics.null_count:
                del known[name]
    return set(known)


class _Parts(BatchParts):
    """Parts that become a Parquet file, each a row group."""

    def join(self, parts: Sequence[Path], rows: int, path: Path) -> None:
        """Write the file."""
        import pyarrow.parquet as pq

        with pq.ParquetWriter(path, self.output.schema) as out:
            for table in self.tables(parts):
                out.write_table(table)


def make_sink(path: Path, like: Source, options: SinkOptions) -> Sink:
    """Write a Parquet file."""
    require("pyarrow", extra="frames")
    return PartsSink(path, _Parts(like, options), options)
