"""Files of Arrow (.arrow, .feather), mapped into memory, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...extras import require
from .batch_output import BatchParts
from .batches import BatchRows, arrow_problems, decoded_bytes
from .cutting import skipped
from .drafts import PartsSink, SinkOptions
from .sink import Sink
from .source import RowOptions, Source

__all__ = ["make_sink", "open_file"]


class _FileBatches:
    """The batches of a file, which has them as a file (with a list of them at its end) or as a stream."""

    index = ()

    def __init__(self, path: Path) -> None:
        self.where, self._path = str(path), path
        problems = arrow_problems("it is not a file of Arrow that can be read")
        with problems, self._batches() as (self.schema, batches):
            gaps: set[str] = set()
            self.n_rows: int | None = 0
            self.row_bytes = 0.0
            for batch in batches:
                self.row_bytes = self.row_bytes or decoded_bytes([batch])
                self.n_rows += batch.num_rows
                columns = zip(batch.schema.names, batch.columns, strict=True)
                gaps |= {name for name, column in columns if column.null_count}
            self.without_gaps = set(self.schema.names) - gaps

    def tables(self, start: int, rows: int) -> Iterator[Any]:
        """Tables of Arrow with the rows from ``start`` on."""
        import pyarrow as pa

        with self._batches() as (_, batches):
            yield from skipped((pa.Table.from_batches([batch]) for batch in batches), start)

    @contextmanager
    def _batches(self) -> Iterator[tuple[Any, Iterator[Any]]]:
        import pyarrow as pa

        with pa.memory_map(str(self._path)) as file:
            try:
                reader = pa.ipc.open_file(file)
            except pa.ArrowInvalid:
                file.seek(0)
                stream = pa.ipc.open_stream(file)
                yield stream.schema, iter(stream)
            else:
                yield reader.schema, map(reader.get_batch, range(reader.num_record_batches))


def open_file(path: Path, options: RowOptions) -> BatchRows:
    """The rows of a file of Arrow."""
    require("pyarrow", extra="frames")
    return BatchRows(_FileBatches(path), options)


class _Parts(BatchParts):
    """Parts that become a file of Arrow; one whose ending is .feather is packed, as that format's own writers do."""

    def __init__(self, path: Path, like: Source, options: SinkOptions) -> None:
        super().__init__(like, options)
        self._packing = "lz4" if path.suffix.lower() == ".feather" else None

    def join(self, parts: Sequence[Path], rows: int, path: Path) -> None:
        """Write the file."""
        import pyarrow as pa

        how = pa.ipc.IpcWriteOptions(compression=self._packing)
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, self.output.schema, options=how) as out:
            for table in self.tables(parts):
                out.write_table(table)


def make_sink(path: Path, like: Source, options: SinkOptions) -> Sink:
    """Write a file of Arrow."""
    require("pyarrow", extra="frames")
    return PartsSink(path, _Parts(path, like, options), options)
