"""Learning the sequence model: additive moments (E-step) and their maximiser (M-step).

Moments are sums over time, so blocks, windows and machines merge by adding them: batch EM adds nothing,
streaming EM adds a decayed past.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from ..linalg import Array
from .model import Model, Smoothed, inv

UNIT_ROOT = 13.7


class Law(NamedTuple):
    """How x moves: the shape of A, and the values of A and Q that are given instead of learned.

    A number stands for that multiple of the identity, whatever the number of components turns out to be.
    """

    kind: Literal["fixed", "diagonal", "full"] = "full"
    A: Array | float | None = None
    Q: Array | float | None = None


LEARNED = Law()
"""A full, A and Q learned."""


class Moments(NamedTuple):
    """Posterior sums. X = [x; 1] has r + 1 entries; "obs" sums run over observed entries with weights w."""

    n: float  # transitions
    S11: Array  # (r, r) sum E x_t x_t'
    S10: Array  # (r, r) sum E x_t x_{t-1}'
    S00: Array  # (r, r) sum E x_{t-1} x_{t-1}'
    N: Array  # (m,) observed entries
    G: Array  # (m, r+1, r+1) obs sum w E X X'
    g: Array  # (m, r+1)      obs sum w E (y - l) X
    h: Array  # (m,)          obs sum w E (y - l)^2
    L: Array  # (3, m) sums of E l_t^2, E l_t l_{t-1}, E l_{t-1}^2
    M: Array  # (4, m, r) sums of E l_t x_t', l_t x_{t-1}', l_{t-1} x_t', l_{t-1} x_{t-1}'
    k: Array  # (m,) transitions behind L and M: n, but for features that have started late

    @property
    def share(self) -> Array:
        """Part of the transitions that count for each feature's level (m,)."""
        return self.k / max(self.n, 1e-300)


def add(a: Moments, b: Moments, decay: float = 1.0) -> Moments:
    """decay * a + b."""
    pairs = zip(a[1:], b[1:], strict=True)
    return Moments(decay * a.n + b.n, *(np.asarray(decay * np.asarray(u) + np.asarray(v)) for u, v in pairs))


def recentre(s: Moments, step: Array) -> Moments:
    """The moments of l - step'x: what a centred sweep, which moves c by `step` (m, r), does to old levels. O(m r^2)."""
    r = step.shape[1]
    d = step[:, :, None]

    def dot(a: Array, b: Array) -> Array:
        return np.asarray((a * b).sum(1))

    part = s.share[:, None] * step
    L11 = s.L[0] - 2 * dot(step, s.M[0]) + dot(part @ s.S11, step)
    L10 = s.L[1] - dot(step, s.M[1] + s.M[2]) + dot(part @ s.S10, step)
    L00 = s.L[2] - 2 * dot(step, s.M[3]) + dot(part @ s.S00, step)
    M = s.M - np.stack([part @ s.S11, part @ s.S10, part @ s.S10.T, part @ s.S00])
    Gd = (s.G[:, :, :r] @ d)[:, :, 0]
    h = s.h + 2 * dot(step, s.g[:, :r]) + dot(step, Gd[:, :r])
    return s._replace(L=np.stack([L11, L10, L00]), M=M, g=s.g + Gd, h=h)


def forget(s: Moments, new: Array) -> Moments:
    """The moments without what they say of the features that are new. O(m r^2)."""
    one, two = new[:, None], new[:, None, None]
    return s._replace(
        N=np.where(new, 0.0, s.N),
        G=np.where(two, 0.0, s.G),
        g=np.where(one, 0.0, s.g),
        h=np.where(new, 0.0, s.h),
        L=np.where(new, 0.0, s.L),
        M=np.where(one, 0.0, s.M),
        k=np.where(new, 0.0, s.k),
    )


