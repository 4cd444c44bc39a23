"""How many components the data want: the learned prior of the dictionary, and the bound that it raises.

Relevance: c_i ~ N(0, P0⁻¹) with a FULL precision P0, itself under a Wishart-type prior centred on a0 I and
worth kappa features,

    log p(P0) = (kappa/2) (log det P0 - a0 tr P0) + const
    =>  P0⁻¹ = (Σ_i E[c_i c_iᵀ] + kappa a0 I)/(m + kappa)

A full P0 is automatic relevance determination with the optimal orthogonal rotation built in (by Hadamard's
inequality a diagonal prior is best in the basis where the moment is diagonal, and its value there is that of
the full one in any basis), so no sweep rotates m matrices. kappa keeps the evidence of few features from being
overrated: with many features (faces: m = 4096) it is negligible and components switch off freely; with few (tables:
m = 10 to 60) the evidence for "switch off" is weak, the plain maximiser over-prunes, and kappa holds P0 near a0 I.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import namespace, total, zeros_beside
from ...cores import PASS, sum_of_pieces
from ..place import HERE, Place
from .packed import Array, Index, congruence, invert, unpack
from .posterior import FactorPrior, Posterior
from .row_mean import invertible

LOG2PI = float(np.log(2.0 * np.pi))

KAPPA = 30.0
"""Features' worth of prior belief in equal components. Not tuned: the error of filled entries moves by at most 0.2%
between 10 and 100 (``benchmarks/variational_defaults.py``, as all figures of this kind)."""

MEAN_WORTH = 1.0
"""Features' worth of prior belief in means that vary as the data do, where rows have means too: the variance of few
means could otherwise sink to zero. Derived: the least that keeps it above."""

KEEP = 0.02
"""A component is dropped when its mean holds less than this share of its second moment. Not tuned: the
error of filled entries moves by less than 0.1% between 0.005 and 0.08 (``benchmarks/variational_defaults.py``)."""


class CoefficientSums(NamedTuple):
    """Sums over samples that KL(q(X) || p(X)) needs. Additive."""

    n: float
    x: Array  # (r,) Σ_k x_k
    xx: Array  # (r, r) Σ_k x_k x_kᵀ + Σ_k
    logdet: float  # sum over k of log det Σ_k


class Relevance(NamedTuple):
    """Hyperprior of P0: worth kappa features of variance a0 per component."""

    kappa: float
    a0: float


class LearnedPrior(NamedTuple):
    """The prior of the dictionary is learned, under a hyperprior worth ``kappa`` features."""

    kappa: float = KAPPA

    def variance(self, r: int, scale: float) -> float:
        """Prior variance of an entry of C to start from, in data of variance 1: components share it equally."""
        return 1.0 / max(r, 1)

    def relevance(self, r: int) -> Relevance | None:
        """What P0 is learned under."""
        return Relevance(self.kappa, 1.0 / max(r, 1))


class GivenPrior(NamedTuple):
    """The prior variance of the entries of C is given, in the data's units, and stays."""

    given: float

    def variance(self, r: int, scale: float) -> float:
        """The given variance in data that were divided by ``scale``."""
        return self.given / scale**2

    def relevance(self, r: int) -> Relevance | None:
        """Nothing is learned."""
        return None


PriorRule = LearnedPrior | GivenPrior


def dictionary_moment(post: Posterior, c0: Array) -> Array:
    """Σ_i E[(c_i - c0_i)(c_i - c0_i)ᵀ], (q, q). Adds up over features. Cost m p."""

    def some(f: slice) -> tuple[Array, Array]:
        D = post.C[f, :] - c0[f, :]
        return xp.sum(post.V[f, :], axis=0), D.T @ D

    xp, (m, p) = namespace(post.V), post.V.shape
    V, DD = sum_of_pieces(some, m, PASS * m * p)
    return unpack(V, DD.shape[0]) + DD


def dictionary_prior(prior: FactorPrior, moment: Array, m: int, how: Relevance | None) -> FactorPrior:
    """Maximise the bound over the block of P0 that belongs to the components. Cost r³.

    A mean column keeps its own, given variance, unless rows have means too.

    Without a hyperprior (``how`` is None) P0 stays as it is.
    """
    r = n_learned(prior)
    if how is None:
        return prior
    A = np.linalg.inv((moment[:r, :r] + how.kappa * how.a0 * np.eye(r)) / (m + how.kappa))
    P0 = prior.P0.copy()
    P0[:r, :r] = 0.5 * (A + A.T)
    if prior.row_mean:  # the means of the features have a common prior too
        P0[-1, -1] = (m + MEAN_WORTH) / (moment[-1, -1] + MEAN_WORTH)
    return prior._replace(P0=P0)


def n_learned(prior: FactorPrior) -> int:
    """Components whose loadings are learned."""
    return int(prior.mu.size) - prior.row_mean


