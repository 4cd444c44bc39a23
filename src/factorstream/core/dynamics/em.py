"""Learning the sequence model: the parameters that maximise the bound for given moments (M-step)."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from ..linalg import Array
from .model import Dynamics, Levels, SequenceModel, inv, loading_covariance, with_R
from .moments import LevelMoments, Moments, level_share

UNIT_ROOT = 13.7
"""Dickey-Fuller test of n (1 - phi) with a constant: critical value at 5%, n = 100 (Fuller 1976, table 8.5.1). It
matters: at 10 or 20 errors move by up to 2.3%, but those of random walks with noise by more: at 10 gaps and forecasts
have 3% more, at 20 forecasts 8% (``benchmarks/sequence_defaults.py``, as all figures of this kind)."""
MEAN_PRECISION = 1e-6
"""Prior precision of a feature's mean, on data of unit variance: as good as flat. Errors move by less than 0.01%
between 1e-8 and 1e-4 (``benchmarks/sequence_defaults.py``)."""
RIDGE = 1e-6
"""What is added to S00 / n and to Q, on states of unit variance, so that both can be inverted. Errors move by at most
0.01% between 1e-8 and 1e-4 (``benchmarks/sequence_defaults.py``)."""
LEAST_SQUARES = 1e-12
"""Least sum of squares of a level, on data of unit variance; keeps a division by zero away."""
LEAST_CURVATURE = 1e-9
"""What is added to G and U, on states of unit variance, so that both can be inverted. Small beside one row's 1."""
RELEVANCE_COUNT = 1e-3
"""Shape and rate of the Gamma prior of a column's precision: as good as flat. Errors move by at most 0.1% between 1e-5
and 0.1 (``benchmarks/sequence_defaults.py``)."""


class DynamicsSpec(NamedTuple):
    """How x is to move: the shape of A, and the values of A and Q that are given instead of learned.

    A number stands for that multiple of the identity, whatever the number of components turns out to be. Beside
    `cycles` the first states turn when learning begins: see ``cycles``.
    """

    kind: Literal["fixed", "diagonal", "full"] = "full"
    A: Array | float | None = None
    Q: Array | float | None = None
    cycles: Array | None = None  # frequencies in turns per row; None: no state turns at first


LEARNED = DynamicsSpec()
"""A full, A and Q learned."""


class LoadingPrior(NamedTuple):
    """Hyperparameters, on data of unit variance; `alpha` (r,) is the prior precision of C's columns.

    `strength` and `scale` are not tuned: the smallest whole number of pseudo-observations, and 1% of the data's
    standard deviation. Errors move by at most 1% for strengths between 0.3 and 3, and by less than 0.01% for scales
    between 1e-5 and 1e-3 (``benchmarks/sequence_defaults.py``).
    """

    alpha: Array
    strength: float = 1.0  # pseudo-observations behind every variance
    scale: float = 1e-4  # their value


def maximise(
    model: SequenceModel,
    s: Moments,
    prior: LoadingPrior,
    spec: DynamicsSpec = LEARNED,
    centred: bool = False,
    unit_root: bool = True,
) -> SequenceModel:
    """One M-step: dynamics, loadings with posterior covariance, means, noise, levels. O(m r³).

    `centred`: which of two augmentations moves C (see `learn_levels`); `unit_root`: test each level for one, or keep
    the random walks there are (a test that changes its mind costs a few nats, so late sweeps do not ask).
    """
    if model.levels is None or not centred:
        model = loadings(model, s, prior)
    if (model.levels is None) != (s.levels is None):
        raise ValueError("a model with levels needs moments with levels, and one without needs moments without")
    if model.levels is not None and s.levels is not None:
        model = learn_levels(model, model.levels, s, s.levels, prior, centred, unit_root)
    return model._replace(dynamics=transition(model.dynamics, s, spec))


def loadings(model: SequenceModel, s: Moments, prior: LoadingPrior) -> SequenceModel:
    """q(c_i) = N(V_i g_i / R_i, V_i), V_i⁻¹ = diag(alpha) + G_i / R_i; then R_i from the expected residual."""
    r = model.emission.C.shape[1]
    R = model.noise.R
    precision = np.append(prior.alpha, MEAN_PRECISION)
    K = s.G / R[:, None, None] + np.diag(precision)
    V = inv(K)
    c = (V @ (s.g / R[:, None])[:, :, None])[:, :, 0]
    rss = s.h - 2 * (c * s.g).sum(1) + np.einsum("ij,ijk,ik->i", c, s.G, c) + np.einsum("ijk,ijk->i", V, s.G)
    R = (np.maximum(rss, 0.0) + prior.strength * prior.scale) / (s.N + prior.strength)
    R = np.where(s.N > 0, R, 1.0)
    emission = model.emission._replace(C=c[:, :r].copy(), V=V[:, :r, :r].copy(), mean=c[:, r].copy())
    return with_R(model._replace(emission=emission), R)


def relevance(model: SequenceModel) -> Array:
    """Automatic relevance: prior precision of each column, m / sum_i (c_ij² + V_i,jj)."""
    C = model.emission.C
    diag = np.broadcast_to(np.einsum("ijj->ij", loading_covariance(model.emission)), C.shape)
    return np.asarray((len(C) + RELEVANCE_COUNT) / ((C**2 + diag).sum(0) + RELEVANCE_COUNT))


