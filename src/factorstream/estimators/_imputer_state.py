"""What a fitted imputer knows: the columns' centres and scales, and the factorisation of the standardised columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..core.absurd import Seen
from ..core.linalg import Array
from ._bayesian_run import BayesianRun
from ._html import STANDARDISED, Facts, noise_words

FARTHEST = float(np.finfo(np.float64).max) ** 0.25
"""Deviations from the mean from which on a value is refused: its fourth power is no longer a number. Derived."""


LEVEL = 0.95
"""Standard deviations are infinite where intervals of this level are: the level that intervals have by default."""


class ImputerState(NamedTuple):
    """Everything that an answer depends on."""

    parameters: dict[str, Any]
    """Those of the estimator when it was fitted."""
    n_observed: Array
    """Observed values of each feature (m)."""
    statistics: Array
    """What a feature is centred on (m): NaN if it is dropped."""
    scale: Array
    """Its deviation (m): 0 if it does not vary."""
    seen: Seen
    """What tells absurd values."""
    factorization: BayesianRun | None
    """Of the standardised features that vary; None where none does."""
    indicated: Array | None
    """Features that get an indicator of missing values; None without indicators."""

    @property
    def varies(self) -> Array:
        """Which features take part in the factorisation (m)."""
        return np.asarray(self.scale > 0)

    @property
    def kept(self) -> Array:
        """Which features ``transform`` returns (m)."""
        return ~np.isnan(self.statistics)

    def facts(self) -> Facts:
        """What was learned, in words."""
        features = {"features": f"{len(self.scale):,}", "units": STANDARDISED}
        if self.factorization is None:
            return {**features, "components": "none, no feature varies"}
        noise = noise_words(self.scale[self.varies] ** 2 * self.factorization.dictionary.noise)
        return {**self.factorization.facts(len(self.scale)), **features, "noise": noise}

    def standardised(self, X: Array) -> Array:
        """The features that vary, in units of their deviations (float64); values whose squares overflow are refused."""
        half = (
            0.5 * X[:, self.varies].astype(np.float64) - 0.5 * self.statistics[self.varies]
        )  # a difference can overflow
        half_scale = 0.5 * self.scale[self.varies]
        far = np.abs(half) / FARTHEST >= half_scale  # in this order no quotient overflows
        if far.any():
            row, place = np.argwhere(far)[0]
            column = np.flatnonzero(self.varies)[place]
            raise ValueError(
                f"X has {X[row, column]:.3g} in row {row}, column {column}, a feature whose values had a deviation of "
                f"{self.scale[column]:.3g} in fit; put NaN there, or fit and ask in the same units."
            )
        return np.asarray(half / half_scale)

    def filled(self, X: Array, standardised: Array | None) -> Array:
        """X in its own dtype, its gaps filled from the standardised features, constants and empty features."""
        fill = np.broadcast_to(self.statistics, X.shape).copy()
        if standardised is not None:
            with np.errstate(over="ignore"):
                fill[:, self.varies] += standardised * self.scale[self.varies]
        most = np.finfo(X.dtype).max
        return np.where(np.isnan(X), np.clip(fill, -most, most).astype(X.dtype), X)[:, self.kept]

    def deviations(self, X: Array, variance: Array | None) -> Array:
        """Standard deviations of the gaps of X from the variances of the standardised features; zero where observed."""
        deviation = np.zeros(X.shape)
        if variance is not None:
            with np.errstate(over="ignore"):
                deviation[:, self.varies] = np.sqrt(variance) * self.scale[self.varies]
        deviation = np.where(np.isnan(X), deviation, 0.0).astype(X.dtype)[:, self.kept]
        return self.widened(X, deviation, LEVEL, np.inf)

    def bounded(self, level: float) -> Array:
        """Which features have finite intervals of this level (m): those that vary, and constants seen often enough.

        Of N + 1 values in random order the last is the only one that differs with probability 1 / (N + 1) at most, so
        that N equal values hold N / (N + 1), not more. One value is not equal to anything.
        """
        often = np.ceil((self.n_observed + 1) * level) <= self.n_observed
        return np.asarray(self.varies | (often & (self.n_observed > 1)))

    def widened(self, X: Array, bound: Array, level: float, infinity: float) -> Array:
        """A bound as ``filled`` makes it, infinite in the gaps of features that have no finite one."""
        unknown = np.isnan(X) & ~self.bounded(level)
        bound[unknown[:, self.kept]] = infinity
        return bound
