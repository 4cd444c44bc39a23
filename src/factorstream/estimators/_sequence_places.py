"""What time stamps say of periods: which there may be, and where the rows of another table stand in them."""

from __future__ import annotations

import sys

import numpy as np

from ..core.linalg import Array
from ._times import Table, Times, datetimes, working_days


def rows_after(before: Table, table: Table) -> int | None:
    """Rows from the last time step of `before` to the first one of `table`, negative if it comes earlier.

    None where time stamps do not say: some are missing, or they are neither equally spaced nor whole months apart.
    """
    old, new = before.times, table.times
    if old is None or new is None or len(old) < 2 or _zone(old) != _zone(new):
        return None
    for count in (instants, months):
        steps = np.diff(count(old))
        if steps[0] > 0 and (steps == steps[0]).all():
            return int(np.rint((count(new[:1])[0] - count(old)[-1]) / steps[0]))
    return None


DAY = 86_400 * 10**9
"""In nanoseconds."""


def calendar_periods(table: Table) -> tuple[int, ...]:
    """Periods in rows that are usual for the steps between the time stamps, shortest first; none where nothing is said.

    Days and weeks for steps within a day, weeks and years for days and working days, years for weeks and months.
    """
    times = table.times
    if times is None or len(times) < 3:
        return ()
    steps = np.diff(instants(times))
    if (steps == steps[0]).all():
        step = int(steps[0])
        if step < DAY:
            return (DAY // step, 7 * DAY // step) if DAY % step == 0 else ()
        return {DAY: (7, 365), 7 * DAY: (52,)}.get(step, ())
    apart = np.diff(months(times))
    if (apart == apart[0]).all() and apart[0] in (1, 2, 3, 4, 6):
        return (12 // int(apart[0]),)
    worked = working_days(times)
    return (5,) if worked is not None and (worked == 1).all() else ()


def _zone(times: Times) -> bool:
    """Whether the time stamps have a time zone."""
    return (
        getattr(times, "tz", None) is not None or getattr(getattr(times, "dtype", None), "time_zone", None) is not None
    )


def instants(times: Times) -> Array:
    """Time stamps in nanoseconds."""
    if hasattr(times, "to_physical"):
        return np.asarray(times.cast(sys.modules["polars"].Datetime("ns")).to_physical().to_numpy())
    return np.asarray(datetimes(times).as_unit("ns").asi8)


def months(times: Times) -> Array:
    """The months of time stamps."""
    parts = times.dt if hasattr(times, "to_physical") else datetimes(times)
    year, month = (parts.year(), parts.month()) if hasattr(times, "to_physical") else (parts.year, parts.month)
    return np.asarray(year, dtype=np.int64) * 12 + np.asarray(month, dtype=np.int64)
