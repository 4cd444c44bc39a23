"""Tables of pandas."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pandas

from ...core.linalg import Array
from .cells import (
    CATEGORY,
    DAY,
    DECIMAL,
    DURATION,
    FLOAT,
    LABELS,
    NUMBERS,
    OTHER,
    PER_SECOND,
    PLAIN,
    TEXT,
    TIME,
    TRUTH,
    WHOLE,
    Cells,
    KeptLabels,
    labelled,
    ticks,
    whole,
    with_more,
)

OF_OBJECTS = {
    "string": TEXT,
    "boolean": TRUTH,
    "integer": WHOLE,
    "floating": FLOAT,
    "mixed-integer-float": FLOAT,
    "decimal": DECIMAL,
    "date": DAY,
    "datetime": TIME,
    "datetime64": TIME,
    "timedelta": DURATION,
    "timedelta64": DURATION,
}
"""What a column of objects holds, by pandas' words for it."""


EXACT = 2**53
"""Up to here a float64 holds every whole number. Derived."""


class PandasFrame(KeptLabels):
    """A table of pandas."""

    def __init__(self, X: Any) -> None:
        super().__init__()
        self.X, self.names, self.mapped = X, list(X.columns), 0
        self.is_array = all(_in_floats(X.iloc[:, j]) for j in range(X.shape[1]))

    def held(self, j: int) -> str:
        """What column j holds."""
        column = self.X.iloc[:, j]
        kind, are = column.dtype, pandas.api.types
        if isinstance(kind, pandas.CategoricalDtype):
            return CATEGORY
        arrow = str(getattr(kind, "pyarrow_dtype", ""))
        if arrow.startswith(("date", "dictionary")):
            return DAY if arrow.startswith("date") else CATEGORY
        by_type = [
            (are.is_bool_dtype, TRUTH),
            (are.is_integer_dtype, WHOLE),
            (are.is_float_dtype, FLOAT),
            (are.is_datetime64_any_dtype, TIME),
            (are.is_timedelta64_dtype, DURATION),
        ]
        for is_it, held in by_type:
            if is_it(kind):
                return held
        if isinstance(kind, pandas.StringDtype):
            return TEXT
        return OF_OBJECTS.get(are.infer_dtype(column, skipna=True), OTHER)

    def _cells(self, j: int) -> Cells:
        column, held = self.X.iloc[:, j], self.held(j)
        missing = column.isna().to_numpy(dtype=bool)
        if held in NUMBERS:
            return Cells(held, missing, numbers=_numbers(column, held))
        if held not in LABELS:
            return Cells(held, missing)
        if isinstance(column.dtype, pandas.CategoricalDtype):
            return labelled(held, column.cat.codes.to_numpy(), column.cat.categories.tolist(), in_order=True)
        codes, levels = pandas.factorize(column)
        return labelled(held, codes, levels.tolist())

    def column(self, j: int) -> Any:
        """Column j as it is."""
        return self.X.iloc[:, j]

    def with_numbers(self, j: int, where: Array, numbers: Array, held: str) -> Any:
        """Column j with these numbers (n,) in the rows marked (n,), in its own type; NaN is a gap. ``held`` is what a
        column without any value is taken to hold."""
        column, own = self.X.iloc[:, j], self.held(j)
        held = held if own == OTHER else own
        if isinstance(column.dtype, pandas.SparseDtype):  # whose entries cannot be set
            new = _in_type(column.dtype.subtype, held, numbers[where])
            return _replaced(column.sparse.to_dense(), where, new).astype(column.dtype)
        new = _decimals(column, numbers[where]) if held == DECIMAL else _in_type(column.dtype, held, numbers[where])
        return _replaced(column, where, new)

    def with_labels(self, j: int, where: Array, codes: Array, levels: Sequence[Any]) -> Any:
        """Column j with labels in the rows marked (n,), by their numbers (n,) among ``levels``, in its own type; None
        is a gap."""
        column = self.X.iloc[:, j]
        chosen = [levels[code] for code in codes[where].tolist()]
        if isinstance(column.dtype, pandas.CategoricalDtype):
            own, needed = column.cat.categories.tolist(), set(chosen)
            every = with_more(own, [one for one in levels if one is not None and (one in needed or one in own)])
            column = column.cat.set_categories(every) if len(every) > len(own) else column
        if column.dtype == object:
            values = np.empty(len(chosen), dtype=object)
            values[:] = [np.nan if one is None else one for one in chosen]
            return _replaced(column, where, values)
        return _replaced(column, where, pandas.array(chosen, dtype=column.dtype))

    def of_numbers(self, numbers: Array) -> Any:
        """A column of numbers."""
        return pandas.Series(numbers, index=self.X.index)

    def of_truth(self, values: Array) -> Any:
        """A column of true and false."""
        return pandas.Series(values, index=self.X.index)

    def of_sets(self, j: int, sets: list[tuple[Any, ...]]) -> Any:
        """A column whose entries are several labels of column j each."""
        values = np.empty(len(sets), dtype=object)
        values[:] = sets
        return pandas.Series(values, index=self.X.index)

    def table(self, names: Sequence[Any], columns: Sequence[Any], own: Sequence[int] = ()) -> Any:
        """A table of the library, with the rows of this one. The first columns answer the ``own`` ones, by number."""
        out = pandas.DataFrame(dict(enumerate(columns)), index=self.X.index)
        whole_table = len(own) == len(names) == len(self.names)
        out.columns = self.X.columns if whole_table else pandas.Index(list(names))
        return out


