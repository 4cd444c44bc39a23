"""Parquet files, row group by row group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...extras import require
from .batch_output import BatchParts
from .batches import SAMPLED, BatchRows, arrow_problems, decoded_bytes
from .cutting import skipped
from .drafts import PartsSink, SinkOptions
from .sink import Sink
from .source import RowOptions, Source

__all__ = ["make_sink", "open_file"]


ROW_GROUP_BYTES = 128 * 2**20
"""About how many bytes of memory make a row group of what is written: the default of Parquet's own writer in Java. What
a file says of its row groups takes about a kilobyte for each of their columns, and is read as a whole."""
PAGE_BYTES = 2**17
"""About how many bytes of a column make a page, of which a reader unpacks one of every column at a time. Not tuned: the
usual mebibyte would take a gigabyte for a thousand columns."""
ROW_GROUP_ROWS = 2**20
"""The most rows of one: pyarrow's own default."""


class _ParquetBatches:
    """The batches of a Parquet file. It is mapped into memory, so that one large row group is not held."""

    index = ()

    def __init__(self, path: Path) -> None:
        self.where, self._path = str(path), path
        with arrow_problems("it is not a Parquet file that can be read"), self._open() as file:
            self.schema, metadata = file.schema_arrow, file.metadata
            self.n_rows: int | None = metadata.num_rows
            self.without_gaps = _without_gaps(metadata)
            self._ends = np.cumsum([metadata.row_group(k).num_rows for k in range(metadata.num_row_groups)])
            self.row_bytes = decoded_bytes(file.iter_batches(batch_size=SAMPLED, use_threads=False))

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
    """Parts that become a Parquet file, several of them a row group."""

    def join(self, parts: Sequence[Path], rows: int, path: Path) -> None:
        """Write the file. Parts that wait for a row group are mapped into memory, and take none of it."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        schema = self.output.schema
        repeated = [field.name for field in schema if not pa.types.is_floating(field.type)]  # floats seldom are
        with pq.ParquetWriter(path, schema, use_dictionary=repeated, data_page_size=PAGE_BYTES) as out:
            waiting: list[Any] = []
            for table in self.tables(parts):
                waiting.append(table)
                if sum(one.nbytes for one in waiting) >= ROW_GROUP_BYTES:
                    out.write_table(pa.concat_tables(waiting), row_group_size=ROW_GROUP_ROWS)
                    waiting = []
            if waiting:
                out.write_table(pa.concat_tables(waiting), row_group_size=ROW_GROUP_ROWS)


def make_sink(path: Path, like: Source, options: SinkOptions) -> Sink:
    """Write a Parquet file."""
    require("pyarrow", extra="frames")
    return PartsSink(path, _Parts(like, options), options)
