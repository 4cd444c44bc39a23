"""What the model learns about itself: noise, relevance of components, and the bound that says so.

Relevance: c_i ~ N(0, P0^-1) with a FULL precision P0, itself under a Wishart-type prior centred on a0 I and
worth kappa features,

    log p(P0) = (kappa/2) (log det P0 - a0 tr P0) + const
    =>  P0^-1 = (sum_i E[c_i c_i^T] + kappa a0 I)/(m + kappa)

A full P0 is automatic relevance determination with the optimal orthogonal rotation built in (by Hadamard's
inequality a diagonal prior is best in the basis where the moment is diagonal, and its value there is that of
the full one in any basis), so no sweep rotates m matrices. kappa is what keeps relevance honest: with many
features (faces: m = 4096) it is nothing and components switch off freely; with few (tables: m = 10 to 60) the
evidence for "switch off" is weak, the plain maximiser over-prunes, and kappa = 30 holds P0 near a0 I.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .packed import Array, Index, congruence, invert, unpack
from .posterior import Posterior, Prior, Statistics

LOG2PI = float(np.log(2.0 * np.pi))
KAPPA = 30.0  # features' worth of prior belief in equal components
KEEP = 0.02  # a component is dropped when its mean holds less than this share of its second moment


class Spread(NamedTuple):
    """Sums over samples that KL(q(X) || p(X)) needs. Additive."""

    n: float
    x: Array  # (r,) sum_k x_k
    xx: Array  # (r, r) sum_k x_k x_k^T + Sigma_k
    logdet: float  # sum_k log det Sigma_k


class Relevance(NamedTuple):
    """Hyperprior of P0: worth kappa features of variance a0 per component. kappa = inf keeps P0 as it is."""

    kappa: float
    a0: float


def noise(square: Array, count: Array, floor: Array, per_feature: bool) -> Array:
    """Maximise the bound over s2 (m,): s2_i = E||y_i - c_i^T x||^2 / N_i, pooled over i if shared.

    square = expected_square(...), count (m,). ``floor`` (m,) keeps a constant or perfectly predicted feature
    from claiming zero noise; a feature never observed gets the pooled value.
    """
    square = np.maximum(square, 0.0)
    pooled = float(square.sum()) / max(float(count.sum()), 1.0)
    if not per_feature:
        return np.full(square.shape, max(pooled, float(floor.max(initial=0.0))))
    own = np.divide(square, count, out=np.full(square.shape, pooled), where=count > 0)
    return np.asarray(np.maximum(own, floor))


def dictionary_moment(post: Posterior, prior: Prior) -> Array:
    """sum_i E[(c_i - c0_i)(c_i - c0_i)^T], (q, q). Cost m p."""
    D = post.C - prior.c0
    return np.asarray(unpack(post.V.sum(axis=0), D.shape[1]) + D.T @ D)


def dictionary_prior(prior: Prior, moment: Array, m: int, how: Relevance) -> Prior:
    """Maximise the bound over the r x r block of P0; a mean column keeps its own, given variance. Cost r^3."""
    r = prior.mu.size
    if not np.isfinite(how.kappa) or r == 0:
        return prior
    A = np.linalg.inv((moment[:r, :r] + how.kappa * how.a0 * np.eye(r)) / (m + how.kappa))
    P0 = prior.P0.copy()
    P0[:r, :r] = 0.5 * (A + A.T)
    return prior._replace(P0=P0)


def _logdet(A: Array) -> float:
    return float(np.linalg.slogdet(A)[1]) if A.size else 0.0


def bound(
    stats: Statistics,
    square: Array,
    spread: Spread,
    moment: Array,
    post: Posterior,
    prior: Prior,
    s2: Array,
    how: Relevance,
) -> float:
    """Evidence lower bound in nats: E log p(Y|C,X) - KL(q(X)||p(X)) - KL(q(C)||p(C)) + log p(P0).

    Coordinate ascent: no step of a sweep can lower it. Cost m, from sums the sweep already has.
    """
    r, (m, q) = prior.mu.size, post.C.shape
    likelihood = -0.5 * float((stats.N * (LOG2PI + np.log(s2)) + square / s2).sum())
    shift = np.outer(spread.x, prior.mu)
    centred = spread.xx - shift - shift.T + spread.n * np.outer(prior.mu, prior.mu)
    kl_x = 0.5 * (float((prior.K * centred).sum()) - spread.n * (_logdet(prior.K) + r) - spread.logdet)
    kl_c = 0.5 * (float((prior.P0 * moment).sum()) - m * (_logdet(prior.P0) + q) - float(post.logdet.sum()))
    P, hyper = prior.P0[:r, :r], 0.0
    if np.isfinite(how.kappa):  # zero at its mode, P0 = I / a0
        hyper = 0.5 * how.kappa * (_logdet(P) - how.a0 * float(np.trace(P)) + r * (np.log(how.a0) + 1.0))
    return float(likelihood - kl_x - kl_c + hyper)


def relevance(post: Posterior, prior: Prior, moment: Array) -> tuple[Array, Array, Array]:
    """The basis in which P0^-1 = diag(a), a descending, and how much each component there is worth.

    Returns (a (r,), share (r,), U (r, r)): share_j = sum_i c_ij^2 / sum_i E[c_ij^2] in [0, 1]; near 0 the
    component is prior and nothing else.
    """
    r = prior.mu.size
    p, U = np.linalg.eigh(prior.P0[:r, :r]) if r else (np.zeros(0), np.zeros((0, 0)))
    D = (post.C - prior.c0)[:, :r]
    mean = np.einsum("ij,ij->j", U, (D.T @ D) @ U)
    total = np.einsum("ij,ij->j", U, moment[:r, :r] @ U)
    return 1.0 / p, mean / np.maximum(total, np.finfo(float).tiny), U


def canonical(post: Posterior, prior: Prior, U: Array, keep: Index | None = None) -> tuple[Posterior, Prior]:
    """Rotate x -> U^T x, c -> U^T c (U orthogonal, from ``relevance``) and keep the listed components.

    Needs K = I, mu = 0. Nothing but the basis changes unless components are dropped. Cost 4 m q^3.
    """
    r, q = prior.mu.size, post.C.shape[1]
    keep = np.arange(r) if keep is None else keep
    k = keep.size
    T = np.zeros((q, k + q - r))
    T[:r, :k] = U[:, keep]
    T[r:, k:] = np.eye(q - r)
    P0 = T.T @ prior.P0 @ T
    P0[:k, :k] = np.diag(np.diagonal(P0)[:k])  # U diagonalises it: drop the rounding
    V = congruence(post.V, T)
    logdet = post.logdet if k == r else -invert(V.copy(), np.zeros((V.shape[0], T.shape[1])))[2]
    return Posterior(post.C @ T, V, logdet), Prior(prior.c0 @ T, P0, np.zeros(k), np.eye(k))
