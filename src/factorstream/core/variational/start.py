"""A start so good that few sweeps suffice: fill, shrink the spectrum by the evidence, fill again.

For COMPLETE data the variational posterior of this very model has a closed form (Nakajima, Sugiyama, Babacan and
Tomioka, "Global analytic solution of fully-observed variational Bayesian matrix factorization", JMLR 14, 2013): each
singular value g of the data is kept and shrunk, or dropped, by its size against the noise s2,

    g² > s2 M (1 + t)(1 + L/(M t)),   t = 2.5129 √(L/M),   L = min(n, m), M = max(n, m)
    g <- (g/2) (z + √(z² - 4 L M s2²/g⁴)),   z = 1 - (L + M) s2/g²

so filling the gaps with the last fit and repeating is expectation-maximisation by spectra: one Gram matrix of
the smaller side and one eigendecomposition, about 4 n m L + L³ flops, no posterior per feature. It also says
how many components the data support, which is what ``n_components="auto"`` starts from.
"""

from __future__ import annotations

from math import ceil
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator, svds

from ..place import HERE, Place, Tall
from .noise.law import NoiseLaw
from .observed import Observations, is_seen
from .packed import Array, Mask
from .spectrum import WIDTH, decomposition

SHAPE = 2.5129
"""Nakajima et al. (2013): their approximation of the threshold's t over √(L/M)."""

SPARE = 32
"""Most components to start from although the evidence finds fewer. Not tuned: between 16 and 64 only a
noiseless matrix with a slowly decaying spectrum changes, by +6% and -45% of its error
(``benchmarks/variational_defaults.py``)."""

EXTRA = 5
"""Passes with the spare components: they need not converge, the sweeps go on from there. Not tuned: the error of
filled entries moves by at most 1% between 2 and 12 (``benchmarks/variational_defaults.py``)."""

FIRST_NOISE = 0.1
"""Noise variance before the first pass, as a share of the data's; later passes measure it. Not tuned."""


AFFORDABLE = 0.5
"""Share of the observations that the parameters of a start may spend. Not tuned: the error of filled entries moves by
at most 0.2% at 0.3, and falls by up to 3.1% at 0.7 (``benchmarks/variational_defaults.py``)."""

TAIL = 1.5
"""Components to start from for each one that the evidence finds, where a long tail is looked for. Not tuned: nothing
changes between 1.25 and 1.5; at 2 the error of filled entries falls by 4.7% on one data set of five
(``benchmarks/variational_defaults.py``)."""

SPARE_SHRINKAGE = 0.5
"""Shrinkage of components that are kept although the evidence does not find them. Not tuned: the error of
filled entries moves by at most 0.2% between 0.25 and 1 (``benchmarks/variational_defaults.py``)."""

RANK_TOLERANCE = 1e-10
"""Squared singular values below this share of the largest one are rounding: no spare component starts from them.
Not tuned: between the rounding of a Gram matrix, 1e-16 of its largest eigenvalue, and any noise worth the name."""

LEAST_START_NOISE = 1e-8
"""Least noise variance of the passes as a share of the data's: against a division by zero where the fit is exact. The
sweeps start from at least ``LEAST`` of ``noise.variance``, which is more."""

SPARSE_NOISE = 0.5
"""First noise variance of sparse rows as a share of the data's: zeros in the gaps hide the fit's residual.
Not tuned: a round number, the sweeps measure it."""


class Spectrum(NamedTuple):
    """A start: y_k ≈ Bᵀ x_k + b, with x of unit second moment."""

    X: Array  # (n, r) orthogonal columns, XᵀX = n I
    B: Tall  # (r, m) shrunk loadings
    b: Tall  # (m,) mean
    s2: float  # noise variance
    believed: Tall | None  # (n, m) boolean: the observed entries it goes by; None: all of them
    n_passes: int


