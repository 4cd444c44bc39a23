"""The filter over rows of data: chooses the way they go (see ``engine``), and takes them there block by block."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from ..arrays import dtype_of
from ..core.filter.model import FilterModel
from ..core.filter.state import FilterRecord, FilterState, copy_arrays
from ..core.filter.whitened import LOOPS, in_loops, in_numpy
from ..core.linalg import Array, SparseRows, gram, is_sparse
from ..core.place import HERE, Place, Tall
from ..cores import compiling
from ..progress import Step, say_nothing
from . import kernel
from .blocks import Blocks
from .counted_products import first_in_row
from .counted_rows import CountedRows, with_newcomers
from .engine import REFRESH, Engine, Filtered, RowBlock
from .places import place_of
from .products import centred, centred_anew, first_values, in_units, n_to_centre, room, settle, still_unseen
from .rows import Rows, divided
from .rows_numpy import NumpyRows
from .within_limit import within_limit

ONE_BY_ONE, FEW = 50_000, 25
"""Entries and columns of C up to which compiled code takes complete samples one by one, too.

Not tuned, speed only: beyond some such size BLAS in blocks is quicker (docs/performance.md, complete rows)."""

LONG = 20_000
"""Rows of a call from which on the small recursion between blocks of complete rows is compiled; where products are made
elsewhere, meant for speed, it always is.

