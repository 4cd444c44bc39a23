"""What a fitted dictionary can be asked, for the shared covariance; ``_featurewise`` answers the same questions."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import ndtri

from ..core.filter.model import FilterModel
from ..core.filter.recursion import belief
from ..core.filter.state import FilterState
from ..core.linalg import Array
from ..tall import projecting
from ..tall.rows import Rows


class Answers(Protocol):
    """Questions about rows of data under a fitted dictionary."""

    @property
    def components(self) -> Array:
        """The dictionary (r × m)."""

    @property
    def mean(self) -> Array:
        """What is predicted of a row before any of it is seen (m)."""

    @property
    def noise(self) -> float | Array:
        """The noise variance, one or one per feature."""

    @property
    def covariance(self) -> Array:
        """Covariance between the components: (r × r), or (m × r × r) with one per feature."""

    def coefficients(self, X: Rows) -> Array:
        """Coefficients of every row (n × r)."""

    def predict(self, X: Array, *, want_variance: bool, only_missing: bool) -> tuple[Array, Array]:
        """Predictive mean and variance of the entries of X (n × m); zero where not wanted."""

    def half_width(self, level: float) -> float:
        """Standard deviations on either side of the mean that an interval of this level needs."""

    def draw(self, X: Array, n_draws: int, rng: np.random.Generator) -> Array:
        """Joint draws of the entries of X (n_draws × n × m)."""

    def log_density(self, X: Rows) -> Array:
        """Log-density of every row's observed entries (n)."""


class SharedAnswers(NamedTuple):
    """Answers from the filter of the paper."""

    state: FilterState
    model: FilterModel
    block_size: int

    @property
    def components(self) -> Array:
        return projecting.components(self.state, self.model)

    @property
    def mean(self) -> Array:
        return projecting.mean(self.state, self.model)

    @property
    def noise(self) -> float | Array:
        return self.state.small.noise

    @property
    def covariance(self) -> Array:
        prior = belief(self.state.small, self.model)
        S = prior.S[: self.model.r]
        return prior.dictionary_scale * (S @ S.T)

    def coefficients(self, X: Rows) -> Array:
        return projecting.coefficients(self.state, self.model, X, self.block_size)

    def predict(self, X: Array, *, want_variance: bool, only_missing: bool) -> tuple[Array, Array]:
        return projecting.predict(self.state, self.model, X, self.block_size, want_variance, only_missing)

    def half_width(self, level: float) -> float:
        return float(ndtri(0.5 + 0.5 * level))

    def draw(self, X: Array, n_draws: int, rng: np.random.Generator) -> Array:
        return projecting.draw(self.state, self.model, X, self.block_size, n_draws, rng)

    def log_density(self, X: Rows) -> Array:
        return projecting.log_density(self.state, self.model, X, self.block_size)
