"""Tables with time stamps: taken off before the numbers are read, put back on the answer."""

from __future__ import annotations

import sys
import warnings
from datetime import datetime
from importlib import import_module
from itertools import pairwise
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from ..core.linalg import Array
from ._refused_columns import are_times, read_as_dates, refuse_text_of_dates
from ._validation import warn_caller

TableLike = Any
"""An array, or a DataFrame of pandas or polars."""
Times = Any
"""Time stamps as their library keeps them: a pandas.Index of datetimes, periods or dates, or a polars.Series."""
Label = Any
"""The name of a column: whatever can be hashed."""

KEPT_TIMES = 64
"""Rows whose time stamps a stream keeps at least, to infer the step from. Not tuned: two months of days."""


class Table(NamedTuple):
    """What a table was besides its numbers."""

    library: str | None = None  # "pandas", "polars" or, for a plain array, None
    labels: Any = None  # pandas.Index of a pandas table; in a stream that of its last rows, if all of them had one
    columns: Any = ()  # of the numbers: pandas.Index, or a tuple of strings
    column: Label = None  # the name of the column of time stamps
    place: int = 0  # and where it stands
    times: Times = None  # or None


def library_of(name: str) -> ModuleType:
    """Pandas or polars; imported where a model that was fitted to its tables comes from a file."""
    try:
        return import_module(name)
    except ImportError as problem:
        raise ImportError(
            f"This model was fitted to tables of {name}, which is not installed; install it with: pip install {name}."
        ) from problem


def split_table(X: TableLike) -> tuple[TableLike, Table]:
    """The numbers of X, and the rest of it. Time stamps must be there and strictly increasing."""
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if pandas is not None and isinstance(X, pandas.DataFrame):
        number = pandas.api.types.is_numeric_dtype
        others = [j for j, kind in enumerate(X.dtypes) if not number(kind)]
        stamped = [X.columns[j] for j in others if are_times(X.iloc[:, j])]
        times = X.index if not number(X.index) and are_times(X.index) else None
        name, place = _one_of(X, stamped, taken=times is not None)
        for j in others:
            if X.columns[j] not in stamped:
                refuse_text_of_dates(X.columns[j], X.iloc[:, j])
        if times is None and name is None and not number(X.index) and read_as_dates(X.index):
            warn_caller(
                "The index of X is text, and text is not read as time stamps; if it holds them, pass "
                "X.set_index(pandas.to_datetime(X.index))."
            )
        if name is not None:
            times, X = pandas.Index(X[name], dtype=X[name].dtype), X.drop(columns=name)
        table = Table("pandas", X.index, X.columns, name, place, times)
    elif polars is not None and isinstance(X, polars.DataFrame):
        stamped = [name for name, kind in X.schema.items() if kind in (polars.Date, polars.Datetime)]
        for name in (name for name, kind in X.schema.items() if kind == polars.String):
            refuse_text_of_dates(name, X[name])
        name, place = _one_of(X, stamped, taken=False)
        times = None if name is None else X[name]
        X = X if name is None else X.drop(name)
        table = Table("polars", None, tuple(X.columns), name, place, times)
    else:
        return X, Table()
    if table.times is not None:
        _check_increasing(table.times)
    return X, table


def _one_of(X: TableLike, stamped: list[Label], *, taken: bool) -> tuple[Label, int]:
    if len(stamped) + taken > 1:
        raise ValueError(
            f"X has time stamps in more than one place ({', '.join(map(str, stamped))}); keep one of them."
        )
    return (stamped[0], list(X.columns).index(stamped[0])) if stamped else (None, 0)


def ticks(times: Times) -> Array:
    """Time stamps as integers that count the units of their type."""
    if hasattr(times, "to_physical"):
        return np.asarray(times.to_physical().to_numpy())
    return np.asarray(times.asi8 if hasattr(times, "asi8") else datetimes(times).asi8)


def datetimes(times: Times) -> Times:
    """Time stamps of pandas, whatever their kind, as a DatetimeIndex."""
    pandas = sys.modules["pandas"]
    return times.to_timestamp() if isinstance(times, pandas.PeriodIndex) else pandas.DatetimeIndex(times)


