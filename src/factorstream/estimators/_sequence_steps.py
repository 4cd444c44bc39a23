"""Time stamps that are not equally spaced: rows are put on steps of a common length, with rows of NaN between them."""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np

from ..core.linalg import Array
from ._sequence_places import DAY, instants, months
from ._times import Table, Times, as_objects, datetimes, days_of, with_times, working_days

MOST_TIMES = 10
"""Steps of the common length per row, at most: beyond it nearly all of them would be gaps. Not tuned."""


class Spread(NamedTuple):
    """Rows on steps of a common length."""

    values: Array  # (n, m) NaN in steps without a row
    table: Table
    rows: Array  # which of these the rows given are


def as_given(values: Array, table: Table) -> Spread:
    """Rows that are taken as they come."""
    return Spread(values, table, np.arange(len(values)))


def on_common_steps(values: Array, table: Table, last: Table | None = None, *, follows: bool = False) -> Spread:
    """The rows on steps of the length that the `last` rows of a fit have or, without these, of the greatest length that
    all time stamps are whole numbers of.

    `follows`: from the step after the last of those rows on. Rows are left as they are where they have no time stamps,
    and where these, or those of the fit, go by working days, days of local time or months, which are not equally long.
    """
    times = table.times
    if times is None or (last is None and (len(times) < 2 or _even(times))):
        return as_given(values, table)
    at = instants(times)
    if last is None:
        step = int(np.gcd.reduce(np.diff(at)))
        origin = int(at[0])
    else:
        before = instants(last.times)
        if len(before) < 2 or len(set(np.diff(before))) > 1:
            return as_given(values, table)
        step, origin = int(before[-1] - before[-2]), int(before[-1])
    between = (at - origin) % step != 0
    if between.any():
        row = int(np.argmax(between))
        raise ValueError(
            f"Row {row} of X ({times[row]}) lies between the steps of the rows that the model was fitted with; round "
            "its time stamp."
        )
    first = origin + step if follows else int(at[0])
    rows = (at - first) // step
    n = int(rows[-1]) + 1
    if last is None and n > MOST_TIMES * len(values):
        raise ValueError(
            f"The greatest step that all time stamps have in common makes {n} steps of {len(values)} rows, more than "
            f"{MOST_TIMES} times as many; round the time stamps, or take means over longer steps. Months and days of "
            "local time are not equally long: where some are left out, pass rows of NaN for them."
        )
    out = np.full((n, values.shape[1]), np.nan, dtype=values.dtype)
    out[rows] = values
    return Spread(out, with_times(table, _stamps(times, first + step * np.arange(n))), rows)


def held(known: Array, spread: Spread, before: Array | None = None) -> Array:
    """Known columns of the rows given, in every step: the last value stays where there is no row.

    `before`: that of the row before the first one, if the rows follow others.
    """
    last = np.searchsorted(spread.rows, np.arange(len(spread.values)), side="right")
    return np.vstack([known[:1] if before is None else before[None], known])[last]


def _even(times: Times) -> bool:
    """Whether no step is left out: time stamps are equally spaced, or by local or working days or whole months."""
    worked = working_days(times)
    counts = (instants(times), months(times), days_of(times).astype(np.int64))
    steps = [np.diff(count) for count in counts] + ([] if worked is None else [worked])
    return any(bool(some[0] > 0 and (some == some[0]).all()) for some in steps)


def _stamps(times: Times, at: Array) -> Times:
    """Time stamps of the same kind, `at` nanoseconds."""
    if hasattr(times, "to_physical"):
        polars = sys.modules["polars"]
        unit = {"ns": 1, "us": 10**3, "ms": 10**6}.get(getattr(times.dtype, "time_unit", ""), DAY)
        return polars.Series(times.name, at // unit).cast(times.to_physical().dtype).cast(times.dtype)
    pandas = sys.modules["pandas"]
    kind = datetimes(times)
    stamps = pandas.DatetimeIndex(at.astype("M8[ns]"), name=times.name)
    stamps = (stamps if kind.tz is None else stamps.tz_localize("UTC").tz_convert(kind.tz)).as_unit(kind.unit)
    if isinstance(times, pandas.PeriodIndex):
        return stamps.to_period(times.freq)
    return stamps if isinstance(times, pandas.DatetimeIndex) else as_objects(stamps, times)
