"""Columns of tables that are no numbers: each is refused in a sentence that names it and says what to do.

NumPy turns dates and durations into numbers silently, in whatever unit they are stored.
"""

from __future__ import annotations

import re
import sys
import warnings
from typing import Any

import numpy as np

_DATE = re.compile(r"\d+[-/.]\d+[-/.]\d+|\d{4}-\d\d|\d\d:\d\d")


DATES, TIMES_OF_DAY, DURATIONS, OTHER = "dates", "times of day", "durations", "values"
"""What a column holds besides numbers."""

_BY_PANDAS = {
    "date": DATES,
    "datetime": DATES,
    "time": TIMES_OF_DAY,
    "timedelta": DURATIONS,
    "timedelta64": DURATIONS,
}
"""The same by pandas' words for what a column of objects holds."""


def refuse_no_numbers(X: Any) -> None:
    """Refuse a table or an array with dates, durations, text or anything else that does not say numbers."""
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if isinstance(X, np.ndarray):
        if X.dtype.kind in "Mm":
            what = DATES if X.dtype.kind == "M" else DURATIONS
            raise ValueError(f"X holds {what}, which are no numbers; turn them into numbers of a unit that you choose.")
    elif pandas is not None and isinstance(X, pandas.DataFrame):
        _refuse_no_columns(X)
        for j, kind in enumerate(X.dtypes):
            if not pandas.api.types.is_numeric_dtype(kind):
                _refuse_column(X.columns[j], X.iloc[:, j], _held_by_pandas(X.iloc[:, j]))
    elif polars is not None and isinstance(X, polars.LazyFrame):
        raise TypeError("X is a lazy table of polars, which has no values yet; pass X.collect().")
    elif polars is not None and isinstance(X, polars.DataFrame):
        _refuse_no_columns(X)
        held = {polars.Date: DATES, polars.Datetime: DATES, polars.Time: TIMES_OF_DAY, polars.Duration: DURATIONS}
        for name, kind in X.schema.items():
            if not (kind.is_numeric() or kind == polars.Boolean):
                _refuse_column(name, X[name], held.get(kind.base_type(), OTHER))


def _refuse_no_columns(X: Any) -> None:
    """Refuse a table without columns; in a sequence its time stamps have been taken off before."""
    if not len(X.columns):
        raise ValueError("X has no column of numbers (time stamps do not count); pass a table with one at least.")


def are_times(values: Any) -> bool:
    """Whether a column or index of pandas holds datetimes, periods, or objects that are dates; strings are not."""
    return _held_by_pandas(values) == DATES


def _held_by_pandas(values: Any) -> str:
    pandas = sys.modules["pandas"]
    if pandas.api.types.is_datetime64_any_dtype(values.dtype) or isinstance(values.dtype, pandas.PeriodDtype):
        return DATES
    return _BY_PANDAS.get(pandas.api.types.infer_dtype(values, skipna=True), OTHER)


def _refuse_column(name: Any, column: Any, held: str) -> None:
    if held == OTHER and _says_numbers(column):
        return
    what, remedy = f"{held}, which are", "drop it, or turn it into numbers"
    if held == OTHER:
        what = "values that are"
    elif held == DURATIONS:
        remedy = f"turn it into numbers of one unit, as X[{name!r}].dt.total_seconds() does"
    elif held == DATES:
        remedy = "drop it, turn it into numbers or, for rows in the order of time, take SequenceFilter, which keeps it"
    raise ValueError(f"Column {name!r} of X holds {what} no numbers; {remedy}.")


def refuse_text_of_dates(name: Any, column: Any) -> None:
    """Refuse a column of a sequence whose text looks like dates, which can become time stamps."""
    if read_as_dates(column) and not _says_numbers(column):
        of_polars = hasattr(column, "to_physical")
        convert = f"X[{name!r}].str.to_datetime()" if of_polars else f"pandas.to_datetime(X[{name!r}])"
        raise ValueError(
            f"Column {name!r} of X holds text, and text is not read as time stamps; turn it into datetimes, as "
            f"{convert} does."
        )


def _says_numbers(column: Any) -> bool:
    """Whether all values of a column are numbers, text that says numbers, or missing."""
    try:
        return np.asarray(column.to_numpy(), dtype=np.float64).ndim == 1  # a column of records has more
    except (TypeError, ValueError):
        return False


def read_as_dates(values: Any) -> bool:
    """Whether the first values are text that looks like dates or times, and pandas, where there is any, reads it so."""
    first = list(values[:3])
    if not first or not all(isinstance(one, str) and _DATE.search(one) for one in first):
        return False
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about a format that cannot be inferred: then it is no date
        return not pandas.to_datetime(pandas.Series(first), errors="coerce").isna().any()