def days_of(times: Times) -> Array:
    """The local days of time stamps, as datetime64[D]."""
    if hasattr(times, "to_physical"):
        return np.asarray(times.dt.date().to_numpy())
    return np.asarray(datetimes(times).tz_localize(None).to_numpy().astype("datetime64[D]"))


def working_days(times: Times) -> Array | None:
    """The steps in days from Monday to Friday; None where a row falls on a weekend or two on one day."""
    days = days_of(times)
    steps = np.busday_count(days[:-1], days[1:])
    return steps if np.is_busday(days).all() and (steps > 0).all() else None


def _check_increasing(times: Times) -> None:
    missing = times.null_count() if hasattr(times, "null_count") else int(times.isna().sum())
    if missing:
        raise ValueError(f"{missing} time stamp(s) of X are missing; give every row one, or drop the time stamps.")
    steps = np.diff(ticks(times))
    if (steps > 0).all():
        return
    at = int(np.argmax(steps <= 0))
    if steps[at] == 0 or len(np.unique(ticks(times))) < len(times):
        what = "duplicate time stamps; keep one row for each"
    else:
        what = "time stamps that are not in order; sort the rows by time"
    raise ValueError(f"X has {what} (rows {at} and {at + 1}: {times[at]} and {times[at + 1]}).")


def append_times(before: Table, table: Table) -> Table:
    """The last rows of a stream and one more table, whose time stamps must come after those before."""
    if (before.times is None) != (table.times is None):
        began, has = ("with", "none") if table.times is None else ("without", "some")
        raise ValueError(f"The stream began {began} time stamps, and X has {has}; go on as it began.")
    before = _in_the_zone_of(before, table)
    known = before.labels is not None and table.labels is not None
    table = table._replace(labels=before.labels.append(table.labels) if known else None)
    if table.times is None:
        return table
    try:
        later = bool(table.times[0] > before.times[-1])
        join = before.times.append if table.library == "pandas" else before.times.clone().append  # of polars: in place
        both = join(table.times)
        if getattr(table.times, "tz", None) is not None and getattr(both, "tz", None) is None:
            raise TypeError("two time zones make pandas give up on both")
    except Exception as problem:  # another library, time zone or unit: each library has its own complaint
        raise ValueError("The time stamps of X are of another kind than those before; go on as it began.") from problem
    if not later:
        raise ValueError(
            f"X begins at {table.times[0]}, which is not after the last time step taken in, {before.times[-1]}; "
            "rows must arrive in order, each once."
        )
    return with_times(table, both)


def _in_the_zone_of(before: Table, table: Table) -> Table:
    """`before` in the time zone of `table`, where that shows the same times: a file has only the offset of some."""
    old, new = (getattr(part.times, "tz", None) for part in (before, table))
    if table.library != "pandas" or before.library != "pandas" or old is None or new is None:
        return before
    times = before.times.tz_convert(new)
    same = times.tz_localize(None).equals(before.times.tz_localize(None))
    return with_times(before, times) if same else before


def last_rows(table: Table, rows: int) -> Table:
    """What belongs to the last ``rows`` rows."""
    labels, times = (None if part is None else part[-rows:] for part in (table.labels, table.times))
    return table._replace(labels=labels, times=times)


def marked_times(table: Table, which: Array) -> Times | Array:
    """The time stamps of the rows marked, or the numbers of these rows where there are no time stamps."""
    if table.times is None:
        return np.flatnonzero(which)
    return table.times[which] if table.library == "pandas" else table.times.filter(which)


def with_times(table: Table, times: Times) -> Table:
    """A table whose time stamps are these; they are its index if its own were."""
    indexed = table.library == "pandas" and table.column is None
    return table._replace(times=times, labels=times if indexed else table.labels)