def _logdet(A: Array) -> float:
    return float(np.linalg.slogdet(A)[1]) if A.size else 0.0


def bound(
    misfit: float,
    logdet: float,
    sums: CoefficientSums,
    moment: Array,
    prior: FactorPrior,
    how: Relevance | None,
    m: int,
) -> float:
    """Evidence lower bound in nats: E log p(Y|C,X) - KL(q(X)||p(X)) - KL(q(C)||p(C)) + log p(P0).

    Coordinate ascent: no step of a sweep can lower it. ``misfit`` and ``logdet`` are ``bound_sums`` of all features.
    """
    r, q = prior.mu.size, len(prior.P0)
    shift = np.outer(sums.x, prior.mu)
    centred = sums.xx - shift - shift.T + sums.n * np.outer(prior.mu, prior.mu)
    kl_x = 0.5 * (float((prior.K * centred).sum()) - sums.n * (_logdet(prior.K) + r) - sums.logdet)
    free = np.delete(np.arange(q), r - 1) if prior.row_mean else np.arange(q)  # what is known has no divergence
    P0, moment, learned = prior.P0[np.ix_(free, free)], moment[np.ix_(free, free)], n_learned(prior)
    kl_c = 0.5 * (float((P0 * moment).sum()) - m * (_logdet(P0) + free.size) - logdet)
    P, hyper = P0[:learned, :learned], 0.0
    if how is not None:  # zero at its mode, P0 = I / a0
        hyper = 0.5 * how.kappa * (_logdet(P) - how.a0 * float(np.trace(P)) + learned * (np.log(how.a0) + 1.0))
        if prior.row_mean:
            p = float(P0[-1, -1])
            hyper += 0.5 * MEAN_WORTH * (np.log(p) - p + 1.0)
    return float(-0.5 * misfit - kl_x - kl_c + hyper)


def bound_sums(N: Array, s2: Array, square: Array, logdet: Array) -> tuple[Array, Array]:
    """-2 E log p(Y|C,X), and the sum of log det V_i."""
    return total(N * (LOG2PI + namespace(s2).log(s2)) + square / s2), total(logdet)


def relevance(post: Posterior, prior: FactorPrior, moment: Array, place: Place = HERE) -> tuple[Array, Array, Array]:
    """The basis in which P0⁻¹ = diag(a), a descending, and how much each component there is worth.

    Returns (a (r,), share (r,), U (r, r)): share_j = Σ_i c_ij² / Σ_i E[c_ij²] in [0, 1]; near 0 the
    component is prior and nothing else.
    """
    r = n_learned(prior)
    p, U = np.linalg.eigh(prior.P0[:r, :r]) if r else (np.zeros(0), np.zeros((0, 0)))
    mean = np.einsum("ij,ij->j", U, place.total(_mean_moment, post.C, prior.c0, r) @ U)
    total = np.einsum("ij,ij->j", U, moment[:r, :r] @ U)
    return 1.0 / p, mean / np.maximum(total, np.finfo(float).tiny), U


def _mean_moment(C: Array, c0: Array, r: int) -> Array:
    """Σ_i (c_i - c0_i)(c_i - c0_i)ᵀ of the means alone, (r, r)."""
    D = (C - c0)[:, :r]
    return D.T @ D


def canonical(
    post: Posterior, prior: FactorPrior, U: Array, keep: Index | None = None, place: Place = HERE
) -> tuple[Posterior, FactorPrior]:
    """Rotate x -> Uᵀx, c -> Uᵀc (U orthogonal, from ``relevance``) and keep the listed components.

    Needs K = I, mu = 0. Nothing but the basis changes unless components are dropped. Cost 4 m q³.
    """
    r, q = n_learned(prior), len(prior.P0)
    keep = np.arange(r) if keep is None else keep
    k = keep.size
    T = np.zeros((q, k + q - r))
    T[:r, :k] = U[:, keep]
    T[r:, k:] = np.eye(q - r)
    P0 = T.T @ prior.P0 @ T
    P0[:k, :k] = np.diag(np.diagonal(P0)[:k])  # U diagonalises it: drop the rounding
    post, c0 = place.each(_rotated, post, prior.c0, T, k == r, prior.row_mean)
    free = k + prior.row_mean
    return post, FactorPrior(c0, P0, np.zeros(free), np.eye(free), prior.row_mean)


def _rotated(post: Posterior, c0: Array, T: Array, all_kept: bool, row_mean: bool) -> tuple[Posterior, Array]:
    V, c0 = congruence(post.V, T), c0 @ T
    if all_kept:
        return Posterior(post.C @ T, V, post.logdet), c0
    logdet = -invert(invertible(V, T.shape[1], row_mean), zeros_beside(V, V.shape[0], T.shape[1]))[2]
    return Posterior(post.C @ T, V, logdet), c0
