"""The filter over rows of data: chooses the way they go (see ``engine``), and takes them there block by block."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from ..core.filter.model import FilterModel
from ..core.filter.state import FilterRecord, FilterState, copy_arrays
from ..core.linalg import SparseRows, gram, is_sparse
from ..core.place import HERE, Place, Tall
from . import kernel
from .blocks import Blocks
from .engine import REFRESH, Engine, RowBlock
from .places import place_of
from .products import centred, copied, first_values, n_to_centre, room, settle, still_unseen
from .rows import Rows
from .rows_compiled import CompiledRows
from .rows_numpy import NumpyRows
from .sparse_compiled import CompiledSparseRows
from .sparse_numpy import NumpySparseRows
from .sparse_products import converted, n_entries
from .threads import within_limit

ONE_BY_ONE, FEW = 50_000, 25
"""Entries and columns of C up to which compiled code takes complete samples one by one, too.

Measured (docs/performance.md): beyond them BLAS in blocks is quicker. They decide about speed only."""


@within_limit
def filter_rows(
    state: FilterState, model: FilterModel, X: Rows, block_size: int, part_of: int = 0
) -> tuple[FilterState, FilterRecord]:
    """Pass the rows of X (n × m, NaN = missing, or sparse) through the filter, in order.

    Runs of complete rows go through the exact block recursion, others one at a time, and rows with nothing observed
    change nothing. The arrays of ``state`` are left as they were. Rows of another dtype than C are converted block
    by block; memory beyond the state is two copies of C and one block of rows. Where X is a part of a larger call,
    ``part_of`` is the number of rows of that: it decides whether compiled code is worth loading.

    A feature that has its first value here gets that value as its origin, and an empty row of C: before, nothing was
    known of its level, and the shared V, shrunk by the samples of other features, would take for ever to find it.
    """
    place, n = place_of(state.C), max(X.shape[0], part_of)
    if is_sparse(X):
        return _filter_sparse(place, state, model, X, n)
    records: list[FilterRecord] = []
    start = 0
    while start < X.shape[0]:
        stop = _row_with_first_values(place, state, X, start, block_size)
        state, new = _filter_dense(place, state, model, X[start:stop], block_size, n)
        records += new
        if stop < X.shape[0]:
            Y = place.put(X[stop : stop + 1], 1)
            C, origin, unseen = place.each(settle, state.C, state.origin, state.unseen, Y, 0)
            small = state.small._replace(G=np.asfortranarray(place.total(gram, C)), age=0)
            state = FilterState(C, origin, still_unseen(place, unseen), small)
        start = stop
    return state, FilterRecord.join(records)


def _row_with_first_values(place: Place, state: FilterState, X: Rows, start: int, block_size: int) -> int:
    """The first row from ``start`` on in which a feature has its first value; the number of rows if there is none."""
    n = int(X.shape[0])
    if state.unseen is None:
        return n
    for first in range(start, n, block_size):
        Y = place.put(X[first : first + block_size], 1)
        found = np.flatnonzero(place.total(first_values, Y, state.unseen))
        if len(found):
            return first + int(found[0])
    return n


def _filter_dense(
    place: Place, state: FilterState, model: FilterModel, X: Rows, block_size: int, part_of: int
) -> tuple[FilterState, list[FilterRecord]]:
    """Dense rows in which no feature has its first value."""
    n = int(X.shape[0])
    if n == 0:
        return state, []
    engine, block_size = _engine(place, state.C, model, n, part_of, block_size)
    small, C, records = engine.run(copy_arrays(state.small), state.C, _blocks(place, state, X, block_size))
    return FilterState(C, state.origin, state.unseen, small), records


def _blocks(place: Place, state: FilterState, X: Rows, block_size: int) -> Iterator[RowBlock]:
    """The rows less the origin, one block after another in the same memory."""
    n, origin = int(X.shape[0]), state.origin
    space = None
    if place.total(n_to_centre, state.C, origin, X.dtype):
        space = place.each(room, state.C, min(block_size, n))
    for start in range(0, n, block_size):
        stop = min(start + block_size, n)
        Y = place.put(X[start:stop], 1)
        yield RowBlock(Y if space is None else place.each(centred, Y, origin, space), stop - start)


def _engine(place: Place, C: Tall, model: FilterModel, n: int, part_of: int, block_size: int) -> tuple[Engine, int]:
    """The way for n dense rows of a call of ``part_of`` rows, and how many of them to hand over at once."""
    m, by_numpy = place.total(len, C), NumpyRows(place, model, C)
    small = m * model.q <= ONE_BY_ONE and model.q <= FEW
    if place is HERE and small and kernel.applies(model, part_of, m):
        return CompiledRows(model, C), max(block_size, min(REFRESH, ONE_BY_ONE // m))
    if place is not HERE or small:
        return by_numpy if n == 1 else Blocks(place, model, lambda: by_numpy), block_size
    singles = cache(lambda: CompiledRows(model, C) if kernel.applies(model, part_of, m) else by_numpy)
    return Blocks(place, model, singles), block_size


def _filter_sparse(
    place: Place, state: FilterState, model: FilterModel, X: SparseRows, part_of: int
) -> tuple[FilterState, FilterRecord]:
    """Sparse rows. Nothing of length m is touched but C, the origin and the mask, copied once per call."""
    C, origin = place.each(copied, state.C), place.each(copied, state.origin)
    unseen = None if state.unseen is None else place.each(copied, state.unseen)
    own = FilterState(C, origin, unseen, copy_arrays(state.small))
    n = int(X.shape[0])
    Y = place.each(converted, place.put(X, 1), C)
    engine: CompiledSparseRows | NumpySparseRows = NumpySparseRows(place, model)
    if place is HERE and kernel.applies(model, part_of, n_entries(Y) // max(n, 1)):
        engine = CompiledSparseRows(model)
    after, records = engine.run(own, Y, n)
    if after.unseen is not None:
        after = after._replace(unseen=still_unseen(place, after.unseen))
    return after, FilterRecord.join(records)
