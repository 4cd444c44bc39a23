"""One variational sweep over a data set.

A sweep visits every sample once; its contribution REPLACES the one of the last sweep (the sums are rebuilt), so
sweeps converge to the variational posterior instead of counting the data again.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from ...arrays import namespace, to_host
from ...cores import PASS, sum_of_pieces
from ..place import HERE, Place, Tall
from .factors import Factors
from .noise.variance import VarianceRule
from .observed import Observations, plain_sums, take_rows
from .packed import Array, size, unpack
from .posterior import (
    CoefficientPosterior,
    FactorPrior,
    Posterior,
    Statistics,
    add_block,
    blocks,
    coefficients,
    moments,
    no_statistics,
    posterior,
    room,
    second_moment,
)
from .relevance import CoefficientSums, Relevance, bound, bound_sums, dictionary_moment, dictionary_prior
from .row_mean import centred_moment, shifted, times_loading
from .squares import square_by_inverse, square_by_moments


class SweepRules(NamedTuple):
    """What a sweep learns beside C and X, and how."""

    relevance: Relevance | None  # None: the prior of C stays
    variance: VarianceRule
    floor: Tall | float  # least s2_i


class Swept(NamedTuple):
    """What a sweep returns."""

    factors: Factors
    weights: Tall  # (n, m)
    bound: float
    moment: Array  # (q, q) dictionary_moment


def _collect(
    data: Observations, weights: Tall, factors: Factors, place: Place, known: tuple[Tall, Tall] | None
) -> tuple[Statistics, Tall, CoefficientSums, Array, Tall]:
    """x-step and weight step over all samples in blocks, and the sums they leave; expected squares come second."""
    post, prior, s2, noise = factors
    r, q = prior.mu.size, len(prior.P0)
    M = place.each(second_moment, post, s2)
    stats = place.each(_empty, s2, q)
    if data.plain:
        yy, N = place.each(plain_sums, data.Y, data.W) if known is None else known
        stats = stats._replace(yy=yy, N=N)
    sums, tails = 0.0, noise.no_sums()
    for b in blocks(data.n, 3 * size(q) + noise.width * data.m, room(place)):
        rows = take_rows(data._replace(W=weights), b, place)
        coef = coefficients(rows, post, s2, prior, M, place)
        Z = place.rows(moments, coef, r)
        weights, more = noise.reweigh(weights, data, b, coef, Z, M, post, s2, place)
        tails = tails + more
        stats = place.each(add_block, stats, data.Y, weights, b, coef, Z, data.plain)
        sums = sums + place.rows(_sums_of_rows, coef, Z)
    square = place.each(square_by_moments, stats, post, M, s2)
    return stats, square, _coefficient_sums(to_host(sums), data.n, r, q), tails, weights


def _sums_of_rows(coef: CoefficientPosterior, Z: Array) -> Array:
    """Of some rows, one after the other: the sums of Z, of the coefficients and of the log-determinants."""
    xp, (n, p) = namespace(Z), Z.shape
    ZZ = sum_of_pieces(lambda some: xp.sum(Z[some, :], axis=0), n, PASS * n * p)
    return xp.concat([ZZ, xp.sum(coef.X, axis=0), xp.sum(coef.logdet[:, None], axis=0)])


def _empty(s2: Array, q: int) -> Statistics:
    return no_statistics(s2.shape[0], q, s2)


def _coefficient_sums(sums: Array, n: int, r: int, q: int) -> CoefficientSums:
    """``_sums_of_rows`` of all n rows, by their names."""
    return CoefficientSums(n, sums[size(q) :][:r], unpack(sums[: size(q)], q)[:r, :r], float(sums[-1]))


def _with_squares(stats: Statistics, prior: FactorPrior, s2: Array) -> tuple[Posterior, Array]:
    """The posterior of C, and its expected squares (m,)."""
    post = posterior(stats, prior, s2)
    return post, square_by_inverse(stats, post, prior, s2)


def _sums_of_features(post: Posterior, c0: Array, N: Array, s2: Array, square: Array) -> tuple[Array, Array, Array]:
    """``dictionary_moment`` and ``bound_sums``, together: every result of a device is waited for."""
    return dictionary_moment(post, c0), *bound_sums(N, s2, square, post.logdet)


def sweep(
    data: Observations,
    weights: Tall,
    factors: Factors,
    rules: SweepRules,
    place: Place = HERE,
    known: tuple[Tall, Tall] | None = None,
    moment: Array | None = None,
) -> Swept:
    """One sweep of coordinate ascent: X, the weights and the noise's law, P0, s2, C.

    ``weights`` (n, m) are those of the last sweep: ``data.W`` under Gaussian noise. Noise that has weights of its own
    writes the new ones over them. ``known`` is ``plain_sums`` of plain rows and ``moment`` the ``dictionary_moment`` of
    the factors, which the sweep before has returned, for a caller that has them.
    Cost 4 n m p + (n + m) q³ flops, with Student-t noise 6 n m p.
    """
    if moment is None:
        moment = place.total(dictionary_moment, factors.post, factors.prior.c0)  # first: a device is waited for
    prior = factors.prior
    if prior.row_mean and rules.relevance is not None:
        moment, shift = centred_moment(moment, factors.post, prior, place, data.m)
        prior = shifted(prior, shift, place)
    prior = dictionary_prior(prior, moment, data.m, rules.relevance)
    stats, square, sums, tails, weights = _collect(data, weights, factors, place, known)
    noise, tail_bound = factors.noise.learn(tails)
    s2 = rules.variance.learn(factors.s2, square, stats.N, rules.floor, place)
    # C last, so that it is the posterior under the prior and noise returned
    post, square = place.each(_with_squares, stats, prior, s2)
    moment, misfit, logdet = place.total(_sums_of_features, post, prior.c0, stats.N, s2, square)
    if not prior.row_mean:
        value = bound(float(misfit), float(logdet), sums, moment, prior, rules.relevance, data.m)
    else:  # their prior variance is learned, and put into the loading, so that the coefficients keep the variance 1
        variance = float(sums.xx[-1, -1]) / sums.n
        learned = prior._replace(K=np.diag(np.append(np.ones(factors.r - 1), 1.0 / variance)))
        value = bound(float(misfit), float(logdet), sums, moment, learned, rules.relevance, data.m)
        post, prior = times_loading(post, prior, sqrt(variance), place)
    return Swept(Factors(post, prior, s2, noise), weights, value + tail_bound, moment)
