"""The stream of a filter whose features are in shards: the rows stay there, but for the first ones.

The rows that a stream starts from are brought to this process, and so are the few that it keeps. All others are
judged, multiplied and taken in where they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.linalg import Array
from ..core.place import Placed
from ..tall.placed_rows import PlacedRows
from ..tall.places import place_of, using
from ..tall.starting import warm_up
from ._filter_run import FilterRun, FilterSettings
from ._in_shards import InShards
from ._infinity import refuse_infinity

ANCHOR = 16_384
"""Rows after which the shards are brought to this process and sent out anew. A shard that is lost with its worker is
made again from there on, and the scheduler remembers the tasks since then. Not tuned: with a hundred components, a
hundredth of what the rows are; memory of the scheduler, and time after a worker was lost."""

Begin = Callable[[Any], FilterRun]
GoOn = Callable[[FilterRun, Any], FilterRun]


def stream(run: FilterRun | None, settings: FilterSettings, X: InShards, begin: Begin, go_on: GoOn) -> FilterRun:
    """The run after all rows of X; None: they begin it. ``begin`` and ``go_on`` are those of ``_filter_run``."""
    since, few = 0, warm_up(settings.model.r)
    with using(X.place):
        for first, rows in X.blocks():
            n, done = rows.shape[0], 0
            while done < n and (run is None or run.warm_rows is not None):
                part = _rows_here(rows, first, done, min(done + few, n))
                run = begin(part) if run is None else go_on(run, part)
                done += len(part)
            if done < n and run is not None:
                run = go_on(run, rows[done:, :])
            since += n
            if since >= ANCHOR:
                run, since = anchored(run), 0
    assert run is not None  # for the type checker: an array has a row at least
    return run


def _rows_here(rows: PlacedRows, first: int, start: int, stop: int) -> Array:
    """Some rows of a chunk, of which the first has this number, in this process and without infinities."""
    part = rows.rows_here(np.arange(start, stop))
    refuse_infinity(part, lambda at: (at[0] + first + start, at[1]))
    return part


def anchored(value: Any) -> Any:
    """A state whose shards do not depend on earlier tasks any more."""
    if isinstance(value, Placed) and not isinstance(value, PlacedRows):
        place = place_of(value)
        return place.put(place.get(value, 0), 0)
    if hasattr(value, "_fields"):
        return type(value)(*map(anchored, value))
    return value
