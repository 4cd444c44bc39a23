"""How the noise variance s2_i of the features is found: one for all, one for each, or given.

A new rule is a NamedTuple with the methods of :class:`VarianceRule`.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from ....arrays import at_least, full_like, namespace, total
from ...place import Place, Tall
from ..packed import Array

LEAST = 1e-6
"""Least noise variance relative to the data's: data that a model fits exactly would otherwise claim zero noise.
Not tuned: a round number far below the noise of real data."""

LEAST_SHARE = 1e-3
"""Least noise variance of a feature relative to that feature's variance, where each has its own: few values can be
fitted exactly by chance. Not tuned: the error of filled entries moves by at most 1.6% between 1e-4 and 1e-2
(``benchmarks/variational_defaults.py``)."""

LEAST_FREEDOM = 1.0
"""Least degrees of freedom of a learned variance. Derived: below 1 the tails of a Student-t law are so heavy that its
95% intervals say nothing (6.5 times the normal one at 1, 84 times at 0.5, 10¹² times at 0.1)."""

TINY = float(np.finfo(np.float64).tiny)
"""In place of a number of entries that is zero. Derived: weights of rows may be any share of one."""

FEW_ENTRIES = 3.0
"""Observed entries per number of the dictionary and mean below which one noise variance for all features does not make
up for how uncertain these are: intervals of well-specified data then hold less than they say (measured by
``benchmarks/coverage.py``; the numbers are in docs/uncertainty.md)."""


class VarianceRule(Protocol):
    """Where s2 comes from. Implementations are NamedTuples, so that they can be saved."""

    def first(self, guess: float, scale: float) -> float:
        """The variance to start from, in data divided by ``scale``; ``guess`` is what the start's residuals say."""

    def floor(self, own: Tall, place: Place) -> Tall | float:
        """Least variance of the features in a fit; ``own`` (m,) are the variances of their data."""

    def learn(self, s2: Tall, square: Tall, count: Tall, floor: Tall | float, place: Place) -> Tall:
        """s2 (m,) that maximises the bound. ``square`` = Σ_k w_ki E[(y_ki - c_iᵀ x_k)²] (m,), count (m,)."""

    def freedom(self, count: Tall, spent: Tall, place: Place) -> Tall:
        """Degrees of freedom (m,) with which s2 is known, ∞ where it is given; count (m,) observed, spent (m,)."""

    @property
    def least_known(self) -> int:
        """Observed values that a feature needs before anything is known of how far its other values may lie."""

    @property
    def entries_per_number(self) -> float:
        """Observed entries per number of the dictionary and mean that the model's own intervals need to hold."""

    def reported(self, s2: Array) -> float | Array:
        """The variance as a person is told it: a number, or one for each feature."""


class PooledVariance(NamedTuple):
    """One noise variance for all features, learned."""

    least: float = LEAST

    def first(self, guess: float, scale: float) -> float:
        """The guess."""
        return guess

    def floor(self, own: Tall, place: Place) -> Tall | float:
        """A share of the variance of all the data, which is 1."""
        return self.least

    def learn(self, s2: Tall, square: Tall, count: Tall, floor: Tall | float, place: Place) -> Tall:
        """Σ_i square_i / Σ_i count_i."""
        return place.each(full_like, s2, max(_pooled(square, count, place), floor))

    def freedom(self, count: Tall, spent: Tall, place: Place) -> Tall:
        """All entries less all parameters that were spent on them."""
        left = place.total(_left, count, spent)
        return place.each(full_like, spent, max(float(left), LEAST_FREEDOM))

    @property
    def least_known(self) -> int:
        """None: the features are taken to be of one kind, so that the others say how far values may lie."""
        return 0

    @property
    def entries_per_number(self) -> float:
        """What was measured."""
        return FEW_ENTRIES

    def reported(self, s2: Array) -> float | Array:
        """A number."""
        return float(s2[0])


class PerFeatureVariance(NamedTuple):
    """One noise variance for each feature, learned."""

    least_share: float = LEAST_SHARE

    def first(self, guess: float, scale: float) -> float:
        """The guess."""
        return guess

    def floor(self, own: Tall, place: Place) -> Tall | float:
        """A share of the feature's variance, and of that of all the data."""
        return place.each(_floor, own, self.least_share)

    def learn(self, s2: Tall, square: Tall, count: Tall, floor: Tall | float, place: Place) -> Tall:
        """square_i / count_i; a feature never observed gets the pooled value."""
        return place.each(_each_its_own, square, count, floor, _pooled(square, count, place))

    def freedom(self, count: Tall, spent: Tall, place: Place) -> Tall:
        """The entries of the feature less the parameters that were spent on them."""
        return place.each(_own_freedom, count, spent)

    @property
    def least_known(self) -> int:
        """Two: a single value lies at no distance from itself."""
        return 2

    @property
    def entries_per_number(self) -> float:
        """None: the Student-t law of each feature widens its intervals as far as they need it."""
        return 0.0

    def reported(self, s2: Array) -> float | Array:
        """One for each feature, equal or not."""
        return s2


class GivenVariance(NamedTuple):
    """One noise variance for all features, given in the data's units."""

    given: float

    def first(self, guess: float, scale: float) -> float:
        """The given one."""
        return self.given / scale**2

    def floor(self, own: Tall, place: Place) -> Tall | float:
        """None is needed."""
        return 0.0

    def learn(self, s2: Tall, square: Tall, count: Tall, floor: Tall | float, place: Place) -> Tall:
        """It stays."""
        return s2

    def freedom(self, count: Tall, spent: Tall, place: Place) -> Tall:
        """∞: it is known."""
        return place.each(full_like, spent, float("inf"))

    @property
    def least_known(self) -> int:
        """None: what is given holds for every feature."""
        return 0

    @property
    def entries_per_number(self) -> float:
        """What was measured."""
        return FEW_ENTRIES

    def reported(self, s2: Array) -> float | Array:
        """A number."""
        return float(s2[0])


def _pooled(square: Tall, count: Tall, place: Place) -> float:
    squares, n = place.total(_sums, square, count)
    return float(squares) / max(float(n), TINY)


def _sums(square: Array, count: Array) -> tuple[Array, Array]:
    return total(at_least(square, 0.0)), total(count)


def _left(count: Array, spent: Array) -> Array:
    return total(count) - total(spent)


def _own_freedom(count: Array, spent: Array) -> Array:
    return at_least(count - spent, LEAST_FREEDOM)


def _floor(own: Array, share: float) -> Array:
    return share * own + LEAST


def _each_its_own(square: Array, count: Array, floor: Array | float, pooled: float) -> Array:
    xp = namespace(square)
    own = at_least(square, 0.0) / xp.where(count > 0, count, 1.0)
    return at_least(xp.where(count > 0, own, pooled), floor)
