"""The filter over rows of data: tall products on one side, the small recursion on the other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..core.linalg import Array, SparseRows
from ..core.filter.recursion import absorb, own, run_block
from ..core.filter.state import FilterState, Model, SmallState, StepInfo
from . import kernel, local
from .threads import within_limit

REFRESH = 256
"""Samples after which G is computed from C again, so that rounding cannot build up in its updates."""

NOTHING = np.empty(0, dtype=np.intp)

ONE_BY_ONE, FEW = 50_000, 25
"""Entries and columns of C up to which compiled code takes complete samples one by one, too.

Beyond them BLAS in blocks is quicker.
"""


@within_limit
def filter_rows(
    state: FilterState, model: Model, Y: Array, block_size: int, part_of: int = 0
) -> tuple[FilterState, StepInfo]:
    """Pass the rows of Y (n × m, NaN = missing) through the filter, in order.

    Runs of complete rows go through the exact block recursion, masked rows one at a time, and rows
    with nothing observed change nothing. The arrays of ``state`` are left as they were. Memory beyond
    the state: two copies of C and one block of rows. Where Y is a part of a larger call, ``part_of`` are
    the rows of that: they decide whether compiled code is worth loading.
    """
    n, m = max(len(Y), part_of), Y.shape[1]
    if state.unseen is not None:
        return _meeting_new_features(state, model, Y, block_size, n)
    origin, C, small = state.origin, state.C, own(state.small)
    small_enough = C.size <= ONE_BY_ONE and C.shape[1] <= FEW
    compiled = small_enough and kernel.applies(model, n, m)
    apart = not compiled
    if compiled:
        block_size = max(block_size, min(REFRESH, ONE_BY_ONE // len(C)))
    writable = False
    infos: list[StepInfo] = []
    room = np.empty((min(block_size, len(Y)), len(origin)), Y.dtype) if compiled or origin.any() else None
    for start in range(0, len(Y), block_size):
        block = Y[start : start + block_size]
        if room is not None:
            block = np.subtract(block, origin, out=room[: len(block)])
        for rows, complete in _runs(block) if apart else [(block, False)]:
            if complete and len(rows) > 1:
                small, C, info = _complete(_refreshed(small, C), model, C, rows)
                writable = True
            else:
                if not writable:
                    C, writable = C.copy(), True
                if not compiled and not small_enough:
                    compiled = kernel.applies(model, n, m)  # only now, since loading it takes a while
                if complete and not compiled:
                    small, info = _masked(_refreshed(small, C), model, C, rows[0], None)
                else:
                    small, info = (_compiled if compiled else _singly)(small, model, C, rows)
            infos.append(info)
    return FilterState(C, origin, None, small), StepInfo.join(infos)


def _meeting_new_features(
    state: FilterState, model: Model, Y: Array, block_size: int, part_of: int
) -> tuple[FilterState, StepInfo]:
    """Cut Y at the rows in which features have their first value, and settle those features there."""
    infos: list[StepInfo] = []
    position = 0
    while position < len(Y):
        unseen = state.unseen
        if unseen is None:
            stop = len(Y)
        else:
            news = np.flatnonzero((~np.isnan(Y[position:, unseen])).any(axis=1))
            stop = position + int(news[0]) if len(news) else len(Y)
        known = state._replace(unseen=None)
        known, info = filter_rows(known, model, Y[position:stop], block_size, part_of)
        infos.append(info)
        state = known._replace(unseen=unseen)
        if stop < len(Y):
            first = Y[stop]
            state = settle_new_features(state, first, np.flatnonzero(~np.isnan(first)))
        position = stop
    return state, StepInfo.join(infos)


def settle_new_features(state: FilterState, y: Array, seen: Array) -> FilterState:
    """Give features that have their first value in y (m) that value as origin, and an empty row of C.

    Before, nothing was known of their level; the shared V, shrunk by the samples of other features, would
    take for ever to find it.
    """
    if state.unseen is None:
        return state
    new = seen[state.unseen[seen]]
    if len(new) == 0:
        return state
    origin, C, unseen = state.origin.copy(), state.C.copy(), state.unseen.copy()
    origin[new], C[new], unseen[new] = y[new], 0.0, False
    small = state.small._replace(G=np.asfortranarray(local.gram(C)), age=0)
    return FilterState(C, origin, unseen if unseen.any() else None, small)


@within_limit
def filter_sparse_rows(
    state: FilterState, model: Model, Y: SparseRows, part_of: int = 0
) -> tuple[FilterState, StepInfo]:
    """The same for rows whose stored entries are the observed ones; cost per row O(|Ω| q² + q³).

    Nothing of length m is touched but C, the origin and the mask of unseen features, copied once per call.
    """
    origin, C, small = state.origin.copy(), state.C.copy(), own(state.small)
    n, m = Y.shape
    unseen = np.zeros(m, dtype=bool) if state.unseen is None else state.unseen.copy()
    compiled = kernel.applies(model, max(n, part_of), Y.nnz // max(n, 1))
    infos: list[StepInfo] = []
    k, wait = 0, Wait()
    while k < n:
        small = _refreshed(small, C)
        if compiled and wait.over():
            rows = Y[k : k + REFRESH]
            small, info, done = kernel.filter_sparse_rows(small, model, C, rows, origin, unseen)
            infos.append(info)
            k += done
            if done == rows.shape[0]:
                continue
            wait.begin(done)
        stored = slice(Y.indptr[k], Y.indptr[k + 1])
        seen = Y.indices[stored]
        k += 1
        if len(seen) == 0:
            continue
        if (first := unseen[seen]).any():  # as in settle_new_features
            new = seen[first]
            rank_lost = local.gram(C[new])
            origin[new], C[new], unseen[new] = Y.data[stored][first], 0.0, False
            small = small._replace(G=np.asfortranarray(small.G - rank_lost))
        rows = C[seen]
        y = Y.data[stored] - origin[seen]
        b = local.cross(rows, y[None, :])[:, 0]
        small, step = absorb(small, model, local.gram(rows), b, float(y @ y), len(seen))
        e = y - rows @ step.x.astype(C.dtype, copy=False)
        local.add_rank_one(rows, e, step.g)
        C[seen] = rows
        infos.append(StepInfo(*(np.array([v]) for v in (step.ee, float(len(seen)), step.share))))
    return FilterState(C, origin, unseen if unseen.any() else None, small), StepInfo.join(infos)


class Wait:
    """How many samples NumPy does after compiled code has handed one back: more and more where that goes on."""

    def __init__(self) -> None:
        self.length, self.left = 1, 0

    def begin(self, taken: int) -> None:
        """The next sample is NumPy's, after so many that were taken in."""
        self.length = 1 if taken >= 16 else min(2 * self.length, 128)
        self.left = self.length - 1

    def over(self) -> bool:
        """Whether to try again; counts."""
        self.left -= 1
        return self.left < 0