def _in_floats(column: Any) -> bool:
    """Whether an array of floats can hold a column, gaps included, and every digit."""
    kind = column.dtype
    if not isinstance(kind, np.dtype) or kind.kind not in "iuf":
        return False
    exact = kind.kind == "f" or kind.itemsize < 8 or not len(column)
    return exact or bool(column.min() >= -EXACT and column.max() <= EXACT)


def _numbers(column: Any, held: str) -> Array:
    """The numbers of a column; NaN in gaps."""
    if held in PLAIN and column.dtype == object:
        found: Array = column.where(column.notna(), np.nan).to_numpy().astype(np.float64)
        return found
    if held in PLAIN:
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    arrow = getattr(column.dtype, "pyarrow_dtype", None)
    if arrow is not None and held != DAY:  # pandas would not go through floats with all of its nanoseconds
        ticked = column.astype("int64[pyarrow]").to_numpy(dtype=np.float64, na_value=np.nan)
        return np.asarray(ticked / PER_SECOND[arrow.unit])
    if held == DURATION:
        return np.asarray(pandas.to_timedelta(column).dt.total_seconds().to_numpy(dtype=np.float64))
    moments = pandas.to_datetime(column, utc=True)
    numbers: Array = ((moments - pandas.Timestamp(0, tz="UTC")).dt.total_seconds()).to_numpy(dtype=np.float64)
    return numbers


def _decimals(column: Any, numbers: Array) -> Array:
    """Numbers as decimals of Python, with as many digits after the point as those of the column have at most."""
    known = [value.as_tuple().exponent for value in column[column.notna()]]
    digits = max((-one for one in known if isinstance(one, int)), default=0)
    return _objects([None if value != value else Decimal(f"{value:.{max(digits, 0)}f}") for value in numbers.tolist()])


def _in_type(kind: Any, held: str, numbers: Array) -> Any:
    """Numbers as an array of a column's type."""
    if held == FLOAT:
        return numbers.astype(object) if kind.kind == "O" else pandas.array(numbers, dtype=kind)
    if held == WHOLE:
        bounds = np.iinfo(getattr(kind, "numpy_dtype", kind)) if kind.kind != "O" else np.iinfo(np.int64)
        values = whole(numbers, int(bounds.min), int(bounds.max))
        return _objects(values) if kind.kind == "O" else pandas.array(values, dtype=kind)
    if kind.kind == "O":
        return _objects([_python_time(value, held) for value in numbers.tolist()])
    if held == DAY:
        return pandas.array([_python_time(value, held) for value in numbers.tolist()], dtype=kind)
    unit = _unit(kind)
    nothing = int(np.iinfo(np.int64).min)  # how NumPy writes no time
    counted = [nothing if value is None else value for value in ticks(numbers, PER_SECOND[unit])]
    moments = np.array(counted, dtype=np.int64).view(f"{'timedelta64' if held == DURATION else 'datetime64'}[{unit}]")
    series = pandas.Series(moments)
    zone = getattr(kind, "tz", None) or getattr(getattr(kind, "pyarrow_dtype", None), "tz", None)
    if zone is not None:
        series = series.dt.tz_localize("UTC").dt.tz_convert(zone)
    return series.astype(kind).array


def _unit(kind: Any) -> str:
    """The unit of a type of times or durations."""
    if isinstance(kind, np.dtype):
        return np.datetime_data(kind)[0]
    return str(getattr(kind, "unit", None) or kind.pyarrow_dtype.unit)


def _python_time(seconds: float, held: str) -> Any:
    """Seconds as an object of Python, as columns of objects have it."""
    if seconds != seconds:
        return None
    if held == DURATION:
        return pandas.Timedelta(seconds, unit="s").to_pytimedelta()
    moment = pandas.Timestamp(round(seconds * 1e6), unit="us")
    return moment.round("D").date() if held == DAY else moment.to_pydatetime()


def _objects(values: list[Any]) -> Array:
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def _replaced(column: Any, where: Array, values: Any) -> Any:
    """A column with other values in the rows marked."""
    array = column.array.copy()
    array[where] = values
    return pandas.Series(array, index=column.index, name=column.name, dtype=column.dtype)  # pandas would choose one
