"""Rows with their features in shards at the door of a variational fit: what ``_chunked_rows`` is for whole rows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from ..core.absurd import Seen, nothing_seen, seen_in
from ..core.absurd_rows import merge_seen
from ..core.entries import Entries, together
from ..core.linalg import Array
from ..core.variational.blockwise import add_moments, no_moments
from ..tall.placed_rows import PlacedRows
from ..tall.rows import with_data
from ._absurd import warn_of
from ._chosen_rows import Chosen, chosen_rows, with_more
from ._in_shards import InShards, take_columns
from ._observing import observe
from ._placed_absurd import rows_beside, rows_together, seen_there
from ._source_rows import Look, room_for
from ._variational_fits import Sweeps, over_blocks


def look_at_shards(estimator: Any, X: InShards) -> tuple[Look, Sweeps]:
    """What ``_chunked_rows.look_at_chunks`` finds: the same rows to begin with, the same measures, and all sweeps."""
    take_columns(estimator, X.array, reset=True)
    (n, m), place = X.shape, X.place
    kept = Chosen(room_for(m))
    for first, length in X.row_chunks():
        kept = with_more(kept, np.arange(first, first + length), first)
    numbers = chosen_rows(kept)  # those of rows, which stand for them
    known, absurd, some = rows_together(X.rows(numbers), X.dtype, numbers)
    if kept.all:
        warn_of(absurd, n)
        some = with_data(some)
        return Look(some, some, add_moments(no_moments(m, place), observe(some, place), place), known, n), _no_sweeps
    moments, seen, found = no_moments(m, place), seen_there(nothing_seen(m), place), list[Entries]()
    for first, rows in X.blocks():
        entries, clean = rows_beside(known, rows, X.dtype, np.arange(first, first + rows.shape[0]))
        found.append(entries)
        seen = Seen._make((*place.each(_with_more_seen, seen[:5], clean.tall), False))
        data = with_data(clean)
        if data.shape[0]:
            moments = add_moments(moments, observe(data, place), place)
    warn_of(together(found), n)
    return Look(with_data(some), None, moments, seen, n), over_blocks(partial(_clean_blocks, X, known))


def _no_sweeps(*_: Any) -> Any:
    raise AssertionError("rows that are fitted at once are not swept over in blocks")


def _clean_blocks(X: InShards, known: Seen) -> Iterator[PlacedRows]:
    """All rows with data, their absurd values missing."""
    for _, rows in X.blocks():
        clean = with_data(rows_beside(known, rows, X.dtype, np.arange(rows.shape[0]))[1])
        if clean.shape[0]:
            yield clean


def _with_more_seen(before: tuple[Array, ...], X: Array) -> tuple[Array, ...]:
    return merge_seen(Seen._make((*before, False)), seen_in(X))[:5]
