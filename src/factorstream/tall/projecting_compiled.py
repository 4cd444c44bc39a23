"""Coefficients and predictive variances under a fixed dictionary, in compiled loops, for features of this process."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core.filter.masked import observed_gram
from ..core.filter.model import FilterModel
from ..core.filter.state import FilterState
from ..core.linalg import Array, gram
from ..core.place import HERE
from ..cores import each_of
from . import kernel
from . import projecting_products as products
from .counted_rows import Values
from .engine import REFRESH, compiled_or_numpy
from .filtering import ONE_BY_ONE
from .products import row_products
from .projecting_noises import Noises, noises_of
from .projecting_numpy import Row, doubt_of


class CompiledProjection(NamedTuple):
    """See ``projecting.Projection``; for dense rows."""

    state: FilterState
    model: FilterModel
    block_size: int
    ratio: Array | None = None

    def of_all(self, X: Array) -> Array:
        """Block by block."""
        return self._run(X, None, complete_too=True)

    def of_gappy(self, Y: Array, variance: Array | None, scale: Array | None = None) -> Array:
        """Block by block."""
        found = self._run(Y, variance, complete_too=False)
        if variance is not None and scale is not None:
            variance *= scale
        return found

    def _run(self, Y: Array, variance: Array | None, complete_too: bool) -> Array:
        given, origin, _, small, _ = self.state
        C = given.astype(np.float64)  # a copy: writable and in one piece, whatever the state's is
        fixed = self.state._replace(C=C, small=small._replace(G=gram(C)))
        X = np.zeros((len(Y), self.model.r))
        ratio = np.ones(len(C)) if self.ratio is None else np.ascontiguousarray(self.ratio, dtype=np.float64)
        noises = noises_of(fixed, self.model, ratio)
        size = max(self.block_size, min(REFRESH, ONE_BY_ONE // len(C)))

        def project(start: int) -> None:
            some = slice(start, start + size)
            block = np.subtract(Y[some], origin, dtype=np.float64, order="C")
            wanted = np.empty((0, 0), Y.dtype) if variance is None else variance[some]
            work = _Block(fixed, self.model, given, noises, block, X[some], wanted, complete_too)
            compiled_or_numpy(len(block), None, work.compiled, work.numpy)

        each_of(project, list(range(0, len(Y), size)))
        return X


class _Block(NamedTuple):
    """A block of rows, and where their answers go."""

    state: FilterState
    """With C in double precision, and its G."""
    model: FilterModel
    given: Array
    """C as the state has it: NumPy's variances are computed in its precision."""
    noises: Noises
    rows: Array
    """Less the origin (B × m), NaN = missing."""
    X: Array
    """For the coefficients (B × r)."""
    variance: Array
    """For the variances (B × m); without rows where they are not wanted."""
    complete_too: bool
    """Whether rows without gaps are projected."""

    def compiled(self, _: None, some: slice) -> tuple[None, int]:
        """See ``engine.compiled_or_numpy``."""
        state, rows, X, out = self.state, self.rows[some], self.X[some], self.variance[some]
        noises = self.noises.ratio, self.noises.sizes
        return None, kernel.project_rows(state, self.model, rows, X, out, noises, self.complete_too)

    def numpy(self, _: None, k: int) -> None:
        """Row k, which the loops have handed back."""
        C, y, doubt = self.state.C, self.rows[k], doubt_of(self.state, self.model)
        missing_idx, known = np.flatnonzero(np.isnan(y)), np.nan_to_num(y, nan=0.0)
        m, n_missing = len(C), len(missing_idx)
        G = observed_gram(HERE, C, self.state.small.G, missing_idx, n_missing, m)
        values = Values(C, known, doubt.group, missing_idx)
        row = Row(k, (G, *row_products(C, known)), m - n_missing, n_missing, lambda: values)
        found = doubt.coefficients(row)
        self.X[k] = found.x
        if len(self.variance):
            F, common = doubt.spread(row, found, self.noises)
            given = np.isnan(y)[None], self.given, F[None], common[None], doubt.group, self.noises.ratio, None
            products.set_variances(self.variance[k : k + 1], *given)
