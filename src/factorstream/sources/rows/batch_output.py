"""Filled blocks as tables of Arrow: what Parquet and Arrow's own files write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..parquet import EXACT_INTEGER, pandas_notes
from ..table import Array, TableError, within
from .batches import BatchRows
from .drafts import SinkOptions
from .sink import Filled, OutputColumns
from .source import Block, Carrying, Source, others_of

__all__ = ["BatchOutput", "BatchParts"]


class BatchOutput:
    """The table that a file gets. Decimals with gaps become floats; all other columns keep their types."""

    def __init__(self, like: Source, options: SinkOptions) -> None:
        self._like = like if isinstance(like, BatchRows) else None
        self._carrying = like if self._like is None and isinstance(like, Carrying) else None
        given = _new_schema(like) if self._like is None else self._like.schema
        positions = list(like.positions if isinstance(like, Carrying) else range(like.n_columns))
        self._columns = OutputColumns(len(given), positions, options.bounds)
        self._features = {position: at for at, position in enumerate(positions)}
        self.schema = self._schema(given)
        """Of the table."""

    def table(self, block: Block, filled: Filled) -> Any:
        """The rows of a block."""
        import pyarrow as pa
        import pyarrow.compute as pc

        to = self._columns
        kept = block.kept if self._like is not None else None
        columns: list[Any] = [None] * to.width
        others = self._others(block)
        for position, at in enumerate(to.own):
            kind, feature = self.schema.field(at).type, self._features.get(position)
            own = others.get(position) if kept is None else kept.column(position)
            if feature is None or (own is not None and own.type == kind and not filled.gaps[:, feature].any()):
                columns[at] = own
            elif own is not None and own.type == kind and pa.types.is_integer(kind):
                _check_exact(self.schema.names[at], filled.values[:, feature])
                fills = _array(filled.values[:, feature], kind)
                columns[at] = pc.if_else(pa.array(filled.gaps[:, feature]), fills, own)
            else:
                columns[at] = _array(filled.values[:, feature], kind)
        for feature in to.bounds:
            at = int(to.features[feature])
            for behind, side in ((1, filled.lower), (2, filled.upper)):
                assert side is not None  # there are bounds
                columns[at + behind] = _array(side[:, feature], self.schema.field(at + behind).type)
        return pa.Table.from_arrays(columns, schema=self.schema)

    def _others(self, block: Block) -> dict[int, Any]:
        """Columns beside the numbers of a source of another kind, by their positions."""
        import pyarrow as pa

        if self._carrying is None:
            return {}
        positions = [j for j in range(len(self._carrying.all_names)) if j not in self._features]
        texts = self._carrying.texts(block, positions)
        kinds = (self.schema.field(self._columns.own[j]).type for j in positions)
        return {
            j: pa.array(column, pa.string()).cast(kind) for j, column, kind in zip(positions, texts, kinds, strict=True)
        }

    def _schema(self, given: Any) -> Any:
        import pyarrow as pa

        to, whole = self._columns, frozenset[str]() if self._like is None else self._like.whole
        fields: list[Any] = [None] * to.width
        became_float = set()
        for position, at in enumerate(to.own):
            field = given.field(position)
            if position in self._features and field.name not in whole and not _keeps_type(field.type):
                became_float.add(field.name)
                field = field.with_type(pa.float64())
            fields[at] = field
        names = to.named(given.names)
        for at in to.features[to.bounds]:
            kind = fields[at].type if _keeps_type(fields[at].type) else pa.float64()
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

    number = pa.from_numpy_dtype(like.dtype)
    if not isinstance(like, Carrying):
        names = like.names or [f"column {j + 1}" for j in range(like.n_columns)]
        return pa.schema([(name, number) for name in names])
    counting, whole = others_of(like).counting, getattr(like, "counts_whole", ())
    kinds = []
    for j, name in enumerate(like.all_names):
        counts = pa.int64() if j in whole else pa.float64()
        kinds.append(number if j in like.positions else counts if name in counting else pa.string())
    return pa.schema(list(zip(like.all_names, kinds, strict=True)))


def _keeps_type(kind: Any) -> bool:
    """Whether a column of this type has room for what fills it."""
    import pyarrow as pa

    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind))


def _array(values: Array, kind: Any) -> Any:
    import pyarrow as pa

    held = within(np.ascontiguousarray(values), np.dtype(kind.to_pandas_dtype()))
    return pa.array(held, from_pandas=True).cast(kind, safe=False)


def _check_exact(name: str, values: Array) -> None:
    """Refuse to fill names of things: they are longer than numbers that floats can hold."""
    if np.nanmax(np.abs(values), initial=0.0) > EXACT_INTEGER:
        raise TableError(
            f"Column {name} has gaps, and whole numbers that floats cannot hold; leave it out, by --exclude or columns "
            "of open_rows."
        )
