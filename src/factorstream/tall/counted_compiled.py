"""The engine for a filter in which every feature has its own doubt, in compiled loops."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from ..core.filter.model import FilterModel
from ..core.filter.state import FilterState
from ..core.linalg import Array, Rows, SparseRows
from ..core.place import HERE
from . import kernel
from .counted_rows import CountedRows, regrouped, with_room
from .counted_sparse import CountedSparseRows, with_first_values
from .engine import Filtered, RowBlock, compiled_or_numpy, refreshed, writable
from .sparse_numpy import own_copy, settled


class CompiledCountedRows(NamedTuple):
    """Row after row, in this process; ``kernel.applies`` says for which models."""

    model: FilterModel
    given: Array
    """The caller's C, which stays as it is."""

    def run(self, state: FilterState, blocks: Iterable[RowBlock]) -> Filtered:
        """See ``engine.Engine``."""
        groups = state.groups
        assert groups is not None  # for the type checker: this engine is for nothing else
        groups = groups._replace(seen=groups.seen.copy())  # the loops change it in place
        done = Filtered(writable(HERE, state, self.given)._replace(groups=groups), [])
        for rows in blocks:
            done = self._block(done, rows)
        return done

    def _block(self, before: Filtered, rows: RowBlock) -> Filtered:
        by_numpy = CountedRows(HERE, self.model, self.given)

        def compiled(carry: Filtered, some: slice) -> tuple[Filtered, int]:
            return _as_far_as_it_goes(self.model, carry, rows.Y[some], kernel.filter_counted_rows, np.isnan)

        def numpy(carry: Filtered, k: int) -> Filtered:
            state, new = by_numpy.run(carry.state, [RowBlock(rows.Y[k : k + 1], 1)])
            carry.records.extend(new)
            return Filtered(state, carry.records)

        return compiled_or_numpy(rows.n, before, compiled, numpy)


class CompiledCountedSparseRows(NamedTuple):
    """The same for rows of stored entries."""

    model: FilterModel

    def run(self, state: FilterState, blocks: Iterable[RowBlock]) -> Filtered:
        """See ``engine.Engine``."""
        state = own_copy(HERE, state)
        unseen: Array = np.zeros(len(state.C), dtype=bool) if state.unseen is None else state.unseen
        done = Filtered(state._replace(unseen=unseen), [])
        for rows in blocks:
            done = self._block(done, rows)
        return done._replace(state=settled(HERE, done.state))

    def _block(self, before: Filtered, rows: RowBlock) -> Filtered:
        by_numpy = CountedSparseRows(HERE, self.model)

        def compiled(carry: Filtered, some: slice) -> tuple[Filtered, int]:
            way = kernel.filter_counted_sparse_rows
            return _as_far_as_it_goes(self.model, carry, rows.Y[some], way, not_stored)

        def numpy(carry: Filtered, k: int) -> Filtered:
            state, _, new = by_numpy.row(carry.state, None, rows.Y, k)
            carry.records.extend(new)
            return Filtered(state, carry.records)

        return compiled_or_numpy(rows.n, before, compiled, numpy)


def not_stored(row: SparseRows) -> Array:
    """Where a single sparse row has no entry (1 × m, boolean)."""
    missing = np.ones(row.shape, dtype=bool)
    missing[0, row.indices] = False
    return missing


def _as_far_as_it_goes(
    model: FilterModel,
    carry: Filtered,
    Y: Rows,
    loops: Callable[[FilterState, FilterModel, Rows, int, bool], kernel.CountedTaken],
    missing_in: Callable[[Rows], Array],
) -> tuple[Filtered, int]:
    """The state after as many rows as the loops can do, which stop where groups have to be chosen anew."""
    from .compiled_counted_rows import LEVELS, NEW, ROOM

    (state, records), at, stopped = carry, 0, LEVELS
    while at < Y.shape[0] and stopped:
        state = state._replace(small=refreshed(HERE, state.small, state.C))
        state, record, done, stopped = loops(state, model, Y, at, stopped == ROOM)
        records.append(record)
        at += done
        groups = state.groups
        assert groups is not None  # for the type checker
        if stopped == LEVELS:
            state = state._replace(groups=regrouped(HERE, groups, state.small, model.r))
        elif stopped == ROOM:
            missing = missing_in(Y[at : at + 1])[0]
            state = state._replace(groups=with_room(HERE, groups, missing, state.unseen, state.small.S, model))
        elif stopped == NEW:
            state = with_first_values(HERE, state, Y, at, model)
    return Filtered(state, records), at
