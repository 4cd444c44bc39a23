"""The chunks of a Dask array at the door of ``fit``: passes over them in tasks, and the rows that a fit begins with."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import _check_feature_names, _check_n_features

from ..cluster.chunks import checked, held, merged, results, row_chunks, task, whole_rows
from ..cluster.sweeps import fit_chunks
from ..core.absurd import Seen, nothing_seen, seen_in
from ..core.absurd_rows import absurd_beside, absurd_entries, merge_seen
from ..core.entries import Entries, together, without
from ..core.linalg import Array
from ..core.variational.blockwise import add_moments, merge_moments, no_moments
from ..core.variational.noise.law import ColumnMoments
from ..core.variational.observed import Observations
from ..tall.rows import with_data
from ._absurd import check_size, warn_of
from ._chosen_rows import Chosen, chosen_rows, with_more
from ._infinity import refuse_infinity
from ._observing import observe
from ._source_rows import Look, clean, room_for
from ._variational_fits import Sweeps


def look_at_chunks(estimator: Any, X: Any) -> tuple[Look, Sweeps]:
    """What ``_source_rows.look`` finds, in two passes: one for some rows, one that measures all; and all sweeps.

    Absurd values are those that are so beside the rows that the fit begins with, wherever the chunks end.
    """
    _check_feature_names(estimator, X, reset=True)
    X = whole_rows(checked(X, type(estimator).__name__))
    _check_n_features(estimator, X, reset=True)
    (n, m), chunks = X.shape, row_chunks(X)
    kept = Chosen(room_for(m))
    for _, first, length in chunks:
        kept = with_more(kept, np.arange(first, first + length), first)
    if kept.all:
        whole = results(X)[0]
        return Look(whole, whole, no_moments(m), nothing_seen(m), n), partial(fit_chunks, [])
    numbers = chosen_rows(kept)  # those of rows, which stand for them
    some = results(X[numbers])[0]
    refuse_infinity(some, lambda at: (int(numbers[at[0]]), at[1]))
    some = without(some, absurd_entries(some))
    known = seen_in(some)
    known_there = held(known)
    found = results(merged(_merge_found, [task(_found, values, first, known_there) for values, first, _ in chunks]))[0]
    check_size(found.seen, X.dtype)
    warn_of(found.absurd, n)
    look = Look(with_data(some), None, found.moments, found.seen, n)
    return look, partial(fit_chunks, chunks, partial(_observed, known))


class _Found(NamedTuple):
    """What a look finds in some chunks."""

    moments: ColumnMoments
    seen: Seen
    absurd: Entries


def _found(values: Array, first: int, known: Seen) -> _Found:
    refuse_infinity(values, lambda at: (at[0] + first, at[1]))
    absurd = absurd_beside(known, values)
    rows = with_data(without(values, absurd))
    moments = no_moments(values.shape[1])
    if len(rows):
        moments = add_moments(moments, observe(rows))
    return _Found(moments, seen_in(rows), absurd._replace(row=absurd.row + first))


def _merge_found(a: _Found, b: _Found) -> _Found:
    moments, seen = merge_moments(a.moments, b.moments), merge_seen(a.seen, b.seen)
    return _Found(moments, seen, together([a.absurd, b.absurd]))


def _observed(known: Seen, values: Array, first: int) -> Observations:
    """The rows of a chunk that have data, as values and weights; absurd values are missing."""
    return observe(with_data(clean(values, known)))
