"""Naive textbook twins, written from the paper and sharing no code with ``src``.

Here samples are columns and everything is written out as printed: slow, obvious, and the judge of the
fast paths. The twins of the variational fit are in ``reference_variational.py``, those of sequences in
``reference_sequences.py``.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

A = NDArray[np.float64]


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


def predictive(C, mu, V, xbar, T, noise, y, seen):
    """Mean and variance of every entry of one sample, and log p(y_seen), from the written-out joint Gaussian.

    Least-squares view for the prediction: x | y_seen ~ N(x̂, σ²(CᵀC)⁻¹) over the observed rows;
    for the density the coefficients have the prior N(xbar, T). V carries the mean last.
    """
    A = C[seen]
    x = np.linalg.lstsq(A, y[seen] - mu[seen], rcond=None)[0]
    Sx = noise * np.linalg.inv(A.T @ A)
    z = np.append(x, 1.0)
    r = len(x)
    mean = C @ x + mu
    var = np.array([noise + z @ V @ z + c @ Sx @ c + np.trace(V[:r, :r] @ Sx) for c in C])
    center = np.append(xbar, 1.0)
    s = noise + np.trace(V[:r, :r] @ T) + center @ V @ center
    joint = A @ T @ A.T + s * np.eye(len(A))
    d = y[seen] - mu[seen] - A @ xbar
    sign, logdet = np.linalg.slogdet(joint)
    assert sign > 0
    density = -0.5 * (len(d) * np.log(2 * np.pi) + logdet + d @ np.linalg.solve(joint, d))
    return mean, var, density


def filter_loop(Y, M, C, V, find, gain, with_mean, Q=0.0):
    """Any coefficient step with any gain, sample after sample, over the columns of Y where M is 1. Returns C, V, X.

    ``find(A, t, V)`` gives x from the observed rows A of the dictionary and t = y − mean there;
    ``gain(k, z, V)`` gives (g, V afterwards), with z = x or (x, 1) and k counting from 1. A mean is C's last column.
    The dictionary drifts before a sample arrives: both see V + Q.
    """
    C, V = C.astype(float).copy(), V.astype(float).copy()
    r = C.shape[1] - with_mean
    X = []
    for k, (y, mask) in enumerate(zip(Y.T, M.T, strict=True), start=1):
        seen = mask.astype(bool)
        V = V + Q
        t = y[seen] - C[seen, r] if with_mean else y[seen]
        x = find(C[seen, :r], t, V)
        z = np.append(x, 1.0) if with_mean else x
        g, V = gain(k, z, V)
        for i in np.flatnonzero(seen):
            C[i] = C[i] + (y[i] - C[i] @ z) * g
        X.append(x)
    return C, V, np.array(X).T


def least_squares_step(A, t, V):
    return np.linalg.lstsq(A, t, rcond=None)[0]


def map_step(noise):
    """x ~ N(0, I): the mode of the posterior, by stacking the prior under the data as r more equations."""

    def find(A, t, V):
        r = A.shape[1]
        rows, right = np.vstack([A, math.sqrt(noise) * np.eye(r)]), np.append(t, np.zeros(r))
        return np.linalg.lstsq(rows, right, rcond=None)[0]

    return find


def marginal_cost(x, A, t, V, noise):
    """−2 log p(y | x) up to a constant, the dictionary integrated out; a mean's coefficient 1 comes last."""
    z = np.append(x, 1.0) if len(V) > len(x) else x
    s = noise + z @ V @ z
    return len(t) * math.log(s) + float(np.sum((t - A @ x) ** 2)) / s


def marginal_step(noise, starts=8):
    """The maximiser of the marginal likelihood by numerical minimisation from many starts: it has several modes."""

    def find(A, t, V):
        r, with_mean = A.shape[1], len(V) > A.shape[1]

        def slope(x, *_):
            z = np.append(x, 1.0) if with_mean else x
            s, e = noise + z @ V @ z, t - A @ x
            return (len(t) / s - e @ e / s**2) * 2.0 * (V @ z)[:r] - 2.0 * A.T @ e / s

        best = np.linalg.lstsq(A, t, rcond=None)[0]
        cost = marginal_cost(best, A, t, V, noise)
        away = np.linalg.norm(best) * np.random.default_rng(0).standard_normal((starts, r))
        for first in (best, np.zeros(r), *away):
            found = minimize(marginal_cost, first, (A, t, V, noise), "BFGS", slope, options={"gtol": 1e-7})
            if found.fun < cost:
                best, cost = found.x, found.fun
        for _ in range(3):  # BFGS stops near half the digits: polish with a difference quotient of the slope
            h = 1e-6 * (1.0 + np.abs(best))
            hessian = np.array([(slope(best + d) - slope(best - d)) / (2 * d.max()) for d in np.diag(h)])
            best = best - np.linalg.solve((hessian + hessian.T) / 2, slope(best))
        return best

    return find


