"""The engine for a filter in which every feature has its own doubt, in compiled loops."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ..core.filter.model import FilterModel
from ..core.filter.state import FilterState
from ..core.linalg import Array
from ..core.place import HERE
from . import kernel
from .counted_rows import CountedRows, regrouped, with_room
from .engine import Filtered, RowBlock, compiled_or_numpy, refreshed, writable


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
            state, done = self._compiled(carry, rows.Y[some])
            return Filtered(state, carry.records), done

        def numpy(carry: Filtered, k: int) -> Filtered:
            state, new = by_numpy.run(carry.state, [RowBlock(rows.Y[k : k + 1], 1)])
            carry.records.extend(new)
            return Filtered(state, carry.records)

        return compiled_or_numpy(rows.n, before, compiled, numpy)

    def _compiled(self, carry: Filtered, Y: Array) -> tuple[FilterState, int]:
        """The state after as many rows as the loops can do, which stop where groups have to be chosen anew."""
        from .compiled_counted import LEVELS, ROOM

        (state, records), model, at, stopped = carry, self.model, 0, LEVELS
        while at < len(Y) and stopped in (LEVELS, ROOM):
            state = state._replace(small=refreshed(HERE, state.small, state.C))
            state, record, done, stopped = kernel.filter_counted_rows(state, model, Y[at:], stopped == ROOM)
            records.append(record)
            at += done
            groups = state.groups
            assert groups is not None  # for the type checker
            if stopped == LEVELS:
                groups = regrouped(HERE, groups, state.small, model.r)
            elif stopped == ROOM:
                groups = with_room(HERE, groups, np.isnan(Y[at]), state.unseen, state.small.S, model)
            state = state._replace(groups=groups)
        return state, at
