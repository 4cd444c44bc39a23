"""The engine that takes one row after another, in compiled loops: twenty features take two microseconds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..core.filter.model import FilterModel
from ..core.filter.state import FilterState
from ..core.linalg import Array
from ..core.place import HERE
from . import kernel
from .engine import Filtered, RowBlock, compiled_or_numpy, refreshed, writable
from .rows_numpy import NumpyRows


class CompiledRows(NamedTuple):
    """Row after row, in this process; ``kernel.applies`` says for which models."""

    model: FilterModel
    given: Array
    """The caller's C, which stays as it is."""

    def run(self, state: FilterState, blocks: Iterable[RowBlock]) -> Filtered:
        """See ``engine.Engine``."""
        done = Filtered(writable(HERE, state, self.given), [])
        for rows in blocks:
            done = self._block(done, rows)
        return done

    def _block(self, before: Filtered, rows: RowBlock) -> Filtered:
        by_numpy = NumpyRows(HERE, self.model, self.given)

        def compiled(carry: Filtered, some: slice) -> tuple[Filtered, int]:
            state, records = carry
            small = refreshed(HERE, state.small, state.C)
            small, record, done = kernel.filter_rows(small, self.model, state.C, rows.Y[some])
            records.append(record)
            return Filtered(state._replace(small=small), records), done

        def numpy(carry: Filtered, k: int) -> Filtered:
            state, new = by_numpy.run(carry.state, [RowBlock(rows.Y[k : k + 1], 1)])
            carry.records.extend(new)
            return Filtered(state, carry.records)

        return compiled_or_numpy(rows.n, before, compiled, numpy)