def _runs(block: Array) -> Iterator[tuple[Array, bool]]:
    """Cut a block into runs of complete rows (True) and runs of others."""
    if not local.has_gaps(block):
        yield block, True
        return
    complete = np.logical_not(np.isnan(block).any(axis=1))
    ends = [*(np.flatnonzero(complete[1:] != complete[:-1]) + 1).tolist(), len(block)]
    start = 0
    for stop in ends:
        yield block[start:stop], bool(complete[start])
        start = stop


def _refreshed(small: SmallState, C: Array) -> SmallState:
    """The state with G computed from C again, if it is time."""
    return small if small.age < REFRESH else small._replace(G=np.asfortranarray(local.gram(C)), age=0)


def _complete(small: SmallState, model: Model, C: Array, Y: Array) -> tuple[SmallState, Array, StepInfo]:
    """A run of complete samples: three tall products in, one out."""
    small, block = run_block(small, model, local.cross(C, Y), local.self_products(Y), Y.shape[1])
    return small, local.combine(C, block.A, Y, block.D), block.info


def _singly(small: SmallState, model: Model, C: Array, Y: Array) -> tuple[SmallState, StepInfo]:
    """Samples one after another, those with nothing observed left out; C is updated in place."""
    infos = []
    for y, missing in zip(Y, np.isnan(Y), strict=True):
        if np.count_nonzero(missing) < len(y):
            small, info = _masked(_refreshed(small, C), model, C, y, missing)
            infos.append(info)
    return small, StepInfo.join(infos)


def _masked(small: SmallState, model: Model, C: Array, y: Array, missing: Array | None) -> tuple[SmallState, StepInfo]:
    """One sample, whatever stands in y at the missing entries; C is updated in place."""
    gone = NOTHING if missing is None else np.flatnonzero(missing)
    if len(gone):
        y = y.copy()
        y[gone] = 0.0
    n = len(y) - len(gone)
    G = local.observed_gram(C, small.G, gone)
    b = local.cross(C, y[None, :])[:, 0]
    small, step = absorb(small, model, G, b, float(y @ y), n)
    e = local.residual(C, step.x, y, gone)
    local.add_rank_one(C, e, step.g)
    return small, StepInfo(*(np.array([v]) for v in (step.ee, float(n), step.share)))


def _compiled(small: SmallState, model: Model, C: Array, Y: Array) -> tuple[SmallState, StepInfo]:
    """The same by compiled code, but for samples that it hands back."""
    infos = []
    at, wait = 0, Wait()
    while at < len(Y):
        small = _refreshed(small, C)
        if wait.over():
            rows = Y[at : at + REFRESH]
            small, info, done = kernel.filter_rows(small, model, C, rows)
            infos.append(info)
            at += done
            if done == len(rows):
                continue
            wait.begin(done)
        small, info = _singly(small, model, C, Y[at : at + 1])
        infos.append(info)
        at += 1
    return small, StepInfo.join(infos)
