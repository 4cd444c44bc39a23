"""Columns that are known in every row, to come too: read once, and held against those that a model was fitted with."""

from __future__ import annotations

import numpy as np

from ..core.linalg import Array
from ..text import counted, listed
from ._times import Table, TableLike, split_table, ticks


def read_known(known: TableLike, rows: int, table: Table) -> tuple[Array, tuple[str, ...]]:
    """The numbers (rows, p) of a table of known columns that goes with `table`, and the names of its columns."""
    numbers, own = split_table(known)
    names = tuple(map(str, own.columns)) if own.library else ()
    try:
        K = np.array(numbers, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise ValueError("known must be a table of numbers; give categories a column of 0 and 1 each.") from problem
    if K.ndim != 2 or not K.shape[1]:
        raise ValueError(f"known must be a table with a column at least; it has shape {K.shape}.")
    if len(K) != rows:
        raise ValueError(f"known has {counted(len(K), 'row')} for {counted(rows, 'time step')}; pass one row for each.")
    if own.times is not None and table.times is not None and not _same(own, table):
        raise ValueError("The time stamps of known are not those of the rows that it goes with; pass the same rows.")
    if not np.isfinite(K).all():
        row, column = np.argwhere(~np.isfinite(K))[0]
        raise ValueError(
            f"known has no number in row {row}, column {names[column] if names else column}: a known column needs one "
            "in every row; fill it first, or make it a column of X, where NaN is a gap."
        )
    return K, names or tuple(map(str, range(K.shape[1])))


def check_same_known(names: tuple[str, ...], given: tuple[str, ...] | None) -> None:
    """Refuse known columns where the model has none, none where it has some, and others than it has."""
    if given is None:
        if names:
            raise ValueError(f"The model was fitted with known columns ({listed(names)}); pass known= for these rows.")
        return
    if not names:
        raise ValueError("The model was fitted without known columns; pass known= to fit or the first partial_fit too.")
    numbered = tuple(map(str, range(len(given))))
    if len(names) != len(given) or (names != given and numbered not in (names, given)):
        raise ValueError(f"known must have the columns that the model was fitted with, {listed(names)}, in this order.")


def _same(own: Table, table: Table) -> bool:
    """Whether two tables have the same time stamps; those of different libraries or units are not compared."""
    if own.library != table.library or own.times.dtype != table.times.dtype:
        return True
    return np.array_equal(ticks(own.times), ticks(table.times))
