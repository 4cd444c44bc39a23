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
from ..sources.table import Array, TableError
from ..sources.timeline import Timeline, regular_dates
from .places import time_texts

__all__ = ["MOST_STEPS", "keep_times", "rows_between", "take_times"]

MOST_STEPS = 100_000
"""Steps between the rows of a model and those of a file that are taken as rows without data: a second or two of work.
Not tuned."""


def keep_times(model: Any, when: Timeline | None, names: list[str]) -> None:
    """Write into a sequence model when its last rows were, for whoever loads it, who gets tables of pandas.

    Nothing where the rows have no dates, or pandas is not installed to read them again.
    """
    if not isinstance(model, SequenceFilter) or when is None or not when.is_dated or find_spec("pandas") is None:
        return
    last = int(when.steps[-1])
    dates = [when.step.moved(when.first, k) for k in range(max(0, last + 1 - KEPT_TIMES), last + 1)]
    try:
        zone_name = zone_text(getattr(dates[0], "tzinfo", None))
    except TypeError:
        return
    plain = dates if zone_name is None else [one.astimezone(UTC).replace(tzinfo=None) for one in dates]
    times = StoredIndex("datetime", np.array(plain, dtype="datetime64[us]").astype(np.int64), None, "us", zone_name)
    columns = StoredIndex("object", tuple(names), None, "object")
    model.state_ = model.state_._replace(table=StoredTable("pandas", None, columns, None, 0, times))


def take_times(model: SequenceFilter) -> Timeline | None:
    """Take off a model when its last rows were; it then goes on with arrays. None where it does not know."""
    stored = model.state_.table.times
    model.state_ = model.state_._replace(table=StoredTable())
    if stored is None or stored.kind not in ("datetime", "polars"):
        return None
    unit = "D" if stored.dtype == "date" else stored.dtype
    dates = np.asarray(stored.values).astype(np.int64).view(f"M8[{unit}]").astype("M8[us]").tolist()
    if stored.zone is not None:
        there = zone(stored.zone)
        dates = [one.replace(tzinfo=UTC).astimezone(there) for one in dates]
    return regular_dates(dates)


def rows_between(model: SequenceFilter, X: Array, known: Timeline | None, when: Timeline | None) -> int | None:
    """How many rows without data lie between the last row of a model and the first of X; None where nothing says it.

    Raises
    ------
    TableError
        Where the rows do not come after those that the model has seen; the message continues "FILE cannot be used: ".
    """
    if known is None or when is None or not when.is_dated:
        if _seen_last(model, X):
            raise TableError("its rows are those that the model has seen last; pass the rows that come after them")
        return None
    k = when.steps_after(known, MOST_STEPS)
    if k == 0:
        last = known.step.moved(known.first, int(known.steps[-1]))
        begin, end = time_texts([when.first, last])
        seen = f"it begins at {begin}, which is not after the last row that the model has seen ({end})"
        raise TableError(f"{seen}; pass the rows that come after it")
    return None if k is None else k - 1


def _seen_last(model: SequenceFilter, X: Array) -> bool:
    """Whether X ends with the rows that a model has taken in last, and that is no accident."""
    rows = np.asarray(model.state_.rows)
    k = min(len(rows), len(X))
    if not k or not np.array_equal(rows[-k:], X[-k:], equal_nan=True):
        return False
    several = k > 1 and not np.array_equal(rows[-k:-1], rows[-k + 1 :], equal_nan=True)
    return several or is_fitted_to(model, X)