Derived: it saves some 15 microseconds per row, and to load it takes 0.3 seconds; speed and rounding only."""


@within_limit
def filter_rows(
    state: FilterState,
    model: FilterModel,
    X: Rows,
    block_size: int,
    part_of: int = 0,
    unit: Array | None = None,
    step: Step = say_nothing,
    done: int = 0,
) -> tuple[FilterState, FilterRecord]:
    """Pass the rows of X (n × m, NaN = missing, or sparse) through the filter, in order.

    Runs of complete rows go through the exact block recursion, others one at a time, and rows with nothing observed
    change nothing. The arrays of ``state`` are left as they were. Rows of another dtype than C are converted block by
    block; memory beyond the state is two copies of C and one block of rows. On a device it is two blocks, and where
    rows have gaps the values and residuals of 16 (``Place.lag``) and the rows of C gathered for two of them. Where X
    is a part of a larger call, ``part_of`` is the number of rows of that: it decides whether compiled code is worth
    loading. ``unit`` (m) is what the columns of X are to be divided by, which is done block by block as well, but for
    what sparse rows store. ``step`` is told before every block of dense rows how many are done, ``done`` of them
    before this call.

    A feature that has its first value here gets that value as its origin, and an empty row of C: before, nothing was
    known of its level, and the shared V, shrunk by the samples of other features, would take for ever to find it.
    """
    place, part_of = place_of(state.C), max(X.shape[0], part_of)
    records: list[FilterRecord] = []
    if is_sparse(X):
        X, unit = divided(X, unit), None
    stays_sparse = is_sparse(X) and place.keeps_sparse
    tall_unit = None if unit is None else place.put(unit, 0)
    start = 0
    while start < X.shape[0]:
        stop = X.shape[0] if stays_sparse else _row_with_first_values(place, state, X, start, block_size)
        if start < stop:
            rows = X if stop - start == X.shape[0] else X[start:stop, :]  # a slice of sparse rows is a copy
            state, new = _filter(place, state, model, rows, block_size, part_of, tall_unit, step, done + start)
            records += new
        if stop < X.shape[0]:
            Y = place.put(X[stop : stop + 1, :], 1)
            if tall_unit is not None:
                Y = place.each(in_units, Y, tall_unit)
            new = place.each(first_in_row, state.unseen, Y, 0)
            C, origin, unseen = place.each(settle, state.C, state.origin, state.unseen, Y, 0)
            small = state.small._replace(G=np.asfortranarray(place.total(gram, C)), age=0)
            if state.groups is not None:
                state = state._replace(groups=with_newcomers(place, state.groups, new, small, model))
            state = state._replace(C=C, origin=origin, unseen=still_unseen(place, unseen), small=small)
        start = stop
    return state, FilterRecord.join(records)


def _row_with_first_values(place: Place, state: FilterState, X: Rows, start: int, block_size: int) -> int:
    """The first row from ``start`` on in which a feature has its first value; the number of rows if there is none.

    Engines for sparse rows look for first values themselves.
    """
    n = int(X.shape[0])
    if state.unseen is None:
        return n
    for first in range(start, n, block_size):
        Y = place.put(X[first : min(first + block_size, n), :], 1)
        found = np.flatnonzero(place.total(first_values, Y, state.unseen))
        if len(found):
            return first + int(found[0])
    return n


def _filter(
    place: Place,
    state: FilterState,
    model: FilterModel,
    X: Rows,
    block_size: int,
    part_of: int,
    unit: Tall | None,
    step: Step,
    done: int,
) -> Filtered:
    """Some rows; no feature has its first value in them unless they stay sparse."""
    engine, block_size = _engine(place, state.C, model, X, part_of, block_size)
    if is_sparse(X) and place.keeps_sparse:
        blocks = _sparse_block(place, state, X)
    else:
        blocks = _dense_blocks(place, state, X, block_size, unit, step, done)
    C, origin, unseen, small, groups = state
    return engine.run(FilterState(C, origin, unseen, copy_arrays(small), groups), blocks)


def _dense_blocks(
    place: Place, state: FilterState, X: Rows, block_size: int, unit: Tall | None, step: Step, done: int
) -> Iterator[RowBlock]:
    """The rows in their units less the origin, one block after another: in the same memory, if they are here."""
    n, origin = int(X.shape[0]), state.origin
    space = None
    if not place.far and (unit is not None or place.total(n_to_centre, state.C, origin, dtype_of(X))):
        space = place.each(room, state.C, min(block_size, n))
    for start in range(0, n, block_size):
        step(done + start)
        stop = min(start + block_size, n)
        Y = place.put(X[start:stop, :], 1)
        if place.far:  # where room is new for every task, whatever is done
            Y = place.each(centred_anew, Y, origin, unit)
        yield RowBlock(Y if space is None else place.each(centred, Y, origin, space, unit), stop - start)


def _sparse_block(place: Place, state: FilterState, X: SparseRows) -> Iterator[RowBlock]:
    """All rows: what is stored is little, and an engine copies its dictionary once per call."""
    from .sparse_products import converted  # for sparse rows alone

    yield RowBlock(place.each(converted, place.put(X, 1), state.C), int(X.shape[0]))


def _engine(place: Place, C: Tall, model: FilterModel, X: Rows, part_of: int, block_size: int) -> tuple[Engine, int]:
    """The way for the rows X of a call of ``part_of`` rows, and how many of them to hand over at once."""
    n, m = X.shape
    doubts = model.step.doubts
    if is_sparse(X) and place.keeps_sparse:
        by_loops = place is HERE and kernel.applies(model, part_of, X.nnz // n)
        return _sparse_engine(place, model, by_loops), n
    from .counted_compiled import CompiledCountedRows  # only filtering needs these
    from .rows_compiled import CompiledRows

    by_numpy = _counted_one_by_one(place, C, model) if doubts else _one_by_one(place, C, model)
    compiled: Engine = CompiledCountedRows(model, C) if doubts else CompiledRows(model, C)
    narrow = m * model.q <= ONE_BY_ONE and model.q <= FEW
    if place is HERE and narrow and kernel.applies(model, part_of, m):
        return compiled, max(block_size, min(REFRESH, ONE_BY_ONE // m))
    if n == 1 and (place is not HERE or narrow):
        return by_numpy, block_size
    loop = cache(lambda: in_loops if compiling.applies(part_of >= LONG or place is not HERE, LOOPS) else in_numpy)
    if place is not HERE or narrow:
        return Blocks(place, model, lambda: by_numpy, loop), block_size
    singles = cache(lambda: compiled if kernel.applies(model, part_of, m) else by_numpy)
    return Blocks(place, model, singles, loop), block_size


def _sparse_engine(place: Place, model: FilterModel, by_loops: bool) -> Engine:
    """The way for sparse rows."""
    from .counted_compiled import CompiledCountedSparseRows  # for sparse rows alone
    from .counted_sparse import CountedSparseRows
    from .sparse_compiled import CompiledSparseRows
    from .sparse_numpy import NumpySparseRows

    if model.step.doubts:
        return CompiledCountedSparseRows(model) if by_loops else CountedSparseRows(place, model)
    return CompiledSparseRows(model) if by_loops else NumpySparseRows(place, model)


def _one_by_one(place: Place, C: Tall, model: FilterModel) -> Engine:
    """The way for single rows where all features share a covariance, and for the process itself in NumPy."""
    if place.lag == 1:
        return NumpyRows(place, model, C)
    from . import rounds  # for devices alone
    from .lagging import LaggingRows

    return rounds.RoundRows(place, model) if rounds.applies(C) else LaggingRows(place, model)


def _counted_one_by_one(place: Place, C: Tall, model: FilterModel) -> Engine:
    """The same where every feature has its own doubt."""
    if place.lag > 1:
        from . import counted_rounds  # for devices alone

        if counted_rounds.applies(C, model):
            return counted_rounds.CountedRounds(place, model)
    return CountedRows(place, model, C)
