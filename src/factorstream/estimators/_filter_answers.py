"""What a run of the filter is asked. It has the columns in units of their own; answers are in the data's."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit

from ..arrays import as_type, beside, dtype_of, is_here, namespace, to_host
from ..core.filter.model import FilterModel
from ..core.filter.state import FEWEST, FilterState
from ..core.linalg import Array, is_sparse
from ..tall import projecting
from ..tall.columns import rescaled
from ..tall.places import place_of
from ..tall.rows import Rows, dense, divided, without_columns
from ._filter_run import FilterRun
from ._pairs import by_row

AT_ONCE = 64
"""Rows made dense at a time to predict some of their entries. Memory and speed only."""


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
    def _ratio(self) -> Array | None:
        """The noise variance of every column over the common one, where columns have noises of their own."""
        return None if self.run.columns.noise is None else self.run.columns.noise.ratio

    @property
    def _unit(self) -> Array | None:
        """The units of the columns (m), here; None where they are those of the data."""
        unit: Array | None = to_host(self.run.unit)
        return unit

    @property
    def _squared_unit(self) -> float | Array:
        """What variances of the run are multiplied by."""
        return 1.0 if self._unit is None else np.square(self._unit, dtype=np.float64)

    @property
    def _unseen(self) -> Array | None:
        """The columns of which the filter has seen no value yet (m, boolean), or None where there are none."""
        state = self.run.filter
        return None if state.unseen is None else place_of(state.C).get(state.unseen, 0)

    @property
    def _boundless(self) -> Array | None:
        """The columns of which nothing can be said for sure (m, boolean): without any value, or in unknown units."""
        unseen, few = self._unseen, self.run.columns.in_unknown_units
        return unseen if few is None else few if unseen is None else unseen | few

    @property
    def components(self) -> Array:
        return self._with_units(projecting.components(*self._asked))

    @property
    def mean(self) -> Array:
        """Of a column without any value yet the mean is that of the others."""
        state = self.run.filter
        mean = projecting.mean(*self._asked)
        if self._unseen is not None:
            mean = np.where(self._unseen, place_of(state.C).get(state.origin, 0), mean)
        return self._with_units(mean)

    @property
    def noise(self) -> float | Array:
        return self.run.filter.small.noise * self._squared_unit * (1.0 if self._ratio is None else self._ratio)

    @property
    def covariance(self) -> Array:
        V, factor = projecting.covariance(*self._asked), self._squared_unit
        if self._ratio is not None:
            factor = factor * self._ratio
        return V * factor[:, None, None] if isinstance(factor, np.ndarray) else V

    @property
    def coefficient_covariance(self) -> Array:
        return self.run.filter.small.T

    def coefficients(self, X: Rows) -> Array:
        return projecting.coefficients(*self._asked, self._rows(X), self._size)

    def fill(self, X: Array) -> Array:
        return self._without_unseen(X, projecting.fill(*self._asked, self._rows(X), self._size, self._units(X)))

    def predict(self, X: Array) -> tuple[Array, Array]:
        rows, units = self._rows(X), self._units(X)
        filled, variance = projecting.predict(*self._asked, rows, self._size, self._ratio, units)
        boundless = self._boundless
        if boundless is not None:
            xp = namespace(X)
            variance = xp.where(xp.isnan(X), xp.where(beside(boundless, X), np.inf, variance), 0.0)
        return self._without_unseen(X, filled), variance

    def entries(self, X: Rows, rows: Array, columns: Array) -> tuple[Array, Array]:
        """A few rows at a time are made dense."""
        return by_row(lambda some, *where: _picked(self.predict(dense(some)), *where), X, rows, columns, AT_ONCE)

    def _units(self, X: Array) -> projecting.Units | None:
        """The rows as they came, and their units, where the filter has others."""
        unit = self.run.unit
        if unit is None and self._unseen is None:
            return None
        return projecting.Units(X, np.ones(X.shape[1]) if unit is None else unit)

    def _without_unseen(self, X: Array, filled: Array) -> Array:
        """Filled rows with the mean of the other columns at the gaps of those that the filter has not seen yet."""
        if self._unseen is None:
            return filled
        xp, mean = namespace(X), beside(self.mean.astype(dtype_of(X)), X)
        out: Array = xp.where(beside(self._unseen, X) & xp.isnan(X), mean, filled)
        return out

    def half_width(self, level: float) -> float | Array:
        """A learned noise variance predicts by a Student-t law, a given one by a normal law.

        The degrees of freedom are those of the common variance and of the column's part of it: what is not known of
        either adds up.
        """
        upper = 0.5 + 0.5 * level
        if not self.run.settings.model.learn_noise:
            return float(ndtri(upper))
        freedom: float | Array = self.run.filter.small.noise_freedom
        if self.run.columns.noise is not None:
            freedom = np.maximum(1.0 / (1.0 / freedom + 1.0 / self.run.columns.noise.freedom), FEWEST)
        return np.asarray(stdtrit(freedom, upper), dtype=np.float64)

    def draw(self, X: Array, n_draws: int, rng: np.random.Generator) -> Array:
        """Every draw has one noise variance for each column; nothing can be drawn of a column without bounds."""
        freedom = self.run.filter.small.noise_freedom if self.run.settings.model.learn_noise else np.inf
        rows, noise, X = self._rows(X), self.run.columns.noise, to_host(X)
        drawn = self._filled(X, projecting.draw(*self._asked, rows, self._size, n_draws, rng, freedom, noise))
        boundless = self._boundless
        if boundless is None:
            return drawn
        return np.where(np.isnan(X) & boundless, np.nan, drawn).astype(X.dtype, copy=False)

    def log_density(self, X: Rows) -> Array:
        """Columns are divided by their noise, so that all have the same; the logarithm of that is then subtracted."""
        (state, model), noise, unit = self._asked, self.run.columns.noise, self._unit
        if noise is not None:
            state = rescaled(state, noise.ratio**-0.5)
            unit = np.sqrt(noise.ratio) * (1.0 if unit is None else unit)
        X = self._known(X)
        density = projecting.log_density(state, model, divided(X, unit), self._size)
        if unit is None:
            return density
        logs = np.log(unit, dtype=np.float64)
        if is_sparse(X):
            sizes = np.concatenate([[0.0], np.cumsum(logs[X.indices])])
            of_rows: Array = sizes[X.indptr[1:]] - sizes[X.indptr[:-1]]
        else:
            observed = ~namespace(X).isnan(X)
            of_rows = to_host((observed if is_here(X) else as_type(observed, np.float64)) @ beside(logs, X))
        return density - of_rows

    def _known(self, X: Rows) -> Rows:
        """X without values of columns that the filter has not seen yet: it knows nothing to compare them with."""
        return X if self._unseen is None else without_columns(X, self._unseen)

    def _rows(self, X: Rows) -> Rows:
        """The rows of a question as the filter has them."""
        return divided(self._known(X), self.run.unit)

    def _with_units(self, values: Array) -> Array:
        """Values (… × m) in the data's units."""
        return values if self._unit is None else values * self._unit

    def _filled(self, X: Array, filled: Array) -> Array:
        """Filled rows in the data's units: what was observed comes back to the last digit."""
        if self.run.unit is None and self._unseen is None:
            return filled
        filled = self._with_units(filled).astype(X.dtype, copy=False)
        if self._unseen is not None:
            filled = np.where(self._unseen, self.mean.astype(X.dtype), filled)
        return np.where(np.isnan(X), filled, X)


def _picked(found: tuple[Array, Array], rows: Array, columns: Array) -> tuple[Array, Array]:
    filled, variance = (to_host(part) for part in found)
    return filled[rows, columns], variance[rows, columns]
