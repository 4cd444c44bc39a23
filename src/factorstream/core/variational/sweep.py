"""One variational sweep over a data set.

A sweep visits every sample once; its contribution REPLACES the one of the last sweep (the sums are rebuilt), so
sweeps converge to the variational posterior instead of counting the data again. It is a map over rows (``add_rows``:
the sums of some rows under the present posterior), a sum (``merge_sums``) and a conclusion (``conclude``).
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from ...arrays import beside, namespace, to_host
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
    merge,
    moments,
    moments_for_sweep,
    no_statistics,
    posterior,
    posterior_over,
    room,
    second_moment,
)
from .relevance import CoefficientSums, Relevance, bound, bound_sums, dictionary_moment, dictionary_prior
from .row_mean import centred_moment, shifted, times_loading
from .squares import expected_square, square_by_inverse, square_by_moments


class SweepRules(NamedTuple):
    """What a sweep learns beside C and X, and how."""

    relevance: Relevance | None  # None: the prior of C stays
    variance: VarianceRule
    floor: Tall | float  # least s2_i


class Concluded(NamedTuple):
    """What a sweep ends in."""

    factors: Factors
    bound: float
    moment: Array  # (q, q) dictionary_moment


class Swept(NamedTuple):
    """The same, and the weights of rows that are kept."""

    factors: Factors
    weights: Tall  # (n, m)
    bound: float
    moment: Array


class RowSums(NamedTuple):
    """What a sweep finds in rows, under the factors that it begins with. Additive: over blocks, files and machines."""

    stats: Statistics
    x: Array  # ``_sums_of_rows``
    tails: Array  # those of the law of the noise
    n: float  # rows, each as often as it counts


def no_sums(factors: Factors, place: Place = HERE) -> RowSums:
    """Before any row."""
    q = len(factors.prior.P0)
    return RowSums(place.each(_empty, factors.s2, q), np.zeros(size(q) + q + 1), factors.noise.no_sums(), 0)


def add_rows(
    sums: RowSums,
    data: Observations,
    weights: Tall,
    factors: Factors,
    M: Tall | None,
    place: Place = HERE,
    known: tuple[Tall, Tall] | None = None,
) -> tuple[RowSums, Tall]:
    """The sums with these rows as well, whose statistics are added IN PLACE, and the new weights of the rows.

    x-step and weight step, in blocks of rows. M = ``moments_for_sweep``; ``known``: see ``sweep``.
    """
    post, prior, s2, noise = factors
    r, q = prior.mu.size, len(prior.P0)
    stats, x, tails = sums.stats, beside(sums.x, place.empty(0)), sums.tails
    if data.plain:
        yy, N = place.each(plain_sums, data.Y, data.W) if known is None else known
        stats = place.each(_with_plain_sums, stats, yy, N)
    for b in blocks(data.n, data.packed * size(q) + noise.width * data.width, room(place)):
        rows = take_rows(data._replace(W=weights), b, place)
        coef = coefficients(rows, post, s2, prior, M, place)
        Z = place.rows(moments, coef, r)
        weights, more = noise.reweigh(weights, data, b, coef, Z, M, post, s2, place)
        tails = tails + more
        stats = place.each(add_block, stats, data.Y, weights, b, coef, Z, data.plain)
        x = x + place.rows(_sums_of_rows, coef, Z)
    return RowSums(stats, x, tails, sums.n + data.n), weights


def merge_sums(a: RowSums, b: RowSums, place: Place = HERE) -> RowSums:
    """The sums of both sets of rows, found under the same factors."""
    return RowSums(place.each(merge, a.stats, b.stats), a.x + b.x, a.tails + b.tails, a.n + b.n)


def _with_plain_sums(stats: Statistics, yy: Array, N: Array) -> Statistics:
    return stats._replace(yy=stats.yy + yy, N=stats.N + N)


def _sums_of_rows(coef: CoefficientPosterior, Z: Array) -> Array:
    """Of some rows, one after the other: the sums of Z, of the coefficients and of the log-determinants."""
    xp, (n, p) = namespace(Z), Z.shape
    ZZ = sum_of_pieces(lambda some: xp.sum(Z[some, :], axis=0), n, PASS * n * p)
    return xp.concat([ZZ, xp.sum(coef.X, axis=0), xp.sum(coef.logdet[:, None], axis=0)])


def _empty(s2: Array, q: int) -> Statistics:
    return no_statistics(s2.shape[0], q, s2)


def _coefficient_sums(sums: Array, n: float, r: int, q: int) -> CoefficientSums:
    """``_sums_of_rows`` of all n rows, by their names."""
    return CoefficientSums(n, sums[size(q) :][:r], unpack(sums[: size(q)], q)[:r, :r], float(sums[-1]))


def _with_squares(stats: Statistics, prior: FactorPrior, s2: Array) -> tuple[Posterior, Array]:
    """The posterior of C, in the memory of the sums where it can be, and its expected squares (m,)."""
    post = (posterior if prior.row_mean else posterior_over)(stats, prior, s2)  # the squares beside row means need S
    return post, square_by_inverse(stats, post, prior, s2)


def _sums_of_features(post: Posterior, c0: Array, N: Array, s2: Array, square: Array) -> tuple[Array, Array, Array]:
    """``dictionary_moment`` and ``bound_sums``, together: every result of a device is waited for."""
    return dictionary_moment(post, c0), *bound_sums(N, s2, square, post.logdet)


def _moments(data: Observations, post: Posterior, s2: Tall, place: Place) -> Tall:
    """``second_moment`` of all features."""
    return place.each(second_moment, post, s2)


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
    keeps = factors.noise.keeps_weights  # others need M for them
    M = (moments_for_sweep if keeps else _moments)(data, factors.post, factors.s2, place)
    sums, weights = add_rows(no_sums(factors, place), data, weights, factors, M, place, known)
    if M is None:
        square = expected_square(sums.stats, factors.post)
    else:
        square = place.each(square_by_moments, sums.stats, factors.post, M, factors.s2)
    del M  # as large as the sums
    factors, value, moment = conclude(sums, factors, rules, square, moment, data.m, place)
    return Swept(factors, weights, value, moment)


def conclude(
    sums: RowSums, factors: Factors, rules: SweepRules, square: Tall, moment: Array, m: int, place: Place = HERE
) -> Concluded:
    """The end of a sweep, given its sums over all rows, which are used up: P0, the noise, C.

    ``moment`` and ``square`` (m,), which is ``square_by_moments``, are of the ``factors`` before. Cost m q³.
    """
    prior = factors.prior
    if prior.row_mean and rules.relevance is not None:
        moment, shift = centred_moment(moment, factors.post, prior, place, m)
        prior = shifted(prior, shift, place)
    prior = dictionary_prior(prior, moment, m, rules.relevance)
    stats = sums.stats
    of_rows = _coefficient_sums(to_host(sums.x), sums.n, factors.r, len(prior.P0))
    noise, tail_bound = factors.noise.learn(sums.tails)
    s2 = rules.variance.learn(factors.s2, square, stats.N, rules.floor, place)
    # C last, so that it is the posterior under the prior and noise returned
    post, square = place.each(_with_squares, stats, prior, s2)
    moment, misfit, logdet = place.total(_sums_of_features, post, prior.c0, stats.N, s2, square)
    if not prior.row_mean:
        value = bound(float(misfit), float(logdet), of_rows, moment, prior, rules.relevance, m)
    else:  # their prior variance is learned, and put into the loading, so that the coefficients keep the variance 1
        variance = float(of_rows.xx[-1, -1]) / of_rows.n
        learned = prior._replace(K=np.diag(np.append(np.ones(factors.r - 1), 1.0 / variance)))
        value = bound(float(misfit), float(logdet), of_rows, moment, learned, rules.relevance, m)
        post, prior = times_loading(post, prior, sqrt(variance), place)
    return Concluded(Factors(post, prior, s2, noise), value + tail_bound, moment)
