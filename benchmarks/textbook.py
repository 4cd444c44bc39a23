"""The yardsticks: algorithms as a textbook prints them, in plain NumPy."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def filter_loop(Y: Array, C: Array, V: Array, lam: float) -> tuple[Array, Array]:
    """Algorithm 1 over the rows of Y: one normal equation, one rank-one update of C and V per sample."""
    C, V = C.copy(), V.copy()
    for y in Y:
        x = np.linalg.solve(C.T @ C, C.T @ y)
        Vx = V @ x
        g = Vx / (lam + x @ Vx)
        C += np.outer(y - C @ x, g)
        V -= np.outer(Vx, g)
    return C, V


def als_sweep(Y: Array, seen: Array, X: Array, C: Array, ridge: float) -> tuple[Array, Array]:
    """One sweep of alternating least squares: a ridge solve per row, then one per column."""
    X, C = X.copy(), C.copy()
    eye = ridge * np.eye(C.shape[1])
    for k in range(Y.shape[0]):
        D = C[seen[k]]
        X[k] = np.linalg.solve(D.T @ D + eye, D.T @ Y[k, seen[k]])
    for i in range(Y.shape[1]):
        D = X[seen[:, i]]
        C[i] = np.linalg.solve(D.T @ D + eye, D.T @ Y[seen[:, i], i])
    return X, C


class Linear(NamedTuple):
    """x_t = A x_{t−1} + N(0, Q), x_0 ~ N(0, P0), y_t = C x_t + mean + N(0, diag R)."""

    A: Array
    Q: Array
    P0: Array
    C: Array
    mean: Array
    R: Array


def em_sweep(Y: Array, p: Linear) -> Linear:
    """One EM sweep: Kalman filter with the innovations of the observed entries, RTS smoother, new parameters."""
    T, r = len(Y), len(p.A)
    seen = np.isfinite(Y)
    xf, Pf, xp, Pp = np.zeros((T, r)), np.zeros((T, r, r)), np.zeros((T, r)), np.zeros((T, r, r))
    for t in range(T):
        xp[t], Pp[t] = (np.zeros(r), p.P0) if t == 0 else (p.A @ xf[t - 1], p.A @ Pf[t - 1] @ p.A.T + p.Q)
        H = p.C[seen[t]]
        S = H @ Pp[t] @ H.T + np.diag(p.R[seen[t]])
        gain = np.linalg.solve(S, H @ Pp[t]).T
        xf[t] = xp[t] + gain @ ((Y[t] - p.mean)[seen[t]] - H @ xp[t])
        Pf[t] = Pp[t] - gain @ H @ Pp[t]
    xs, Ps, lag = xf.copy(), Pf.copy(), np.zeros((T, r, r))
    for t in range(T - 2, -1, -1):
        back = np.linalg.solve(Pp[t + 1], p.A @ Pf[t]).T
        xs[t] = xf[t] + back @ (xs[t + 1] - xp[t + 1])
        Ps[t] = Pf[t] + back @ (Ps[t + 1] - Pp[t + 1]) @ back.T
        lag[t + 1] = Ps[t + 1] @ back.T
    second = Ps + xs[:, :, None] * xs[:, None, :]
    S10 = (lag[1:] + xs[1:, :, None] * xs[:-1, None, :]).sum(axis=0)
    A = np.linalg.solve(second[:-1].sum(axis=0), S10.T).T
    Q = (second[1:].sum(axis=0) - A @ S10.T) / (T - 1)
    C, R = p.C.copy(), p.R.copy()
    for i in range(Y.shape[1]):
        o = seen[:, i]
        y = Y[o, i] - p.mean[i]
        C[i] = np.linalg.solve(second[o].sum(axis=0) + 1e-6 * np.eye(r), xs[o].T @ y)
        R[i] = max(float(np.mean(y * (y - xs[o] @ C[i]))), 1e-6)
    return Linear(A, (Q + Q.T) / 2, p.P0, C, p.mean, R)
