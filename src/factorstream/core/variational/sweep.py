"""Variational sweeps over a data set, from a start that is already good: the recommended fit.

A sweep visits every sample once; its contribution REPLACES the one of the last sweep (the sums are rebuilt), so
sweeps converge to the variational posterior instead of counting the data again. Work is in the data's own scale:
``fit`` centres on observed means, divides by the overall spread, and folds both back into the result.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..linalg import SparseRows, is_sparse
from .packed import Array, Mask, column_count, pack, size, total_count, unpack
from .posterior import (
    Coefficients,
    Posterior,
    Prior,
    Statistics,
    add_statistics,
    blocks,
    coefficients,
    expected_square,
    moments,
    no_statistics,
    posterior,
    second_moment,
)
from .relevance import (
    KAPPA,
    KEEP,
    Relevance,
    Spread,
    bound,
    canonical,
    dictionary_moment,
    dictionary_prior,
    noise,
    relevance,
)
from .robust import NO_TAILS, TailSums, add_tails, learn_nu, robust_coefficients, tail_bound, tail_weights
from .start import Spectrum, affordable_rank, sparse_start, spectral_start


class Options(NamedTuple):
    """How to fit. The defaults are the measured ones (NOTES.md)."""

    r: int | None = None  # upper bound on the components; None: from the data
    per_feature_noise: bool = False  # one s2_i per feature instead of one s2
    kappa: float = KAPPA  # features' worth of belief in equal components; inf: relevance is not learned
    spare: bool = True  # start with components to spare (only if r is None)
    prune: bool = True
    max_sweeps: int = 30
    tol: float = 1e-3  # stop when a sweep gains less than this many nats per observed entry
    max_passes: int = 30  # of the spectral start
    floor: float = 1e-3  # least noise variance of a feature, relative to that feature's variance
    nu: float | None = None  # Student-t degrees of freedom; None: Gaussian noise
    learn_nu: bool = False  # nu is then the starting value
    noise: float | None = None  # a given noise variance, in the data's units; None: learned
    prior_variance: float | None = None  # a given prior variance of C's entries, likewise


DEFAULT = Options()
DOUBTFUL = 0.1  # first noise variance, relative to the data's, where the start has as many parameters as data
LEAST = 1e-6  # least noise variance, relative to the data's


class Model(NamedTuple):
    """Everything needed to fill new samples and to go on fitting."""

    post: Posterior
    prior: Prior
    s2: Array  # (m,)
    nu: float  # inf: Gaussian noise


class SweepInfo(NamedTuple):
    """Facts of one sweep."""

    bound: float
    n_components: int


class Fit(NamedTuple):
    """A fitted model in the data's units, and how it got there."""

    model: Model
    history: tuple[SweepInfo, ...]
    n_passes: int
    weights: Array | None  # (n, m) Student-t weights of a robust fit


def _collect(Y: Array, W: Array, model: Model, seen: Mask | None) -> tuple[Statistics, Spread, TailSums, Array]:
    """x-step (and, in a robust fit, weight step) over all samples in blocks, and the sums they leave."""
    post, prior, s2, nu = model
    r, (m, q) = prior.mu.size, post.C.shape
    M = second_moment(post, 1.0 / s2)
    stats, tails = no_statistics(m, q), NO_TAILS
    spread = Spread(0.0, np.zeros(r), np.zeros((r, r)), 0.0)
    W_new = W if seen is None else np.empty_like(W)
    for b in blocks(Y.shape[0], 2 * size(q) + 3 * m):
        coef = coefficients(Y[b], W[b], post, s2, prior, M)
        Z = moments(coef, r)
        if seen is not None:
            W_new[b], more = tail_weights(Y[b], seen[b], coef, M, post.C, Z, s2, nu)
            tails = add_tails(tails, more)
        add_statistics(stats, Y[b], W_new[b], coef, Z)
        xx = unpack(Z.sum(axis=0), q)[:r, :r]
        part = Spread(float(coef.X.shape[0]), coef.X[:, :r].sum(axis=0), xx, float(coef.logdet.sum()))
        spread = Spread(spread.n + part.n, spread.x + part.x, spread.xx + part.xx, spread.logdet + part.logdet)
    return stats, spread, tails, W_new


