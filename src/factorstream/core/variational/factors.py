"""The fitted factorisation: the posterior of the dictionary, its prior, and the noise."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..place import HERE, Place, Tall
from .noise.law import NEW_ITERATIONS, NoiseLaw
from .observed import Observations
from .packed import Array
from .posterior import FactorPrior, Posterior
from .relevance import KEEP, canonical, dictionary_moment, relevance
from .spectrum import with_signs


class Factors(NamedTuple):
    """Everything needed to fill new samples and to go on fitting."""

    post: Posterior
    prior: FactorPrior
    s2: Tall  # (m,)
    noise: NoiseLaw

    @property
    def r(self) -> int:
        """Components."""
        return int(self.prior.mu.size)


def new_weights(factors: Factors, data: Observations, place: Place = HERE, n_iter: int = NEW_ITERATIONS) -> Tall:
    """Weights (n, m) of rows that the fit has not seen; see ``NoiseLaw.weigh_new``."""
    return factors.noise.weigh_new(data, factors.post, factors.s2, factors.prior, place, n_iter)


def normal_variance(factors: Factors, place: Place = HERE) -> Tall:
    """Noise variance (m,) for intervals, draws and densities."""
    return place.each(factors.noise.normal_variance, factors.s2)


def check_definite(log_determinants: float) -> None:
    """Refuse a sum of log-determinants that is not finite: not every device says when a matrix is not definite."""
    if not math.isfinite(log_determinants):
        raise np.linalg.LinAlgError(
            "A covariance is zero or not finite; look for values that are out of all proportion."
        )


def rescale(factors: Factors, offset: Tall, scale: float, place: Place = HERE) -> Factors:
    """The factors of offset + scale * y: the offset goes into the mean column."""
    post, prior, s2, noise = factors
    post, c0, s2 = place.each(_rescaled, post, prior.c0, s2, offset, scale)
    return Factors(post, prior._replace(c0=c0, P0=prior.P0 / scale**2), s2, noise)


def _rescaled(post: Posterior, c0: Array, s2: Array, offset: Array, scale: float) -> tuple[Posterior, Array, Array]:
    C, c0 = post.C * scale, c0 * scale
    C[:, -1] += offset
    c0[:, -1] += offset
    logdet = post.logdet + 2.0 * C.shape[1] * math.log(scale)
    return Posterior(C, post.V * scale**2, logdet), c0, s2 * scale**2


def standardise(factors: Factors, offset: Tall, scale: float, place: Place = HERE) -> Factors:
    """The factors of (y - offset) / scale, the prior of the mean column centred on zero."""
    factors = rescale(factors, place.each(_less, offset, scale), 1.0 / scale, place)
    return factors._replace(prior=factors.prior._replace(c0=place.each(_without_mean, factors.prior.c0)))


def _less(offset: Array, scale: float) -> Array:
    return -offset / scale


def _without_mean(c0: Array) -> Array:
    """c0 with a zero mean column; changed in place, since ``rescale`` has just made this array."""
    c0[:, -1] = 0.0
    return c0


def prune(factors: Factors, moment: Array, place: Place = HERE) -> Factors:
    """Drop components that are prior and nothing else; ``moment`` is the ``dictionary_moment``."""
    post, prior = factors.post, factors.prior
    _, share, U = relevance(post, prior, moment, place)
    keep = np.flatnonzero(share > KEEP)
    if keep.size == share.size:
        return factors
    post, prior = canonical(post, prior, U, keep, place)
    return factors._replace(post=post, prior=prior)


def by_relevance(factors: Factors, place: Place = HERE) -> Factors:
    """The same factors in the basis where P0 is diagonal, the most relevant component first.

    Of the two signs of a component, that of the old one which it is most like.
    """
    post, prior = factors.post, factors.prior
    moment = place.total(dictionary_moment, post, prior.c0)
    _, _, U = relevance(post, prior, moment, place)
    post, prior = canonical(post, prior, with_signs(U), place=place)
    return factors._replace(post=post, prior=prior)
