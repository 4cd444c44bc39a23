"""New features in the middle of a stream: a run of the filter made wider, nothing else about it changed."""

from __future__ import annotations

import numpy as np

from ..core.absurd import Seen
from ..core.filter.groups import Groups, releveled
from ..core.filter.state import FilterState
from ..core.linalg import Array
from ..tall.places import place_of
from ..tall.rows import dense
from ._filter_columns import Columns
from ._filter_run import FilterRun

__all__ = ["widened"]


def widened(run: FilterRun, n_new: int) -> FilterRun:
    """The run with ``n_new`` more features behind the others, of which nothing is known yet.

    They are what the filter calls unseen: their loadings are zero, so that they have no part in any sum over the
    features, and their first value makes them known. So the others go on as if the new ones were not there. While the
    first rows of a stream are kept, the state follows from these and is made anew by the next rows.
    """
    if run.warm_rows is not None:
        run = run._replace(warm_rows=_with_columns(dense(run.warm_rows), n_new, np.nan))
    return run._replace(
        filter=_wider_state(run.filter, run.settings.model.r, n_new),
        columns=_wider_columns(run.columns, n_new),
        seen=None if run.seen is None else _wider_seen(run.seen, n_new),
    )


def _wider_state(state: FilterState, r: int, n_new: int) -> FilterState:
    place = place_of(state.C)
    C, origin = place.get(state.C, 0), place.get(state.origin, 0)
    unseen = np.zeros(len(origin), dtype=bool) if state.unseen is None else place.get(state.unseen, 0)
    groups = state.groups
    if groups is not None:
        seen = _longer(place.get(groups.seen, 0), n_new, 0.0)
        groups = _with_levels(groups, seen, _longer(place.get(groups.group, 0), n_new, 0), state.small.S, r)
        groups = groups._replace(seen=place.put(seen, 0), group=place.put(groups.group, 0))
    rows = np.concatenate([C, np.zeros((n_new, C.shape[1]), C.dtype)])
    return state._replace(
        C=place.put(rows, 0),
        origin=place.put(_longer(origin, n_new, 0.0), 0),
        unseen=place.put(_longer(unseen, n_new, True), 0),
        groups=groups,
    )


def _with_levels(groups: Groups, seen: Array, group: Array, S: Array, r: int) -> Groups:
    """The groups with every feature in the level of its share, the new ones in that of the rarest."""
    group, groups = releveled(seen, groups._replace(group=group), S, r)
    return groups._replace(group=group)


def _wider_columns(columns: Columns, n_new: int) -> Columns:
    """Units of 1 until four values have come, and the common noise, known as badly as that of any other column."""
    noise = columns.noise
    if noise is not None:
        freedom = _longer(noise.freedom, n_new, float(noise.freedom.min()))
        noise = noise._replace(ratio=_longer(noise.ratio, n_new, 1.0), freedom=freedom)
    return Columns(
        unit=None if columns.unit is None else _longer(columns.unit, n_new, 1.0),
        noise=noise,
        recent=None if columns.recent is None else _with_columns(columns.recent, n_new, np.nan),
        first=None if columns.first is None else _with_columns(columns.first, n_new, np.nan),
    )


def _wider_seen(seen: Seen, n_new: int) -> Seen:
    return Seen(
        low=_longer(seen.low, n_new, np.inf),
        high=_longer(seen.high, n_new, -np.inf),
        known=_longer(seen.known, n_new, 0),
        strikes=_longer(seen.strikes, n_new, 0),
        last=_longer(seen.last, n_new, np.nan),
        quiet=False,
    )


def _longer(values: Array, n_new: int, value: float) -> Array:
    return np.concatenate([values, np.full(n_new, value, values.dtype)])


def _with_columns(rows: Array, n_new: int, value: float) -> Array:
    return np.concatenate([rows, np.full((len(rows), n_new), value, rows.dtype)], axis=1)
