"""Single entries of a table, given by the numbers of their rows and columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import taken, to_host
from ..core.linalg import Array, is_sparse
from ..tall.rows import Rows

Ask = Callable[[Rows, Array, Array], tuple[Array, Array]]
"""Values and variances of entries of some rows."""


def check_pairs(rows: Any, columns: Any, shape: tuple[int, int]) -> tuple[Array, Array]:
    """Numbers of rows and columns of entries in a table of this shape, refused where they are none of its own."""
    found = []
    for name, given, n in (("rows", rows, shape[0]), ("columns", columns, shape[1])):
        numbers = np.asarray(to_host(given))
        if numbers.ndim != 1 or (numbers.size and not np.issubdtype(numbers.dtype, np.integer)):
            raise ValueError(f"{name} must be a list of whole numbers, one for each entry; got {given!r:.50}.")
        if numbers.size and not 0 <= numbers.min() <= numbers.max() < n:
            raise ValueError(
                f"{name} must lie between 0 and {n - 1}, since X has {n}; got {numbers.min()} to {numbers.max()}."
            )
        found.append(numbers.astype(np.intp))
    if len(found[0]) != len(found[1]):
        raise ValueError(f"rows and columns must be as many; got {len(found[0])} and {len(found[1])}.")
    return found[0], found[1]


def by_row(ask: Ask, X: Rows, rows: Array, columns: Array, at_once: int) -> tuple[Array, Array]:
    """What ``ask`` says of all entries; it is given those of ``at_once`` rows at a time, and no row without any."""
    values, variances = np.empty(len(rows)), np.empty(len(rows))
    order = np.argsort(rows, kind="stable")
    wanted, first = np.unique(rows[order], return_index=True)
    ends = np.append(first, len(rows))
    for start in range(0, len(wanted), at_once):
        some = wanted[start : start + at_once]
        where = order[ends[start] : ends[start + len(some)]]
        at = np.searchsorted(some, rows[where])
        values[where], variances[where] = ask(taken(X, some), at, columns[where])
    return values, variances


def observed_at(X: Rows, rows: Array, columns: Array) -> tuple[Array, Array]:
    """Which of the entries are observed (boolean), and the values of these, zero for the others."""
    if not is_sparse(X):
        found = to_host(X)[rows, columns]
        return ~np.isnan(found), np.nan_to_num(found)
    m = X.shape[1]
    stored = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)) * m + X.indices
    order = np.argsort(stored)
    wanted = rows * m + columns
    at = np.minimum(np.searchsorted(stored, wanted, sorter=order), max(len(stored) - 1, 0))
    if not len(stored):
        return np.zeros(len(rows), dtype=bool), np.zeros(len(rows))
    seen = stored[order[at]] == wanted
    return seen, np.where(seen, X.data[order[at]], 0.0)
