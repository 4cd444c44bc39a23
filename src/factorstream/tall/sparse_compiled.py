"""The engine for sparse rows, in compiled loops."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ..core.filter.model import FilterModel
from ..core.filter.state import FilterState
from ..core.linalg import Array
from ..core.place import HERE
from . import kernel
from .engine import Filtered, RowBlock, compiled_or_numpy, refreshed
from .sparse_numpy import NumpySparseRows, own_copy, settled


class CompiledSparseRows(NamedTuple):
    """Row after row of stored entries, in this process; ``kernel.applies`` says for which models."""

    model: FilterModel

    def run(self, state: FilterState, blocks: Iterable[RowBlock]) -> Filtered:
        """See ``engine.Engine``."""
        state = own_copy(HERE, state)
        unseen: Array = np.zeros(len(state.C), dtype=bool) if state.unseen is None else state.unseen
        done = Filtered(state._replace(unseen=unseen), [])  # the loops look at the mask for every entry
        for rows in blocks:
            done = self._block(done, rows, unseen)
        return done._replace(state=settled(HERE, done.state))

    def _block(self, before: Filtered, rows: RowBlock, unseen: Array) -> Filtered:
        """``unseen`` is the mask of the state, which all rows change in place."""
        by_numpy = NumpySparseRows(HERE, self.model)

        def compiled(carry: Filtered, some: slice) -> tuple[Filtered, int]:
            (C, origin, _, small, _), records = carry
            small = refreshed(HERE, small, C)
            small, record, done = kernel.filter_sparse_rows(small, self.model, C, rows.Y[some], origin, unseen)
            records.append(record)
            return Filtered(FilterState(C, origin, unseen, small), records), done

        def numpy(carry: Filtered, k: int) -> Filtered:
            state, new = by_numpy.row(carry.state, rows.Y, k)
            carry.records.extend(new)
            return Filtered(state, carry.records)

        return compiled_or_numpy(rows.n, before, compiled, numpy)
