"""What the posterior says about every entry: mean, variance, draws. Blocks of n x m, never n m m or n m r."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from .packed import Array, Index, layout, outer, size, unpack
from .posterior import Coefficients, Posterior, blocks, interior, moments


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
    X[:, :, :r] = _gaussian(coef.X[:, :r], coef.Sigma, n_draws, rng)
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


__all__ = ["draw_entries", "expected_squares", "predict", "predict_variance"]
