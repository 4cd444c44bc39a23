"""Columns of a table and features of a model: which is which, by name where both have names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..text import column_names, counted, named_column
from .table import Array, Table, TableError

__all__ = ["drop_columns", "feature_names", "take_columns", "take_names", "use_names"]


def take_names(model: Any) -> list[str] | None:
    """Take the names of the features off a model, which then asks for none; None where it has none."""
    names = vars(model).pop("feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def use_names(model: Any, names: Sequence[str]) -> Any:
    """Give the model the names of its features, for whoever loads it; names that are not unique are none."""
    if len(set(names)) == len(names):
        model.feature_names_in_ = np.array(names, dtype=object)
    return model


def feature_names(table: Table) -> list[str]:
    """The names of the columns of numbers."""
    return [table.names[j] for j in table.numeric]


def drop_columns(table: Table, columns: Sequence[int]) -> None:
    """Take columns out of the numbers of a table, which keeps them otherwise."""
    if not columns:  # the usual case: numbers may be many, and are not copied
        return
    kept = [at for at, j in enumerate(table.numeric) if j not in columns]
    table.numbers = table.numbers[:, kept]
    table.numeric = [table.numeric[at] for at in kept]


def take_columns(table: Table, names: Sequence[str] | None, n: int) -> list[str]:
    """Make the numbers of a table the features of a model, in the model's order.

    A column of the model may be all gaps in the table. Columns of numbers that the model does not know are taken out;
    their names are returned. A model without names takes the columns of numbers as they come.

    Raises
    ------
    TableError
        Where the table does not have the columns of the model; the message continues "FILE cannot be used: ".
    """
    if names is None:
        if len(table.numeric) != n:
            has = counted(len(table.numeric), "column")
            raise TableError(f"it has {has} of numbers, and the model {counted(n, 'feature')} without names")
        return []
    absent = [name for name in names if name not in table.names]
    if absent:
        raise TableError(f"it lacks columns that the model knows: {column_names(absent)}")
    positions = [table.names.index(name) for name in names]
    unknown = [table.names[j] for j in table.numeric if j not in positions]
    table.numbers, table.numeric = np.column_stack([_values(table, j) for j in positions]), positions
    return unknown


def _values(table: Table, column: int) -> Array:
    """The numbers of a column, which may be all gaps."""
    if column in table.numeric:
        return np.asarray(table.numbers[:, table.numeric.index(column)], dtype=np.float64)
    n = len(table.numbers)
    if table.gaps(column) < n:
        raise TableError(f"{named_column(table.names[column])} is no numbers, and the model knows it as such")
    return np.full(n, np.nan)
