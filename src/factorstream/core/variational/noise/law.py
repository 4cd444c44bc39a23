"""What the fit asks of the law of the noise."""

from __future__ import annotations

from typing import NamedTuple, Protocol, Self

import numpy as np

from ...place import Place, Tall
from ..observed import Observations
from ..packed import Array
from ..posterior import CoefficientPosterior, FactorPrior, Posterior

NEW_ITERATIONS = 10
"""Alternations between the coefficients and the weights of new rows. Not tuned: a round
number. A warm fit, whose sweeps go on alternating, makes do with fewer."""

LEAST_SCALE = float(np.finfo(np.float64).tiny) ** 0.25
"""Least spread that a fit divides by, in the data's units and relative to the size of the values: its fourth power is
still a number. Derived."""


class Prepared(NamedTuple):
    """Data centred and scaled: y = offset + scale * F."""

    F: Tall  # (n, m), 0 where missing
    offset: Tall  # (m,)
    scale: float
    own: Tall  # (m,) variance of each feature of F


class Scaling(NamedTuple):
    """How blocks of rows are centred and scaled: y = offset + scale * f."""

    offset: Tall  # (m,)
    scale: float
    own: Tall  # (m,) variance of each feature of f


class ColumnMoments(NamedTuple):
    """What is known of the features of all rows after one pass over them in blocks."""

    count: Tall  # (m,) observed entries
    mean: Tall  # (m,) of these; 0 without any
    square: Tall  # (m,) Σ of their squared distances from the mean


def safe_scale(scale: float, size: Array) -> float:
    """The scale, but no less than what squares allow; ``size`` (m,) is how large the values of the features are.

    A feature with a single value has no spread, whatever its size: that of the others can be too small for it.
    """
    return float(max(scale, LEAST_SCALE * max(1.0, float(size.max(initial=0.0)))))


class NoiseLaw(Protocol):
    """The law of the noise of an entry, of scale s2_i. Implementations are NamedTuples, so that they can be saved."""

    @property
    def width(self) -> int:
        """How many temporaries of the size of a block of rows ``reweigh`` needs."""

    @property
    def takes_sparse(self) -> bool:
        """Whether rows may be sparse: entries keep the weight one, so that no weights need be found for them."""

    @property
    def keeps_weights(self) -> bool:
        """Whether the weights of a fit are those that it is given, in all of its sweeps."""

    def prepare(self, data: Observations, place: Place) -> Prepared:
        """Centre every feature and divide all by the overall spread."""

    def scaling(self, moments: ColumnMoments, some: Observations, place: Place) -> Scaling:
        """What ``prepare`` finds, for rows that do not fit into memory: all rows have these ``moments``, and ``some``
        of them are at hand."""

    def believed(self, R: Tall, seen: Tall, place: Place) -> Tall:
        """Which of the observed entries (``seen``, boolean) the spectral start goes by, given its residuals R."""

    def first_weights(self, W: Tall, believed: Tall, place: Place) -> Tall:
        """Weights (n, m) of the first step after the spectral start; a new array if ``reweigh`` changes it."""

    def no_sums(self) -> Array:
        """The sums of ``reweigh`` before any row."""

    def reweigh(
        self,
        weights: Tall,
        data: Observations,
        b: slice,
        coef: CoefficientPosterior,
        Z: Array,
        M: Tall,
        post: Posterior,
        s2: Tall,
        place: Place,
    ) -> tuple[Tall, Array]:
        """New weights of the rows b, written into ``weights``, and the sums over these rows that ``learn`` needs.

        ``coef`` are the coefficients of these rows, Z = ``moments`` of them, M = ``second_moment(post, s2)``.
        """

    def learn(self, sums: Array) -> tuple[Self, float]:
        """The law after a sweep, and what the weights add to the bound under it."""

    def weigh_new(
        self, data: Observations, post: Posterior, s2: Tall, prior: FactorPrior, place: Place, n_iter: int
    ) -> Tall:
        """Weights (n, m) of rows that the fit has not seen, in at most ``n_iter`` alternations."""

    def normal_variance(self, s2: Array) -> Array:
        """Variance of the normal law that stands in for the noise in intervals, draws and densities (m,)."""

    def outlier_score(self) -> float | None:
        """Hidden entries farther off than so many standard deviations say nothing about intervals; None: all count."""