def observed_moments(Y: Array, s: Smoothed, w: Array | None = None) -> Moments:
    """Sums for a model without levels from its smoother. O(T m r^2), all matrix products."""
    T, m = Y.shape
    r = s.x.shape[1]
    obs = np.isfinite(Y)
    W = obs.astype(float) if w is None else obs * w
    y = np.where(obs, Y, 0.0)
    E = s.P + s.x[:, :, None] * s.x[:, None, :]
    G = np.empty((m, r + 1, r + 1))
    G[:, :r, :r] = (W.T @ E.reshape(T, -1)).reshape(m, r, r)
    G[:, :r, r] = G[:, r, :r] = W.T @ s.x
    G[:, r, r] = W.sum(0)
    Wy = W * y
    g = np.hstack([Wy.T @ s.x, Wy.sum(0)[:, None]])
    total = E.sum(0)
    S10 = s.lag.sum(0).T + s.x[1:].T @ s.x[:-1]
    return Moments(
        float(T - 1),
        total - E[0],
        S10,
        total - E[-1],
        obs.sum(0).astype(float),
        G,
        g,
        (Wy * y).sum(0),
        np.zeros((3, m)),
        np.zeros((4, m, r)),
        np.full(m, float(T - 1)),
    )


class Prior(NamedTuple):
    """Hyperparameters, on data of unit variance; `alpha` (r,) is the prior precision of C's columns."""

    alpha: Array
    strength: float = 1.0  # pseudo-observations behind every variance
    scale: float = 1e-4  # their value


def maximise(
    model: Model, s: Moments, prior: Prior, law: Law = LEARNED, centred: bool = False, unit_root: bool = True
) -> Model:
    """One M-step: dynamics, loadings with posterior covariance, means, noise, levels. O(m r^3).

    `centred`: which of two augmentations moves C (see `levels`); `unit_root`: test each level for one, or keep
    the random walks there are (a test that changes its mind costs a few nats, so late sweeps do not ask).
    """
    if not model.p0.any():
        return transition(loadings(model, s, prior), s, law)
    model = loadings(model, s, prior) if not centred else model
    return transition(levels(model, s, prior, centred, unit_root), s, law)


def loadings(model: Model, s: Moments, prior: Prior) -> Model:
    """q(c_i) = N(V_i g_i / R_i, V_i), V_i^-1 = diag(alpha) + G_i / R_i; then R_i from the expected residual."""
    r = model.C.shape[1]
    precision = np.append(prior.alpha, 1e-6)
    K = s.G / model.R[:, None, None] + np.diag(precision)
    V = inv(K)
    c = (V @ (s.g / model.R[:, None])[:, :, None])[:, :, 0]
    rss = s.h - 2 * (c * s.g).sum(1) + np.einsum("ij,ijk,ik->i", c, s.G, c) + np.einsum("ijk,ijk->i", V, s.G)
    R = (np.maximum(rss, 0.0) + prior.strength * prior.scale) / (s.N + prior.strength)
    R = np.where(s.N > 0, R, 1.0)
    return model._replace(C=c[:, :r].copy(), V=V[:, :r, :r].copy(), mean=c[:, r].copy(), R=R)


def relevance(model: Model) -> Array:
    """Automatic relevance: prior precision of each column, m / sum_i (c_ij^2 + V_i,jj)."""
    m = model.C.shape[0]
    diag = np.broadcast_to(np.einsum("ijj->ij", model.V), model.C.shape)
    return np.asarray((m + 1e-3) / ((model.C**2 + diag).sum(0) + 1e-3))


def penalty(model: Model, prior: Prior) -> float:
    """What the prior of C takes off: KL(q(C) || p(C)) without levels, -log p(C) at the mode with levels. O(m r^3)."""
    m, r = model.C.shape
    if model.p0.any() or not model.V.any():
        return 0.5 * float((prior.alpha * model.C**2).sum() - m * np.log(prior.alpha).sum())
    V = np.broadcast_to(model.V, (m, r, r))
    square = (prior.alpha * (model.C**2 + np.einsum("ijj->ij", V))).sum()
    return 0.5 * float(square - m * r - m * np.log(prior.alpha).sum() - np.linalg.slogdet(V)[1].sum())