def kalman_step(lam):
    """Propositions 1 and 2."""

    def gain(k, z, V):
        g = V @ z / (lam + z @ V @ z)
        return g, V - np.outer(g, V @ z)

    return gain


def learning_filter(Y, M, C, V, lam, Q, with_mean, follow):
    """Least squares where the noise and the coefficients' prior are learned, every moment from all samples anew.

    Sample j has weight j + 1, the start (noise λ of one degree of freedom, x ~ N(0, I)) weight 1. A sample with
    fewer than 5 r observed entries gets the prior. ``follow``: λ is the learned noise (V0 was given in the data's
    units); otherwise λ stays and V is carried relative to it. Returns C, V in the data's units, noise, x̄, T.
    """
    C, V = C.astype(float).copy(), V.astype(float).copy()
    r = C.shape[1] - with_mean
    first = lam
    weights, squares, free, xs, spreads = [1.0], [first], [1.0], [np.zeros(r)], [np.eye(r)]

    def moments():
        W = np.array(weights)
        noise = W @ squares / (W @ free)
        xbar = W @ np.array(xs) / W.sum() if with_mean else np.zeros(r)
        second = sum(w * (np.outer(x, x) + S) for w, x, S in zip(W, xs, spreads, strict=True)) / W.sum()
        return noise, xbar, second - np.outer(xbar, xbar)

    for k, (y, mask) in enumerate(zip(Y.T, M.T, strict=True), start=1):
        seen = mask.astype(bool)
        noise, xbar, T = moments()
        lam = noise if follow else first
        V = V + Q * lam / noise
        A, n = C[seen, :r], int(seen.sum())
        t = y[seen] - C[seen, r] if with_mean else y[seen]
        spread, fitted = np.zeros((r, r)), r
        if n >= 5 * r:
            x = np.linalg.lstsq(A, t, rcond=None)[0]
        else:
            spread = np.linalg.inv(A.T @ A / noise + np.linalg.inv(T))
            x = xbar + spread @ A.T @ (t - A @ xbar) / noise
            fitted = np.trace(A @ spread @ A.T) / noise
        z = np.append(x, 1.0) if with_mean else x
        e = np.zeros(len(y))
        e[seen] = y[seen] - C[seen] @ z
        doubt = z @ V @ z
        C = C + np.outer(e, V @ z) / (lam + doubt)
        V = V - np.outer(V @ z, V @ z) / (lam + doubt)
        weights.append(k + 1.0)
        squares.append(e @ e / (1.0 + doubt / lam))
        free.append(n - fitted)
        xs.append(x)
        spreads.append(spread)
    noise, xbar, T = moments()
    return C, V * (1.0 if follow else noise / first), noise, xbar, T


def gap_round(C, before, z, gains, group, seen, weight, after, by_missing):
    """One round of rows with gaps, feature by feature: the row ``before`` moves C, then sums for the row ``after``.

    Returns C, ``seen``, Σ c cᵀ of the chosen features, Σ c y, Σ y², and by group Σ e², Σ c e, how many are observed,
    and Σ e² and Σ c e of the chosen features alone.
    """
    m, q = C.shape
    K, C, seen = len(gains), C.copy(), seen.copy()
    square, b, yy = np.zeros((q, q)), np.zeros(q), 0.0
    errors, pulls, heard = np.zeros(K), np.zeros((K, q)), np.zeros(K)
    chosen_errors, chosen_pulls = np.zeros(K), np.zeros((K, q))
    for i in range(m):
        k = group[i] if K > 1 else 0
        chosen = np.isnan(after[i]) == by_missing
        if not np.isnan(before[i]):
            e = before[i] - C[i] @ z
            errors[k] += e * e
            pulls[k] += e * C[i]
            chosen_errors[k] += chosen * e * e
            chosen_pulls[k] += chosen * e * C[i]
            C[i] = C[i] + e * gains[k]
            seen[i] += weight
        if not np.isnan(after[i]):
            b += after[i] * C[i]
            yy += after[i] ** 2
            heard[k] += 1
        if chosen:
            square += np.outer(C[i], C[i])
    return C, seen, square, b, yy, errors, pulls, heard, chosen_errors, chosen_pulls
