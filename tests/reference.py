"""Naive textbook twins, written from the paper and sharing no code with ``src``.

Here samples are columns and everything is written out as printed: slow, obvious, and the judge of the
fast paths.
"""

from __future__ import annotations

import numpy as np


def mf_rlf(Y, C, V, lam, Q=None):
    """Algorithm 1 over the columns of Y, in order; with Q the Kalman variant. Returns C, V, X."""
    C, V = C.astype(float).copy(), V.astype(float).copy()
    X = []
    for y in Y.T:
        if Q is not None:
            V = V + Q
        x = np.linalg.solve(C.T @ C, C.T @ y)
        s = lam + x @ V @ x
        C = C + np.outer(y - C @ x, x @ V) / s
        V = V - np.outer(V @ x, x @ V) / s
        X.append(x)
    return C, V, np.array(X).T


def mf_rlf_masked(Y, M, C, V, lam, Q=None):
    """The same with masks (M = 1 where observed), as in the paper's experiment section."""
    C, V = C.astype(float).copy(), V.astype(float).copy()
    r = C.shape[1]
    for y, mask in zip(Y.T, M.T, strict=True):
        if Q is not None:
            V = V + Q
        MC = np.repeat(mask[:, None], r, axis=1) * C
        x = np.linalg.solve(MC.T @ MC, MC.T @ (mask * y))
        s = lam + x @ V @ x
        C = C + np.outer(mask * (y - C @ x), x @ V) / s
        V = V - np.outer(V @ x, x @ V) / s
    return C, V


def mf_rlf_with_mean(Y, M, C, V, lam):
    """Algorithm 1 where the last column of C is a mean: its coefficient is 1, the others are solved for."""
    C, V = C.astype(float).copy(), V.astype(float).copy()
    for y, mask in zip(Y.T, M.T, strict=True):
        seen = mask.astype(bool)
        A, mu = C[seen, :-1], C[seen, -1]
        x = np.append(np.linalg.lstsq(A, y[seen] - mu, rcond=None)[0], 1.0)
        s = lam + x @ V @ x
        e = np.zeros(len(y))
        e[seen] = y[seen] - C[seen] @ x
        C = C + np.outer(e, V @ x) / s
        V = V - np.outer(V @ x, V @ x) / s
    return C, V


def sgd(Y, C, step):
    """C ← C + γ e xᵀ with γ = step(k, xᵀx)."""
    C = C.astype(float).copy()
    for k, y in enumerate(Y.T, start=1):
        x = np.linalg.solve(C.T @ C, C.T @ y)
        C = C + step(k, x @ x) * np.outer(y - C @ x, x)
    return C


def broyden(Y, C, lam):
    """Broyden's rule, V = I."""
    C = C.astype(float).copy()
    for y in Y.T:
        x = np.linalg.solve(C.T @ C, C.T @ y)
        C = C + np.outer(y - C @ x, x) / (lam + x @ x)
    return C


def kronecker_kalman(Y, X, C, V, lam, Q=None):
    """The mr × mr Kalman filter on c = vec(C), Kronecker matrices written out, for given coefficients.

    vec stacks columns, so c = C.reshape(-1, order="F").
    """
    m, r = C.shape
    c = C.reshape(-1, order="F")
    P = np.kron(V, np.eye(m))
    R = lam * np.eye(m)
    for y, x in zip(Y.T, X.T, strict=True):
        if Q is not None:
            P = P + np.kron(Q, np.eye(m))
        H = np.kron(x[None, :], np.eye(m))
        K = P @ H.T @ np.linalg.inv(H @ P @ H.T + R)
        c = c + K @ (y - H @ c)
        P = P - K @ H @ P
    return c.reshape((m, r), order="F"), P


def predictive(C, mu, V, T, noise, y, seen):
    """Mean and variance of every entry of one sample, and log p(y_seen), from the written-out joint Gaussian.

    Least-squares view for the prediction: x | y_seen ~ N(x̂, σ²(CᵀC)⁻¹) over the observed rows;
    for the density the coefficients have the prior N(0, T). V carries the mean last.
    """
    A = C[seen]
    x = np.linalg.lstsq(A, y[seen] - mu[seen], rcond=None)[0]
    Sx = noise * np.linalg.inv(A.T @ A)
    z = np.append(x, 1.0)
    r = len(x)
    mean = C @ x + mu
    var = np.array([noise + z @ V @ z + c @ Sx @ c + np.trace(V[:r, :r] @ Sx) for c in C])
    s = noise + np.trace(V[:r, :r] @ T) + V[r, r]
    joint = A @ T @ A.T + s * np.eye(len(A))
    d = y[seen] - mu[seen]
    sign, logdet = np.linalg.slogdet(joint)
    assert sign > 0
    density = -0.5 * (len(d) * np.log(2 * np.pi) + logdet + d @ np.linalg.solve(joint, d))
    return mean, var, density
