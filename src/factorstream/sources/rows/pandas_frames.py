"""Data frames of pandas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...extras import require
from ..table import TableError
from .batches import SAMPLED, BatchRows, decoded_bytes
from .source import RowOptions

__all__ = ["named_by_text", "open_object"]


def named_by_text(frame: Any) -> Any:
    """The frame of pandas with texts for the names of its columns, as Arrow has them; its values are not copied."""
    named = frame.iloc[:]
    named.columns = [str(name) for name in frame.columns]
    return named


class _PandasBatches:
    """A frame of pandas, which becomes tables of Arrow slice by slice. Its index is no feature."""

    where = "The frame"

    def __init__(self, frame: Any) -> None:
        import pyarrow as pa

        self._frame, self.n_rows = named_by_text(frame), len(frame)
        if not self._frame.columns.is_unique:
            twice = self._frame.columns[self._frame.columns.duplicated()][0]
            raise TableError(f"two of its columns are called {twice}; rename one")
        self.schema, columns = pa.Schema.from_pandas(self._frame), self._frame.columns
        self.index = {name for name in self.schema.names if name not in columns}
        self.row_bytes = decoded_bytes([self._table(0, SAMPLED)])
        self.without_gaps = set(columns[~self._frame.isna().any().to_numpy()])

    def tables(self, start: int, rows: int) -> Iterator[Any]:
        """Tables of Arrow with the rows from ``start`` on."""
        for first in range(start, len(self._frame), rows):
            yield self._table(first, first + rows)

    def _table(self, first: int, end: int) -> Any:
        import pyarrow as pa

        return pa.Table.from_pandas(self._frame.iloc[first:end], schema=self.schema)


def open_object(frame: Any, options: RowOptions) -> BatchRows:
    """The rows of a frame of pandas."""
    require("pyarrow", extra="frames")
    return BatchRows(_PandasBatches(frame), options)