def shrinkage(g2: Array, s2: float, n: int, m: int) -> Array:
    """Factors in (0, 1) for the squared singular values g2 (descending) that the evidence keeps; the rest are cut."""
    L, M = min(n, m), max(n, m)
    t = SHAPE * np.sqrt(L / M)
    g2 = g2[g2 > s2 * M * (1.0 + t) * (1.0 + L / (M * t))]
    z = 1.0 - (L + M) * s2 / g2
    return np.asarray(0.5 * (z + np.sqrt(np.maximum(z * z - 4.0 * L * M * (s2 / g2) ** 2, 0.0))))


def spare_rank(n: int, m: int) -> int:
    """Components to start from even if the evidence finds fewer: on small tables the threshold, which is
    asymptotic and assumes equal noise, finds too few, and there a spare component costs nothing."""
    return min(min(n, m) // 2, SPARE)


def affordable_rank(n: int, m: int, N: float) -> int:
    """The most components whose parameters spend an affordable share of the N observations: r(n + m - r) ≤ N/2."""
    half = 0.5 * (n + m)
    return int(max(0.0, min(min(n, m), half - np.sqrt(max(half * half - AFFORDABLE * N, 0.0)))))


def long_rank(n: int, m: int, N: float, found: int) -> int:
    """Half as many again as the evidence found, as far as affordable: real spectra have a tail of weak components."""
    return max(spare_rank(n, m), min(affordable_rank(n, m, N), WIDTH, ceil(TAIL * found)), found)


def _shrunk(g2: Array, s2: float, n: int, m: int, least: int, most: int) -> Array:
    """Shrinkage of the components to keep: those the evidence finds, but within [least, most]."""
    g = shrinkage(g2, s2, n, m)[:most]
    least = min(least, int(np.count_nonzero(g2 > RANK_TOLERANCE * g2[0])))
    return np.concatenate([g, np.full(max(least - g.size, 0), SPARE_SHRINKAGE)])


class _Plan(NamedTuple):
    """How many components the passes may keep, and how many passes are left."""

    least: int
    most: int
    left: int


def _first_plan(n: int, m: int, N: float, r: int | None, max_passes: int, spare: bool) -> tuple[int | None, _Plan]:
    """r given: as many. r to be found: up to what N entries afford; on a small table, the spare ones at once."""
    if r is None and spare and affordable_rank(n, m, N) <= spare_rank(n, m):
        r, max_passes = spare_rank(n, m), min(max_passes, EXTRA)
    if r is not None:
        return r, _Plan(r, r, max_passes)
    return None, _Plan(0, min(affordable_rank(n, m, N), WIDTH), max_passes)


def spectral_start(
    F: Tall,
    data: Observations,
    r: int | None,
    noise: NoiseLaw,
    max_passes: int = 30,
    tol: float = 1e-3,
    spare: bool = True,
    place: Place = HERE,
) -> Spectrum:
    """Fill-and-shrink passes from the mean fill.

    F (n, m) ``data`` centred on the observed means, zero where missing; r components, or as many as the evidence
    supports (None). Stops when the noise estimate changes by less than ``tol`` relatively (0.1%: not tuned, the sweeps
    estimate it again). The noise is judged on observed entries with r(n + m - r) degrees of freedom spent; entries
    that ``noise`` does not believe count as missing.
    """
    n, m = data.n, data.m
    observed = place.each(is_seen, data.W)
    seen = noise.believed(F, observed, place)
    total, N = place.total(_square_and_count, F, seen)
    s2 = FIRST_NOISE * total / max(N, 1.0)
    fit, b, B = place.each(_nothing, F)
    X, U, k = np.zeros((n, 0)), None, 0
    decompose, factors = decomposition(n, m)
    r, plan = _first_plan(n, m, N, r, max_passes, spare)
    while plan.left > 0:
        k, plan = k + 1, plan._replace(left=plan.left - 1)
        Z, b = place.each(_filled, F, seen, fit)
        g2, U = decompose(Z, U, max(WIDTH, plan.most + 8), place)
        g = _shrunk(g2, s2, n, m, plan.least, plan.most)
        X, B = factors(Z, U, g2[: g.size], g, place)
        fit, R = place.each(_reconstructed, F, X, B, b)
        seen = noise.believed(R, observed, place)
        square, N = place.total(_square_and_count, R, seen)
        spent = min(g.size * (n + m - g.size), AFFORDABLE * N)
        last, s2 = s2, max(square / max(N - spent, 1.0), LEAST_START_NOISE * total / max(N, 1.0))
        if abs(s2 - last) <= tol * last:
            plan = plan._replace(left=0)
        if plan.left == 0 and r is None and spare:
            r = long_rank(n, m, N, g.size)
            plan = _Plan(r, r, EXTRA if r > g.size else 0)
    return Spectrum(X, B, b, s2, seen, k)


def _square_and_count(R: Array, seen: Mask) -> tuple[float, float]:
    """Sum of squares and number of the entries that are seen."""
    R = np.where(seen, R, 0.0)
    return float(np.einsum("km,km->", R, R)), float(np.count_nonzero(seen))


def _nothing(F: Array) -> tuple[Array, Array, Array]:
    """A fit, a mean and loadings before the first pass."""
    return np.zeros_like(F), np.zeros(F.shape[1]), np.zeros((0, F.shape[1]))


def _filled(F: Array, seen: Mask, fit: Array) -> tuple[Array, Array]:
    """F with the last fit in its gaps, less its mean; and the mean."""
    Z = np.where(seen, F, fit)
    b = Z.mean(axis=0)
    Z -= b
    return Z, b


def _reconstructed(F: Array, X: Array, B: Array, b: Array) -> tuple[Array, Array]:
    """The fit X B + b, and what it leaves of F."""
    fit = X @ B
    fit += b
    return fit, F - fit


def sparse_start(F: Tall, n: int, m: int, r: int, place: Place = HERE) -> Spectrum:
    """Leading singular vectors of centred sparse rows, gaps counted as zero: cost by stored entries.

    Zeros in the gaps shrink the singular values by about the share observed; the first sweeps grow them back.
    """
    k = max(1, min(r, min(n, m) - 1))
    square, count = place.total(_stored_square, F)
    power = square / max(count, 1.0)
    if min(n, m) < 2 or power == 0.0:
        B, b = place.each(_zero_loadings, F, k)
        return Spectrum(np.zeros((n, k)), B, b, max(power, 1.0), None, 0)
    # The vectors of the iteration have all features; they come and go between this process and the place.
    rows = LinearOperator(
        (n, m),
        matvec=lambda v: place.total(_times, F, place.put(v, 0)),
        rmatvec=lambda u: place.get(place.each(_transposed_times, F, u), 0),
        matmat=lambda V: place.total(_times, F, place.put(V, 0)),
        rmatmat=lambda U: place.get(place.each(_transposed_times, F, U), 0),
        dtype=np.dtype(np.float64),
    )
    # Not a vector of ones: columns that are centred have no part of it, and the iteration would begin at rounding.
    v0 = np.random.default_rng(0).standard_normal(min(n, m))
    U, g, Vt = svds(rows, k=k, v0=v0, solver="arpack")
    order = np.argsort(g)[::-1]
    X, B = U[:, order] * np.sqrt(n), (g[order] / np.sqrt(n))[:, None] * Vt[order]
    return Spectrum(X, place.put(B, 1), place.put(np.zeros(m), 0), SPARSE_NOISE * power, None, 1)


def _stored_square(F: Any) -> tuple[float, float]:
    return float(F.data @ F.data), float(F.nnz)


def _zero_loadings(F: Any, k: int) -> tuple[Array, Array]:
    return np.zeros((k, F.shape[1])), np.zeros(F.shape[1])


def _times(F: Any, v: Array) -> Array:
    return np.asarray(F @ v)


def _transposed_times(F: Any, u: Array) -> Array:
    return np.asarray(F.T @ u)