def penalty(model: SequenceModel, prior: LoadingPrior) -> float:
    """What the prior of C takes off: KL(q(C) || p(C)) without levels, -log p(C) at the mode with levels. O(m r³)."""
    C, V = model.emission.C, model.emission.V
    m, r = C.shape
    if model.levels is not None or V is None:
        return 0.5 * float((prior.alpha * C**2).sum() - m * np.log(prior.alpha).sum())
    V = np.broadcast_to(V, (m, r, r))
    square = (prior.alpha * (C**2 + np.einsum("ijj->ij", V))).sum()
    return 0.5 * float(square - m * r - m * np.log(prior.alpha).sum() - np.linalg.slogdet(V)[1].sum())


def transition(dynamics: Dynamics, s: Moments, spec: DynamicsSpec) -> Dynamics:
    """A = S10 S00⁻¹ (full), its entrywise version (diagonal) or as it is; Q = residual moment. O(r³)."""
    r = dynamics.A.shape[0]
    if r == 0 or s.n < 1:
        return dynamics
    if spec.A is not None or spec.kind == "fixed":
        A = dynamics.A
    elif spec.kind == "full":
        A = s.S10 @ inv(s.S00 + RIDGE * s.n * np.eye(r))
    else:  # (Q⁻¹ ∘ S00) a = diag(Q⁻¹ S10), ∘ entrywise
        Qi = inv(dynamics.Q)
        A = np.diag(np.clip(np.linalg.solve(Qi * s.S00, np.diag(Qi @ s.S10)), -1.0, 1.0))
    radius = float(np.abs(np.linalg.eigvals(A)).max())
    if radius > 1.0 and spec.A is None:
        A = A / radius
    if spec.Q is not None:
        return dynamics._replace(A=A)
    Q = (s.S11 - A @ s.S10.T - s.S10 @ A.T + A @ s.S00 @ A.T) / s.n
    Q = (Q + Q.T) / 2
    if spec.kind == "diagonal":
        Q = np.diag(np.diag(Q))
    return dynamics._replace(A=A, Q=Q + RIDGE * np.eye(r))


def apply_given(dynamics: Dynamics, spec: DynamicsSpec) -> Dynamics:
    """The dynamics with the A and Q that are given in place of their level_moments."""
    eye = np.eye(len(dynamics.A))
    A = dynamics.A if spec.A is None else spec.A * eye if np.ndim(spec.A) == 0 else np.asarray(spec.A)
    Q = dynamics.Q if spec.Q is None else spec.Q * eye if np.ndim(spec.Q) == 0 else np.asarray(spec.Q)
    return dynamics._replace(A=A, Q=Q)


def learn_levels(
    model: SequenceModel,
    levels: Levels,
    s: Moments,
    level_moments: LevelMoments,
    prior: LoadingPrior,
    centred: bool,
    unit_root: bool,
) -> SequenceModel:
    """AR(1) of every level from lag-one moments; in `centred` sweeps the loadings move with it.

    A unit root that the Dickey-Fuller test does not reject stays one: the least-squares phi of a random walk is biased
    down, and a level that forgets interpolates worse than a straight line.
    """
    l11, l10, l00 = level_moments.L
    phi = np.clip(l10 / np.maximum(l00, LEAST_SQUARES), 0.0, 1.0)
    phi = np.where(s.N * (1.0 - phi) < UNIT_ROOT if unit_root else levels.phi == 1.0, 1.0, phi)
    rss = np.maximum(l11 - 2 * phi * l10 + phi**2 * l00, 0.0)
    if centred and model.emission.C.shape[1]:
        model, rss = _centred_loadings(model, phi, levels.q, s, level_moments, prior, rss)
    q = (np.maximum(rss, 0.0) + prior.strength * prior.scale) / (level_moments.k + prior.strength)
    return model._replace(levels=levels._replace(phi=phi, q=q))


def _centred_loadings(
    model: SequenceModel, phi: Array, q: Array, s: Moments, level_moments: LevelMoments, prior: LoadingPrior, rss: Array
) -> tuple[SequenceModel, Array]:
    """Loadings updated from the levels' steps, and the levels' residual sums of squares after that update (m,).

    With e_t = cᵀx_t + l_t as the missing data, y no longer depends on c and the transition of e does:
    c ← c + (sum u uᵀ + q diag(alpha))⁻¹ (sum u w - q alpha c),  u = x_t - phi x_{t-1}, w = l_t - phi l_{t-1}.
    This is the augmentation that moves when the noise R is small; the other one moves when it is large.
    """
    C = model.emission.C
    r = C.shape[1]
    p = phi[:, None, None]
    U = level_share(s, level_moments)[:, None, None] * (s.S11 - p * (s.S10 + s.S10.T) + p**2 * s.S00)
    p = phi[:, None]
    uw = level_moments.M[0] - p * (level_moments.M[1] + level_moments.M[2]) + p**2 * level_moments.M[3]
    q = q[:, None]
    K = U + q[:, :, None] * np.diag(prior.alpha)
    step = (inv(K) @ (uw - q * prior.alpha * C)[:, :, None])[:, :, 0]
    rss = rss - 2 * (step * uw).sum(1) + np.einsum("ij,ijk,ik->i", step, U, step)
    # what the data say about c_i with level AND noise unknown: less than either conditional says
    # (exact where x lives at one frequency): V⁻¹ = diag(alpha) + ((G/R)⁻¹ + (U/q)⁻¹)⁻¹
    tiny = LEAST_CURVATURE * np.eye(r)
    spread = model.noise.R[:, None, None] * inv(s.G[:, :r, :r] + tiny)
    spread = spread + q[:, :, None] * inv(U + tiny)
    V = inv(np.diag(prior.alpha) + inv(spread))
    return model._replace(emission=model.emission._replace(C=C + step, V=V)), rss
