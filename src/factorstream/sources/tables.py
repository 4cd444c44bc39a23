"""Tables in files: CSV, TSV, Parquet and NPY behind one interface.

A table shows its numbers as an array with NaN in the gaps, and is encoded again with the gaps filled. Columns
that are not numbers, and every value that was there, come out as they went in.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from .delimited import Array, Bounds, TableError, parse_delimited

__all__ = ["Bounds", "Table", "TableError", "kind_of", "read_table"]

EXACT = 2.0**53
"""Integers up to here are exact in floats."""


class Table(Protocol):
    """What a file holds."""

    names: list[str]
    """All columns, in order."""
    numeric: list[int]
    """Positions of the columns that hold finite numbers and gaps, and at least one number."""
    numbers: Array
    """Their values (n_rows, len(numeric)), NaN in the gaps."""
    raw: bytes
    """The file as it was read."""
    header_of_numbers: bool
    """Whether the names are all numbers, so that they may well be a row of data."""

    def gaps(self, column: int) -> int:
        """How many values of any column are missing."""

    def encode(self, filled: Array, bounds: Bounds | None) -> bytes:
        """The file again with ``filled`` in its gaps; with bounds, NAME_lower and NAME_upper after each such NAME."""


def kind_of(path: Path) -> str:
    """The format that a file's name promises: "parquet", "npy", or "text" for everything else.

    >>> kind_of(Path("data.parquet")), kind_of(Path("data.NPY")), kind_of(Path("data.tsv"))
    ('parquet', 'npy', 'text')
    """
    return {".parquet": "parquet", ".pq": "parquet", ".npy": "npy"}.get(path.suffix.lower(), "text")


def read_table(path: Path, delimiter: str | None = None, header: bool = True) -> Table:
    """Read a file; a `TableError` says in one sentence why it cannot be read.

    ``delimiter`` and ``header`` are for text. Without a delimiter it is a tab in ``.tsv`` and ``.tab``, and
    found from the first lines elsewhere.
    """
    kind = kind_of(path)
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise TableError(f"{path} does not exist.") from None
    except IsADirectoryError:
        raise TableError(f"{path} is a folder, not a file.") from None
    except OSError as problem:
        raise TableError(f"{path} cannot be read: {problem.strerror or problem}.") from None
    if delimiter is None and path.suffix.lower() in (".tsv", ".tab"):
        delimiter = "\t"
    try:
        if not raw:
            raise TableError("it is empty")
        table: Table
        if kind == "npy":
            table = _ArrayTable(raw)
        elif kind == "parquet":
            table = _ParquetTable(raw)
        else:
            table = parse_delimited(raw, delimiter, header)
        table.raw = raw
        return table
    except TableError as problem:
        raise TableError(f"{path} cannot be used: {problem}.") from None


class _ArrayTable:
    """A two-dimensional array of numbers; bounds become columns like the others."""

    raw = b""
    header_of_numbers = False

    def __init__(self, raw: bytes) -> None:
        try:
            values = np.load(io.BytesIO(raw), allow_pickle=False)
        except (ValueError, OSError, EOFError, MemoryError):
            raise TableError("it is not an NPY file of numbers") from None
        if not isinstance(values, np.ndarray) or values.dtype.kind not in "fiu":
            raise TableError("it does not hold real numbers")
        if values.ndim != 2 or 0 in values.shape:
            raise TableError(f"its array has shape {values.shape}, where rows and columns are needed")
        self._dtype = values.dtype if values.dtype.kind == "f" else np.dtype(np.float64)
        known = ~np.isnan(values)
        self.names = [f"column {j + 1}" for j in range(values.shape[1])]
        self.numeric = np.flatnonzero(known.any(axis=0) & ~np.isinf(values).any(axis=0)).tolist()
        self.numbers: Array = values[:, self.numeric]
        self._values = values

    def gaps(self, column: int) -> int:
        return int(np.count_nonzero(np.isnan(self._values[:, column])))

    def encode(self, filled: Array, bounds: Bounds | None) -> bytes:
        columns = list(self._values.T)
        gaps = np.isnan(self.numbers)
        for at in reversed(range(len(self.numeric))):
            if not gaps[:, at].any():
                continue
            j = self.numeric[at]
            new = [_over(gaps[:, at], side[:, at], self.numbers[:, at]) for side in (filled, *(bounds or ()))]
            columns[j : j + 1] = new
        file = io.BytesIO()
        np.save(file, np.column_stack(columns).astype(self._dtype))
        return file.getvalue()


class _ParquetTable:
    """A Parquet file. Integers with gaps come back as floats; all other columns keep their types."""

    raw = b""
    header_of_numbers = False

    def __init__(self, raw: bytes) -> None:
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError:
            raise TableError('reading Parquet needs pyarrow; run `pip install "factorstream[frames]"`') from None
        try:
            self._table = pq.read_table(pa.BufferReader(raw))
        except (pa.ArrowException, OSError):
            raise TableError("it is not a Parquet file that can be read") from None
        self.names = list(self._table.column_names)
        if not self._table.num_rows or not self.names:
            raise TableError("it has no rows")
        columns = {j: found for j in range(len(self.names)) if (found := self._numbers(j)) is not None}
        self.numeric = list(columns)
        values = np.array(list(columns.values()), dtype=np.float64)
        self.numbers: Array = values.reshape(len(columns), self._table.num_rows).T

    def _numbers(self, j: int) -> Array | None:
        """A column of integers, floats or decimals as float64, NaN in the gaps; None for all others."""
        import pyarrow as pa

        column, kind = self._table.column(j), self._table.schema.field(j).type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
            return None
        values = np.asarray(column.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)
        if column.null_count and pa.types.is_integer(kind) and np.nanmax(np.abs(values), initial=0.0) > EXACT:
            return None  # a column of floats could not hold them; such integers are names of something
        if column.null_count and pa.types.is_decimal(kind) and kind.precision > 15:
            return None  # nor these
        return None if np.isnan(values).all() or np.isinf(values).any() else values

    def gaps(self, column: int) -> int:
        return int(self._table.column(column).null_count)

    def encode(self, filled: Array, bounds: Bounds | None) -> bytes:
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = self._table
        gaps = np.isnan(self.numbers)
        for at in reversed(range(len(self.numeric))):
            if not gaps[:, at].any():
                continue
            j = self.numeric[at]
            old = table.schema.field(j)
            name, kind = self.names[j], old.type
            kind = kind if pa.types.is_floating(kind) else pa.float64()
            sides = [filled, *(bounds or ())]
            new = [
                pa.array(_over(gaps[:, at], side[:, at], self.numbers[:, at])).cast(kind, safe=False) for side in sides
            ]
            table = table.set_column(j, pa.field(name, kind, metadata=old.metadata), new[0])
            for step, (side, column) in enumerate(zip(("lower", "upper"), new[1:], strict=False), start=1):
                table = table.add_column(j + step, pa.field(f"{name}_{side}", kind), column)
            if kind != self._table.schema.field(j).type:
                table = _with_float_metadata(table, name)
        file: Any = io.BytesIO()
        pq.write_table(table, file)
        return bytes(file.getvalue())


def _with_float_metadata(table: Any, name: str) -> Any:
    """The table with what pandas notes about a column's type brought up to date."""
    metadata = dict(table.schema.metadata or {})
    if b"pandas" not in metadata:
        return table
    notes = json.loads(metadata[b"pandas"])
    for column in notes.get("columns", []):
        if column.get("field_name", column.get("name")) == name:
            column["pandas_type"] = column["numpy_type"] = "float64"
            column["metadata"] = None
    metadata[b"pandas"] = json.dumps(notes).encode()
    return table.replace_schema_metadata(metadata)


def _over(gaps: Array, new: Array, old: Array) -> Array:
    """The old values, and the new ones in the gaps."""
    return np.where(gaps, new, old.astype(np.float64))
