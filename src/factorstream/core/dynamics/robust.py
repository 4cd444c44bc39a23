"""Student-t noise as a scale mixture: y_ti = signal_ti + N(0, R_i / w_ti), w_ti ~ Gamma(nu/2, nu/2).

An outlier is an entry whose weight w falls. Two ways to find the weights:

- `variational_weights`: q(w_ti) given q(signal), the coordinate step that raises the bound of EM;
- `evident_weights`: E(w | y) given what all OTHER entries say about the signal. A feature with a level of its own
  follows an outlier before the first can see it (the residual is small), so sequences with levels begin with
  the second, and the filter uses nothing else there: its prediction does not know the new entry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq
from scipy.special import digamma, erf, gammaincinv, gammaln, ndtri

from ..linalg import Array

if TYPE_CHECKING:
    from .model import Model, Smoothed

NU_RANGE = (3.0, 200.0)
SURPRISE = 4.0
"""Squared innovations above this many variances are worth a quadrature."""
NODES = 256


def without_spikes(Y: Array, reach: int = 3, most: float = 5.0) -> Array:
    """Y with entries far from the running median of their feature made missing, for a start that spikes do not spoil.

    Hampel's rule: further than `most` standard deviations, taken as 1.4826 times the median distance of the feature,
    from the median of the 2 reach + 1 rows around. O(T m reach).
    """
    if len(Y) <= 2 * reach:
        return Y
    padded = np.pad(Y, ((reach, reach), (0, 0)), constant_values=np.nan)
    around = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1, axis=0)
    seen = np.isfinite(Y)
    off = np.zeros_like(Y)
    off[seen] = np.abs(Y[seen] - np.nanmedian(around[seen], axis=-1))
    usual = 1.4826 * np.nanmedian(np.where(seen | ~seen.any(0), off, np.nan), axis=0)
    return np.where((off > most * usual) & (usual > 0), np.nan, Y)


def evident_weights(e: Array, v: Array, R: Array, nu: float) -> Array:
    """E(w | e) for e ~ N(0, v + R / w), w ~ Gamma(nu/2, nu/2), entrywise, by quadrature over log w. O(256 surprises).

    Where e is no surprise the mixture's mode at the Gaussian answer stands for it:
    w = (nu + 1) / (nu + E(e - signal)^2 / R) with the signal's posterior at w = 1.
    """
    S = v + R
    w = np.asarray((nu + 1.0) / (nu + (e * R / S) ** 2 / R + v / S))
    far = e * e > SURPRISE * S
    if far.any():
        e2, v, R = (np.broadcast_to(part, w.shape)[far][..., None] for part in (e * e, v, R))
        low = np.log((nu + 1.0) / (nu + e2 / R)) - 5.0
        u = low + (3.0 - low) * np.linspace(0.0, 1.0, NODES)
        S = v + R * np.exp(-u)
        log_p = 0.5 * (nu * (u - np.exp(u)) - np.log(S) - e2 / S)
        p = np.exp(log_p - log_p.max(-1, keepdims=True))
        w[far] = (p * np.exp(u)).sum(-1) / p.sum(-1)
    return w


def known_variance(model: Model, s: Smoothed) -> Array:
    """Variance of the signal for a known C: the smoother's, without the doubt about C. (T, m). O(T m r^2)."""
    if not model.V.any():
        return s.var
    m, r = model.C.shape
    second = s.P + s.x[:, :, None] * s.x[:, None, :]
    return np.asarray(s.var - second.reshape(len(s.x), -1) @ np.broadcast_to(model.V, (m, r, r)).reshape(m, -1).T)


def left_out(model: Model, Y: Array, s: Smoothed, w: Array | None) -> tuple[Array, Array]:
    """Residual of every observed entry from what the others say of it, and the variance of what they say. O(T m r^2).

    The smoother's variance p of the signal holds the entry's own part, h = p w / R: without it the residual
    is e / (1 - h) and the variance p / (1 - h).
    """
    p = known_variance(model, s)
    own = p / model.R if w is None else p * w / model.R
    free = np.clip(1.0 - own, 1e-9, 1.0)
    e = np.where(np.isfinite(Y), Y - s.signal, 0.0)
    return e / free, np.maximum(p, 0.0) / free


def expected_squares(model: Model, Y: Array, s: Smoothed) -> Array:
    """E(y - signal)^2 / R; 1 where missing. With levels C is taken as known, as in the smoother. O(T m r^2)."""
    var = known_variance(model, s) if model.p0.any() else s.var
    return np.asarray(np.where(np.isfinite(Y), (Y - s.signal) ** 2 + var, model.R) / model.R)


def variational_weights(squares: Array, nu: float) -> Array:
    """E w of q(w_ti) = Gamma((nu + 1) / 2, (nu + `expected_squares`) / 2). O(T m)."""
    return np.asarray((nu + 1.0) / (nu + squares))


def learned_nu(model: Model, Y: Array, w: Array) -> float:
    """The degrees of freedom that raise the bound most: 1 + log(nu/2) - digamma(nu/2) + mean(E log w - E w) = 0."""
    w = w[np.isfinite(Y)]
    a = (model.nu + 1.0) / 2
    stat = float((digamma(a) - np.log(a / w) - w).mean()) if len(w) else -1.0

    def slope(v: float) -> float:
        return 1.0 + float(np.log(v / 2) - digamma(v / 2)) + stat

    lo, hi = NU_RANGE
    return hi if slope(hi) > 0 else lo if slope(lo) < 0 else float(brentq(slope, lo, hi))


def normal_size(e: Array, v: Array, R: Array, nu: float) -> Array:
    """|z| of a standard normal as rare as |e| is for e ~ N(0, v) + t_nu(R), entrywise. O(32 entries)."""
    if np.isinf(nu):
        return np.asarray(np.abs(e) / np.sqrt(v + R))
    w = gammaincinv(nu / 2, (np.arange(32) + 0.5) / 32) * 2 / nu
    inside = erf(np.abs(e)[..., None] / np.sqrt(2.0 * (v[..., None] + R[..., None] / w))).mean(-1)
    return np.asarray(ndtri((1.0 + np.minimum(inside, 1.0 - 1e-12)) / 2.0))


def weights_bound(w: Array, nu: float, prior_nu: float) -> Array:
    """What q(w) = Gamma(a, a / w), a = (nu + 1) / 2, adds to a Gaussian log-density with noise R / w, entrywise.

    (E log w - log E w) / 2 - KL(q || Gamma(prior_nu/2, prior_nu/2)): together a lower bound on the log-density under
    Student-t noise of prior_nu degrees of freedom.
    """
    a, k = (nu + 1.0) / 2, prior_nu / 2
    b = a / w
    kl = (a - k) * digamma(a) - gammaln(a) + gammaln(k) + k * np.log(b / k) + w * (k - b)
    return np.asarray(0.5 * (digamma(a) - np.log(a)) - kl)