def transition(model: Model, s: Moments, law: Law) -> Model:
    """A = S10 S00^-1 (full), its entrywise version (diagonal) or as it is; Q = residual moment. O(r^3)."""
    r = model.A.shape[0]
    if r == 0 or s.n < 1:
        return model
    if law.A is not None or law.kind == "fixed":
        A = model.A
    elif law.kind == "full":
        A = s.S10 @ inv(s.S00 + 1e-6 * s.n * np.eye(r))
    else:  # (Q^-1 o S00) a = diag(Q^-1 S10), o entrywise
        Qi = inv(model.Q)
        A = np.diag(np.clip(np.linalg.solve(Qi * s.S00, np.diag(Qi @ s.S10)), -1.0, 1.0))
    radius = float(np.abs(np.linalg.eigvals(A)).max())
    if radius > 1.0 and law.A is None:
        A = A / radius
    if law.Q is not None:
        return model._replace(A=A)
    Q = (s.S11 - A @ s.S10.T - s.S10 @ A.T + A @ s.S00 @ A.T) / s.n
    Q = (Q + Q.T) / 2
    if law.kind == "diagonal":
        Q = np.diag(np.diag(Q))
    return model._replace(A=A, Q=Q + 1e-6 * np.eye(r))


def obey(model: Model, law: Law) -> Model:
    """The model with what the law gives in place of its own A and Q."""
    eye = np.eye(len(model.A))
    A = model.A if law.A is None else law.A * eye if np.ndim(law.A) == 0 else np.asarray(law.A)
    Q = model.Q if law.Q is None else law.Q * eye if np.ndim(law.Q) == 0 else np.asarray(law.Q)
    return model._replace(A=A, Q=Q)


def levels(model: Model, s: Moments, prior: Prior, centred: bool, unit_root: bool) -> Model:
    """AR(1) of every level from lag-one moments; in `centred` sweeps the loadings move with it.

    With e_t = c'x_t + l_t as the missing data, y no longer depends on c and the transition of e does:
    c <- c + (sum u u' + q diag(alpha))^-1 (sum u w - q alpha c),  u = x_t - phi x_{t-1}, w = l_t - phi l_{t-1}.
    This is the augmentation that moves when the noise R is small; the other one moves when it is large.
    """
    l11, l10, l00 = s.L
    phi = np.clip(l10 / np.maximum(l00, 1e-12), 0.0, 1.0)
    # a unit root that the Dickey-Fuller coefficient test does not reject (5%: -13.7) stays one: the least-squares
    # phi of a random walk is biased down, and a level that forgets interpolates worse than a straight line
    phi = np.where(s.N * (1.0 - phi) < UNIT_ROOT if unit_root else model.phi == 1.0, 1.0, phi)
    rss = np.maximum(l11 - 2 * phi * l10 + phi**2 * l00, 0.0)
    if centred and model.C.shape[1]:
        p = phi[:, None, None]
        U = s.share[:, None, None] * (s.S11 - p * (s.S10 + s.S10.T) + p**2 * s.S00)
        p = phi[:, None]
        uw = s.M[0] - p * (s.M[1] + s.M[2]) + p**2 * s.M[3]
        q = model.q[:, None]
        K = U + q[:, :, None] * np.diag(prior.alpha)
        step = (inv(K) @ (uw - q * prior.alpha * model.C)[:, :, None])[:, :, 0]
        rss = rss - 2 * (step * uw).sum(1) + np.einsum("ij,ijk,ik->i", step, U, step)
        # what the data say about c_i with level AND noise unknown: less than either conditional says
        # (exact where x lives at one frequency): V^-1 = diag(alpha) + ((G/R)^-1 + (U/q)^-1)^-1
        r = model.C.shape[1]
        tiny = 1e-9 * np.eye(r)
        spread = model.R[:, None, None] * inv(s.G[:, :r, :r] + tiny)
        spread = spread + q[:, :, None] * inv(U + tiny)
        V = inv(np.diag(prior.alpha) + inv(spread))
        model = model._replace(C=model.C + step, V=V)
    q = (np.maximum(rss, 0.0) + prior.strength * prior.scale) / (s.k + prior.strength)
    return model._replace(phi=phi, q=q)
