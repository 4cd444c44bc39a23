"""What the posterior says about every entry: mean, variance, draws. Blocks of n x m, never n m m or n m r."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..linalg import is_sparse
from .packed import Array, Index, invert, layout, outer, pack, size, unpack
from .posterior import Coefficients, Posterior, Prior, blocks, interior, moments


def predict(coef: Coefficients, post: Posterior) -> Array:
    """E[c_i^T x_k], (n, m)."""
    return np.asarray(coef.X @ post.C.T)


def predict_variance(coef: Coefficients, post: Posterior, r: int) -> Array:
    """Var[c_i^T x_k] = x^T V_i x + c_i^T Sigma c_i + tr(V_i Sigma), (n, m). The noise s2_i is not in it.

    Two products over packed rows, in blocks of samples and of features. Cost 4 n m p.
    """
    n, (m, q) = coef.X.shape[0], post.C.shape
    inside, _ = interior(r, q)
    weight, small = layout(q).weight, layout(r).weight
    out = np.empty((n, m))
    for b in blocks(n, size(q)):
        Z = moments(Coefficients(coef.X[b], coef.Sigma[b], coef.logdet[b]), r)
        for f in blocks(m, 2 * size(q)):
            out[b, f] = Z @ (post.V[f] * weight).T
            out[b, f] += coef.Sigma[b] @ (outer(post.C[f])[:, inside] * small).T
    return out


def expected_squares(Y: Array, coef: Coefficients, M: Array, C: Array, Z: Array) -> Array:
    """E[(y_ki - c_i^T x_k)^2] for every entry, (n, m). M (m, p), Z (n, p): second moments. Cost 2 n m p."""
    weight = layout(C.shape[1]).weight
    mean = coef.X @ C.T
    out = (Z * weight) @ M.T
    out -= mean * mean
    np.maximum(out, 0.0, out=out)
    mean -= Y
    mean *= mean
    out += mean
    return np.asarray(out)


def log_density(Y: Any, W: Any, post: Posterior, s2: Array, prior: Prior) -> Array:
    """log p(y_k) over the observed entries, x_k integrated out, (n,). Y, W as in ``coefficients``.

    y_k ~ N(b + C mu, C K^-1 C^T + diag(d)), d_i = s2_i + tr(V_i E[z z^T]), z = (x, 1): the noise and the expected
    doubt about c_i. Woodbury, so nothing is larger than q x q. Cost 2 n m p + n r^3.
    """
    r, q = prior.mu.size, post.C.shape[1]
    cov = np.linalg.inv(prior.K)
    zz = np.zeros((q, q))
    zz[:r, :r] = cov + np.outer(prior.mu, prior.mu)
    zz[r:, :r], zz[:r, r:], zz[r:, r:] = prior.mu, prior.mu[:, None], 1.0
    d = s2 + post.V @ (layout(q).weight * pack(zz))
    C = post.C[:, :r]
    mean = C @ prior.mu + post.C[:, r:].sum(axis=1)
    scaled, M = C / d[:, None], outer(C) / d[:, None]
    out = np.empty(Y.shape[0])
    for b in blocks(Y.shape[0], size(q) + 2 * Y.shape[1]):
        seen = (W[b] > 0).astype(np.float64)
        D = seen * Y[b] - seen * mean if not is_sparse(seen) else _centred(seen, Y[b], mean)
        A = seen @ M + pack(prior.K)
        h = D @ scaled
        _, x, logdet = invert(A, h)
        squares = (D * D) @ (1.0 / d) - np.einsum("nr,nr->n", h, x)
        log_det = seen @ np.log(2.0 * np.pi * d) - logdet - np.linalg.slogdet(prior.K)[1]
        out[b] = -0.5 * (squares + log_det)
    return out


def _centred(seen: Any, Y: Any, mean: Array) -> Any:
    """Sparse rows minus the mean at their stored entries."""
    D = Y.copy()
    D.data = Y.data - mean[Y.indices]
    return D


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
    coef: Coefficients,
    post: Posterior,
    s2: Array,
    n_draws: int,
    rng: np.random.Generator,
) -> Array:
    """Joint posterior draws of the entries (rows[j], columns[j]): (n_draws, number of entries).

    One draw is ONE dictionary and one coefficient vector per sample, plus noise: what multiple imputation
    needs, since entries of a sample, and of a feature, move together. Every V_i is factored once for all
    draws, in blocks of features; beyond the result and the draws of X (n_draws n q) the memory is bounded.
    Cost m q^3 + n_draws (m q^2 + entries q).
    """
    n, q = coef.X.shape
    r = _free(coef)
    X = np.ones((n_draws, n, q))
    for b in blocks(n, 3 * r * r + n_draws * r):
        X[:, b, :r] = _gaussian(coef.X[b, :r], coef.Sigma[b], n_draws, rng)
    order = np.argsort(columns, kind="stable")
    out = np.empty((n_draws, order.size))
    for f in blocks(post.C.shape[0], 2 * q * q + n_draws * q):
        C = _gaussian(post.C[f], post.V[f], n_draws, rng)
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


def _free(coef: Coefficients) -> int:
    """r, from the length of a packed Sigma."""
    return (math.isqrt(8 * coef.Sigma.shape[1] + 1) - 1) // 2


__all__ = ["draw_entries", "expected_squares", "log_density", "predict", "predict_variance"]
