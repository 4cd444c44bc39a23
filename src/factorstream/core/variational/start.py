"""A start so good that few sweeps suffice: fill, shrink the spectrum by the evidence, fill again.

For COMPLETE data the variational posterior of this very model has a closed form (Nakajima et al. 2013): each
singular value g of the data is kept and shrunk, or dropped, by its size against the noise s2,

    g^2 > s2 M (1 + t)(1 + L/(M t)),   t = 2.5129 sqrt(L/M),   L = min(n, m), M = max(n, m)
    g <- (g/2) (z + sqrt(z^2 - 4 L M s2^2/g^4)),   z = 1 - (L + M) s2/g^2

so filling the gaps with the last fit and repeating is expectation-maximisation by spectra: one Gram matrix of
the smaller side and one eigendecomposition, about 4 n m L + L^3 flops, no posterior per feature. It also says
how many components the data support, which is what ``n_components="auto"`` starts from.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import svds

from ..linalg import SparseRows
from .packed import Array

SHAPE = 2.5129  # root of the evidence's threshold equation, to the digits that matter
EXTRA = 5  # passes with the spare components
EXACT = 1500  # up to this smaller side the whole spectrum is computed
WIDTH = 256  # beyond it, only this many leading components


class Spectrum(NamedTuple):
    """A start: y_k ~ B^T x_k + b, with x of unit second moment."""

    X: Array  # (n, r) orthogonal columns, X^T X = n I
    B: Array  # (r, m) shrunk loadings
    b: Array  # (m,) mean
    s2: float  # noise variance
    inlier: Array  # (n, m) 0 or 1: 0 where a robust start trimmed an observed entry
    n_passes: int


def shrinkage(g2: Array, s2: float, n: int, m: int) -> Array:
    """Factors in (0, 1) for the squared singular values g2 (descending) that the evidence keeps; the rest are cut."""
    L, M = min(n, m), max(n, m)
    t = SHAPE * np.sqrt(L / M)
    g2 = g2[g2 > s2 * M * (1.0 + t) * (1.0 + L / (M * t))]
    z = 1.0 - (L + M) * s2 / g2
    return np.asarray(0.5 * (z + np.sqrt(np.maximum(z * z - 4.0 * L * M * (s2 / g2) ** 2, 0.0))))


def _decompose(Z: Array, guess: Array | None, width: int) -> tuple[Array, Array]:
    """Squared singular values (descending) and LEFT singular vectors if n <= m, RIGHT ones otherwise.

    Exact through the Gram matrix of the smaller side L; beyond EXACT only the leading ``width`` ones, by subspace
    iteration from the last pass's vectors (or from the data's own rows), 8 n m width flops.
    """
    A = Z if Z.shape[0] <= Z.shape[1] else Z.T
    if A.shape[0] <= EXACT:
        g2, U = np.linalg.eigh(A @ A.T)
        return np.maximum(g2[::-1], 0.0), U[:, ::-1]
    Q = A @ A[:: -(-A.shape[0] // width)].T if guess is None else guess
    for _ in range(4 if guess is None else 1):
        Q, _ = np.linalg.qr(A @ (A.T @ Q))
    B = Q.T @ A
    g2, U = np.linalg.eigh(B @ B.T)
    return np.maximum(g2[::-1], 0.0), np.asarray(Q @ U[:, ::-1])


def spare_rank(n: int, m: int) -> int:
    """Components to start from even if the evidence finds fewer: on small tables the threshold, which is
    asymptotic and assumes equal noise, finds too few, and there a spare component costs nothing."""
    return min(min(n, m) // 2, 32)


def affordable_rank(n: int, m: int, N: float) -> int:
    """The most components that spend at most half of the N observations: r(n + m - r) <= N/2."""
    half = 0.5 * (n + m)
    return int(max(0.0, min(min(n, m), half - np.sqrt(max(half * half - 0.5 * N, 0.0)))))


def long_rank(n: int, m: int, N: float, found: int) -> int:
    """Half as many again as the evidence found, as far as affordable: real spectra have a tail of weak components."""
    return max(spare_rank(n, m), min(affordable_rank(n, m, N), WIDTH, -(-3 * found // 2)), found)


def _shrunk(g2: Array, s2: float, n: int, m: int, least: int, most: int) -> Array:
    """Shrinkage of the components to keep: those the evidence finds, but within [least, most]."""
    g = shrinkage(g2, s2, n, m)[:most]
    least = min(least, int(np.count_nonzero(g2 > 1e-10 * g2[0])))
    return np.concatenate([g, np.full(max(least - g.size, 0), 0.5)])


def spectral_start(
    F: Array,
    W: Array,
    r: int | None,
    max_passes: int = 30,
    tol: float = 1e-3,
    robust: bool = False,
    spare: bool = True,
) -> Spectrum:
    """Fill-and-shrink passes from the mean fill.

    F (n, m) data, zero where missing and centred on the observed means; W (n, m) nonzero where observed; r
    components, or as many as the evidence supports (None). Stops when the noise estimate changes by less than
    ``tol`` relatively. The noise is judged on observed entries with r(n + m - r) degrees of freedom spent.
    ``robust`` treats entries more than 4 robust standard deviations off the last fit as missing.
    """
    n, m = F.shape
    observed = W > 0
    seen = observed & _near(F, observed) if robust else observed
    N = float(np.count_nonzero(seen))
    total = float((F * F)[seen].sum()) if robust else float(np.einsum("km,km->", F, F))
    s2 = 0.1 * total / max(N, 1.0)
    fit, b = np.zeros_like(F), np.zeros(m)
    X, B = np.zeros((n, 0)), np.zeros((0, m))
    U: Array | None = None
    k, left = 0, max_passes
    if r is None and spare and affordable_rank(n, m, N) <= spare_rank(n, m):
        r = spare_rank(n, m)
        left = min(left, EXTRA)
    least, most = (0, min(affordable_rank(n, m, N), WIDTH)) if r is None else (r, r)
    while left > 0:
        k, left = k + 1, left - 1
        Z = np.where(seen, F, fit)
        b = Z.mean(axis=0)
        Z -= b
        g2, U = _decompose(Z, U, max(WIDTH, most + 8))
        g = _shrunk(g2, s2, n, m, least, most)
        X, B = _factors(Z, U[:, : g.size], g2[: g.size], g)
        fit = X @ B
        fit += b
        R = F - fit
        if robust:
            seen = observed & _near(R, observed)
            N = float(np.count_nonzero(seen))
        R[~seen] = 0.0
        spent = min(g.size * (n + m - g.size), 0.5 * N)
        last, s2 = s2, float(np.einsum("km,km->", R, R)) / max(N - spent, 1.0)
        s2 = max(s2, 1e-8 * total / max(N, 1.0))
        if abs(s2 - last) <= tol * last:
            left = 0
        if left == 0 and r is None and spare:
            r = least = most = long_rank(n, m, N, g.size)
            left = EXTRA if r > g.size else 0
    return Spectrum(X, B, b, s2, (seen | ~observed).astype(np.float64), k)


def sparse_start(F: SparseRows, r: int) -> Spectrum:
    """Leading singular vectors of centred sparse rows, gaps counted as zero: cost by stored entries.

    Zeros in the gaps shrink the singular values by about the share observed; the first sweeps grow them back.
    """
    n, m = F.shape
    k = max(1, min(r, min(n, m) - 1))
    power = float(F.data @ F.data) / max(F.nnz, 1)
    if min(n, m) < 2 or power == 0.0:
        return Spectrum(np.zeros((n, k)), np.zeros((k, m)), np.zeros(m), max(power, 1.0), np.ones((0, 0)), 0)
    U, g, Vt = svds(F, k=k, v0=np.ones(min(n, m)), solver="arpack")
    order = np.argsort(g)[::-1]
    X, B = U[:, order] * np.sqrt(n), (g[order] / np.sqrt(n))[:, None] * Vt[order]
    return Spectrum(X, B, np.zeros(m), 0.5 * power, np.ones((0, 0)), 1)


def _factors(Z: Array, U: Array, g2: Array, g: Array) -> tuple[Array, Array]:
    """X (n, r) with X^T X = n I and B (r, m), X B the shrunk reconstruction of Z."""
    n, m = Z.shape
    if n <= m:
        return U * np.sqrt(n), (g[:, None] / np.sqrt(n)) * (U.T @ Z)
    return (Z @ U) * np.sqrt(n / g2), (g * np.sqrt(g2 / n))[:, None] * U.T


def _near(R: Array, observed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Residuals within 4 robust standard deviations (median absolute deviation) of zero."""
    size = np.abs(R)
    if not observed.any():
        return observed
    return np.asarray(size <= 4.0 * 1.4826 * np.median(size[observed]) + np.finfo(float).tiny)
