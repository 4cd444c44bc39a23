"""First values from the data's variograms."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..linalg import Array
from .axes import FEW_FEATURES, principal_axes
from .model import Dynamics, Emission, Levels, SequenceModel
from .noise import NoiseSpec
from .wide import WideVariograms, measure_wide

LAGS = (1, 2, 4, 8, 16)
"""Lags of the variograms: doublings, up to where most sequences still have hundreds of pairs. Not tuned: up to 8 errors
move by -0.5% to +1.2%, up to 32 by -1.5% to +2.2% (``benchmarks/sequence_defaults.py``, as all figures of this kind:
240 rows of six features)."""
DECAY_TIMES = 2.0 ** np.arange(-1, 12)
"""Decay times tried for a feature, in rows: doublings from half a row to 2048 rows. Not tuned: errors move by at most
0.03% where they end at 128 rows, and by -1.2% to +2.4% where they are twice as dense
(``benchmarks/sequence_defaults.py``)."""
ABOVE_EDGE = 1.1
"""How far above the largest eigenvalue of chance one must be to count as a common change. Not tuned: errors move by at
most 0.2% in made-up sequences; in London's air, 1 moves none, 1.3 has 1.9% more in gaps and 1.4% in forecasts; the
width of intervals moves by -2.2% to +2.6% (``benchmarks/sequence_defaults.py``)."""
DECAY_OF_STATES, DECAY_BESIDE_LEVELS = (0.5, 0.99), (0.5, 0.999)
"""Range in which the states' first decay per row is kept, without and with levels. Not tuned: EM goes on from there,
and errors move by at most 0.01% with 0.3 to 0.999 or 0.7 to 0.95 without levels, and with 0.3 to 0.9999 or 0.7 to 0.99
beside them (``benchmarks/sequence_defaults.py``)."""
LEAST_VARIANCE = 1e-3
"""Least variance of a standardised feature or level; keeps constant features away from zero. Not tuned: errors move by
at most 0.2% between 1e-4 and 1e-2 (``benchmarks/sequence_defaults.py``)."""
LEAST_OWN, LEAST_LEFT = 0.1, 0.05
"""Least part of a feature's variance, or variogram, that the first factors leave to it. Not tuned. The first: at 0.03
errors move by at most 0.6%, at 0.3 they rise by up to 1.2%; the second: at 0.01 gaps have up to 2.8% more error, at 0.2
up to 1.3% more, forecasts up to 1.3% less, and intervals are up to 3.4% narrower
(``benchmarks/sequence_defaults.py``)."""
NO_NOISE = 0.01
"""Noise of a walk that shows none, as a part of its variogram at lag 1. Not tuned: small, and EM goes on from there;
errors move by at most 0.1% at 0.001 and 0.3% at 0.1, where forecasts of random walks move more: by -1.5% without noise
and +2.7% with it (``benchmarks/sequence_defaults.py``)."""

CLEAR_NOISE = 4.0
"""Least noise of a walk that shows any, in units of its variogram at lag 1 over √n. Derived: white noise R over a walk
gives its changes the lag-one correlation -R / (2 gamma(1)), whose standard error is 1/√n; it must be two of these. At 2
errors move by at most 0.5%. It matters at 8: they rise where there are levels, by 5% in gaps and 3% in forecasts, and
in random walks with noise, by 2% and 5%; intervals are 4% wider there (``benchmarks/sequence_defaults.py``)."""
LEAST_VARIOGRAM = 1e-12
"""Least variogram of a standardised feature; keeps a division by zero away."""
LEAST_WEIGHT = 1e-6
"""Weight of a lag without pairs, in pairs; keeps a division by zero away."""


def variograms(Y: Array, lags: tuple[int, ...] = LAGS) -> tuple[Array, Array]:
    """Cross-variograms 0.5 E (y_{t+h,i} - y_ti)(y_{t+h,j} - y_tj) over jointly observed pairs.

    Returns (k, m, m) and the numbers of pairs (k, m, m). O(k T m²).
    """
    m = Y.shape[1]
    out, count = np.zeros((len(lags), m, m)), np.zeros((len(lags), m, m))
    for k, h in enumerate(lags):
        if h >= len(Y):
            continue
        D = Y[h:] - Y[:-h]
        obs = np.isfinite(D).astype(float)
        D = np.where(obs > 0, D, 0.0)
        count[k] = obs.T @ obs
        out[k] = 0.5 * (D.T @ D) / np.maximum(count[k], 1.0)
    return out, count


def scalar_fit(gamma: Array, lags: Array, weight: Array, total: Array) -> tuple[Array, Array, Array]:
    """Fit R + s (1 - phiʰ) to each feature's variogram; returns R, s, phi (m,). Grid over phi, R >= 0, s >= 0."""
    best = np.full(gamma.shape[1], np.inf)
    R, s, phi = 0.5 * total, 0.5 * total, np.full(gamma.shape[1], 0.9)
    for tau in DECAY_TIMES:
        p = float(np.exp(-1.0 / tau))
        f = (1.0 - p**lags)[:, None]
        sw = weight.sum(0)
        mf, mg = (weight * f).sum(0) / sw, (weight * gamma).sum(0) / sw
        slope = (weight * (f - mf) * (gamma - mg)).sum(0) / np.maximum((weight * (f - mf) ** 2).sum(0), 1e-300)
        slope = np.maximum(slope, 0.0)
        icept = mg - slope * mf
        through = (weight * f * gamma).sum(0) / (weight * f * f).sum(0)
        slope, icept = np.where(icept < 0, through, slope), np.maximum(icept, 0.0)
        loss = (weight * (gamma - icept - slope * f) ** 2).sum(0)
        better = loss < best
        best = np.where(better, loss, best)
        R, s, phi = np.where(better, icept, R), np.where(better, slope, s), np.where(better, p, phi)
    return R, s, phi


