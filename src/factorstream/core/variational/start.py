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
from typing import NamedTuple

import numpy as np

from ...arrays import full_like, is_here, namespace, zeros_beside
from ...cores import PASS, each_piece, product, sum_of_pieces
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

ROUNDING = 1e-12
"""Share of a component's largest entry below which an entry of the start is the rounding of a zero. Not tuned: between
the rounding of double precision, 1e-16, and the last digit of data in single precision, 1e-7."""

LEAST_START_NOISE = 1e-8
"""Least noise variance of the passes as a share of the data's: against a division by zero where the fit is exact. The
sweeps start from at least ``LEAST`` of ``noise.variance``, which is more."""


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


def shrunk(g2: Array, s2: float, n: int, m: int, least: int, most: int) -> Array:
    """Shrinkage of the components to keep: those the evidence finds, but within [least, most].

    None of those whose g2 / n is no normal number: a start divides by it, and in units of the data it is zero.
    """
    g2 = g2[g2 > n * np.finfo(np.float64).tiny]
    g = shrinkage(g2, s2, n, m)[:most]
    least = min(least, int(np.count_nonzero(g2 > RANK_TOLERANCE * g2.max(initial=0.0))))
    return np.concatenate([g, np.full(max(least - g.size, 0), SPARE_SHRINKAGE)])


def noise_after(square: float, total: float, N: float, r: int, n: int, m: int) -> float:
    """Noise variance from the squared residuals of N entries, r(n + m - r) degrees of freedom spent on r components."""
    spent = min(r * (n + m - r), AFFORDABLE * N)
    return max(square / max(N - spent, 1.0), LEAST_START_NOISE * total / max(N, 1.0))


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
    total, N = _numbers(place.total(_square_and_count, F, seen))
    s2 = FIRST_NOISE * total / max(N, 1.0)
    fit, b, B = place.each(_nothing, F)
    X, U, k = place.empty(n, 0), None, 0
    decompose, factors = decomposition(n, m)
    r, plan = _first_plan(n, m, N, r, max_passes, spare)
    while plan.left > 0:
        k, plan = k + 1, plan._replace(left=plan.left - 1)
        Z, b = place.each(_filled, F, seen, fit)
        g2, U = decompose(Z, U, max(WIDTH, plan.most + 8), place)
        g = shrunk(g2, s2, n, m, plan.least, plan.most)
        X, B = factors(Z, U, g2[: g.size], g, place)
        del Z  # it and R are as large as the data, and would stay beside those of the next pass
        fit, R = place.each(_reconstructed, F, X, B, b)
        seen = noise.believed(R, observed, place)
        square, N = _numbers(place.total(_square_and_count, R, seen))
        del R
        last, s2 = s2, noise_after(square, total, N, g.size, n, m)
        if abs(s2 - last) <= tol * last:
            plan = plan._replace(left=0)
        if plan.left == 0 and r is None and spare:
            r = long_rank(n, m, N, g.size)
            plan = _Plan(r, r, EXTRA if r > g.size else 0)
    return Spectrum(place.rows(without_rounding, X), place.each(without_rounding, B, 1), b, s2, seen, k)


def without_rounding(X: Array, axis: int = 0) -> Array:
    """X with zeros where nothing but rounding is left of an entry, next to the largest one along the axis.

    Rows and features that the others have nothing in common with have coefficients of exactly zero. The sweeps stay
    there; from the rounding of a zero, they would grow a loading whose sign the rounding has chosen.
    """
    xp = namespace(X)
    if X.shape[axis] == 0:
        return X
    size = xp.abs(X)
    return xp.where(size < ROUNDING * xp.max(size, axis=axis, keepdims=True), 0.0, X)


def _numbers(pair: tuple[Array, Array]) -> tuple[float, float]:
    return float(pair[0]), float(pair[1])


def _square_and_count(R: Array, seen: Mask) -> tuple[Array, Array]:
    """Sum of squares and number of the entries that are seen."""
    if not is_here(R):
        xp = namespace(R)
        values = xp.where(seen, R, 0.0)
        return xp.sum(values * values), xp.count_nonzero(seen)

    def some(rows: slice) -> tuple[float, float]:
        values = np.where(seen[rows], R[rows], 0.0).ravel()
        return float(values.dot(values)), float(np.count_nonzero(seen[rows]))

    total, count = sum_of_pieces(some, len(R), 2 * PASS * R.size)
    return total, count


def _nothing(F: Array) -> tuple[Array, Array, Array]:
    """A fit, a mean and loadings before the first pass."""
    m = F.shape[1]
    return full_like(F, 0.0), zeros_beside(F, m), zeros_beside(F, 0, m)


def _filled(F: Array, seen: Mask, fit: Array) -> tuple[Array, Array]:
    """F with the last fit in its gaps, less its mean; and the mean."""
    if not is_here(F):
        xp = namespace(F)
        Z = xp.where(seen, F, fit)
        b = xp.mean(Z, axis=0)
        Z -= b
        return Z, b
    Z, b = np.empty_like(F), np.empty(F.shape[1])

    def fill(features: slice) -> None:
        some = np.where(seen[:, features], F[:, features], fit[:, features])
        b[features] = some.mean(axis=0)
        np.subtract(some, b[features], out=Z[:, features])

    each_piece(fill, F.shape[1], 3 * PASS * F.size)
    return Z, b


def _reconstructed(F: Array, X: Array, B: Array, b: Array) -> tuple[Array, Array]:
    """The fit X B + b, and what it leaves of F."""
    fit = product(X, B)
    if not is_here(F):
        fit += b
        return fit, F - fit
    rest = np.empty_like(F)

    def fill(rows: slice) -> None:
        fit[rows] += b
        np.subtract(F[rows], fit[rows], out=rest[rows])

    each_piece(fill, len(F), 2 * PASS * F.size)
    return fit, rest
