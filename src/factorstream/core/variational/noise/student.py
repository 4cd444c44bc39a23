"""Student-t noise, one weight per entry: gross outliers lose their influence, nothing else changes.

    y_ki ~ N(c_iᵀ x_k, s2_i / u_ki)     u_ki ~ Gamma(nu/2, nu/2)
    q(u_ki) = Gamma((nu + 1)/2, (nu + d_ki)/2)     d_ki = E[(y_ki - c_iᵀ x_k)²] / s2_i
    w_ki = E[u_ki] = (nu + 1) / (nu + d_ki)

The weights take the place of the mask in every sum.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import digamma, gammaln, ndtri, stdtrit

from ....arrays import at_least, column_products, is_here, namespace, total, zeros_beside
from ...place import Place, Tall
from ...robust_scale import mad_scale
from ..observed import Observations, column_count, is_seen
from ..packed import Array, Mask
from ..posterior import CoefficientPosterior, FactorPrior, Posterior, coefficients, moments, second_moment
from ..predictive import expected_squares
from .law import ColumnMoments, Prepared, Scaling, safe_scale
from .medians import mad_scale_of_seen, medians

FIRST = 4.0
"""Degrees of freedom that learning starts from: the usual choice for robust regression (Lange, Little and Taylor,
1989)."""

LOWEST = 2.5
"""Least degrees of freedom that are learned. Gross outliers would drive them to 1, where good entries lose their
influence as well. Not tuned: the error of filled entries moves by at most 2.2% between 2.1 and 4
(``benchmarks/variational_defaults.py``)."""

HIGHEST = 1e3
"""Most degrees of freedom that are learned: beyond it the law is normal to three digits."""

START_CUTOFF = 4.0
"""Standard deviations off its fit up to which the spectral start believes an entry: 1 good entry in 16,000 is farther.
Not tuned: the error of filled entries moves by at most 1.1% between 3 and 6
(``benchmarks/variational_defaults.py``)."""

OUTLIER = 5.0
"""Standard deviations beyond which a hidden entry is an outlier and says nothing about intervals: of normal noise 1
entry in 1.7 million is. Not tuned: between 4 and 7 the width of intervals moves by 0.5%
(``benchmarks/variational_defaults.py``)."""


class TailSums(NamedTuple):
    """Sums over observed entries that nu and the bound need. Additive but for nu."""

    N: float
    nu: float  # the nu the weights were computed with
    log_rate: float  # sum of log((nu + d)/2)
    weight: float  # sum of w


class StudentNoise(NamedTuple):
    """e_ki / √s2_i ~ Student-t with ``nu`` degrees of freedom, given or ``learned`` (nu is then the last value)."""

    nu: float = FIRST
    learned: bool = False

    @property
    def width(self) -> int:
        """Temporaries of the size of a block of rows, for its weights."""
        return 3

    @property
    def takes_sparse(self) -> bool:
        """Weights are found in dense rows."""
        return False

    @property
    def keeps_weights(self) -> bool:
        """Every sweep finds them anew."""
        return False

    def prepare(self, data: Observations, place: Place) -> Prepared:
        """Medians and median absolute deviations, which outliers of any size leave alone."""
        offset, own = place.each(medians, data.Y, data.W)
        if place.total(_count_positive, own) == 0:  # most values of every feature are equal: fall back on squares
            own = place.each(_variances, data.Y, data.W, offset)
        known = place.get(own, 0)  # a median over features needs all of them
        known = known[known > 0]
        own = place.each(_or_else, own, float(np.median(known)) if known.size else 1.0)
        scale = math.sqrt(float(place.total(total, own)) / data.m)
        scale = safe_scale(scale, place.get(place.each(_sizes, data.Y), 0))  # a maximum over features is no sum
        F, own = place.each(_centred, data.Y, data.W, offset, own, scale)
        return Prepared(F, offset, scale, own)

    def scaling(self, moments: ColumnMoments, some: Observations, place: Place) -> Scaling:
        """Medians of the rows at hand; features without a value there are centred on their means."""
        ready = self.prepare(some, place)
        offset, own = place.each(_or_moments, ready.offset, ready.own, some.W, *moments, ready.scale)
        return Scaling(offset, ready.scale, own)

    def believed(self, R: Tall, seen: Tall, place: Place) -> Tall:
        """Those whose residual is within START_CUTOFF robust standard deviations of zero.

        Residuals that are exactly zero say nothing of a scale: where most values of a table are those of their columns'
        medians, as zeros of counts are, all others would be outliers.
        """
        if is_here(R):  # a median over entries needs all of them
            residuals = place.get(R, 1)[place.get(seen, 1)]
            scale = mad_scale(residuals[residuals != 0.0])
        else:
            scale = float(place.total(mad_scale_of_seen, R, place.each(_where_off, R, seen)))
        return place.each(_within, R, seen, START_CUTOFF * scale + float(np.finfo(float).tiny))

    def first_weights(self, W: Tall, believed: Tall, place: Place) -> Tall:
        """Zero where the spectral start did not believe the entry."""
        return place.each(_where_believed, W, believed)

    def no_sums(self) -> Array:
        """Entries, logarithms of rates, weights."""
        return np.zeros(3)

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
        """E[u_ki] of the rows b. Cost 2 n m p."""
        weights = place.each(_write_weights, weights, data.Y, data.W, b, coef, M, post.C, Z, s2, self.nu)
        return weights, place.total(tail_sums, weights, b, self.nu)

    def learn(self, sums: Array) -> tuple[StudentNoise, float]:
        """The best nu for these weights, if it is learned."""
        tails = TailSums(float(sums[0]), self.nu, float(sums[1]), float(sums[2]))
        noise = self._replace(nu=learn_nu(tails, self.nu)) if self.learned else self
        return noise, tail_bound(tails, noise.nu)

    def weigh_new(
        self, data: Observations, post: Posterior, s2: Tall, prior: FactorPrior, place: Place, n_iter: int
    ) -> Tall:
        """A few alternations between coefficients and weights, from weights of one. Cost n_iter (4 n m p)."""
        M = place.each(second_moment, post, s2)
        w = place.each(_ones, data.W)
        for _ in range(n_iter):
            coef = coefficients(data._replace(W=w), post, s2, prior, M, place)
            Z = place.rows(moments, coef, prior.mu.size)
            w = place.each(tail_weights, data.Y, data.W, coef, M, post.C, Z, s2, self.nu)
        return w

    def normal_variance(self, s2: Array) -> Array:
        """That of the normal law with the same central 95%, finite for any nu."""
        return s2 * float(stdtrit(self.nu, 0.975) / ndtri(0.975)) ** 2

    def outlier_score(self) -> float | None:
        """Data that need robust noise have outliers among their hidden entries too."""
        return OUTLIER


# ------------------------------------------------------------------ weights


def tail_weights(
    Y: Array, W: Array, coef: CoefficientPosterior, M: Array, C: Array, Z: Array, s2: Array, nu: float
) -> Array:
    """w (n, m), zero where not observed. M = second moments of c over s2 (m, p), Z of x (n, p). Cost 2 n m p."""
    xp = namespace(Y)
    root = xp.sqrt(s2)
    d = expected_squares(Y / root, coef, M, C / root[:, None], Z)
    return xp.where(W > 0, (nu + 1.0) / (nu + d), 0.0)


def _write_weights(
    weights: Array,
    Y: Array,
    W: Array,
    b: slice,
    coef: CoefficientPosterior,
    M: Array,
    C: Array,
    Z: Array,
    s2: Array,
    nu: float,
) -> Array:
    weights[b, :] = tail_weights(Y[b, :], W[b, :], coef, M, C, Z, s2, nu)
    return weights


def tail_sums(weights: Array, b: slice, nu: float) -> Array:
    """Over the observed entries of the rows b: their number, sum of log((nu + d)/2), sum of w."""
    xp, w = namespace(weights), weights[b, :]
    seen = w > 0
    N = xp.astype(xp.count_nonzero(seen), xp.float64)
    log_w = total(xp.log(xp.where(seen, w, 1.0)))
    return xp.stack([N, N * math.log(0.5 * (nu + 1.0)) - log_w, total(w)])


def _ones(W: Array) -> Array:
    xp = namespace(W)
    return xp.astype(W > 0, xp.float64)


def _where_believed(W: Array, believed: Mask) -> Array:
    return namespace(W).where(believed, W, 0.0)


def learn_nu(tails: TailSums, nu: float, low: float = LOWEST, high: float = HIGHEST) -> float:
    """Maximise the bound over nu in [low, high]: log(nu/2) + 1 - digamma(nu/2) + mean(E log u - w) = 0.

    The left side decreases in nu, so clipping its root keeps the bound from falling.
    """
    if tails.N == 0:
        return nu
    mean = digamma(0.5 * (tails.nu + 1.0)) - (tails.log_rate + tails.weight) / tails.N

    def slope(v: float) -> float:
        return float(np.log(0.5 * v) + 1.0 - digamma(0.5 * v) + mean)

    if slope(high) >= 0.0:
        return high
    return low if slope(low) <= 0.0 else float(brentq(slope, low, high))


def tail_bound(tails: TailSums, nu: float) -> float:
    """Sum over entries of E log u / 2 - KL(q(u) || Gamma(nu/2, nu/2)): what the weights add to the bound."""
    a, h = 0.5 * (tails.nu + 1.0), 0.5 * nu
    log_u = tails.N * digamma(a) - tails.log_rate
    entropy = tails.N * (a + gammaln(a) + (1.0 - a) * digamma(a)) - tails.log_rate
    prior = tails.N * (h * np.log(h) - gammaln(h)) + (h - 1.0) * log_u - h * tails.weight
    return float(0.5 * log_u + entropy + prior)


# ------------------------------------------------------------------ preparation


def _sizes(Y: Array) -> Array:
    """The largest size of a value of each feature (m)."""
    xp = namespace(Y)
    return xp.max(xp.abs(Y), axis=0) if Y.shape[0] else zeros_beside(Y, Y.shape[1])


def _count_positive(own: Array) -> float:
    return float(namespace(own).count_nonzero(own > 0))


def _variances(Y: Array, W: Array, offset: Array) -> Array:
    xp = namespace(Y)
    away = xp.where(is_seen(W), Y - offset, 0.0)
    return column_products(away, away) / at_least(column_count(W), 1.0)


def _or_else(own: Array, typical: float) -> Array:
    """A feature whose values are mostly equal gets the typical variance."""
    return namespace(own).where(own > 0, own, typical)


def _or_moments(
    offset: Array, own: Array, W: Array, count: Array, mean: Array, square: Array, scale: float
) -> tuple[Array, Array]:
    """Offsets and variances; means and their variances for features without a value in these rows."""
    xp, absent = namespace(offset), column_count(W) == 0
    variance = square / at_least(count, 1.0) / scale**2
    return xp.where(absent, mean, offset), xp.where(absent & (variance > 0), variance, own)


def _centred(Y: Array, W: Array, offset: Array, own: Array, scale: float) -> tuple[Array, Array]:
    return namespace(Y).where(W > 0, Y - offset, 0.0) / scale, own / scale**2


def _where_off(R: Array, seen: Mask) -> Mask:
    """The entries that are seen and have a residual."""
    return seen & (R != 0.0)


def _within(R: Array, seen: Mask, limit: float) -> Mask:
    return seen & (namespace(R).abs(R) <= limit)
