"""Naive textbook twins of the variational fit, written from its formulas and sharing no code with ``src``.

One posterior per feature. Samples are rows of Y (n, m), ``w`` and ``seen`` are (n, m), and every loop is written out.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

A = NDArray[np.float64]


def feature_kalman(y: A, X: A, c: A, V: A, s2: A) -> tuple[A, A]:
    """Kalman filter for ONE feature, sample after sample: y (T,) observed values, X (T, q) known coefficients.

    c ~ N(c, V), y_k = c^T x_k + e_k, e_k ~ N(0, s2_k): gain V x/(s2 + x^T V x), covariance form.
    """
    c, V = c.copy(), V.copy()
    for k in range(len(y)):
        x = X[k]
        innovation = s2[k] + x @ V @ x
        gain = V @ x / innovation
        c = c + gain * (y[k] - x @ c)
        V = V - np.outer(gain, V @ x)
    return c, V


def naive_sweep(
    Y: A, w: A, C: list[A], V: list[A], s2: A, c0: A, P0: A, r: int, kappa: float, a0: float, own: bool, floor: A
) -> tuple[list[A], list[A], A, A, A, list[A], float]:
    """One sweep of variational Bayes for y_ki ~ N(c_i^T [x_k, 1], s2_i / w_ki), x ~ N(0, I), c_i ~ N(c0_i, P0^-1).

    Order: q(x), P0, s2, q(c). Returns (C, V, s2, P0, X, Sigmas, bound). Bound for weights in {0, 1}.
    """
    n, m = Y.shape
    q = r + 1
    X, Sigmas = np.ones((n, q)), []
    for k in range(n):
        precision, h = np.eye(r), np.zeros(r)
        for i in range(m):
            if w[k, i] == 0:
                continue
            E = np.outer(C[i], C[i]) + V[i]
            precision = precision + w[k, i] * E[:r, :r] / s2[i]
            h = h + w[k, i] * (Y[k, i] * C[i][:r] - E[:r, r]) / s2[i]
        Sigma = np.zeros((q, q))
        Sigma[:r, :r] = np.linalg.inv(precision)
        X[k, :r] = Sigma[:r, :r] @ h
        Sigmas.append(Sigma)
    moment = np.zeros((r, r))
    for i in range(m):
        d = (C[i] - c0[i])[:r]
        moment += np.outer(d, d) + V[i][:r, :r]
    P0 = P0.copy()
    P0[:r, :r] = np.linalg.inv((moment + kappa * a0 * np.eye(r)) / (m + kappa))
    squares, counts = np.zeros(m), np.zeros(m)
    for i in range(m):
        for k in range(n):
            if w[k, i] > 0:
                squares[i] += w[k, i] * entry_square(Y[k, i], C[i], V[i], X[k], Sigmas[k])
                counts[i] += 1
    pooled = max(squares.sum() / counts.sum(), floor.max())
    s2 = np.maximum(squares / counts, floor) if own else np.full(m, pooled)
    C_new, V_new = [], []
    for i in range(m):
        precision, h = P0.copy(), P0 @ c0[i]
        for k in range(n):
            if w[k, i] > 0:
                precision = precision + w[k, i] * (np.outer(X[k], X[k]) + Sigmas[k]) / s2[i]
                h = h + w[k, i] * Y[k, i] * X[k] / s2[i]
        V_new.append(np.linalg.inv(precision))
        C_new.append(V_new[i] @ h)
    value = naive_bound(Y, w, C_new, V_new, s2, c0, P0, X, Sigmas, r)
    P = P0[:r, :r]
    value += 0.5 * kappa * (math.log(np.linalg.det(P)) - a0 * np.trace(P) + r * (math.log(a0) + 1))
    return C_new, V_new, s2, P0, X, Sigmas, value


def entry_square(y: float, c: A, V: A, x: A, Sigma: A) -> float:
    """E[(y - c^T x)^2] with independent c ~ N(c, V), x ~ N(x, Sigma)."""
    return float((y - c @ x) ** 2 + x @ V @ x + c @ Sigma @ c + np.trace(V @ Sigma))


def _kl(mean: A, cov: A, mean0: A, precision0: A) -> float:
    """KL(N(mean, cov) || N(mean0, precision0^-1))."""
    d = mean - mean0
    trace = np.trace(precision0 @ cov) + d @ precision0 @ d - len(d)
    return float(0.5 * (trace - math.log(np.linalg.det(precision0)) - math.log(np.linalg.det(cov))))


def naive_bound(Y: A, w: A, C: list[A], V: list[A], s2: A, c0: A, P0: A, X: A, Sigmas: list[A], r: int) -> float:
    """E log p(Y | C, X) - KL(x) - KL(c), entry by entry."""
    n, m = Y.shape
    total = 0.0
    for k in range(n):
        for i in range(m):
            if w[k, i] > 0:
                square = entry_square(Y[k, i], C[i], V[i], X[k], Sigmas[k])
                total -= 0.5 * (math.log(2 * math.pi * s2[i]) + w[k, i] * square / s2[i])
        total -= _kl(X[k, :r], Sigmas[k][:r, :r], np.zeros(r), np.eye(r))
    for i in range(m):
        total -= _kl(C[i], V[i], c0[i], P0)
    return total


def naive_row_mean_sweep(
    Y: A, w: A, C: list[A], V: list[A], s2: A, loading: float, r: int, kappa: float, a0: float, floor: float
) -> tuple[list[A], list[A], A, float, A, float, float]:
    """One sweep for y_ki ~ N(c_i^T [x_k, 1] + loading u_k, s2 / w_ki): c_i of r components and a mean, u_k ~ N(0, 1).

    The means have the prior N(a, v), and v one worth a feature of variance 1.
    C and V are about the r + 1 unknown loadings only: the row's mean is a variable of its own here. Order: q(x, u), the
    priors of C, s2, q(c), ``loading``. Returns (C, V, s2, loading, P0, a, bound).
    """
    n, m = Y.shape
    X, U, Sigmas = np.ones((n, r + 1)), np.zeros(n), []
    for k in range(n):
        precision, h = np.eye(r + 1), np.zeros(r + 1)  # of (x_k, u_k)
        for i in range(m):
            if w[k, i] == 0:
                continue
            E = np.outer(C[i], C[i]) + V[i]
            joint = np.zeros((r + 1, r + 1))
            joint[:r, :r], joint[r, r] = E[:r, :r], loading**2
            joint[:r, r] = joint[r, :r] = loading * C[i][:r]
            precision = precision + w[k, i] * joint / s2[i]
            h[:r] += w[k, i] * (Y[k, i] * C[i][:r] - E[:r, r]) / s2[i]
            h[r] += w[k, i] * loading * (Y[k, i] - C[i][r]) / s2[i]
        Sigma = np.linalg.inv(precision)
        found = Sigma @ h
        X[k, :r], U[k] = found[:r], found[r]
        Sigmas.append(Sigma)
    a = float(np.mean([c[r] for c in C]))
    moment = sum(np.outer(c[:r], c[:r]) + v[:r, :r] for c, v in zip(C, V, strict=True))
    P = np.linalg.inv((moment + kappa * a0 * np.eye(r)) / (m + kappa))
    v_mean = (sum((c[r] - a) ** 2 + v[r, r] for c, v in zip(C, V, strict=True)) + 1.0) / (m + 1.0)
    P0 = np.zeros((r + 1, r + 1))
    P0[:r, :r], P0[r, r] = P, 1.0 / v_mean
    c0 = np.append(np.zeros(r), a)

    def square(k: int, i: int, c: A, V: A) -> float:
        cov = np.zeros((r + 1, r + 1))
        cov[:r, :r] = Sigmas[k][:r, :r]
        cross = float(c[:r] @ Sigmas[k][:r, r])
        rest = entry_square(Y[k, i] - loading * U[k], c, V, X[k], cov)
        return rest + 2 * loading * cross + loading**2 * float(Sigmas[k][r, r])

    count = float((w > 0).sum())
    total = sum(w[k, i] * square(k, i, C[i], V[i]) for k in range(n) for i in range(m) if w[k, i] > 0)
    s2 = np.full(m, max(total / count, floor))
    C_new, V_new = [], []
    for i in range(m):
        precision, h = P0.copy(), P0 @ c0
        for k in range(n):
            if w[k, i] > 0:
                cov, cross = np.zeros((r + 1, r + 1)), np.zeros(r + 1)
                cov[:r, :r], cross[:r] = Sigmas[k][:r, :r], Sigmas[k][:r, r]
                precision = precision + w[k, i] * (np.outer(X[k], X[k]) + cov) / s2[i]
                h = h + w[k, i] * (Y[k, i] * X[k] - loading * (U[k] * X[k] + cross)) / s2[i]
        V_new.append(np.linalg.inv(precision))
        C_new.append(V_new[i] @ h)
    variance = float(np.mean([U[k] ** 2 + Sigmas[k][r, r] for k in range(n)]))
    prior_x = np.diag(np.append(np.ones(r), 1.0 / variance))
    value = 0.5 * kappa * (math.log(np.linalg.det(P)) - a0 * np.trace(P) + r * (math.log(a0) + 1))
    value += 0.5 * (math.log(P0[r, r]) - P0[r, r] + 1)
    for k in range(n):
        value -= _kl(np.append(X[k, :r], U[k]), Sigmas[k], np.zeros(r + 1), prior_x)
        for i in range(m):
            if w[k, i] > 0:
                value -= 0.5 * (math.log(2 * math.pi * s2[i]) + w[k, i] * square(k, i, C_new[i], V_new[i]) / s2[i])
    for i in range(m):
        value -= _kl(C_new[i], V_new[i], c0, P0)
    return C_new, V_new, s2, loading * math.sqrt(variance), P0, a, value


def als_sweep(Y: A, seen: NDArray[np.bool_], X: A, C: A, ridge: float) -> tuple[A, A]:
    """One plain batch ALS sweep: a ridge solve per row, then one per column. The yardstick for speed."""
    r = C.shape[1]
    X, C = X.copy(), C.copy()
    for k in range(Y.shape[0]):
        D = C[seen[k]]
        X[k] = np.linalg.solve(D.T @ D + ridge * np.eye(r), D.T @ Y[k, seen[k]])
    for i in range(Y.shape[1]):
        D = X[seen[:, i]]
        C[i] = np.linalg.solve(D.T @ D + ridge * np.eye(r), D.T @ Y[seen[:, i], i])
    return X, C
