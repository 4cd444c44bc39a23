"""The sums that expectation-maximisation needs of a sequence (E-step).

Moments are sums over time, so blocks, windows and machines merge by adding them: batch EM adds nothing, streaming EM
adds a decayed past.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..linalg import Array
from .model import Smoothed


class LevelMoments(NamedTuple):
    """Posterior sums about the levels."""

    L: Array  # (3, m) sums of E l_t², E l_t l_{t-1}, E l_{t-1}²
    M: Array  # (4, m, r) sums of E l_t x_tᵀ, l_t x_{t-1}ᵀ, l_{t-1} x_tᵀ, l_{t-1} x_{t-1}ᵀ
    k: Array  # (m,) transitions behind L and M: all of them, but for features that have started late


class Moments(NamedTuple):
    """Posterior sums. X = [x; 1] has r + 1 entries; "obs" sums run over observed entries with weights w."""

    n: float  # transitions
    S11: Array  # (r, r) sum E x_t x_tᵀ
    S10: Array  # (r, r) sum E x_t x_{t-1}ᵀ
    S00: Array  # (r, r) sum E x_{t-1} x_{t-1}ᵀ
    N: Array  # (m,) observed entries
    G: Array  # (m, r+1, r+1) obs sum w E X Xᵀ
    g: Array  # (m, r+1)      obs sum w E (y - l) X
    h: Array  # (m,)          obs sum w E (y - l)²
    levels: LevelMoments | None = None


def level_share(s: Moments, levels: LevelMoments) -> Array:
    """Part of the transitions that count for each feature's level (m,)."""
    return levels.k / max(s.n, np.finfo(float).tiny)


def add(a: Moments, b: Moments, decay: float = 1.0) -> Moments:
    """decay · a + b."""
    if (a.levels is None) != (b.levels is None):
        raise ValueError("moments with levels cannot be added to moments without")
    levels = None
    if a.levels is not None and b.levels is not None:
        levels = LevelMoments(*(decay * u + v for u, v in zip(a.levels, b.levels, strict=True)))
    return Moments(
        n=decay * a.n + b.n,
        S11=decay * a.S11 + b.S11,
        S10=decay * a.S10 + b.S10,
        S00=decay * a.S00 + b.S00,
        N=decay * a.N + b.N,
        G=decay * a.G + b.G,
        g=decay * a.g + b.g,
        h=decay * a.h + b.h,
        levels=levels,
    )


def recentre(s: Moments, step: Array) -> Moments:
    """The moments of l - stepᵀx: what a centred sweep, which moves c by `step` (m, r), does to old levels. O(m r²)."""
    if s.levels is None:
        return s
    r = step.shape[1]
    d = step[:, :, None]

    def dot(a: Array, b: Array) -> Array:
        return np.asarray((a * b).sum(1))

    L, M, _ = s.levels
    part = level_share(s, s.levels)[:, None] * step
    L11 = L[0] - 2 * dot(step, M[0]) + dot(part @ s.S11, step)
    L10 = L[1] - dot(step, M[1] + M[2]) + dot(part @ s.S10, step)
    L00 = L[2] - 2 * dot(step, M[3]) + dot(part @ s.S00, step)
    M = M - np.stack([part @ s.S11, part @ s.S10, part @ s.S10.T, part @ s.S00])
    Gd = (s.G[:, :, :r] @ d)[:, :, 0]
    h = s.h + 2 * dot(step, s.g[:, :r]) + dot(step, Gd[:, :r])
    return s._replace(levels=s.levels._replace(L=np.stack([L11, L10, L00]), M=M), g=s.g + Gd, h=h)


def forget(s: Moments, new: Array) -> Moments:
    """The moments without what they say of the features that are new. O(m r²)."""
    return exchanged(s, add(s, s, -1.0), new)


def exchanged(s: Moments, other: Moments, which: Array) -> Moments:
    """The moments, with what others say of the features marked in `which` (m,). O(m r²)."""
    one, two = which[:, None], which[:, None, None]
    levels = s.levels
    if levels is not None and other.levels is not None:
        L, M, k = other.levels
        levels = LevelMoments(np.where(which, L, levels.L), np.where(one, M, levels.M), np.where(which, k, levels.k))
    return s._replace(
        N=np.where(which, other.N, s.N),
        G=np.where(two, other.G, s.G),
        g=np.where(one, other.g, s.g),
        h=np.where(which, other.h, s.h),
        levels=levels,
    )


def observed_moments(Y: Array, s: Smoothed, w: Array | None = None) -> Moments:
    """Sums for a model without levels from its smoother. O(T m r²), all matrix products."""
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
    n = float(T - 1)
    return Moments(n, total - E[0], S10, total - E[-1], obs.sum(0).astype(float), G, g, (Wy * y).sum(0))
