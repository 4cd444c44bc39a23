"""Tables of Arrow, in memory or mapped into it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .batches import SAMPLED, BatchRows, decoded_bytes
from .source import RowOptions

__all__ = ["open_object"]


class _TableBatches:
    """A table of Arrow, which is in memory or mapped into it."""

    where = "The table"
    index = ()

    def __init__(self, table: Any) -> None:
        self._table, self.schema, self.n_rows = table, table.schema, table.num_rows
        self.row_bytes = decoded_bytes([table.slice(0, SAMPLED)])
        self.without_gaps = {name for name in table.column_names if not table.column(name).null_count}

    def tables(self, start: int, rows: int) -> Iterator[Any]:
        """Tables of Arrow with the rows from ``start`` on."""
        yield self._table.slice(start)


def open_object(table: Any, options: RowOptions) -> BatchRows:
    """The rows of a table of Arrow."""
    return BatchRows(_TableBatches(table), options)
