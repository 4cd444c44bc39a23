"""Tables of polars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars

from ...core.linalg import Array
from .cells import (
    CATEGORY,
    DAY,
    DAY_SECONDS,
    DECIMAL,
    DURATION,
    FLOAT,
    LABELS,
    NUMBERS,
    OTHER,
    PER_SECOND,
    TEXT,
    TIME,
    TRUTH,
    WHOLE,
    Cells,
    KeptLabels,
    ends,
    labelled,
    ticks,
    whole,
)

BY_TYPE = {
    polars.Boolean: TRUTH,
    polars.Categorical: CATEGORY,
    polars.Enum: CATEGORY,
    polars.String: TEXT,
    polars.Date: DAY,
    polars.Datetime: TIME,
    polars.Duration: DURATION,
    polars.Decimal: DECIMAL,
}
WITHOUT_TYPE = {
    FLOAT: polars.Float64,
    DECIMAL: polars.Float64,
    WHOLE: polars.Int64,
    TIME: polars.Datetime("us"),
    DAY: polars.Date,
    DURATION: polars.Duration("us"),
    TRUTH: polars.Boolean,
}
"""What a column that has nothing but gaps, and no type, becomes; text otherwise."""


class PolarsFrame(KeptLabels):
    """A table of polars."""

    def __init__(self, X: Any) -> None:
        super().__init__()
        self.X, self.names, self.mapped = X, list(X.columns), 0
        self.is_array = False

    def held(self, j: int) -> str:
        """What column j holds."""
        kind = self.X.dtypes[j]
        if kind.is_integer():
            return WHOLE
        return FLOAT if kind.is_float() else BY_TYPE.get(kind.base_type(), OTHER)

    def _cells(self, j: int) -> Cells:
        column, held = self.column(j), self.held(j)
        missing = column.is_null().to_numpy()
        if held in NUMBERS:
            numbers = _numbers(column, held)
            return Cells(held, np.isnan(numbers), numbers=numbers)
        if held not in LABELS:
            return Cells(held, missing)
        if held == TRUTH:
            return labelled(held, _codes(column), [False, True])
        if column.dtype.base_type() == polars.Enum:
            return labelled(held, _codes(column.to_physical()), column.dtype.categories.to_list(), in_order=True)
        text = column.cast(polars.String)
        levels = text.drop_nulls().unique(maintain_order=True)
        places = polars.Series(np.arange(len(levels)))
        return labelled(held, _codes(text.replace_strict(levels, places, default=None)), levels.to_list())

    def column(self, j: int) -> Any:
        """Column j as it is."""
        return self.X.to_series(j)

    def with_numbers(self, j: int, where: Array, numbers: Array, held: str) -> Any:
        """Column j with these numbers (n,) in the rows marked (n,), in its own type; NaN is a gap."""
        column, held = self._typed(j, held)
        numbers = np.where(where, numbers, np.nan)
        if held in (FLOAT, DECIMAL):
            new = polars.Series(numbers).fill_nan(None).cast(column.dtype)
        elif held == WHOLE:
            bits = int(str(column.dtype).lstrip("UInt"))
            least, greatest = ends(bits, column.dtype.is_signed_integer())
            new = polars.Series(whole(numbers, least, greatest), dtype=column.dtype)
        elif held == DAY:
            new = polars.Series(ticks(numbers, 1.0 / DAY_SECONDS), dtype=polars.Int64).cast(polars.Int32)
            new = new.cast(polars.Date)
        else:
            new = polars.Series(ticks(numbers, PER_SECOND[column.dtype.time_unit]), dtype=polars.Int64)
            new = new.cast(column.dtype)
        return column.zip_with(polars.Series(~where), new)

    def with_labels(self, j: int, where: Array, codes: Array, levels: Sequence[Any]) -> Any:
        """Column j with labels in the rows marked (n,), by their numbers (n,) among ``levels``, in its own type; None
        is a gap."""
        column, _ = self._typed(j, TRUTH if any(isinstance(one, bool) for one in levels) else TEXT)
        kind = polars.Boolean if column.dtype == polars.Boolean else polars.String
        new = polars.Series(levels, dtype=kind).gather(np.where(where, codes, 0))
        new = new.cast(column.dtype, strict=False)  # an Enum has no labels but its own
        return column.zip_with(polars.Series(~where), new)

    def _typed(self, j: int, held: str) -> tuple[Any, str]:
        """Column j, with a type where it has none, and what it holds."""
        column = self.column(j)
        if column.dtype == polars.Null:
            return column.cast(WITHOUT_TYPE.get(held, polars.String)), held
        return column, self.held(j)

    def of_numbers(self, numbers: Array) -> Any:
        """A column of numbers."""
        return polars.Series(numbers)

    def of_truth(self, values: Array) -> Any:
        """A column of true and false."""
        return polars.Series(values)

    def of_sets(self, j: int, sets: list[tuple[Any, ...]]) -> Any:
        """A column whose entries are several labels of column j each."""
        return polars.Series([list(one) for one in sets])

    def table(self, names: Sequence[Any], columns: Sequence[Any], own: Sequence[int] = ()) -> Any:
        """A table of the library, with the rows of this one."""
        return polars.DataFrame([column.alias(str(name)) for name, column in zip(names, columns, strict=True)])


def _codes(column: Any) -> Array:
    """Whole numbers; -1 in gaps."""
    found: Array = column.cast(polars.Int64).fill_null(-1).to_numpy()
    return found


def _numbers(column: Any, held: str) -> Array:
    """The numbers of a column; NaN in gaps."""
    if held in (TIME, DURATION):
        counted = column.to_physical().cast(polars.Float64).to_numpy() / PER_SECOND[column.dtype.time_unit]
    elif held == DAY:
        counted = column.to_physical().cast(polars.Float64).to_numpy() * DAY_SECONDS
    else:
        counted = column.cast(polars.Float64).to_numpy()
    return np.array(counted, dtype=np.float64)
