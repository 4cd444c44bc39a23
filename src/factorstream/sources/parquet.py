"""Parquet files, through pyarrow, which is imported when the first one is read."""

from __future__ import annotations

import io
import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from ..extras import MissingExtraError, require
from .table import (
    NO_FORMS,
    Array,
    Format,
    NewColumn,
    OutputColumn,
    ReadOptions,
    Stray,
    TableError,
    Unread,
    infinities,
    overlaid,
    within,
    without_infinities,
)

__all__ = ["EXACT_DIGITS", "EXACT_INTEGER", "FORMAT", "pandas_notes"]

EXACT_INTEGER = 2.0**53
"""float64 has 53 bits of mantissa: every integer up to here is exact."""
EXACT_DIGITS = 15
"""Decimal digits that float64 always keeps."""


class _ParquetTable:
    """A Parquet file. Columns keep their types, but for decimals with gaps, which come back as floats."""

    first_line = ""
    unread: Sequence[Unread] = ()
    assumed: Sequence[str] = ()

    def __init__(self, raw: bytes, missing: Sequence[str]) -> None:
        self.raw, self._missing = raw, missing
        try:
            require("pyarrow", extra="frames")
        except MissingExtraError as problem:  # the sentence goes on from "FILE cannot be used:"
            raise TableError(f"{str(problem)[0].lower()}{str(problem)[1:].rstrip('.')}") from None
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            self._table = pq.read_table(pa.BufferReader(raw))
        except (pa.ArrowException, OSError):
            raise TableError("it is not a Parquet file that can be read") from None
        self.names = list(self._table.column_names)
        if not self._table.num_rows or not self.names:
            raise TableError("it has no rows")
        self.strays: Sequence[Stray] = []
        columns = {j: found for j in range(len(self.names)) if (found := self._numbers(j)) is not None}
        self.numeric = list(columns)
        values = np.array(list(columns.values()), dtype=np.float64)
        self.numbers: Array = values.reshape(len(columns), self._table.num_rows).T
        self.whole: Collection[int] = frozenset(
            j for j in columns if pa.types.is_integer(self._table.schema.field(j).type)
        )
        with_gaps = {self.names[j] for j in self.numeric if self._may_have_gaps(j) and j not in self.whole}
        pandas_notes(self._table.schema.metadata, with_gaps)  # refuses broken notes now, not after the fit

    def gaps(self, column: int) -> int:
        return int(self._table.column(column).null_count)

    def cells(self, column: int) -> list[Any]:
        values: list[Any] = self._table.column(column).to_pylist()
        return values

    def as_columns(
        self, positions: Sequence[int], numbers: Mapping[int, Array], forms: Mapping[int, str] = NO_FORMS
    ) -> Any:
        import pyarrow as pa

        found = [pa.array(numbers[j], from_pandas=True) if j in numbers else self._table.column(j) for j in positions]
        return pa.table(found, names=[self.names[j] for j in positions])

    def answered(self, lots: Sequence[Any]) -> Any:
        import pyarrow as pa

        return pa.chunked_array([part for column in lots for part in getattr(column, "chunks", [column])])

    def place(self, row: int) -> str:
        return f"row {row + 1}"

    def _may_have_gaps(self, column: int) -> bool:
        """Whether a value is missing, or some number marks missing ones, here or elsewhere."""
        return bool(self._missing) or self.gaps(column) > 0

    def encode(self, columns: Sequence[OutputColumn]) -> list[bytes]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        arrays, fields, became_float = [], [], set()
        for column in columns:
            array, field = self._table.column(column.position), self._table.schema.field(column.position)
            if column.fill is not None and not isinstance(column.fill.values, np.ndarray):
                array = column.fill.values
                field = field.with_type(array.type).with_name(column.name)
            elif column.fill is not None:
                kind = pa.float64() if pa.types.is_decimal(field.type) else field.type
                known = self.numbers[:, self.numeric.index(column.position)]
                values = within(overlaid(column.fill, known), np.dtype(kind.to_pandas_dtype()))
                array = pa.array(values, from_pandas=True).cast(kind, safe=False)
                own = column.name == field.name  # not one of its bounds, of which the metadata may not be true
                if own and kind != field.type:
                    became_float.add(field.name)
                field = pa.field(column.name, kind, metadata=field.metadata if own else None)
            arrays.append(array)
            fields.append(field)
        schema = pa.schema(fields, metadata=pandas_notes(self._table.schema.metadata, became_float))
        file: Any = io.BytesIO()  # pyarrow has no types
        pq.write_table(pa.Table.from_arrays(arrays, schema=schema), file)
        return [bytes(file.getvalue())]

    def encode_new(self, columns: Sequence[NewColumn]) -> bytes:
        import pyarrow as pa
        import pyarrow.parquet as pq

        arrays = []
        for column in columns:
            kind = None if column.like is None else self._table.schema.field(column.like).type
            if kind is not None and pa.types.is_integer(kind):  # whose forecasts are none
                fractions = any(isinstance(value, float) and not value.is_integer() for value in column.values)
                kind = pa.float64() if fractions else kind
            arrays.append(pa.array(list(column.values), type=kind, from_pandas=True, safe=False))
        file: Any = io.BytesIO()
        pq.write_table(pa.Table.from_arrays(arrays, names=[column.name for column in columns]), file)
        return bytes(file.getvalue())

    def _numbers(self, j: int) -> Array | None:
        """A column of integers, floats or decimals as float64, NaN in the gaps; None for all others."""
        import pyarrow as pa

        column, kind = self._table.column(j), self._table.schema.field(j).type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
            return None
        values = np.asarray(column.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)
        values = without_infinities(values, self._missing)
        # Fits are in floats. Whole numbers that floats cannot hold are left alone: they name things.
        largest = np.nanmax(np.abs(values), initial=0.0)
        if self._may_have_gaps(j) and pa.types.is_integer(kind) and largest > EXACT_INTEGER:
            return None
        if self._may_have_gaps(j) and pa.types.is_decimal(kind) and kind.precision > EXACT_DIGITS:
            return None
        if np.isinf(values).any():
            self.strays = [*self.strays, *infinities([self.names[j]], [values])]
            return None
        return None if np.isnan(values).all() else values


def pandas_notes(metadata: Mapping[bytes, bytes] | None, became_float: Collection[str]) -> dict[bytes, bytes]:
    """The metadata of the file, with what pandas notes about the types of columns brought up to date."""
    found = dict(metadata or {})
    if b"pandas" in found and became_float:
        try:
            notes = json.loads(found[b"pandas"])
            for column in notes.get("columns", []):
                if column.get("field_name", column.get("name")) in became_float:
                    column["pandas_type"] = column["numpy_type"] = "float64"
                    column["metadata"] = None
        except (ValueError, AttributeError, TypeError):  # not JSON, or JSON of another shape
            raise TableError("what pandas noted in its metadata cannot be read; write the file again") from None
        found[b"pandas"] = json.dumps(notes).encode()
    return found


def _read(raw: bytes, options: ReadOptions) -> _ParquetTable:
    return _ParquetTable(raw, options.missing)


FORMAT = Format("parquet", (".parquet", ".pq"), _read)
