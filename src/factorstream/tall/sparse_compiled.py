"""The engine for sparse rows, in compiled loops."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core.filter.model import FilterModel
from ..core.filter.state import FilterState
from ..core.linalg import Array, SparseRows
from ..core.place import HERE
from . import kernel
from .engine import compiled_or_numpy, refreshed
from .sparse_numpy import NumpySparseRows, SparseFiltered


class CompiledSparseRows(NamedTuple):
    """Row after row of stored entries, in this process; ``kernel.applies`` says for which models."""

    model: FilterModel

    def run(self, state: FilterState, Y: SparseRows, n: int) -> SparseFiltered:
        """As in ``sparse_numpy``."""
        by_numpy = NumpySparseRows(HERE, self.model)
        unseen: Array = np.zeros(len(state.C), dtype=bool) if state.unseen is None else state.unseen
        start: SparseFiltered = (state._replace(unseen=unseen), [])  # the loops look at the mask for every entry

        def compiled(carry: SparseFiltered, some: slice) -> tuple[SparseFiltered, int]:
            state, records = carry
            small = refreshed(HERE, state.small, state.C)
            small, record, done = kernel.filter_sparse_rows(small, self.model, state.C, Y[some], state.origin, unseen)
            records.append(record)
            return (state._replace(small=small), records), done

        def numpy(carry: SparseFiltered, k: int) -> SparseFiltered:
            state, records = carry
            state, new = by_numpy.row(state, Y, k)
            records.extend(new)
            return state, records

        return compiled_or_numpy(n, start, compiled, numpy)
