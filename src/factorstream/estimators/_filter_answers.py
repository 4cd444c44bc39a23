"""What a run of the filter is asked. It has the columns in units of their own; answers are in the data's."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit

from ..core.filter.model import FilterModel
from ..core.filter.state import FilterState
from ..core.linalg import Array, is_sparse
from ..tall import projecting
from ..tall.rows import Rows, divided
from ._filter_run import FilterRun


class FilterDictionary(NamedTuple):
    """Answers from the dictionary of a run."""

    run: FilterRun

    @property
    def _asked(self) -> tuple[FilterState, FilterModel]:
        return self.run.filter, self.run.settings.model

    @property
    def _size(self) -> int:
        return self.run.settings.block_size

    @property
    def components(self) -> Array:
        return self._with_units(projecting.components(*self._asked))

    @property
    def mean(self) -> Array:
        return self._with_units(projecting.mean(*self._asked))

    @property
    def noise(self) -> float | Array:
        noise, unit = self.run.filter.small.noise, self.run.unit
        return noise if unit is None else noise * np.square(unit, dtype=np.float64)

    @property
    def covariance(self) -> Array:
        V, unit = projecting.covariance(*self._asked), self.run.unit
        return V if unit is None else V * np.square(unit, dtype=np.float64)[:, None, None]

    def coefficients(self, X: Rows) -> Array:
        return projecting.coefficients(*self._asked, divided(X, self.run.unit), self._size)

    def fill(self, X: Array) -> Array:
        return self._filled(X, projecting.fill(*self._asked, divided(X, self.run.unit), self._size))

    def predict(self, X: Array) -> tuple[Array, Array]:
        filled, variance = projecting.predict(*self._asked, divided(X, self.run.unit), self._size)
        unit = self.run.unit
        return self._filled(X, filled), variance if unit is None else variance * np.square(unit, dtype=np.float64)

    def half_width(self, level: float) -> float:
        """A learned noise variance predicts by a Student-t law, a given one by a normal law."""
        small, upper = self.run.filter.small, 0.5 + 0.5 * level
        return float(stdtrit(small.noise_freedom, upper) if self.run.settings.model.learn_noise else ndtri(upper))

    def draw(self, X: Array, n_draws: int, rng: np.random.Generator) -> Array:
        freedom = self.run.filter.small.noise_freedom if self.run.settings.model.learn_noise else np.inf
        rows = divided(X, self.run.unit)
        return self._filled(X, projecting.draw(*self._asked, rows, self._size, n_draws, rng, freedom))

    def log_density(self, X: Rows) -> Array:
        unit = self.run.unit
        density = projecting.log_density(*self._asked, divided(X, unit), self._size)
        if unit is None:
            return density
        logs = np.log(unit, dtype=np.float64)
        if is_sparse(X):
            sizes = np.concatenate([[0.0], np.cumsum(logs[X.indices])])
            of_rows: Array = sizes[X.indptr[1:]] - sizes[X.indptr[:-1]]
        else:
            of_rows = (~np.isnan(X)) @ logs
        return density - of_rows

    def _with_units(self, values: Array) -> Array:
        """Values (… × m) in the data's units."""
        return values if self.run.unit is None else values * self.run.unit

    def _filled(self, X: Array, filled: Array) -> Array:
        """The same for rows that were filled: what was observed comes back to the last digit."""
        return filled if self.run.unit is None else np.where(np.isnan(X), (filled * self.run.unit).astype(X.dtype), X)
