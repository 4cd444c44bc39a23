"""Student-t noise, one weight per entry: gross outliers lose their say, nothing else changes.

    y_ki ~ N(c_i^T x_k, s2_i / u_ki)     u_ki ~ Gamma(nu/2, nu/2)
    q(u_ki) = Gamma((nu + 1)/2, (nu + d_ki)/2)     d_ki = E[(y_ki - c_i^T x_k)^2] / s2_i
    w_ki = E[u_ki] = (nu + 1) / (nu + d_ki)

The weights take the place of the mask in every sum.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import digamma, gammaln, ndtri, stdtrit

from .packed import Array, Mask
from .posterior import Coefficients, Posterior, Prior, coefficients, moments, second_moment
from .predictive import expected_squares

LOWEST = 2.5  # gross outliers would drive a learned nu to 1, where good entries lose their say as well


class TailSums(NamedTuple):
    """Sums over observed entries that nu and the bound need. Additive."""

    N: float
    nu: float  # the nu the weights were computed with
    log_rate: float  # sum log((nu + d)/2)
    weight: float  # sum w


NO_TAILS = TailSums(0.0, np.inf, 0.0, 0.0)


def add_tails(a: TailSums, b: TailSums) -> TailSums:
    """Both sets of entries."""
    return TailSums(a.N + b.N, b.nu, a.log_rate + b.log_rate, a.weight + b.weight)


def tail_weights(
    Y: Array, seen: Mask, coef: Coefficients, M: Array, C: Array, Z: Array, s2: Array, nu: float
) -> tuple[Array, TailSums]:
    """w (n, m), zero where not seen. M = second moments of c over s2 (m, p), Z of x (n, p). Cost 2 n m p."""
    root = np.sqrt(s2)
    d = expected_squares(Y / root, coef, M, C / root[:, None], Z)
    rate = 0.5 * (nu + d)
    w = np.where(seen, 0.5 * (nu + 1.0) / rate, 0.0)
    log_rate = float(np.log(rate, where=seen, out=np.zeros_like(rate)).sum())
    return w, TailSums(float(np.count_nonzero(seen)), nu, log_rate, float(w.sum()))


def learn_nu(tails: TailSums, nu: float, low: float = LOWEST, high: float = 1e3) -> float:
    """Maximise the bound over nu in [low, high]: log(nu/2) + 1 - digamma(nu/2) + mean(E log u - w) = 0.

    The left side decreases in nu, so clipping its root keeps the bound from falling.
    """
    if tails.N == 0:
        return nu
    mean = digamma(0.5 * (tails.nu + 1.0)) - (tails.log_rate + tails.weight) / tails.N

    def slope(v: float) -> float:
        return float(np.log(0.5 * v) + 1.0 - digamma(0.5 * v) + mean)

    if slope(high) >= 0.0:
        return high
    return low if slope(low) <= 0.0 else float(brentq(slope, low, high))


def tail_bound(tails: TailSums, nu: float) -> float:
    """sum over entries of E log u / 2 - KL(q(u) || Gamma(nu/2, nu/2)): what the weights add to the bound."""
    a, h = 0.5 * (tails.nu + 1.0), 0.5 * nu
    log_u = tails.N * digamma(a) - tails.log_rate
    entropy = tails.N * (a + gammaln(a) + (1.0 - a) * digamma(a)) - tails.log_rate
    prior = tails.N * (h * np.log(h) - gammaln(h)) + (h - 1.0) * log_u - h * tails.weight
    return float(0.5 * log_u + entropy + prior)


def noise_variance(s2: Array, nu: float) -> Array:
    """Variance of the normal law with the same central 95% as Student-t noise of scale s2 (finite for any nu)."""
    return s2 * float(stdtrit(nu, 0.975) / ndtri(0.975)) ** 2 if np.isfinite(nu) else s2


def robust_coefficients(
    Y: Array, seen: Mask, post: Posterior, s2: Array, prior: Prior, nu: float, n_iter: int = 10
) -> tuple[Coefficients, Array]:
    """Coefficients and weights of new samples: a few alternations from weights of one. Cost n_iter (4 n m p)."""
    M = second_moment(post, 1.0 / s2)
    w = seen.astype(np.float64)
    coef = coefficients(Y, w, post, s2, prior, M)
    for _ in range(n_iter if np.isfinite(nu) else 0):
        w, _ = tail_weights(Y, seen, coef, M, post.C, moments(coef, prior.mu.size), s2, nu)
        coef = coefficients(Y, w, post, s2, prior, M)
    return coef, w
