"""The recommended fit: variational sweeps from a start that is already good.

Work is in the data's own scale: ``fit`` centres on observed means, divides by the overall spread, and folds both back
into the result.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import full_like, namespace, zeros_beside
from ..place import HERE, Place, Tall
from ..telling import Sweep, Tell, silent
from .factors import Factors, by_relevance, check_definite, new_weights, prune, rescale, standardise
from .freedom import spent_parameters
from .noise.gaussian import GaussianNoise
from .noise.law import NoiseLaw, Prepared
from .noise.variance import LEAST, PooledVariance, VarianceRule
from .observed import Observations, are_plain, plain_sums, total_count
from .packed import Array, pack, size
from .posterior import (
    CoefficientPosterior,
    FactorPrior,
    Posterior,
    Statistics,
    add_block,
    blocks,
    moments,
    no_statistics,
    posterior_over,
    room,
)
from .relevance import LearnedPrior, PriorRule, n_learned
from .row_mean import TwoWay, common_offset, position, two_way, with_row_means, without_means
from .sparse_start import sparse_start
from .start import Spectrum, affordable_rank, spectral_start
from .sweep import Concluded, SweepRules, Swept, sweep

DOUBTFUL = 0.1
"""First noise variance, relative to the data's, where the start has as many parameters as data and its residual says
nothing of the noise. Not tuned: the error of filled entries moves by at most 1% between 0.03 and 0.3
(``benchmarks/variational_defaults.py``)."""

WARM_ITERATIONS = 3
"""Alternations that give the entries of a warm start their weights; the sweeps go on from there. Not tuned."""


class FitOptions(NamedTuple):
    """How to fit."""

    r: int | None = None
    """Upper bound on the components; None: from the data."""
    noise: NoiseLaw = GaussianNoise()
    variance: VarianceRule = PooledVariance()
    row_mean: bool = False
    """Whether every row has a mean of its own."""
    prior: PriorRule = LearnedPrior()
    spare: bool = True
    """Start with components to spare (only if r is None)."""
    prune: bool = True
    """Drop components that are prior and nothing else."""
    max_sweeps: int = 30
    """At most so many sweeps; few fits need as many."""
    tol: float = 1e-3
    """Stop when a sweep gains less than this many nats per observed entry: not tuned; between 0.0003
    and 0.003 the error of filled entries moves by at most 3.5% (``benchmarks/variational_defaults.py``)."""
    max_passes: int = 30
    """Of the spectral start."""


class SweepInfo(NamedTuple):
    """Facts of one sweep."""

    bound: float
    n_components: int


class VariationalFit(NamedTuple):
    """Fitted factors in the data's units, and how they were found."""

    factors: Factors
    history: tuple[SweepInfo, ...]
    n_passes: int
    weights: Tall  # (n, m) of the last sweep: those given, or what the law of the noise has made of them
    spent: Tall  # (m,) parameters that the observed entries of each feature were spent on


class Course(NamedTuple):
    """How far the sweeps have come: all that the next one goes on from, but for the rows."""

    factors: Factors  # of standardised data
    moment: Array | None  # their ``dictionary_moment``, where it is known
    history: tuple[SweepInfo, ...] = ()
    settled: bool = False  # the last sweep gained too little for another


class _Start(NamedTuple):
    """What the sweeps go on from."""

    factors: Factors
    weights: Tall
    n_passes: int


def fit(
    data: Observations,
    options: FitOptions | None = None,
    warm: Factors | None = None,
    place: Place = HERE,
    tell: Tell = silent,
) -> VariationalFit:
    """Fit the factorisation to the observed entries (W > 0): spectral start, then sweeps.

    ``warm``: start from these factors (in the data's units) instead, e.g. after held-out entries came back.
    Invariant to multiplying Y by a constant. Cost: about 10 passes of 4 n m min(n, m), then few sweeps.
    """
    options = FitOptions() if options is None else options
    if data.known is not None:
        from .known_errors import fit_known  # few need it

        return fit_known(data, data.known, options, warm, tell)
    noise = options.noise if warm is None else warm.noise
    ready = noise.prepare(data, place)
    if options.row_mean:
        ready = common_offset(ready, data, place)
    N = float(place.total(total_count, data.W))
    scaled = data._replace(Y=ready.F, plain=noise.keeps_weights and are_plain(data.W, place))
    known = place.each(plain_sums, scaled.Y, scaled.W) if scaled.plain else None
    begin = _cold_start(scaled, ready, options, N, place) if warm is None else _warm_start(scaled, ready, warm, place)
    del warm  # standardised, they are others
    weights, n_passes, course = begin.weights, begin.n_passes, Course(begin.factors, None)
    del begin  # what a sweep has replaced is not kept: every posterior is as large as the sums
    rules = sweep_rules(options, course.factors, ready.own, place)
    while goes_on(course, options):
        swept = sweep(scaled, weights, course.factors, rules, place, known, course.moment)
        weights = swept.weights
        course = advanced(course, swept, options, N, ready.scale, place)
        del swept
        tell(told(course, options, N, data.n))
    factors, history = course.factors, course.history
    del course
    spent = spent_parameters(scaled, weights, factors, place)
    factors = by_relevance(factors, place)
    factors = rescale(factors, ready.offset, ready.scale, place)
    return VariationalFit(factors, history, n_passes, weights, spent)


