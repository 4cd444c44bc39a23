"""Tables with time stamps: taken off before the numbers are read, put back on the answer."""

from __future__ import annotations

import sys
import warnings
from typing import Any, NamedTuple

import numpy as np

from ..core.linalg import Array

TAIL = 64
"""Time stamps kept to infer the step from, so that a stream stays bounded."""


class Frame(NamedTuple):
    """What a table was besides its numbers."""

    library: str | None = None  # "pandas", "polars" or, for a plain array, None
    index: Any = None  # of a pandas table
    columns: tuple[Any, ...] = ()  # of the numbers
    column: Any = None  # the name of the column of time stamps
    place: int = 0  # and where it stands
    times: Any = None  # pandas.DatetimeIndex, polars.Series or None


def undress(X: Any) -> tuple[Any, Frame]:
    """The numbers of X, and the rest of it. Time stamps must be there and strictly increasing."""
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if pandas is not None and isinstance(X, pandas.DataFrame):
        stamped = [name for name in X.columns if pandas.api.types.is_datetime64_any_dtype(X[name])]
        times = X.index if isinstance(X.index, pandas.DatetimeIndex) else None
        name, place = _one_of(X, stamped, taken=times is not None)
        if name is not None:
            times, X = pandas.DatetimeIndex(X[name]), X.drop(columns=name)
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


def _one_of(X: Any, stamped: list[Any], *, taken: bool) -> tuple[Any, int]:
    if len(stamped) + taken > 1:
        raise ValueError(
            f"X has time stamps in more than one place ({', '.join(map(str, stamped))}); keep one of them."
        )
    return (stamped[0], list(X.columns).index(stamped[0])) if stamped else (None, 0)


def _numbers(times: Any) -> Array:
    """Time stamps as integers that count the units of their type."""
    return np.asarray(times.asi8 if hasattr(times, "asi8") else times.to_physical().to_numpy())


def _check_increasing(times: Any) -> None:
    missing = times.null_count() if hasattr(times, "null_count") else int(times.isna().sum())
    if missing:
        raise ValueError(f"{missing} time stamp(s) of X are missing; give every row one, or drop the time stamps.")
    steps = np.diff(_numbers(times))
    if (steps > 0).all():
        return
    at = int(np.argmax(steps <= 0))
    if steps[at] == 0 or len(np.unique(_numbers(times))) < len(times):
        what = "duplicate time stamps; keep one row for each"
    else:
        what = "time stamps that are not in order; sort the rows by time"
    raise ValueError(f"X has {what} (rows {at} and {at + 1}: {times[at]} and {times[at + 1]}).")


def follow(before: Frame, frame: Frame) -> Frame:
    """The frame of a stream after one more table, whose time stamps must come after those before."""
    if (before.times is None) != (frame.times is None):
        has, had = ("none", "some") if frame.times is None else ("some", "none")
        raise ValueError(f"The stream began with {had} time stamps and X has {has}; go on as it began.")
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
    return frame._replace(times=both)


def tail(frame: Frame) -> Frame:
    """The part of a frame that a stream keeps."""
    return frame._replace(index=None, times=None if frame.times is None else frame.times[-TAIL:])


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
    if frame.times is None:
        return frame._replace(index=None)
    if len(frame.times) < 2:
        raise ValueError("One time stamp has no step to continue at; fit more rows, or drop the time stamps.")
    future = _pandas_ahead if frame.library == "pandas" else _polars_ahead
    times = future(frame.times, steps)
    indexed = frame.library == "pandas" and frame.column is None
    return frame._replace(times=times, index=times if indexed else None)


def _pandas_ahead(times: Any, steps: int) -> Any:
    pandas = sys.modules["pandas"]
    freq = times.freq
    if freq is None and len(times) > 2:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the answer changes from a string to an offset; either will do
            freq = pandas.infer_freq(times)
    if freq is not None:
        return pandas.date_range(times[-1], periods=steps + 1, freq=freq, name=times.name)[1:]
    step = (times[1:] - times[:-1]).to_series().median()
    return pandas.DatetimeIndex([times[-1] + k * step for k in range(1, steps + 1)], name=times.name)


def _polars_ahead(times: Any, steps: int) -> Any:
    polars = sys.modules["polars"]
    numbers = _numbers(times)
    gaps = np.diff(numbers)
    months = np.diff((times.dt.year().cast(polars.Int64) * 12 + times.dt.month()).to_numpy())
    if (gaps != gaps[0]).any() and months[0] > 0 and (months == months[0]).all():  # months are not equally long
        last = polars.Series([times[-1]], dtype=times.dtype)
        parts = [last.dt.offset_by(f"{k * int(months[0])}mo") for k in range(1, steps + 1)]
        out = polars.concat(parts)
        return out.dt.month_end() if bool((times == times.dt.month_end()).all()) else out
    values = numbers[-1] + int(np.median(gaps)) * np.arange(1, steps + 1)
    return polars.Series(values).cast(times.to_physical().dtype).cast(times.dtype)
