"""Tables with time stamps: taken off before the numbers are read, put back on the answer."""

from __future__ import annotations

import sys
import warnings
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np

from ..core.linalg import Array

TAIL = 64
"""Rows whose time stamps a stream keeps at least, to infer the step from; bounded."""


class Frame(NamedTuple):
    """What a table was besides its numbers."""

    library: str | None = None  # "pandas", "polars" or, for a plain array, None
    index: Any = None  # of a pandas table; in a stream that of its last rows, if all of them had one
    columns: tuple[Any, ...] = ()  # of the numbers
    column: Any = None  # the name of the column of time stamps
    place: int = 0  # and where it stands
    times: Any = None  # pandas.Index of datetimes, periods or dates as objects; polars.Series; or None


def undress(X: Any) -> tuple[Any, Frame]:
    """The numbers of X, and the rest of it. Time stamps must be there and strictly increasing."""
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if pandas is not None and isinstance(X, pandas.DataFrame):
        number = pandas.api.types.is_numeric_dtype
        others = [j for j, kind in enumerate(X.dtypes) if not number(kind)]
        stamped = [X.columns[j] for j in others if _are_times(X.iloc[:, j])]
        times = X.index if not number(X.index) and _are_times(X.index) else None
        name, place = _one_of(X, stamped, taken=times is not None)
        if name is not None:
            times, X = pandas.Index(X[name], dtype=X[name].dtype), X.drop(columns=name)
        frame = Frame("pandas", X.index, tuple(X.columns), name, place, times)
    elif polars is not None and isinstance(X, polars.DataFrame):
        stamped = [name for name, kind in X.schema.items() if kind in (polars.Date, polars.Datetime)]
        name, place = _one_of(X, stamped, taken=False)
        times = None if name is None else X[name]
        X = X if name is None else X.drop(name)
        frame = Frame("polars", None, tuple(X.columns), name, place, times)
    else:
        return X, Frame()
    if frame.times is not None:
        _check_increasing(frame.times)
    return X, frame


def _are_times(values: Any) -> bool:
    """Whether a column or index of pandas holds datetimes, periods, or objects that are dates; strings are not."""
    pandas = sys.modules["pandas"]
    if pandas.api.types.is_datetime64_any_dtype(values.dtype) or isinstance(values.dtype, pandas.PeriodDtype):
        return True
    return pandas.api.types.infer_dtype(values, skipna=True) in ("date", "datetime")


def _one_of(X: Any, stamped: list[Any], *, taken: bool) -> tuple[Any, int]:
    if len(stamped) + taken > 1:
        raise ValueError(
            f"X has time stamps in more than one place ({', '.join(map(str, stamped))}); keep one of them."
        )
    return (stamped[0], list(X.columns).index(stamped[0])) if stamped else (None, 0)


def ticks(times: Any) -> Array:
    """Time stamps as integers that count the units of their type."""
    if hasattr(times, "to_physical"):
        return np.asarray(times.to_physical().to_numpy())
    return np.asarray(times.asi8 if hasattr(times, "asi8") else datetimes(times).asi8)


def datetimes(times: Any) -> Any:
    """Time stamps of pandas, whatever their kind, as a DatetimeIndex."""
    pandas = sys.modules["pandas"]
    return times.to_timestamp() if isinstance(times, pandas.PeriodIndex) else pandas.DatetimeIndex(times)


def working_days(times: Any) -> Array | None:
    """The steps in days from Monday to Friday; None where a row falls on a weekend or two on one day."""
    if hasattr(times, "to_physical"):
        days = times.dt.date().to_numpy()
    else:
        days = datetimes(times).tz_localize(None).to_numpy().astype("datetime64[D]")
    steps = np.busday_count(days[:-1], days[1:])
    return steps if np.is_busday(days).all() and (steps > 0).all() else None


def _check_increasing(times: Any) -> None:
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


