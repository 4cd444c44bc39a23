"""NPY files: a two-dimensional array of numbers, whose columns have no names."""

from __future__ import annotations

import io
import warnings
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

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
    without_infinities,
)

__all__ = ["FORMAT"]


class _ArrayTable:
    """An array. One of integers has no gaps, unless some number marks them: then whole floats are written."""

    first_line = ""
    unread: Sequence[Unread] = ()
    assumed: Sequence[str] = ()

    def __init__(self, raw: bytes, missing: Sequence[str]) -> None:
        self.raw = raw
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # NumPy's about a header that it had to mend
                values = np.load(io.BytesIO(raw), allow_pickle=False)
        except Exception:  # a damaged header is read as Python: errors of its tokenizer, its parser, NumPy, zip, ...
            raise TableError("it is not an NPY file of numbers") from None
        if not isinstance(values, np.ndarray) or values.dtype.kind not in "fiu":
            raise TableError("it does not hold real numbers")
        if values.ndim != 2 or 0 in values.shape:
            raise TableError(f"its array has shape {values.shape}, where rows and columns are needed")
        self._values = values
        values = without_infinities(values, missing)
        known = ~np.isnan(values)
        self.names = [f"column {j + 1}" for j in range(values.shape[1])]
        self.numeric = np.flatnonzero(known.any(axis=0) & ~np.isinf(values).any(axis=0)).tolist()
        self.numbers: Array = values[:, self.numeric]
        self.strays: Sequence[Stray] = infinities(self.names, values.T)
        self.whole: Collection[int] = frozenset(self.numeric if self._values.dtype.kind in "iu" else ())

    def gaps(self, column: int) -> int:
        return int(np.count_nonzero(np.isnan(self._values[:, column])))

    def cells(self, column: int) -> list[float | None]:
        values = self._values[:, column].tolist()
        return [None if value != value else value for value in values]  # NaN is not equal to itself

    def as_columns(
        self, positions: Sequence[int], numbers: Mapping[int, Array], forms: Mapping[int, str] = NO_FORMS
    ) -> None:
        return None

    def answered(self, lots: Sequence[Any]) -> Any:
        raise TableError("it has columns of numbers only")

    def place(self, row: int) -> str:
        return f"row {row + 1}"

    def encode(self, columns: Sequence[OutputColumn]) -> list[bytes]:
        arrays = []
        for column in columns:
            known = self._values[:, column.position]
            arrays.append(known if column.fill is None else overlaid(column.fill, known))
        file = io.BytesIO()
        floats = self._values.dtype.kind == "f" or all(column.fill is None for column in columns)
        np.save(file, np.column_stack(arrays).astype(self._values.dtype if floats else np.float64))
        return [file.getvalue()]

    def encode_new(self, columns: Sequence[NewColumn]) -> bytes:
        numbers = [column.values for column in columns if not any(isinstance(value, str) for value in column.values)]
        file = io.BytesIO()
        kind = self._values.dtype if self._values.dtype.kind == "f" else np.float64
        np.save(file, np.array(numbers, dtype=np.float64).T.astype(kind))
        return file.getvalue()


def _read(raw: bytes, options: ReadOptions) -> _ArrayTable:
    return _ArrayTable(raw, options.missing)


FORMAT = Format("npy", (".npy",), _read)
