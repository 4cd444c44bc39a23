"""Gaussian noise: every observed entry has weight one."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ....arrays import at_least, column_products, namespace, total
from ...linalg import is_sparse
from ...place import Place, Tall
from ..observed import Observations, column_count
from ..packed import Array
from ..posterior import CoefficientPosterior, FactorPrior, Posterior
from ..sparse_products import column_squares, less_means
from .law import ColumnMoments, Prepared, Scaling, safe_scale


class GaussianNoise(NamedTuple):
    """e_ki ~ N(0, s2_i)."""

    @property
    def width(self) -> int:
        """Temporaries of the size of a block of rows: none."""
        return 0

    @property
    def takes_sparse(self) -> bool:
        """Every weight is one."""
        return True

    @property
    def keeps_weights(self) -> bool:
        """They are one where observed."""
        return True

    def prepare(self, data: Observations, place: Place) -> Prepared:
        """Observed means, and the root mean square of what is left."""
        F, offset, square = place.each(centred, data.Y, data.W)
        count = place.each(column_count, data.W)
        found = self.scaling(ColumnMoments(count, offset, square), data, place)
        return Prepared(place.each(divided, F, found.scale), offset, found.scale, found.own)

    def scaling(self, moments: ColumnMoments, some: Observations, place: Place) -> Scaling:
        """The means, and the root mean square of what they leave."""
        square, count = place.total(_sums, moments.square, moments.count)
        scale = math.sqrt(float(square) / max(float(count), 1.0)) or 1.0
        scale = safe_scale(scale, np.abs(place.get(moments.mean, 0)))  # a maximum over features is no sum
        return Scaling(moments.mean, scale, place.each(_variance, moments.square, moments.count, scale))

    def believed(self, R: Tall, seen: Tall, place: Place) -> Tall:
        """All of them."""
        return seen

    def first_weights(self, W: Tall, believed: Tall, place: Place) -> Tall:
        """As they are."""
        return W

    def no_sums(self) -> Array:
        """There is nothing to sum."""
        return np.zeros(0)

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
        """As they are."""
        return weights, self.no_sums()

    def learn(self, sums: Array) -> tuple[GaussianNoise, float]:
        """There is nothing to learn."""
        return self, 0.0

    def weigh_new(
        self, data: Observations, post: Posterior, s2: Tall, prior: FactorPrior, place: Place, n_iter: int
    ) -> Tall:
        """One where observed."""
        return data.W

    def normal_variance(self, s2: Array) -> Array:
        """The noise's own."""
        return s2

    def outlier_score(self) -> float | None:
        """No entry counts as an outlier."""
        return None


def centred(Y: Any, W: Any) -> tuple[Any, Array, Array]:
    """Values less the observed means, the means, and the sums of squares of what is left."""
    count = at_least(column_count(W), 1.0)
    if is_sparse(W):
        offset = np.asarray(Y.sum(axis=0)) / count
        F = less_means(Y, offset)
        return F, offset, column_squares(F)
    xp = namespace(Y)
    offset = xp.sum(xp.where(W > 0, Y, 0.0), axis=0) / count
    F = xp.where(W > 0, Y - offset, 0.0)
    return F, offset, column_products(F, F)


def _sums(square: Array, count: Array) -> tuple[Array, Array]:
    return total(square), total(count)


def divided(F: Any, scale: float) -> Any:
    """F in units of the scale, in place."""
    if is_sparse(F):
        F.data /= scale
    else:
        F /= scale
    return F


def _variance(square: Array, count: Array, scale: float) -> Array:
    return square / at_least(count, 1.0) / scale**2
