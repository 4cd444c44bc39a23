"""One posterior per feature, in information form: the exact answer to missing data, and mini-batches of it.

Model (samples are rows; q = r + 1 with a mean column, whose coefficient is always 1):

    y_ki = c_iᵀ x_k + e_ki         e_ki ~ N(0, s2_i / w_ki)     w_ki = 0 where y_ki is missing
    x_k  ~ N(mu, K⁻¹), x_kq = 1    c_i ~ N(c0_i, P0⁻¹)

    V_i⁻¹ = P0 + (1/s2_i) Σ_k w_ki (x_k x_kᵀ + Σ_k)      c_i = V_i (P0 c0_i + (1/s2_i) Σ_k w_ki y_ki x_k)

Everything the data say about C is in sums over samples (``Statistics``): batches, shards and machines merge by
addition. Symmetric matrices are packed rows (``packed``), so that all sums are matrix products: 2 n m p flops for all
V_i⁻¹, the same for all Σ_k, p = q(q+1)/2.

Functions that take a ``place`` run over all features; the others are plain functions of arrays, which a place calls
on the features it holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ...arrays import at_least, column_products, divided_less, full_like, is_here, namespace, picked, zeros_beside
from ...cores import MULTIPLICATION, PASS, accumulate, each_piece, product
from ..linalg import is_sparse, rows_at
from ..place import HERE, Place, Tall
from .observed import Observations, column_count, weighted_columns
from .packed import Array, beside_once, invert, layout_beside, pack, size
from .packed_moments import has_loops, interior, leading, leading_moments, second_moments
from .row_mean import hold, known_loading, with_variance, without_row_means
from .sparse_products import add_products, column_sums, times, weighted

BUDGET = 2**23
"""Floats in one temporary block: 64 MiB. Memory and speed only; no result depends on it."""

PIECE = 2**21
"""Floats in the second moments of some features: 16 MiB, which the memory of those before is used for again. Memory and
speed only."""

ROUNDING = 1e-10
"""Correlation between a feature and a component below which it is taken as zero. A feature that shares no row with the
others has exactly that, and its loading could as well be positive as negative; out of the rounding of such a zero,
sweeps would grow one of them. Derived: above the rounding of sums in double precision, and no number of rows that fits
into a computer tells a correlation of 1e-10 from none."""

FIT_ARRAYS, STREAM_ARRAYS = 4, 8
"""Arrays (m, p) that a fit and a stream hold at their peak. A fit: V_i, the sums of which the next ones are made, and
what is in the making; one more with row means, or where entries have weights of their own. A stream: the sums and V_i
after the last whole lot, after the rows since, and of those that both are replaced by, and the two temporaries.
Measured by tests."""


class FactorPrior(NamedTuple):
    """c_i ~ N(c0_i, P0⁻¹) and x_k ~ N(mu, K⁻¹). r = len(mu); a mean column makes q = r + 1."""

    c0: Tall  # (m, q)
    P0: Array  # (q, q) precision
    mu: Array  # (r,)
    K: Array  # (r, r) precision
    row_mean: bool = False  # the last of the r coefficients is the row's mean: its loadings are known, see ``row_mean``


class Statistics(NamedTuple):
    """Sums over samples: everything the data say about C. Additive."""

    S: Tall  # (m, p) packed Σ_k w_ki (x_k x_kᵀ + Σ_k)
    H: Tall  # (m, q) Σ_k w_ki y_ki x_k
    yy: Tall  # (m,)  Σ_k w_ki y_ki²
    N: Tall  # (m,)  number of observed entries


class Posterior(NamedTuple):
    """q(c_i) = N(C_i, V_i)."""

    C: Tall  # (m, q)
    V: Tall  # (m, p) packed
    logdet: Tall  # (m,) log det V_i


class CoefficientPosterior(NamedTuple):
    """q(x_k) = N(X_k, Σ_k); with a mean column X ends in ones and Σ_k covers the first r."""

    X: Array  # (n, q)
    Sigma: Array  # (n, r(r+1)/2) packed
    logdet: Array  # (n,) log det Σ_k


def blocks(stop: int, width: int, budget: int = BUDGET, start: int = 0) -> Iterator[slice]:
    """Slices of range(start, stop) whose ``rows x width`` temporaries stay within the budget."""
    n = max(stop - start, 1)
    most = max(1, budget // max(1, width))
    step = -(-n // -(-n // most))  # equal ones
    return (slice(s, min(stop, s + step)) for s in range(start, stop, step))


def room(place: Place) -> int:
    """Floats in one temporary block at a place."""
    return max(BUDGET, place.room)


def required_bytes(m: int, r: int, arrays: int) -> int:
    """Peak memory beyond the data: so many arrays (m, p), and the temporaries over samples."""
    return 8 * arrays * m * size(r + 1) + 8 * 3 * BUDGET


def no_statistics(m: int, q: int, like: Array | None = None) -> Statistics:
    """Statistics before any sample, beside an array or in this process."""
    if not is_here(like):
        return Statistics(*(zeros_beside(like, *shape) for shape in ((m, size(q)), (m, q), (m,), (m,))))
    S = np.empty((m, size(q)))
    each_piece(lambda some: S[some].fill(0.0), m, PASS * S.size)
    return Statistics(S, np.zeros((m, q)), np.zeros(m), np.zeros(m))


def merge(a: Statistics, b: Statistics) -> Statistics:
    """Both sets of samples: exact, whatever the split."""
    return Statistics(a.S + b.S, a.H + b.H, a.yy + b.yy, a.N + b.N)


def second_moment(post: Posterior, s2: Array | float = 1.0) -> Array:
    """Packed E[c_i c_iᵀ] / s2_i = (C_i C_iᵀ + V_i) / s2_i, (m, p)."""
    scale = full_like(post.logdet, 1.0 / s2) if isinstance(s2, float) else 1.0 / s2
    return second_moments(post.C, post.V, scale)


def moments_for_sweep(data: Observations, post: Posterior, s2: Tall, place: Place = HERE) -> Tall | None:
    """``second_moment(post, s2)``; None of wide tables of NumPy, where it is as large as the posterior itself.

    ``coefficients`` then makes the second moments of some features at a time, and keeps none.
    """
    large = place is HERE and is_here(post.V) and not data.sparse and post.V.size > BUDGET
    if large and 2 * data.n * post.V.shape[1] <= room(place):  # else they would be made for every block of rows
        return None
    return place.each(second_moment, post, s2)


def coefficients(
    data: Observations, post: Posterior, s2: Tall, prior: FactorPrior, M: Tall | None = None, place: Place = HERE
) -> CoefficientPosterior:
    """q(x_k) given q(C), the uncertainty of C included:

        Σ_k⁻¹ = K + Σ_i (w_ki/s2_i) (c_i c_iᵀ + V_i)        (leading r x r block)
        x_k = Σ_k (K mu + Σ_i (w_ki/s2_i) (y_ki c_i - E[c_i b_i]))

    M is ``second_moment(post, s2)`` if the caller has it. Cost 2 n m p + n r³.
    """
    n, q, r = data.n, len(prior.P0), prior.mu.size
    if M is None:
        M = moments_for_sweep(data, post, s2, place)
    X = place.empty(n, q)
    X[:, r:] = 1.0
    Sigma: Array = None  # made where there is more than one block
    logdet: Array = None
    Cs = place.each(_over_noise, post.C, s2, r)
    K, Kmu = pack(prior.K), prior.K @ prior.mu
    for b in blocks(n, 2 * size(q), room(place)):
        if M is None:
            A, h = _matrices_in_pieces(rows_at(data.W, b), post, s2), _right_sides(data.Y, data.W, b, Cs, data.plain)
        else:
            A, h = place.by_row(_normal_equations, data.Y, data.W, b, M, Cs, data.plain)
        some, X[b, :r], dets = place.rows(_solved, A, h, K, Kmu, q)
        if some.shape[0] == n:
            return CoefficientPosterior(X, some, dets)
        if Sigma is None:
            Sigma, logdet = place.empty(n, size(r)), place.empty(n)
        Sigma[b, :], logdet[b] = some, dets
    return CoefficientPosterior(X, Sigma, logdet)


def _solved(A: Array, h: Array, K: Array, Kmu: Array, q: int) -> tuple[Array, Array, Array]:
    """Covariances (packed), means and log-determinants of the coefficients from their normal equations."""
    r = h.shape[1]
    h = h + Kmu
    if q > r:
        h -= picked(A, beside_once(A, interior, r, q)[1], 1)
    return invert(leading(A, K, r, q), h)


def _over_noise(C: Array, s2: Array, r: int) -> Array:
    """c_i / s2_i without the mean column, (m, r)."""
    return C[:, :r] / s2[:, None]


def _normal_equations(Y: Any, W: Any, b: slice, M: Array, Cs: Array, plain: bool) -> tuple[Array, Array]:
    """Packed Σ_i (w_ki/s2_i) E[c_i c_iᵀ] and Σ_i (w_ki/s2_i) y_ki c_i of the rows b."""
    W, Y = rows_at(W, b), rows_at(Y, b)
    if is_sparse(W):
        return times(W, M), times(Y if plain else weighted(W, Y), Cs)
    if not is_here(W):
        return W @ M, (Y if plain else W * Y) @ Cs
    return product(W, M), _right_sides(Y, W, slice(None), Cs, plain)


def _matrices_in_pieces(W: Array, post: Posterior, s2: Array) -> Array:
    """The first of ``_normal_equations``, with the second moments of some features at a time."""
    m, p = post.V.shape
    A = np.zeros((len(W), p))
    for f in blocks(m, p, PIECE):
        A += product(W[:, f], second_moment(Posterior(*(part[f] for part in post)), s2[f]))
    return A


def _right_sides(Y: Array, W: Array, b: slice, Cs: Array, plain: bool) -> Array:
    """The second of ``_normal_equations``, of NumPy."""
    Y, W = rows_at(Y, b), rows_at(W, b)
    if plain:
        return product(Y, Cs)
    h = np.empty((len(W), Cs.shape[1]))

    def fill(rows: slice) -> None:
        np.matmul(W[rows] * Y[rows], Cs, out=h[rows])

    each_piece(fill, len(W), W.size * (PASS + MULTIPLICATION * Cs.shape[1]))
    return h


def moments(coef: CoefficientPosterior, r: int) -> Array:
    """Packed E[x_k x_kᵀ] = x_k x_kᵀ + Σ_k, (n, p)."""
    return leading_moments(coef.X, coef.Sigma, r)


def add_statistics(total: Statistics, Y: Any, W: Any, coef: CoefficientPosterior, Z: Array) -> Statistics:
    """total += what these samples say about C, IN PLACE; Z = moments(coef). Cost 2 n m p."""
    if is_sparse(W):
        WY, (S, H, yy, N) = weighted(W, Y), total
        add_products(W, WY, S, Z, H, coef.X)
        wyy = weighted(WY, Y)
        yy += column_sums(wyy, lambda some: wyy.data[some])
        N += column_count(W)
        return total
    accumulate(total.S, W.T, Z)
    if not is_here(W):
        WY, (_, H, yy, N) = W * Y, total
        H += WY.T @ coef.X
        yy += column_products(WY, Y)
        N += column_count(W)
        return total
    loops = has_loops(*total.H.shape)
    weighted_columns(W, Y, slice(0, 0), loops)  # compiled before any thread has begun

    def add(features: slice) -> None:
        wy, square, count = weighted_columns(W, Y, features, loops)
        total.H[features] += wy.T @ coef.X
        total.yy[features] += square
        total.N[features] += count

    each_piece(add, W.shape[1], W.size * (PASS + MULTIPLICATION * coef.X.shape[1]))
    return total


def add_block(
    total: Statistics, Y: Any, W: Any, b: slice, coef: CoefficientPosterior, Z: Array, plain: bool = False
) -> Statistics:
    """``add_statistics`` of the rows b, whose coefficients are given. Of plain rows ``total`` has yy and N already."""
    if not plain:
        return add_statistics(total, rows_at(Y, b), rows_at(W, b), coef, Z)
    Y, W = rows_at(Y, b), rows_at(W, b)
    if is_sparse(W):
        add_products(W, Y, total.S, Z, total.H, coef.X)
    else:
        accumulate(total.S, W.T, Z)
        accumulate(total.H, Y.T, coef.X)
    return total


def statistics(Y: Any, W: Any, coef: CoefficientPosterior, r: int) -> Statistics:
    """What these samples say about C, as a value of its own."""
    total = no_statistics(Y.shape[1], coef.X.shape[1], coef.X)
    return add_statistics(total, Y, W, coef, moments(coef, r))


def posterior(stats: Statistics, prior: FactorPrior, s2: Array) -> Posterior:
    """q(c_i) for every feature from the sums. Cost m q³ flops, no temporary beyond the result."""
    return _posterior(stats, prior, s2, np.empty_like(stats.S) if is_here(stats.S) else None)


def posterior_over(stats: Statistics, prior: FactorPrior, s2: Array) -> Posterior:
    """The same in the memory of ``stats.S``, which nobody needs any more, where that is an array of NumPy."""
    return _posterior(stats, prior, s2, stats.S if is_here(stats.S) else None)


def _posterior(stats: Statistics, prior: FactorPrior, s2: Array, V: Array | None) -> Posterior:
    """``posterior``, its V in this memory; None: of another library, which makes its own."""
    P0, h = pack(prior.P0), prior.c0 @ prior.P0
    if V is None:
        S, H, yy, _ = stats
        H, yy = without_row_means(stats, prior) if prior.row_mean else (H, yy)
        precisions = divided_less(S, s2[:, None], -P0)
        h = h + _beyond_rounding(S, H, yy) / s2[:, None]
        return _inverted(precisions, h, prior)

    def fill(f: slice) -> None:
        S, H, yy, N = (part[f] for part in stats)
        if prior.row_mean:
            H, yy = without_row_means(Statistics(S, H, yy, N), prior._replace(c0=prior.c0[f]))
        h[f] += _beyond_rounding(S, H, yy) / s2[f, None]  # first: V may be S
        np.divide(S, s2[f, None], out=V[f])
        V[f] += P0

    each_piece(fill, len(s2), 2 * PASS * V.size)
    return _inverted(V, h, prior)


def _inverted(precisions: Array, h: Array, prior: FactorPrior) -> Posterior:
    """The posterior from its packed precisions and right-hand sides, both of which it may overwrite."""
    if prior.row_mean:
        hold(precisions, h, known_loading(prior.c0))
    V, C, logdet = invert(precisions, h)
    return Posterior(C, with_variance(V, h.shape[1], 0.0) if prior.row_mean else V, logdet)


def _beyond_rounding(S: Array, H: Array, yy: Array) -> Array:
    """H with zeros where a feature and a component have no correlation but that of rounding."""
    xp = namespace(H)
    squares = yy[:, None] * picked(S, layout_beside(S, H.shape[1]).diagonal, 1)
    return xp.where(xp.abs(H) < ROUNDING * xp.sqrt(at_least(squares, 0.0)), 0.0, H)


def absorb(
    stats: Statistics, data: Observations, post: Posterior, s2: Tall, prior: FactorPrior, place: Place = HERE
) -> tuple[Statistics, Posterior, CoefficientPosterior]:
    """One mini-batch of a stream: solve its coefficients, add its sums, refresh every c_i and V_i.

    One-pass use: with the coefficients known it is the per-feature Kalman filter in information form.
    """
    coef = coefficients(data, post, s2, prior, place=place)
    stats = place.each(_with_batch, stats, data.Y, data.W, coef, prior.mu.size)
    return stats, place.each(posterior, stats, prior, s2), coef


def _with_batch(stats: Statistics, Y: Any, W: Any, coef: CoefficientPosterior, r: int) -> Statistics:
    return merge(stats, statistics(Y, W, coef, r))
