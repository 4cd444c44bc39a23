"""Some entries of a table, found column by column; and the table without them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import copied, is_here, set_entries, taken, to_host
from .linalg import Array, Rows, is_sparse

BROUGHT = 2**24
"""Values of columns that are brought to the host together. Not tuned: 128 MiB at the most; speed and memory only."""


class Entries(NamedTuple):
    """Some entries of a table, by rows."""

    row: Array
    column: Array
    value: Array


NO_ENTRIES = Entries(np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp), np.empty(0))


class Columns:
    """The observed entries of rows, column by column.

    Of rows that are elsewhere only the columns with the numbers ``wanted`` are brought, some at a time: they are asked
    for in that order.
    """

    def __init__(self, X: Rows, wanted: Array) -> None:
        self._X = X.tocsc() if is_sparse(X) else X
        self._wanted = wanted
        self._brought: dict[int, Array] = {}

    def __call__(self, j: int) -> tuple[Array, Array]:
        """Rows and values of a column's entries."""
        X = self._X
        if is_sparse(X):
            part = slice(X.indptr[j], X.indptr[j + 1])
            order = np.argsort(X.indices[part], kind="stable")
            return X.indices[part][order], X.data[part][order]
        column = X[:, j] if is_here(X) else self._from_elsewhere(j)
        rows = np.flatnonzero(~np.isnan(column))
        return rows, column[rows]

    def _from_elsewhere(self, j: int) -> Array:
        if j not in self._brought:
            first = int(np.searchsorted(self._wanted, j))
            some = self._wanted[first : first + max(1, BROUGHT // max(1, self._X.shape[0]))]
            columns = to_host(taken(self._X, some, axis=1))
            self._brought = {number: columns[:, k] for k, number in enumerate(some.tolist())}
        return self._brought[j]


def together(parts: list[Entries]) -> Entries:
    """Some lots of entries as one."""
    if not parts:
        return NO_ENTRIES
    row, column, value = (np.concatenate(part) for part in zip(*parts, strict=True))
    order = np.lexsort((column, row))
    return Entries(row[order], column[order], value[order])


def without(X: Rows, entries: Entries) -> Rows:
    """A copy of X in which these entries are missing; X itself where there are none."""
    if not len(entries.row):
        return X
    if not is_sparse(X):
        X = copied(X)
        set_entries(X, entries.row, entries.column, np.nan)
        return X
    stored, m = X.tocoo(), np.int64(X.shape[1])
    keep = ~np.isin(stored.row * m + stored.col, entries.row * m + entries.column)
    return type(X)((stored.data[keep], (stored.row[keep], stored.col[keep])), shape=X.shape)
