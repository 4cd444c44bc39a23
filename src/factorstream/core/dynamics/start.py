"""Starting values from the data's variograms: nothing to tune, nothing that a gap can break."""

from __future__ import annotations

import numpy as np

from ..linalg import Array
from .model import Model

LAGS = (1, 2, 4, 8, 16)


def variograms(Y: Array, lags: tuple[int, ...] = LAGS) -> tuple[Array, Array]:
    """Cross-variograms 0.5 E (y_{t+h,i} - y_ti)(y_{t+h,j} - y_tj) over jointly observed pairs.

    Returns (k, m, m) and the numbers of pairs (k, m, m). O(k T m^2).
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
    """Fit R + s (1 - phi^h) to each feature's variogram; returns R, s, phi (m,). Grid over phi, R >= 0, s >= 0."""
    best = np.full(gamma.shape[1], np.inf)
    R, s, phi = 0.5 * total, 0.5 * total, np.full(gamma.shape[1], 0.9)
    for tau in 2.0 ** np.arange(-1, 12):
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


def common_changes(gamma: Array, count: Array, lags: Array) -> tuple[int, int]:
    """How many factors the changes of the features share, and at which lag they show best. O(k m^3).

    Increments over h steps are correlated only through common factors. Of m independent features, the
    correlation matrix of n changes has no eigenvalue above (1 + sqrt(m/n))^2 (Marchenko-Pastur);
    changes over h steps overlap, so n = pairs / h. Eigenvalues above 1.1 times that edge count.
    """
    most, where, best = 0, 0, 0.0
    for k, h in enumerate(lags):
        d = np.sqrt(np.maximum(np.diag(gamma[k]), 1e-12))
        n = max(float(np.median(count[k])) / float(h), 1.0)
        edge = 1.1 * (1.0 + np.sqrt(len(d) / n)) ** 2
        excess = np.linalg.eigvalsh(gamma[k] / np.outer(d, d)) / edge - 1.0
        excess = excess[excess > 0]
        most = max(most, len(excess))
        if excess.sum() > best:
            best, where = float(excess.sum()), k
    return most, where


def principal_axes(S: Array, r: int, sweeps: int = 20) -> Array:
    """Loadings (m, r) with C C' close to S off the diagonal: iterated principal factors. O(sweeps m^3)."""
    S = (S + S.T) / 2
    full = np.diag(S).copy()
    off = S - np.diag(full)
    communality = np.minimum(np.abs(off).max(0), full)
    C = np.zeros((len(S), r))
    for _ in range(sweeps):
        w, U = np.linalg.eigh(off + np.diag(communality))
        C = U[:, ::-1][:, :r] * np.sqrt(np.maximum(w[::-1][:r], 0.0))
        communality = np.minimum((C**2).sum(1), full)
    return C


def start(Y: Array, r: int, level: bool, nu: float = np.inf, select: bool = True) -> Model:
    """A first model for standardised Y (T, m).

    Without levels: principal components of the pairwise covariance. With levels: the factors must explain
    the COMMON CHANGES, not the common shapes: independent random walks have large spurious principal
    components but uncorrelated increments. The off-diagonal cross-variogram is C C' (1 - a^h) whatever
    the features' own levels and noise are, so C starts from it and each level from what is left.
    With `select` the model has at most r components: no more than the changes show (`common_changes`).
    """
    T, m = Y.shape
    r = min(r, m)
    lags = tuple(h for h in LAGS if h < T) or (1,)
    gamma, count = variograms(Y, lags)
    obs = np.isfinite(Y)
    y = np.where(obs, Y, 0.0)
    pairs = obs.T.astype(float) @ obs
    S = (y.T @ y) / np.maximum(pairs, 1.0)
    total = np.maximum(np.diag(S), 1e-3)
    diag = np.einsum("kii->ki", gamma)
    weight = np.einsum("kii->ki", count) / np.asarray(lags)[:, None] + 1e-6
    h = np.asarray(lags, dtype=float)
    R, s, phi = scalar_fit(diag, h, weight, total)
    zero = np.zeros(m)
    if not level:
        C = principal_axes(S, r)
        a = float(np.clip(np.median(phi), 0.5, 0.99))
        own = np.maximum(total - (C**2).sum(1), 0.1 * total)
        return _model(C, a, own, zero, zero, zero, nu)
    found, k = common_changes(gamma, count, h)
    r = min(r, found) if select else r
    a = float(np.clip(np.median(phi), 0.5, 0.999))
    C = principal_axes(gamma[k], r) / np.sqrt(1.0 - a ** h[k])
    left = np.maximum(diag - (C**2).sum(1) * (1.0 - a**h)[:, None], 0.05 * diag)
    R, s, phi = scalar_fit(left, h, weight, total)
    # white noise R over a walk gives its changes the lag-one correlation -R / (2 gamma(1)): below two standard
    # errors it is not there, and pretending that it is would make a random walk's bridge miss its ends
    n = np.maximum(np.einsum("kii->ki", count)[0], 1.0)
    clear = 4.0 * left[0] / np.sqrt(n) < R
    R, s = np.where(clear, R, 0.01 * np.maximum(left[0], 1e-3)), np.maximum(s, 1e-3)
    return _model(C, a, R, phi, s * (1.0 - phi**2), np.maximum(total, s), nu)


def _model(C: Array, a: float, R: Array, phi: Array, q: Array, p0: Array, nu: float) -> Model:
    m, r = C.shape
    eye = np.eye(r)
    return Model(a * eye, (1 - a * a) * eye, eye, C, np.zeros((m, r, r)), np.zeros(m), R, phi, q, p0, nu)