def common_changes(v: Variograms | WideVariograms) -> tuple[int, int]:
    """How many factors the changes of the features share, and at which lag they show best. O(k m³).

    Increments over h steps are correlated only through common factors. Of m independent features, the
    correlation matrix of n changes has no eigenvalue above (1 + √(m/n))² (Marchenko-Pastur);
    changes over h steps overlap, so n = pairs / h. Eigenvalues above 1.1 times that edge count.
    """
    most, where, best = 0, 0, 0.0
    for k in range(len(v.lags)):
        excess = v.excess(k, ABOVE_EDGE)
        most = max(most, len(excess))
        if excess.sum() > best:
            best, where = float(excess.sum()), k
    return most, where


class Variograms(NamedTuple):
    """What a start needs of standardised rows."""

    lags: Array  # (k,)
    gamma: Array  # (k, m, m) cross-variograms
    joint: Array  # (k, m, m) pairs of rows behind them
    diag: Array  # (k, m) each feature's own variogram
    pairs: Array  # (k, m) pairs of rows behind it
    S: Array  # (m, m) pairwise covariance
    total: Array  # (m,) variance of each feature

    def covariance(self) -> Array:
        """The covariance of the features."""
        return self.S

    def changes(self, k: int) -> Array:
        """Half the covariance of their changes over the lag number k."""
        return np.asarray(self.gamma[k])

    def excess(self, k: int, margin: float) -> Array:
        """By what part eigenvalues of the correlations of these changes exceed `margin` times the edge of chance."""
        d = np.sqrt(np.maximum(self.diag[k], LEAST_VARIOGRAM))
        n = max(float(np.median(self.joint[k])) / float(self.lags[k]), 1.0)
        edge = margin * (1.0 + np.sqrt(len(d) / n)) ** 2
        excess = np.linalg.eigvalsh(self.gamma[k] / np.outer(d, d)) / edge - 1.0
        return np.asarray(excess[excess > 0])


def measure(Y: Array) -> Variograms | WideVariograms:
    """Variograms and covariance of standardised Y (T, m). O(T m²), or O(T m) with fewer rows than features."""
    lags = tuple(h for h in LAGS if h < len(Y)) or (1,)
    if Y.shape[1] > max(len(Y), FEW_FEATURES):
        return measure_wide(Y, lags)
    gamma, count = variograms(Y, lags)
    obs = np.isfinite(Y)
    y = np.where(obs, Y, 0.0)
    pairs = obs.T.astype(float) @ obs
    S = (y.T @ y) / np.maximum(pairs, 1.0)
    diag, own = np.einsum("kii->ki", gamma), np.einsum("kii->ki", count)
    return Variograms(np.asarray(lags, dtype=float), gamma, count, diag, own, S, np.diag(S))


def first_fit(v: Variograms | WideVariograms, diag: Array) -> tuple[Array, Array, Array]:
    """`scalar_fit` of each feature's own variogram, or of what is left of it; pairs that overlap count once."""
    return scalar_fit(diag, v.lags, v.pairs / v.lags[:, None] + LEAST_WEIGHT, np.maximum(v.total, LEAST_VARIANCE))


def start_states(Y: Array, r: int, noise: NoiseSpec) -> SequenceModel:
    """A first model without levels for standardised Y (T, m): principal components of the pairwise covariance."""
    v = measure(Y)
    _, _, phi = first_fit(v, v.diag)
    C = principal_axes(v.covariance(), min(r, Y.shape[1]))
    a = float(np.clip(np.median(phi), *DECAY_OF_STATES))
    total = np.maximum(v.total, LEAST_VARIANCE)
    return _model(C, a, np.maximum(total - (C**2).sum(1), LEAST_OWN * total), noise, None)


def start_levels(Y: Array, r: int, noise: NoiseSpec, select: bool = True) -> SequenceModel:
    """A first model with levels for standardised Y (T, m).

    The factors must explain the COMMON CHANGES, not the common shapes: independent random walks have large spurious
    principal components but uncorrelated increments. The off-diagonal cross-variogram is C Cᵀ (1 - aʰ) whatever
    the features' own levels and noise are, so C starts from it and each level from what is left.
    With `select` the model has at most r components: no more than the changes show (`common_changes`).
    """
    v = measure(Y)
    h = v.lags
    _, _, phi = first_fit(v, v.diag)
    found, k = common_changes(v)
    r = min(r, Y.shape[1], found) if select else min(r, Y.shape[1])
    a = float(np.clip(np.median(phi), *DECAY_BESIDE_LEVELS))
    C = principal_axes(v.changes(k), r) / np.sqrt(1.0 - a ** h[k])
    left = np.maximum(v.diag - (C**2).sum(1) * (1.0 - a**h)[:, None], LEAST_LEFT * v.diag)
    R, s, phi = first_fit(v, left)
    # pretending that there is noise where none shows would make a random walk's bridge miss its ends
    n = np.maximum(v.pairs[0], 1.0)
    clear = CLEAR_NOISE * left[0] / np.sqrt(n) < R
    R = np.where(clear, R, NO_NOISE * np.maximum(left[0], LEAST_VARIANCE))
    s = np.maximum(s, LEAST_VARIANCE)
    return _model(C, a, R, noise, Levels(phi, s * (1.0 - phi**2), np.maximum(v.total, s)))


def _model(C: Array, a: float, R: Array, noise: NoiseSpec, levels: Levels | None) -> SequenceModel:
    m, r = C.shape
    eye = np.eye(r)
    dynamics = Dynamics(a * eye, (1 - a * a) * eye, eye)
    return SequenceModel(dynamics, Emission(C, np.zeros(m)), noise.begin(R), levels)
