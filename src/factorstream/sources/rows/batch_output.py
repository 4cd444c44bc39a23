"""Filled blocks as tables of Arrow: what Parquet and Arrow's own files write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..parquet import EXACT_INTEGER, pandas_notes
from ..table import Array, TableError
from .batches import BatchRows
from .drafts import SinkOptions
from .sink import Filled, OutputColumns
from .source import Block, Source

__all__ = ["BatchOutput", "BatchParts"]


class BatchOutput:
    """The table that a file gets. Whole numbers with gaps become floats; all other columns keep their types."""

    def __init__(self, like: Source, options: SinkOptions) -> None:
        self._like = like if isinstance(like, BatchRows) else None
        given = _new_schema(like) if self._like is None else self._like.schema
        positions = list(range(like.n_columns)) if self._like is None else self._like.positions
        self._columns = OutputColumns(len(given), positions, options.bounds)
        self._features = {position: at for at, position in enumerate(positions)}
        self.schema = self._schema(given)
        """Of the table."""

    def table(self, block: Block, filled: Filled) -> Any:
        """The rows of a block."""
        import pyarrow as pa

        to = self._columns
        kept = block.kept if self._like is not None else None
        columns: list[Any] = [None] * to.width
        for position, at in enumerate(to.own):
            kind, feature = self.schema.field(at).type, self._features.get(position)
            own = None if kept is None else kept.column(position)
            if feature is None or (own is not None and own.type == kind and not filled.gaps[:, feature].any()):
                columns[at] = own
            else:
                if own is not None and own.type != kind:
                    _check_exact(self.schema.names[at], filled.values[:, feature])
                columns[at] = _array(filled.values[:, feature], kind)
        for feature in to.bounds:
            at = int(to.features[feature])
            for behind, side in ((1, filled.lower), (2, filled.upper)):
                assert side is not None  # there are bounds
                columns[at + behind] = _array(side[:, feature], self.schema.field(at + behind).type)
        return pa.Table.from_arrays(columns, schema=self.schema)

    def _schema(self, given: Any) -> Any:
        import pyarrow as pa

        to, whole = self._columns, frozenset[str]() if self._like is None else self._like.whole
        fields: list[Any] = [None] * to.width
        became_float = set()
        for position, at in enumerate(to.own):
            field = given.field(position)
            if position in self._features and field.name not in whole and not pa.types.is_floating(field.type):
                became_float.add(field.name)
                field = field.with_type(pa.float64())
            fields[at] = field
        names = to.named(given.names)
        for at in to.features[to.bounds]:
            kind = fields[at].type if pa.types.is_floating(fields[at].type) else pa.float64()
            fields[at + 1], fields[at + 2] = pa.field(names[at + 1], kind), pa.field(names[at + 2], kind)
        return pa.schema(fields, metadata=pandas_notes(given.metadata, became_float))


class BatchParts:
    """Parts of a table as files of Arrow, which are quick to write and to read, to be joined by a format's ``join``."""

    def __init__(self, like: Source, options: SinkOptions) -> None:
        self.output = BatchOutput(like, options)

    def plan(self) -> bytes:
        """What is the same for parts that can be joined."""
        return bytes(self.output.schema.serialize())

    def write_part(self, path: Path, block: Block, filled: Filled) -> None:
        """Write the rows of a block to a file."""
        import pyarrow as pa

        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, self.output.schema) as out:
            out.write_table(self.output.table(block, filled))

    def tables(self, parts: Sequence[Path]) -> Iterator[Any]:
        """The parts, each mapped into memory."""
        import pyarrow as pa

        for part in parts:
            with pa.memory_map(str(part)) as file:
                yield pa.ipc.open_file(file).read_all()


def _new_schema(like: Source) -> Any:
    """Of a source that has none."""
    import pyarrow as pa

    names = like.names or [f"column {j + 1}" for j in range(like.n_columns)]
    return pa.schema([(name, pa.from_numpy_dtype(like.dtype)) for name in names])


def _array(values: Array, kind: Any) -> Any:
    import pyarrow as pa

    return pa.array(np.ascontiguousarray(values), from_pandas=True).cast(kind, safe=False)


def _check_exact(name: str, values: Array) -> None:
    if np.nanmax(np.abs(values), initial=0.0) > EXACT_INTEGER:
        raise TableError(
            f"Column {name} has gaps, and whole numbers that floats cannot hold; leave it out of columns in open_rows."
        )
