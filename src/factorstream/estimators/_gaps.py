"""Warn about what a sequence lacks: time steps that are left out (rows are taken as equally spaced), and values."""

from __future__ import annotations

import numpy as np

from ..core.dynamics.scale import LEAST_KNOWN
from ..core.linalg import Array
from ._columns import marked
from ._times import Table, datetimes, frequency, ticks, working_days
from ._validation import warn_caller

LONG_STEP = 1.5
"""Steps longer than this many median steps leave some out: half-way to two, and months of 28 to 31 days do not."""


def warn_of_gaps(table: Table, rows: int) -> None:
    """Warn if steps are left out before any of the last ``rows`` time stamps."""
    times = table.times
    if times is None or len(times) < 3:
        return
    missing = _left_out(np.diff(ticks(times)), rows)
    if missing.any():
        worked = working_days(times)
        missing = missing if worked is None else _left_out(worked, rows)
    if not missing.any() or (table.library == "pandas" and frequency(datetimes(times)) is not None):
        return
    at = len(times) - 1 - len(missing) + int(np.argmax(missing))
    fill = "upsample" if table.library == "polars" else "asfreq" if hasattr(times, "inferred_freq") else "reindex"
    if table.library == "pandas" and table.column is not None:
        fill = f"set_index({table.column!r}).{fill}"
    warn_caller(
        f"Rows are taken as equally spaced, but about {int(missing.sum())} step(s) between their time stamps are left "
        f"out, the most from {times[at]} to {times[at + 1]}; put rows of NaN there, as df.{fill}(...) does."
    )


def _left_out(steps: Array, rows: int) -> Array:
    """How many steps of the usual length each of the last ``rows`` steps leaves out."""
    size = steps[-rows:] / np.median(steps)
    return np.where(size > LONG_STEP, np.rint(size) - 1.0, 0.0)


def warn_of_unknown(counts: Array, names: Array | None) -> None:
    """Warn of features of which too few values are known for finite bounds."""
    unknown = np.asarray(counts < LEAST_KNOWN)
    if unknown.any():
        warn_caller(
            "Bounds are infinite where one value of a feature is known, or none, which does not say how far others "
            f"lie: {marked(unknown, names)}."
        )
