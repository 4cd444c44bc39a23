"""When the rows of a saved sequence model were, so that the rows to come have dates and none is taken in twice."""

from __future__ import annotations

from datetime import UTC
from importlib.util import find_spec
from typing import Any

import numpy as np

from ..estimators._stored_times import StoredIndex, StoredTable
from ..estimators._stored_zones import zone, zone_text
from ..estimators._times import KEPT_TIMES
from ..estimators.sequence import SequenceFilter
from ..report.given import is_fitted_to
from ..sources.steps import plain
from ..sources.table import Array, TableError
from ..sources.timeline import Timeline, regular_dates
from .places import time_texts

__all__ = ["MOST_STEPS", "keep_times", "known_times", "rows_between", "take_times"]

MOST_STEPS = 100_000
"""Steps without a row that are taken as rows without data: eleven years of hours. A model of four columns takes 10,000
of them in 1.1 s, with robust noise in 2.5 s. Not tuned."""


def keep_times(model: Any, when: Timeline | None, names: list[str]) -> None:
    """Write into a sequence model when its last rows were, for whoever loads it, who gets tables of pandas.

    Nothing where the rows have no dates, or pandas is not installed to read them again.
    """
    if not isinstance(model, SequenceFilter) or when is None or not when.is_dated or find_spec("pandas") is None:
        return
    last = int(when.steps[-1])
    dates = [when.step.moved(when.first, k) for k in range(last + 1 - min(KEPT_TIMES, model.n_samples_seen_), last + 1)]
    try:
        zone_name = zone_text(getattr(dates[0], "tzinfo", None))
    except TypeError:
        return
    if zone_name is not None:
        dates = [one.astimezone(UTC).replace(tzinfo=None) for one in dates]
    ticks = np.array(dates, dtype="datetime64[us]").astype(np.int64)
    times = StoredIndex("datetime", ticks, when.name, "us", zone_name)
    columns = StoredIndex("object", tuple(names), None, "object")
    model.state_ = model.state_._replace(table=StoredTable("pandas", None, columns, None, 0, times, when.form))


def take_times(model: SequenceFilter) -> Timeline | None:
    """Take off a model when its last rows were; it then goes on with arrays. None where it does not know."""
    known = known_times(model)
    model.state_ = model.state_._replace(table=StoredTable())
    return known


def known_times(model: Any) -> Timeline | None:
    """When the last rows of a model were, in the form and by the name that their file had; None: it does not know."""
    if not isinstance(model, SequenceFilter):
        return None
    table = model.state_.table
    stored = table.times
    if stored is None or stored.kind not in ("datetime", "polars"):
        return None
    unit = "D" if stored.dtype == "date" else stored.dtype
    dates = np.asarray(stored.values).astype(np.int64).view(f"M8[{unit}]").astype("M8[us]").tolist()
    if stored.zone is not None:
        there = zone(stored.zone)
        dates = [one.replace(tzinfo=UTC).astimezone(there) for one in dates]
    name = stored.name if table.column is None else table.column
    return regular_dates(dates, table.form, "time" if name is None else str(name))


def rows_between(model: SequenceFilter, X: Array, known: Timeline | None, when: Timeline | None) -> int | None:
    """How many rows without data lie between the last row of a model and the first of X; None where nothing says it.

    Raises
    ------
    TableError
        Where the rows do not come after those that the model has seen, or come more than MOST_STEPS steps later; the
        message continues "FILE cannot be used: ".
    """
    if known is None or when is None or not when.is_dated:
        if _seen_last(model, X):
            raise TableError("its rows are those that the model has seen last; pass the rows that come after them")
        return None
    first, last = plain(when.first), plain(known.last)
    if (first.tzinfo is None) != (last.tzinfo is None):
        return None
    begin, end = time_texts([when.first, known.last])
    if first <= last:
        seen = f"it begins at {begin}, which is not after the last row that the model has seen ({end})"
        raise TableError(f"{seen}; pass the rows that come after it")
    steps = known.steps_of([when.step.moved(when.first, k) for k in when.steps.tolist()])
    if steps is None or not np.array_equal(steps - steps[0], when.steps):
        return None  # they do not go on in these steps
    between = int(steps[0] - known.steps[-1]) - 1
    if between > MOST_STEPS:
        late = f"it begins at {begin}, {between + 1:,} steps after the last row that the model has seen ({end})"
        raise TableError(f"{late}; fit a new model")
    return between


def _seen_last(model: SequenceFilter, X: Array) -> bool:
    """Whether X ends with the rows that a model has taken in last, and that is no accident."""
    rows = np.asarray(model.state_.rows)
    k = min(len(rows), len(X))
    if not k or not np.array_equal(rows[-k:], X[-k:], equal_nan=True):
        return False
    several = k > 1 and not np.array_equal(rows[-k:-1], rows[-k + 1 :], equal_nan=True)
    return several or is_fitted_to(model, X)