def sweep(
    Y: Array,
    W: Array,
    model: Model,
    floor: Array,
    how: Relevance,
    per_feature: bool = False,
    seen: Mask | None = None,
    learn: bool = False,
    learn_noise: bool = True,
) -> tuple[Model, Array, float, Array]:
    """One sweep of coordinate ascent: X, (weights, nu,) P0, s2, C. Returns (model, W, bound, moment).

    Y (n, m) finite everywhere; W (n, m) weights, zero where missing. A robust sweep also gets ``seen`` (the
    mask); W then are the last weights and come back new. Cost 4 n m p + (n + m) q^3 flops (robust: 6 n m p).
    """
    stats, spread, tails, W = _collect(Y, W, model, seen)
    nu = learn_nu(tails, model.nu) if learn and seen is not None else model.nu
    moment = dictionary_moment(model.post, model.prior)
    prior = dictionary_prior(model.prior, moment, len(floor), how)
    square = expected_square(stats, model.post)
    s2 = noise(square, stats.N, floor, per_feature) if learn_noise else model.s2
    post = posterior(stats, prior, s2)  # last, so that it is the posterior under the prior and noise returned
    moment, square = dictionary_moment(post, prior), expected_square(stats, post)
    value = bound(stats, square, spread, moment, post, prior, s2, how)
    if seen is not None:
        value += tail_bound(tails, nu)
    return Model(post, prior, s2, nu), W, value, moment


def model_from(start: Spectrum, F: Array, W: Array, v0: float, s2: Array, a0: float, nu: float) -> Model:
    """First C-step: the start's coefficients, with the uncertainty they would have if every sample were average."""
    n, m = F.shape
    r = start.X.shape[1]
    P0 = np.diag(np.concatenate([np.full(r, 1.0 / a0), [1.0 / v0]]))
    prior = Prior(np.zeros((m, r + 1)), P0, np.zeros(r), np.eye(r))
    share = total_count(W) / max(n * m, 1)
    Sigma = np.linalg.inv(np.eye(r) + share * (start.B / s2) @ start.B.T)
    X = np.ones((n, r + 1))
    X[:, :r] = start.X
    common = pack(0.5 * (Sigma + Sigma.T))
    stats = no_statistics(m, r + 1)
    for b in blocks(n, 3 * size(r + 1) + m):
        rows = X[b]
        coef = Coefficients(rows, np.broadcast_to(common, (len(rows), size(r))), np.zeros(len(rows)))
        add_statistics(stats, F[b], W[b], coef, moments(coef, r))
    return Model(posterior(stats, prior, s2), prior, s2, nu)


def _prune(model: Model, moment: Array) -> Model:
    """Drop components that are prior and nothing else."""
    _, share, U = relevance(model.post, model.prior, moment)
    keep = np.flatnonzero(share > KEEP)
    if keep.size == share.size:
        return model
    post, prior = canonical(model.post, model.prior, U, keep)
    return model._replace(post=post, prior=prior)


def rescale(model: Model, offset: Array, scale: float) -> Model:
    """The model of offset + scale * y: the offset goes into the mean column."""
    post, prior, s2, nu = model
    C, c0 = post.C * scale, prior.c0 * scale
    C[:, -1] += offset
    c0[:, -1] += offset
    logdet = post.logdet + 2.0 * C.shape[1] * np.log(scale)
    prior = prior._replace(c0=c0, P0=prior.P0 / scale**2)
    return Model(Posterior(C, post.V * scale**2, logdet), prior, s2 * scale**2, nu)


def _prepare(Y: Array, W: Array, robust: bool = False) -> tuple[Array, Array, float, Array]:
    """Centre on observed means, scale by the overall spread: (F, offset, scale, variance of each feature).

    ``robust`` takes medians and median absolute deviations instead, which outliers of any size leave alone.
    """
    count = np.maximum(column_count(W), 1.0)
    if is_sparse(W):
        return _prepare_sparse(Y, count)
    if robust:
        return _prepare_robust(Y, W)
    offset = np.where(W > 0, Y, 0.0).sum(axis=0) / count
    F = np.where(W > 0, Y - offset, 0.0)
    own = np.einsum("km,km->m", F, F)
    scale = float(np.sqrt(own.sum() / max(np.count_nonzero(W), 1))) or 1.0
    F /= scale
    return F, offset, scale, own / count / scale**2