def rebuild_table(values: Array, table: Table) -> TableLike:
    """The numbers as the table they came from."""
    if table.library is None:
        return values
    library = library_of(table.library)
    if table.library == "pandas":
        out = library.DataFrame(values, index=table.labels, columns=table.columns)
        if table.column is not None:
            stamps = table.times if table.labels is None else library.Series(table.times, index=table.labels)
            out.insert(table.place, table.column, stamps)
        return out
    out = library.DataFrame(values, schema=list(table.columns), orient="row")
    return out if table.column is None else out.insert_column(table.place, table.times.alias(table.column))


def future_times(table: Table, steps: int) -> Table:
    """What belongs to the ``steps`` rows to come: time stamps continue at the inferred step, or else integers go on."""
    if table.times is None:
        return table._replace(labels=_later_numbers(table.labels, steps))
    table = table._replace(labels=None)
    if len(table.times) < 2 and getattr(table.times, "freq", None) is None:
        raise ValueError("One time stamp has no step to continue at; fit more rows, or drop the time stamps.")
    future = _pandas_future if table.library == "pandas" else _polars_future
    return with_times(table, future(table.times, steps))


def _later_numbers(labels: Any, steps: int) -> Any:
    """The integers that continue the labels of the last rows; None where these are none, or not equally spaced."""
    kind = getattr(getattr(labels, "dtype", None), "kind", "O")
    if labels is None or kind not in "iu" or not len(labels):
        return None
    gaps = {int(b) - int(a) for a, b in pairwise(labels)} or {getattr(labels, "step", 1)}
    last, step = int(labels[-1]), gaps.pop()
    if gaps or step <= 0 or last + steps * step > np.iinfo(np.int64).max:
        return None
    return sys.modules["pandas"].RangeIndex(last + step, last + (steps + 1) * step, step, name=labels.name)


def frequency(times: Times) -> Any:
    """Of a DatetimeIndex, given or inferred; None where there is none."""
    if times.freq is not None or len(times) < 3:
        return times.freq
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the answer changes from a string to an offset; either will do
        return sys.modules["pandas"].infer_freq(times)


def _pandas_future(times: Times, steps: int) -> Times:
    pandas = sys.modules["pandas"]
    if isinstance(times, pandas.PeriodIndex):
        stride = 1 if len(times) < 2 else int(np.median(np.diff(times.asi8))) // times.freq.n
        return pandas.PeriodIndex([times[-1] + k * stride for k in range(1, steps + 1)], name=times.name)
    if not isinstance(times, pandas.DatetimeIndex):  # dates as objects stay such
        return as_objects(_pandas_future(datetimes(times), steps), times)
    freq = frequency(times)
    if freq is not None:
        return pandas.date_range(times[-1], periods=steps + 1, freq=freq, name=times.name)[1:]
    step = (times[1:] - times[:-1]).to_series().median()
    return pandas.DatetimeIndex([times[-1] + k * step for k in range(1, steps + 1)], name=times.name)


def as_objects(stamps: Times, like: Times) -> Times:
    """A DatetimeIndex as an index of Python's datetimes or dates, whichever another index has."""
    plain = stamps.to_pydatetime() if isinstance(like[-1], datetime) else stamps.date
    return sys.modules["pandas"].Index(plain, dtype=like.dtype, name=like.name)


def _polars_future(times: Times, steps: int) -> Times:
    polars = sys.modules["polars"]
    numbers = ticks(times)
    gaps = np.diff(numbers)
    last = polars.Series([times[-1]], dtype=times.dtype)
    months = np.diff((times.dt.year().cast(polars.Int64) * 12 + times.dt.month()).to_numpy())
    even = (gaps == gaps[0]).all()
    if not even and months[0] > 0 and (months == months[0]).all():  # months are not equally long
        parts = [last.dt.offset_by(f"{k * int(months[0])}mo") for k in range(1, steps + 1)]
        out = polars.concat(parts)
        return out.dt.month_end() if bool((times == times.dt.month_end()).all()) else out
    if not even and (worked := working_days(times)) is not None:
        stride = int(np.median(worked))
        return polars.concat([last.dt.add_business_days(k * stride) for k in range(1, steps + 1)])
    values = numbers[-1] + int(np.median(gaps)) * np.arange(1, steps + 1)
    return polars.Series(values).cast(times.to_physical().dtype).cast(times.dtype)
