"""Ask a model that knows columns of many kinds to fill those of a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..estimators._imputer_answers import fill_columns
from ..estimators._mixed.encoding import Encoding
from ..estimators._mixed.kinds import CategoryColumn, Column
from ..sources.table import Array, Bounds, OtherFill, Table
from .filling import CELLS_AT_ONCE, LEAST_AT_ONCE, MOST_AT_ONCE
from .other_kinds import AllKinds
from .quiet import quietly

__all__ = ["SET", "FilledKinds", "fill_kinds"]

SET = "set"
"""What is after the name of a column of labels where the bounds of others have lower and upper."""

OF_NAMES = ("X does not have valid feature names", "X has feature names")
"""How warnings begin about names that a model is not asked with: columns are found by theirs before."""


class FilledKinds(NamedTuple):
    """What a model says of `AllKinds`."""

    numbers: Array
    """Columns of numbers, filled (n, columns of numbers)."""
    bounds: Bounds | None
    """Theirs."""
    others: dict[int, OtherFill]
    """By position, the other columns that have gaps."""


def fill_kinds(
    model: Any, given: AllKinds, table: Table, level: float | None, progress: Callable[[str, float], None]
) -> FilledKinds:
    """The gaps of all kinds of columns filled, by lots of rows, with bounds where there is a level."""
    n = len(table.numbers)
    size = int(np.clip(CELLS_AT_ONCE // len(given.positions), LEAST_AT_ONCE, MOST_AT_ONCE))
    lots = []
    for first in range(0, n, size):
        progress("filling", 0.75 + 0.1 * first / n)
        with quietly(*OF_NAMES):
            lots.append(fill_columns(model, given.columns.slice(first, min(size, n - first)), level))
    at = {j: k for k, j in enumerate(given.positions)}
    sides = []  # fills, and both bounds if there are any
    for side in range(len(lots[0])):
        numbers = [np.concatenate([lot[side][at[j]] for lot in lots]) for j in table.numeric]
        sides.append(np.column_stack(numbers) if numbers else np.empty((n, 0)))
    encoding: Encoding = model.state_.encoding
    others = {}
    for j, gaps in given.gaps.items():
        if gaps.any():
            said = [table.answered([lot[side][at[j]] for lot in lots]) for side in range(len(sides))]
            others[j] = OtherFill(gaps, said[0], _beside(encoding.columns[at[j]], said[1:]))
    return FilledKinds(sides[0], Bounds(*sides[1:]) if level is not None else None, others)


def _beside(column: Column, bounds: Sequence[Any]) -> dict[str, Any]:
    """Columns after a filled one, by the ends of their names."""
    if not bounds:
        return {}
    return {SET: bounds[0]} if isinstance(column, CategoryColumn) else dict(zip(Bounds._fields, bounds, strict=True))