def _prepare_robust(Y: Array, W: Array) -> tuple[Array, Array, float, Array]:
    offset, own = np.zeros(Y.shape[1]), np.zeros(Y.shape[1])
    for i in range(Y.shape[1]):
        values = Y[W[:, i] > 0, i]
        if values.size:
            offset[i] = np.median(values)
            own[i] = (1.4826 * np.median(np.abs(values - offset[i]))) ** 2
    if not (own > 0).any():  # most values of every feature are equal: fall back on squares
        own = np.sum(np.where(W > 0, Y - offset, 0.0) ** 2, axis=0) / np.maximum(column_count(W), 1.0)
    own = np.where(own > 0, own, np.median(own[own > 0]) if (own > 0).any() else 1.0)
    scale = float(np.sqrt(own.mean()))
    return np.where(W > 0, Y - offset, 0.0) / scale, offset, scale, own / scale**2


def _prepare_sparse(Y: SparseRows, count: Array) -> tuple[SparseRows, Array, float, Array]:
    """``_prepare`` for sparse rows, all of whose stored entries are observed."""
    offset = np.asarray(Y.sum(axis=0)) / count
    F = Y.astype(np.float64)
    F.data = F.data - offset[F.indices]
    own = np.asarray((F * F).sum(axis=0))
    scale = float(np.sqrt(own.sum() / max(F.nnz, 1))) or 1.0
    F.data /= scale
    return F, offset, scale, own / count / scale**2


def fit(Y: Array, W: Array, options: Options = DEFAULT, warm: Model | None = None) -> Fit:
    """Fit the factorisation to the observed entries (W > 0) of Y (n, m): spectral start, then sweeps.

    ``warm``: start from this model (in the data's units) instead, e.g. after held-out entries came back.
    Invariant to multiplying Y by a constant. Cost: about 10 passes of 4 n m min(n, m), then few sweeps.
    """
    if not is_sparse(W):
        W = np.ascontiguousarray(W, dtype=np.float64)
    robust = options.nu is not None
    F, offset, scale, own = _prepare(Y, W, robust)
    n, m = F.shape
    nu = options.nu if options.nu is not None else np.inf
    n_passes, weights = 0, W
    if warm is None:
        if is_sparse(F):
            start = sparse_start(F, options.r or 1)
        else:
            start = spectral_start(F, W, options.r, options.max_passes, robust=robust, spare=options.spare)
        n_passes = start.n_passes
        a0 = 1.0 / max(start.X.shape[1], 1)
        if options.prior_variance is not None:
            a0 = options.prior_variance / scale**2
        first = max(start.s2, LEAST)
        if start.X.shape[1] >= affordable_rank(n, m, total_count(W)):
            first = max(first, DOUBTFUL)  # the start fits everything: its residual says nothing of the noise
        if options.noise is not None:
            first = options.noise / scale**2
        weights = W * start.inlier if robust else W
        model = model_from(start, F, weights, 1.0, np.full(m, first), a0, nu)
    else:
        model = rescale(warm, -offset / scale, 1.0 / scale)
        model.prior.c0[:, -1] = 0.0  # the prior of a mean is centred on what is observed now
        a0 = 1.0 / max(warm.prior.mu.size, 1)
        if robust:
            weights = robust_coefficients(F, W > 0, model.post, model.s2, model.prior, model.nu, 3)[1]
    how = Relevance(options.kappa if options.prior_variance is None else np.inf, a0)
    floor = options.floor * own + LEAST if options.per_feature_noise else np.full(m, LEAST)
    seen = W > 0 if robust else None
    gain = options.tol * total_count(W)
    history: list[SweepInfo] = []
    for _ in range(options.max_sweeps):
        model, weights, value, moment = sweep(
            F, weights, model, floor, how, options.per_feature_noise, seen, options.learn_nu, options.noise is None
        )
        history.append(SweepInfo(value - total_count(W) * float(np.log(scale)), model.prior.mu.size))
        if options.prune:
            model = _prune(model, moment)
        if len(history) > 1 and history[-1].bound - history[-2].bound < gain:
            break
    _, _, U = relevance(model.post, model.prior, dictionary_moment(model.post, model.prior))
    post, prior = canonical(model.post, model.prior, U)
    model = rescale(model._replace(post=post, prior=prior), offset, scale)
    return Fit(model, tuple(history), n_passes, weights if robust else None)