def sweep_rules(options: FitOptions, factors: Factors, own: Tall, place: Place = HERE) -> SweepRules:
    """The rules of all sweeps, given the factors that they begin with and the variances of the features' data (m,)."""
    return SweepRules(
        options.prior.relevance(n_learned(factors.prior)), options.variance, options.variance.floor(own, place)
    )


def goes_on(course: Course, options: FitOptions) -> bool:
    """Whether there is another sweep."""
    return not course.settled and len(course.history) < options.max_sweeps


def advanced(
    course: Course, swept: Swept | Concluded, options: FitOptions, N: float, scale: float, place: Place = HERE
) -> Course:
    """The course after one more sweep over N observed entries, which were divided by ``scale``."""
    check_definite(swept.bound)  # which has them in it
    history = (*course.history, SweepInfo(swept.bound - N * float(np.log(scale)), swept.factors.r))
    factors = prune(swept.factors, swept.moment, place) if options.prune else swept.factors
    settled = len(history) > 1 and history[-1].bound - history[-2].bound < options.tol * N
    return Course(factors, swept.moment if factors is swept.factors else None, history, settled)


def told(course: Course, options: FitOptions, N: float, n: int) -> Sweep:
    """What there is to tell about the last sweep, over n rows with N observed entries."""
    history = course.history
    gain = (history[-1].bound - history[-2].bound) / max(N, 1.0) if len(history) > 1 else None
    return Sweep(len(history), options.max_sweeps, n, gain, history[-1].n_components)


def _cold_start(data: Observations, ready: Prepared, options: FitOptions, N: float, place: Place) -> _Start:
    n, m, noise = data.n, data.m, options.noise
    means = two_way(data, place) if options.row_mean else None
    if data.sparse:
        start = sparse_start(data, options.r or 1, noise, options.max_passes, place=place, means=means)
    else:
        left = data if means is None else without_means(data, means, place)
        start = spectral_start(left.Y, left, options.r, noise, options.max_passes, spare=options.spare, place=place)
    r = start.X.shape[1]
    guess = max(start.s2, LEAST)
    if r >= affordable_rank(n, m, N):
        guess = max(guess, DOUBTFUL)
    weights = noise.first_weights(data.W, start.believed, place)
    s2 = options.variance.first(guess, ready.scale)
    a0, rows = options.prior.variance(r, ready.scale), data._replace(W=weights)
    post, prior = first_posterior(start, rows, s2, a0, place, means)
    return _Start(Factors(post, prior, place.each(full_like, ready.own, s2), noise), weights, start.n_passes)


def _warm_start(data: Observations, ready: Prepared, warm: Factors, place: Place) -> _Start:
    factors = standardise(warm, ready.offset, ready.scale, place)
    return _Start(factors, new_weights(factors, data, place, WARM_ITERATIONS), 0)


def first_posterior(
    start: Spectrum, data: Observations, s2: float, a0: float, place: Place = HERE, means: TwoWay | None = None
) -> tuple[Posterior, FactorPrior]:
    """First C-step: the start's coefficients, with the uncertainty they would have if every sample were average.

    The noise has variance s2, an entry of C the prior variance a0, the mean column 1: the variance of the data.
    """
    P0 = np.diag(np.concatenate([np.full(start.X.shape[1], 1.0 / a0), [1.0] if means is None else [1.0, 1.0]]))
    if means is not None:
        start = with_row_means(start, means, place)
    n, m, r = data.n, data.m, start.X.shape[1]
    share = float(place.total(total_count, data.W)) / max(n * m, 1)
    Sigma = np.linalg.inv(np.eye(r) + share * place.total(_loading_gram, start.B, s2))
    common = pack(0.5 * (Sigma + Sigma.T))
    X = place.empty(n, r + 1)
    X[:, :r] = start.X
    X[:, r] = 1.0
    stats, c0, s2s = place.each(_before_data, start.b, r + 1, s2)
    for b in blocks(n, 3 * size(r + 1) + data.width, room(place)):
        coef = place.rows(_alike, X[b, :], common)
        stats = place.each(add_block, stats, data.Y, data.W, b, coef, place.rows(moments, coef, r))
    prior = FactorPrior(c0, P0, np.zeros(r), np.eye(r), means is not None)
    if means is not None:
        prior = prior._replace(c0=place.each(_with_known, c0, means.c))
    return place.each(posterior_over, stats, prior, s2s), prior


def _with_known(c0: Array, c: float) -> Array:
    c0[:, position(c0.shape[1])] = c
    return c0


def _alike(X: Array, common: Array) -> CoefficientPosterior:
    """Coefficients with the same covariance (packed) in every row."""
    n, p = X.shape[0], common.shape[0]
    return CoefficientPosterior(X, namespace(X).broadcast_to(common, (n, p)), zeros_beside(X, n))


def _loading_gram(B: Array, s2: float) -> Array:
    return (B / s2) @ B.T


def _before_data(b: Array, q: int, s2: float) -> tuple[Statistics, Array, Array]:
    """Sums, prior means and noise variances of the features before any data; b (m,) says how many there are."""
    m = b.shape[0]
    return no_statistics(m, q, b), zeros_beside(b, m, q), full_like(b, s2)
