"""Fits in which part of the noise is known, and rows count more or less than once.

    y_ki = c_iᵀ x_k + e_ki        e_ki ~ N(0, s2_i + v_ki)        v_ki known, s2_i learned; row k counts t_k times

**Coefficients.** With w_ki = s2_i / (s2_i + v_ki) the precision of an entry is w_ki / s2_i, so that q(x_k) is that of
``posterior`` with these weights. It does not depend on t_k: each of t_k equal rows has the same coefficients.

**Variance.** e = a + b with a ~ N(0, s2), what the model does not know, and b ~ N(0, v), the known error. Given e,

    a | e ~ N(w e, s2 (1 - w))        E[a²] = w² E[e²] + s2 (1 - w)

and expectation-maximisation takes s2_i = Σ_k t_k E[a_ki²] / Σ_k t_k over the observed entries (of all features
together, where they share one). With v = 0 it is the mean of E[e²]. Every such step raises the bound, and several are
taken at once, because E[e²] stays the same while s2 moves.

**Dictionary.** The sums of ``Statistics`` with the weights t_k w_ki, under the new s2: V_i⁻¹ = P0 + S_i / s2_i as ever.

**Bound.** Its likelihood has log(s2_i + v_ki) = log s2_i - log w_ki, so that ½ Σ t_k log w_ki is added to that of
weights; a row's divergence from its prior counts t_k times.

Dense rows of this process and normal noise only. Memory for the coefficients of all rows, n (q + p), and for n × m
expected squares: s2 has to be known before any row is added to the sums.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from ..place import HERE
from ..telling import Tell
from .factors import Factors, by_relevance, rescale, standardise
from .fit import (
    DOUBTFUL,
    Course,
    FitOptions,
    VariationalFit,
    advanced,
    first_posterior,
    goes_on,
    sweep_rules,
    told,
)
from .noise.law import safe_scale
from .noise.variance import LEAST, LEAST_SHARE, GivenVariance, VarianceRule
from .observed import Known, Observations, entry_counts, known_weights
from .packed import Array, size
from .posterior import CoefficientPosterior, blocks, coefficients, moments, no_statistics, second_moment
from .predictive import expected_squares, predict_variance
from .relevance import dictionary_moment
from .start import affordable_rank, spectral_start
from .sweep import Concluded, RowSums, SweepRules, conclude

STEPS = 10
"""Steps of expectation-maximisation that a sweep takes for the noise variances. Not tuned: each costs far less than
the rest of the sweep, and the next one goes on from there."""

MOMENT_STEPS = 100
"""Most steps for the means and variances that a fit begins with. Not tuned: the sweeps find both again."""

MOST_REPEATED = 4
"""Times the number of rows that a start repeats them to at most. Memory and speed only; sweeps find the same."""

SETTLED = 1e-4
"""Share of a variance by which a step may still move it when these are taken as found. Not tuned."""


class Scaled(NamedTuple):
    """Rows as the sweeps have them: y = offset + scale * data.Y, and known errors in the same units."""

    data: Observations
    known: Known
    offset: Array  # (m,)
    own: Array  # (m,) variance of each feature without the known errors
    scale: float


def fit_known(
    data: Observations, known: Known, options: FitOptions, warm: Factors | None, tell: Tell
) -> VariationalFit:
    """What ``fit`` returns, where something is known of the rows beside their values."""
    rows = scaled_rows(data, known)
    N = float(entry_counts(rows.data).sum())
    factors = _cold_start(rows, options) if warm is None else standardise(warm, rows.offset, rows.scale)
    course = Course(factors, None)
    rules = sweep_rules(options, factors, rows.own)
    n_rows = int(np.count_nonzero(known.times))
    while goes_on(course, options):
        swept = sweep_known(rows.data, rows.known, course.factors, rules, course.moment)
        course = advanced(course, swept, options, N, rows.scale)
        tell(told(course, options, N, n_rows))
    factors = course.factors
    spent = _spent(rows, factors)
    weights = known_weights(rows.data.W, rows.known.v, factors.s2)
    factors = rescale(by_relevance(factors), rows.offset, rows.scale)
    return VariationalFit(factors, course.history, 0, weights, spent)


# ------------------------------------------------------------------ weights and variances


def model_squares(square: Array, W: Array, known: Known, s2: Array) -> Array:
    """Σ_k t_k E[a_ki²] (m,), given E[e_ki²] (n, m)."""
    w = known_weights(W, known.v, s2)
    return np.asarray(known.times @ (w * w * square + np.where(W > 0, s2 * (1.0 - w), 0.0)))


def column_law(data: Observations, known: Known) -> tuple[Array, Array]:
    """Mean and variance (m,) of every feature beyond the known errors, y_ki ~ N(mean_i, variance_i + v_ki)."""
    W = np.where(data.W > 0, 1.0, 0.0)
    N = np.maximum(known.times @ W, np.finfo(float).tiny)
    mean = known.times @ (W * data.Y) / N
    most = known.times @ (W * (data.Y - mean) ** 2) / N
    variance, least = most, np.where(most > 0, LEAST * most, 1.0)
    for _ in range(MOMENT_STEPS):
        precision = known.times[:, None] * np.where(W > 0, 1.0 / np.maximum(variance + known.v, least), 0.0)
        total = precision.sum(axis=0)
        mean = np.where(total > 0, (precision * data.Y).sum(axis=0) / np.where(total > 0, total, 1.0), mean)
        before = np.where(most > 0, variance, 1.0)  # of equal values there is nothing to find
        found = model_squares(W * (data.Y - mean) ** 2, W, known, before) / N
        variance, last = np.where(most > 0, np.maximum(found, LEAST_SHARE * most), 0.0), variance
        if np.all(np.abs(variance - last) <= SETTLED * last):
            break
    return mean, variance


def scaled_rows(data: Observations, known: Known) -> Scaled:
    """Rows centred on their means and divided by their overall spread, both beyond the known errors."""
    data = data._replace(W=np.where((data.W > 0) & (known.times > 0)[:, None], 1.0, 0.0))
    mean, variance = column_law(data, known)
    N = entry_counts(data)
    scale = sqrt(float(N @ variance) / max(float(N.sum()), np.finfo(float).tiny)) or 1.0
    scale = safe_scale(scale, np.abs(mean))
    F = np.where(data.W > 0, data.Y - mean, 0.0) / scale
    own = variance / scale**2
    v = np.where(data.W > 0, known.v, 0.0) / scale**2
    known = Known(v, known.times)
    return Scaled(data._replace(Y=F, plain=False, known=known), known, mean, own, scale)


# ------------------------------------------------------------------ fitting


def _cold_start(rows: Scaled, options: FitOptions) -> Factors:
    """The spectral start of values that are drawn to their means by as much as their known errors say."""
    data, known, own = rows.data, rows.known, rows.own
    drawn = data._replace(Y=data.Y * own / np.maximum(own + known.v, np.finfo(float).tiny), known=None)
    which, times = _as_often(known.times)
    some = drawn._replace(Y=drawn.Y[which], W=drawn.W[which], n=len(which))
    start = spectral_start(some.Y, some, options.r, options.noise, options.max_passes, spare=options.spare)
    r, guess = start.X.shape[1], max(start.s2, LEAST)
    if r >= affordable_rank(some.n, data.m, float(np.count_nonzero(some.W))):
        guess = max(guess, DOUBTFUL)
    s2 = np.full(data.m, options.variance.first(guess, rows.scale))
    weights = times[:, None] * known_weights(some.W, known.v[which], s2)
    a0 = options.prior.variance(r, rows.scale)
    post, prior = first_posterior(start, some._replace(Y=data.Y[which], W=weights), float(s2[0]), a0)
    return Factors(post, prior, s2, options.noise)


def _as_often(times: Array) -> tuple[Array, Array]:
    """Numbers of the rows that a start is found from, and how often each of these counts.

    Where weights are whole and small, each row as often as it counts, so that the start is that of repeated rows.
    """
    whole = bool(np.all(times == np.floor(times)))
    if whole and times.sum() <= MOST_REPEATED * np.count_nonzero(times):
        which = np.repeat(np.arange(len(times)), times.astype(np.intp))
        return which, np.ones(len(which))
    which = np.flatnonzero(times)
    return which, times[which]


def sweep_known(
    data: Observations, known: Known, factors: Factors, rules: SweepRules, moment: Array | None = None
) -> Concluded:
    """One sweep of coordinate ascent: X, s2, P0, C. Cost 6 n m p + (n + m) q³ flops."""
    if moment is None:
        moment = dictionary_moment(factors.post, factors.prior.c0)
    coef, square = _coefficients(data, known, factors)
    s2 = learn_variance(square, data, known, factors.s2, rules.variance, rules.floor)
    weights = known_weights(data.W, known.v, s2)
    sums = _sums(data, known, coef, weights, factors.r)
    found = rules._replace(variance=GivenVariance(0.0))  # which stays as it is
    of_features = np.zeros(data.m)  # no longer needed: the variances are found
    done = conclude(sums, factors._replace(s2=s2), found, of_features, moment, data.m)
    logs = np.log(np.where(data.W > 0, np.maximum(weights, np.finfo(float).tiny), 1.0)).sum(axis=1)
    return done._replace(bound=done.bound + 0.5 * float(known.times @ logs))


def learn_variance(
    square: Array, data: Observations, known: Known, s2: Array, rule: VarianceRule, floor: Array | float
) -> Array:
    """s2 (m,) after a few steps of expectation-maximisation, given E[e_ki²] (n, m)."""
    N = entry_counts(data)
    for _ in range(STEPS):
        last, s2 = s2, rule.learn(s2, model_squares(square, data.W, known, s2), N, floor, HERE)
        if np.all(np.abs(s2 - last) <= SETTLED * last):
            break
    return s2


def _coefficients(data: Observations, known: Known, factors: Factors) -> tuple[CoefficientPosterior, Array]:
    """q(x_k) of all rows, and E[e_ki²] (n, m)."""
    post, prior, s2, _ = factors
    M = second_moment(post, s2)
    rows = data._replace(W=known_weights(data.W, known.v, s2), plain=False)
    coef = coefficients(rows, post, s2, prior, M)
    square = np.empty((data.n, data.m))
    for b in _pieces(data, factors.r):
        some = _part(coef, b)
        square[b] = expected_squares(data.Y[b], some, M * s2[:, None], post.C, moments(some, factors.r))
    return coef, square


def _sums(data: Observations, known: Known, coef: CoefficientPosterior, weights: Array, r: int) -> RowSums:
    """What a sweep needs of all rows: the sums for C, and those of the coefficients, each row t_k times."""
    q = coef.X.shape[1]
    S, H, _, _ = no_statistics(data.m, q)
    of_rows = np.zeros(size(q) + q + 1)
    W = known.times[:, None] * weights
    for b in _pieces(data, r):
        some = _part(coef, b)
        Z = moments(some, r)
        S += W[b].T @ Z
        H += (W[b] * data.Y[b]).T @ some.X
        of_rows += known.times[b] @ np.column_stack([Z, some.X, some.logdet])
    yy = np.einsum("km,km,km->m", W, data.Y, data.Y)
    stats = no_statistics(0, q)._replace(S=S, H=H, yy=yy, N=entry_counts(data))
    return RowSums(stats, of_rows, np.zeros(0), float(known.times.sum()))


def _spent(rows: Scaled, factors: Factors) -> Array:
    """What the number of observed entries is lessened by (m,) where it says how well s2 is known.

    In the information about s2 an entry is worth w² of one without a known error, and 1 - h of that where fitting has
    spent the share h = Var[c_iᵀx_k] / (s2_i + v_ki) of it. With v = 0 these are the parameters of ``freedom``.
    """
    data, known, s2 = rows.data, rows.known, factors.s2
    coef, _ = _coefficients(data, known, factors)
    w = known_weights(data.W, known.v, s2)
    spent = np.clip(w * predict_variance(coef, factors.post, factors.r) / s2, 0.0, 1.0)
    return np.asarray(known.times @ np.where(data.W > 0, 1.0 - w * w * (1.0 - spent), 0.0))


def _pieces(data: Observations, r: int) -> list[slice]:
    return list(blocks(data.n, 2 * size(r + 1) + data.m))


def _part(coef: CoefficientPosterior, b: slice) -> CoefficientPosterior:
    return CoefficientPosterior(coef.X[b], coef.Sigma[b], coef.logdet[b])
