"""What the posterior says about every entry: mean, variance, draws. Blocks of n x m, never n m m or n m r.

``predict``, ``predict_variance`` and ``expected_squares`` are plain functions of arrays that a place maps over the
features; the others take the place.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...arrays import at_least, empty_beside, is_here, namespace, to_host
from ...cores import MULTIPLICATION, PASS, TINY, Tile, each_of, each_tile, product, tiles
from ..linalg import is_sparse, rows_at, with_values
from ..place import HERE, Place, Tall
from .observed import Observations
from .packed import Array, Index, invert, layout, layout_beside, outer, pack, size, unpack
from .posterior import CoefficientPosterior, FactorPrior, Posterior, blocks, moments, room
from .row_mean import invertible, position
from .sparse_products import asked_by_loops, less_means, times


def predict(coef: CoefficientPosterior, post: Posterior) -> Array:
    """E[c_iᵀ x_k], (n, m)."""
    return product(coef.X, post.C.T)


def predict_variance(coef: CoefficientPosterior, post: Posterior, r: int) -> Array:
    """Var[c_iᵀ x_k] = x_kᵀ V_i x_k + c_iᵀ Σ_k c_i + tr(V_i Σ_k), (n, m). The noise s2_i is not in it.

    Two products over packed rows, in tiles of features and samples. Cost 4 n m p.
    """
    n, (m, q) = coef.X.shape[0], post.C.shape
    if not is_here(post.C):
        return _variance_elsewhere(coef, post, r)
    out = np.empty((n, m))
    for b in blocks(n, size(q)):
        Z = moments(CoefficientPosterior(coef.X[b], coef.Sigma[b], coef.logdet[b]), r)
        Z, Sigma, to = _times(Z, layout(q).weight), _times(coef.Sigma[b], layout(r).weight), out[b]

        def fill(tile: Tile, Z: Array = Z, Sigma: Array = Sigma, to: Array = to) -> None:
            features, rows = tile
            np.matmul(Z[rows], post.V[features].T, out=to[rows, features])
            to[rows, features] += Sigma[rows] @ _products(post.C[features, :r]).T

        each_of(fill, tiles(m, len(Z), 2 * MULTIPLICATION * size(q)))
    return out


def _variance_elsewhere(coef: CoefficientPosterior, post: Posterior, r: int) -> Array:
    """The same with arrays of another library, whose device divides the products itself."""
    n, (m, q) = coef.X.shape[0], post.C.shape
    weight, small = layout_beside(post.C, q).weight, layout_beside(post.C, r).weight
    out = empty_beside(post.C, n, m)
    for b in blocks(n, size(q)):
        Sigma = coef.Sigma[b, :]
        Z = moments(CoefficientPosterior(coef.X[b, :], Sigma, coef.logdet[b]), r)
        for f in blocks(m, 2 * size(q)):
            out[b, f] = Z @ (post.V[f, :] * weight).T
            out[b, f] += Sigma @ (outer(post.C[f, :r]) * small).T
    return out


def _times(packed: Array, weight: Array) -> Array:
    """Packed rows times the weights of their entries."""
    if packed.size < TINY:
        return packed * weight
    out = np.empty_like(packed)
    each_tile(lambda some: np.multiply(packed[some], weight[some[1]], out=out[some]), out.shape, PASS * out.size)
    return out


def _products(C: Array) -> Array:
    """``outer``, for threads: NumPy gathers by ``take`` without Python's lock."""
    i, j, *_ = layout(C.shape[1])
    out: Array = np.take(C, i, axis=1, mode="clip")
    out *= np.take(C, j, axis=1, mode="clip")
    return out


def predict_entries(
    coef: CoefficientPosterior, post: Posterior, rows: Index, columns: Index, r: int
) -> tuple[Array, Array]:
    """``predict`` and ``predict_variance`` of the entries (rows[j], columns[j]). Cost 2 p per entry."""
    q, small = post.C.shape[1], layout(r)
    Z, Sigma = moments(coef, r) * layout(q).weight, coef.Sigma * small.weight
    mean, variance = np.empty(rows.size), np.empty(rows.size)
    arguments = (rows, columns, coef.X, post.C, Z, post.V, Sigma, small.i, small.j, mean, variance)
    if asked_by_loops(rows.size, 2 * size(q), *arguments):
        return mean, variance
    for e in blocks(rows.size, 3 * size(q)):
        k, i = rows[e], columns[e]
        mean[e] = np.einsum("eq,eq->e", coef.X[k], post.C[i])
        variance[e] = np.einsum("ep,ep->e", Z[k], post.V[i])
        variance[e] += np.einsum("ep,ep->e", Sigma[k], outer(post.C[i, :r]))
    return mean, variance


def expected_squares(Y: Array, coef: CoefficientPosterior, M: Array, C: Array, Z: Array) -> Array:
    """E[(y_ki - c_iᵀ x_k)²] for every entry, (n, m). M (m, p), Z (n, p): second moments. Cost 2 n m p."""
    weight = layout_beside(C, C.shape[1]).weight
    mean = coef.X @ C.T
    out = (Z * weight) @ M.T
    out -= mean * mean
    out = np.maximum(out, 0.0, out=out) if is_here(out) else at_least(out, 0.0)
    mean -= Y
    mean *= mean
    out += mean
    return out


