"""Columns of a text file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.linalg import Array
from ...sources.text_columns import (
    DAYS,
    LABELS,
    NUMBERS,
    TIMES,
    TRUTH,
    TextColumn,
    TextColumns,
    number_column,
)
from . import cells
from .cells import Cells, KeptLabels, labelled, with_more

HELD = {NUMBERS: cells.FLOAT, LABELS: cells.TEXT, TRUTH: cells.TRUTH, DAYS: cells.DAY, TIMES: cells.TIME}
"""What models call what a column holds."""

ISO = {cells.DAY: "%Y-%m-%d", cells.TIME: "%Y-%m-%d %H:%M:%S"}
"""How dates are written in a column that has none."""


class TextFrame(KeptLabels):
    """A table of columns of a text."""

    def __init__(self, X: TextColumns) -> None:
        super().__init__()
        self.X, self.names, self.mapped = X, X.column_names, 0
        self.is_array = all(column.kind == NUMBERS for column in X.columns)

    def held(self, j: int) -> str:
        """What column j holds."""
        return HELD[self.column(j).kind]

    def _cells(self, j: int) -> Cells:
        column, held = self.column(j), self.held(j)
        if held in cells.NUMBERS:
            return Cells(held, column.missing, numbers=column.values, form=column.form)
        return labelled(held, column.values, column.labels)._replace(form=column.form)

    def column(self, j: int) -> TextColumn:
        """Column j as it is."""
        return self.X.columns[j]

    def with_numbers(self, j: int, where: Array, numbers: Array, held: str) -> TextColumn:
        """Column j with these numbers (n,) in the rows marked (n,); NaN is a gap. ``held`` is what a column without any
        value is taken to hold."""
        column = self.column(j)
        if column.kind == LABELS:  # without any value
            column = TextColumn(DAYS, np.full(len(where), np.nan), form=ISO.get(held, ISO[cells.TIME]))
        return column._replace(values=np.where(where, numbers, column.values))

    def with_labels(self, j: int, where: Array, codes: Array, levels: Sequence[Any]) -> TextColumn:
        """Column j with labels in the rows marked (n,), by their numbers (n,) among ``levels``; None is a gap."""
        column = self.column(j)
        every = with_more(column.labels, [one for one in levels if one is not None])
        new = np.array([-1 if one is None else every.index(one) for one in levels])
        values = np.where(where, new[np.where(where, codes, 0)], column.values)
        return column._replace(values=values, labels=tuple(every))

    def of_numbers(self, numbers: Array) -> TextColumn:
        """A column of numbers."""
        return number_column(numbers)

    def of_truth(self, values: Array) -> TextColumn:
        """A column of true and false."""
        return TextColumn(TRUTH, values.astype(np.int64), (False, True))

    def of_sets(self, j: int, sets: list[tuple[Any, ...]]) -> TextColumn:
        """A column whose entries are several labels of column j each, as this writes them, with bars between them."""
        spelled = self.column(j).spelled
        said = tuple(" | ".join(spelled.get(label, str(label)) for label in one) for one in sets)
        return TextColumn(LABELS, np.arange(len(sets)), said)

    def table(self, names: Sequence[Any], columns: Sequence[Any], own: Sequence[int] = ()) -> TextColumns:
        """A table of columns, with the rows of this one."""
        return TextColumns(names, columns)
