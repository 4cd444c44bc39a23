"""A naive twin of the fit with known errors: one sweep, entry by entry, and the bound as it is defined."""

from __future__ import annotations

import numpy as np


def sweep_by_hand(Y, seen, v, times, C, V, s2, P0, c0, steps):
    """X, s2, C in turn, with noise of variance s2_i + v_ki and row k counted times_k times.

    C (m, q), V (m, q, q), the last coefficient of every row 1 and the others N(0, I). ``steps`` of
    expectation-maximisation for s2, one variance for each feature. Returns (X, Sigma, s2, C, V, bound).
    """
    n, m = Y.shape
    q, r = C.shape[1], C.shape[1] - 1
    moment = np.array([np.outer(C[i], C[i]) + V[i] for i in range(m)])
    X, Sigma = np.ones((n, q)), np.zeros((n, r, r))
    for k in range(n):
        A, h = np.eye(r), np.zeros(r)
        for i in np.flatnonzero(seen[k]):
            precision = 1.0 / (s2[i] + v[k, i])
            A += precision * moment[i][:r, :r]
            h += precision * (Y[k, i] * C[i, :r] - moment[i][:r, r])
        Sigma[k] = np.linalg.inv(A)
        X[k, :r] = Sigma[k] @ h
    rows = [_second(X[k], Sigma[k]) for k in range(n)]
    new_s2 = s2.copy()
    for i in range(m):
        on = np.flatnonzero(seen[:, i])
        square = {k: _square(Y[k, i], C[i], V[i], X[k], rows[k]) for k in on}
        for _ in range(steps):
            total = 0.0
            for k in on:
                w = new_s2[i] / (new_s2[i] + v[k, i])
                total += times[k] * (w**2 * square[k] + new_s2[i] * (1.0 - w))
            new_s2[i] = total / times[on].sum()
    new_C, new_V = np.zeros_like(C), np.zeros_like(V)
    for i in range(m):
        A, h = P0.copy(), P0 @ c0[i]
        for k in np.flatnonzero(seen[:, i]):
            precision = times[k] / (new_s2[i] + v[k, i])
            A += precision * rows[k]
            h += precision * Y[k, i] * X[k]
        new_V[i] = np.linalg.inv(A)
        new_C[i] = new_V[i] @ h
    return X, Sigma, new_s2, new_C, new_V, _bound(Y, seen, v, times, X, Sigma, new_s2, new_C, new_V, P0, c0)


def _second(x, Sigma):
    out = np.outer(x, x)
    out[:-1, :-1] += Sigma
    return out


def _square(y, c, V, x, xx):
    return y**2 - 2.0 * y * (c @ x) + np.trace((np.outer(c, c) + V) @ xx)


def _bound(Y, seen, v, times, X, Sigma, s2, C, V, P0, c0):
    total = 0.0
    for k in range(len(Y)):
        row = 0.0
        for i in np.flatnonzero(seen[k]):
            variance = s2[i] + v[k, i]
            square = _square(Y[k, i], C[i], V[i], X[k], _second(X[k], Sigma[k]))
            row -= 0.5 * (np.log(2.0 * np.pi * variance) + square / variance)
        r = Sigma.shape[1]
        row -= 0.5 * (np.trace(Sigma[k]) + X[k, :r] @ X[k, :r] - r - np.linalg.slogdet(Sigma[k])[1])
        total += times[k] * row
    for i in range(len(C)):
        away = C[i] - c0[i]
        logs = np.linalg.slogdet(P0)[1] + np.linalg.slogdet(V[i])[1]
        total -= 0.5 * (np.trace(P0 @ V[i]) + away @ P0 @ away - len(away) - logs)
    return total