def log_density(data: Observations, post: Posterior, s2: Tall, prior: FactorPrior, place: Place = HERE) -> Array:
    """log p(y_k) over the observed entries, x_k integrated out, (n,).

    y_k ~ N(b + C mu, C K⁻¹ Cᵀ + diag(d)), d_i = s2_i + tr(V_i E[z zᵀ]), z = (x, 1): the noise and the expected
    uncertainty of c_i. Woodbury's identity, so that nothing is larger than q x q. Cost 2 n m p + n r³.
    """
    r, q = prior.mu.size, len(prior.P0)
    cov = np.linalg.inv(prior.K)
    zz = np.zeros((q, q))
    zz[:r, :r] = cov + np.outer(prior.mu, prior.mu)
    zz[r:, :r], zz[:r, r:], zz[r:, r:] = prior.mu, prior.mu[:, None], 1.0
    marginal = place.each(_marginal, post, s2, prior.mu, layout(q).weight * pack(zz))
    out, K, log_det = place.empty(data.n), pack(prior.K), float(np.linalg.slogdet(prior.K)[1])
    for b in blocks(data.n, size(q) + 2 * data.width, room(place)):
        out[b] = place.rows(_densities, *place.by_row(_density_sums, data.Y, data.W, b, *marginal), K, log_det)
    return out


def _densities(A: Array, h: Array, squares: Array, log_det: Array, K: Array, log_det_K: float) -> Array:
    """Log-densities of rows from their sums; K is the packed prior precision of the coefficients."""
    _, x, logdet = invert(A + K, h)
    squares = squares - namespace(h).sum(h * x, axis=1)
    return -0.5 * (squares + (log_det - logdet - log_det_K))


def _marginal(post: Posterior, s2: Array, mu: Array, zz: Array) -> tuple[Array, Array, Array, Array]:
    """Of every feature: d_i (m,), mean (m,), c_i / d_i (m, r), packed c_i c_iᵀ / d_i."""
    r = mu.shape[0]
    d = s2 + post.V @ zz
    C = post.C[:, :r]
    mean = C @ mu + namespace(C).sum(post.C[:, r:], axis=1)
    return d, mean, C / d[:, None], outer(C) / d[:, None]


def _density_sums(
    Y: Any, W: Any, b: slice, d: Array, mean: Array, scaled: Array, M: Array
) -> tuple[Array, Array, Array, Array]:
    """Of the rows b: CᵀD⁻¹C (packed), CᵀD⁻¹e, eᵀD⁻¹e and log det 2πD over the observed entries; e = y - mean."""
    xp = namespace(d)
    if is_sparse(W):
        seen = (W[b] > 0).astype(np.float64)
        e = less_means(rows_at(Y, b), mean)
        return (
            times(seen, M),
            times(e, scaled),
            with_values(e, e.data**2) @ (1.0 / d),
            seen @ np.log((2.0 * math.pi) * d),
        )
    seen = xp.astype(W[b, :] > 0, xp.float64)
    e = seen * Y[b, :] - seen * mean
    return seen @ M, e @ scaled, (e * e) @ (1.0 / d), seen @ xp.log((2.0 * math.pi) * d)


def _gaussian(mean: Array, packed: Array, n_draws: int, rng: np.random.Generator) -> Array:
    """(n_draws, B, q) draws of N(mean_b, A_b), packed covariances (B, p)."""
    B, q = mean.shape
    if q == 0:
        return np.zeros((n_draws, B, 0))
    factor = np.linalg.cholesky(unpack(packed, q))
    return np.asarray(mean + np.einsum("bij,dbj->dbi", factor, rng.standard_normal((n_draws, B, q))))


def draw_entries(
    rows: Index,
    columns: Index,
    coef: CoefficientPosterior,
    post: Posterior,
    s2: Tall,
    n_draws: int,
    rng: np.random.Generator,
    place: Place = HERE,
    row_mean: bool = False,
) -> Array:
    """Joint posterior draws of the entries (rows[j], columns[j]): (n_draws, number of entries).

    One draw is ONE dictionary and one coefficient vector per sample, plus noise: what multiple imputation
    needs, since entries of a sample, and of a feature, move together. Every V_i is factored once for all
    draws, in blocks of features; beyond the result and the draws of X (n_draws n q) the memory is bounded.
    Cost m q³ + n_draws (m q² + entries q).
    """
    # One stream of random numbers runs through the features in their order: they are drawn in this process.
    post = Posterior(*(place.get(part, 0) for part in post))
    coef = CoefficientPosterior(*(to_host(part) for part in coef))
    s2 = place.get(s2, 0)
    n, q = coef.X.shape
    r = _free(coef)
    X = np.ones((n_draws, n, q))
    for b in blocks(n, 3 * r * r + n_draws * r):
        X[:, b, :r] = _gaussian(coef.X[b, :r], coef.Sigma[b], n_draws, rng)
    order = np.argsort(columns, kind="stable")
    out = np.empty((n_draws, order.size))
    for f in blocks(post.C.shape[0], 2 * q * q + n_draws * q):
        C = _gaussian(post.C[f], invertible(post.V[f], q, row_mean), n_draws, rng)
        if row_mean:
            C[:, :, position(q)] = post.C[f, position(q)]
        for j in _between(columns[order], f, order):
            i = columns[j] - f.start
            for d in range(n_draws):
                out[d, j] = np.einsum("eq,eq->e", X[d, rows[j]], C[d, i])
    out += rng.standard_normal(out.shape) * np.sqrt(s2[columns])
    return out


def _between(ordered: Index, f: slice, order: Index) -> Iterator[Index]:
    """Indices of the entries whose column lies in f, in bounded pieces."""
    low, high = np.searchsorted(ordered, [f.start, f.stop])
    return (order[s : min(s + 2**16, high)] for s in range(int(low), int(high), 2**16))


def _free(coef: CoefficientPosterior) -> int:
    """r, from the length of a packed Σ_k."""
    return (math.isqrt(8 * coef.Sigma.shape[1] + 1) - 1) // 2
