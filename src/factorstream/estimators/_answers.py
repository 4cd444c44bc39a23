"""The questions that a fitted dictionary answers, whatever algorithm has made it.

The algorithms implement these Protocols; ``_factorizer`` turns them into the methods of the estimators.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..core.linalg import Array
from ..tall.rows import Rows


class Dictionary(Protocol):
    """A dictionary without a claim about its own uncertainty."""

    @property
    def components(self) -> Array:
        """The dictionary (r × m)."""

    @property
    def mean(self) -> Array:
        """What is predicted of a row before any of it is seen (m)."""

    def coefficients(self, X: Rows) -> Array:
        """Coefficients of every row (n × r)."""

    def fill(self, X: Array) -> Array:
        """X (n × m) with its gaps filled in."""


class PosteriorDictionary(Dictionary, Protocol):
    """A dictionary that knows how sure it is."""

    @property
    def noise(self) -> float | Array:
        """The noise variance: a number, or one for each feature (m) where each has its own."""

    @property
    def covariance(self) -> Array:
        """Covariance between the components: (r × r), or (m × r × r) with one for each feature."""

    @property
    def coefficient_covariance(self) -> Array:
        """How the coefficients vary from row to row, before any of a row is seen (r × r)."""

    def predict(self, X: Array) -> tuple[Array, Array]:
        """X with its gaps filled in, and the predictive variance of every filled entry; zero where observed."""

    def entries(self, X: Rows, rows: Array, columns: Array) -> tuple[Array, Array]:
        """``predict`` of some entries, given by the numbers of their rows and columns."""

    def half_width(self, level: float) -> float | Array:
        """Standard deviations on either side of the mean that an interval of this level needs: a number, or one for
        each feature (m)."""

    def draw(self, X: Array, n_draws: int, rng: np.random.Generator) -> Array:
        """Joint draws of the missing entries of X (n_draws × n × m)."""

    def log_density(self, X: Rows) -> Array:
        """Log-density of every row's observed entries (n)."""