def follow(before: Frame, frame: Frame) -> Frame:
    """The frame of a stream after one more table, whose time stamps must come after those before."""
    if (before.times is None) != (frame.times is None):
        has, had = ("none", "some") if frame.times is None else ("some", "none")
        raise ValueError(f"The stream began with {had} time stamps and X has {has}; go on as it began.")
    known = before.index is not None and frame.index is not None
    frame = frame._replace(index=before.index.append(frame.index) if known else None)
    if frame.times is None:
        return frame
    try:
        later = bool(frame.times[0] > before.times[-1])
        join = before.times.append if frame.library == "pandas" else before.times.clone().append  # of polars: in place
        both = join(frame.times)
    except Exception as problem:  # another library, time zone or unit: each library has its own complaint
        raise ValueError("The time stamps of X are of another kind than those before; go on as it began.") from problem
    if not later:
        raise ValueError(
            f"X begins at {frame.times[0]}, which is not after the last time step taken in, {before.times[-1]}; "
            "rows must arrive in order, each once."
        )
    return _with_times(frame, both)


def tail(frame: Frame, rows: int) -> Frame:
    """The frame of the last ``rows`` rows."""
    index, times = (None if part is None else part[-rows:] for part in (frame.index, frame.times))
    return frame._replace(index=index, times=times)


def stamps(frame: Frame, which: Array) -> Any:
    """The time stamps of the rows marked, or the numbers of these rows where there are no time stamps."""
    if frame.times is None:
        return np.flatnonzero(which)
    return frame.times[which] if frame.library == "pandas" else frame.times.filter(which)


def _with_times(frame: Frame, times: Any) -> Frame:
    """A frame whose time stamps are these; they are its index if its own were."""
    indexed = frame.library == "pandas" and frame.column is None
    return frame._replace(times=times, index=times if indexed else frame.index)


def dress(values: Array, frame: Frame) -> Any:
    """The numbers as the table they came from."""
    if frame.library is None:
        return values
    library = sys.modules[frame.library]
    if frame.library == "pandas":
        out = library.DataFrame(values, index=frame.index, columns=list(frame.columns))
        if frame.column is not None:
            stamps = frame.times if frame.index is None else library.Series(frame.times, index=frame.index)
            out.insert(frame.place, frame.column, stamps)
        return out
    out = library.DataFrame(values, schema=list(frame.columns), orient="row")
    return out if frame.column is None else out.insert_column(frame.place, frame.times.alias(frame.column))


def ahead(frame: Frame, steps: int) -> Frame:
    """The frame of the ``steps`` rows to come: time stamps continue at the inferred step."""
    frame = frame._replace(index=None)
    if frame.times is None:
        return frame
    if len(frame.times) < 2 and getattr(frame.times, "freq", None) is None:
        raise ValueError("One time stamp has no step to continue at; fit more rows, or drop the time stamps.")
    future = _pandas_ahead if frame.library == "pandas" else _polars_ahead
    return _with_times(frame, future(frame.times, steps))


def frequency(times: Any) -> Any:
    """Of a DatetimeIndex, given or inferred; None where there is none."""
    if times.freq is not None or len(times) < 3:
        return times.freq
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the answer changes from a string to an offset; either will do
        return sys.modules["pandas"].infer_freq(times)


def _pandas_ahead(times: Any, steps: int) -> Any:
    pandas = sys.modules["pandas"]
    if isinstance(times, pandas.PeriodIndex):
        stride = 1 if len(times) < 2 else int(np.median(np.diff(times.asi8))) // times.freq.n
        return pandas.PeriodIndex([times[-1] + k * stride for k in range(1, steps + 1)], name=times.name)
    if not isinstance(times, pandas.DatetimeIndex):  # dates as objects stay such
        future = _pandas_ahead(datetimes(times), steps)
        plain = future.to_pydatetime() if isinstance(times[-1], datetime) else future.date
        return pandas.Index(plain, dtype=times.dtype, name=times.name)
    freq = frequency(times)
    if freq is not None:
        return pandas.date_range(times[-1], periods=steps + 1, freq=freq, name=times.name)[1:]
    step = (times[1:] - times[:-1]).to_series().median()
    return pandas.DatetimeIndex([times[-1] + k * step for k in range(1, steps + 1)], name=times.name)


def _polars_ahead(times: Any, steps: int) -> Any:
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
