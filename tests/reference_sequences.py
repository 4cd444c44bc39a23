"""Naive textbook twins of the sequence model; rows are time steps. They share no code with ``src``."""

from __future__ import annotations

import numpy as np


def joint_gaussian(A, Q, P0, C, R, mean, Y):
    """Posterior of x_1..x_T from the written-out joint Gaussian of (x_1..x_T, observed y).

    Returns means (T, r), the full covariance (T, r, T, r) and log p(observed y).
    """
    T = len(Y)
    r = A.shape[0]
    K = np.zeros((T * r, T * r))
    marginal = [P0]
    for _ in range(T - 1):
        marginal.append(A @ marginal[-1] @ A.T + Q)
    for t in range(T):
        block = marginal[t]
        for u in range(t, T):
            K[u * r : (u + 1) * r, t * r : (t + 1) * r] = block
            K[t * r : (t + 1) * r, u * r : (u + 1) * r] = block.T
            block = A @ block
    H = np.kron(np.eye(T), C)
    keep = np.isfinite(Y).ravel()
    H = H[keep]
    S = H @ K @ H.T + np.diag(np.tile(R, T)[keep])
    e = (Y - mean).ravel()[keep]
    G = K @ H.T @ np.linalg.inv(S)
    cov = K - G @ H @ K
    logp = -0.5 * (len(e) * np.log(2 * np.pi) + np.linalg.slogdet(S)[1] + e @ np.linalg.solve(S, e))
    return (G @ e).reshape(T, r), cov.reshape(T, r, T, r), logp


def kalman_rts(A, Q, P0, C, R, mean, Y):
    """Textbook filter (innovation covariance of the observed entries inverted at every step) and RTS smoother."""
    T = len(Y)
    r = A.shape[0]
    xf, Pf, xp, Pp = np.zeros((T, r)), np.zeros((T, r, r)), np.zeros((T, r)), np.zeros((T, r, r))
    logp = np.zeros(T)
    for t in range(T):
        xp[t], Pp[t] = (np.zeros(r), P0) if t == 0 else (A @ xf[t - 1], A @ Pf[t - 1] @ A.T + Q)
        o = np.isfinite(Y[t])
        H = C[o]
        S = H @ Pp[t] @ H.T + np.diag(R[o])
        Si = np.linalg.inv(S)
        e = (Y[t] - mean)[o] - H @ xp[t]
        G = Pp[t] @ H.T @ Si
        xf[t] = xp[t] + G @ e
        Pf[t] = Pp[t] - G @ H @ Pp[t]
        logp[t] = -0.5 * (len(e) * np.log(2 * np.pi) + np.linalg.slogdet(S)[1] + e @ Si @ e)
    xs, Ps, lag = xf.copy(), Pf.copy(), np.zeros((T - 1, r, r))
    for t in range(T - 2, -1, -1):
        G = Pf[t] @ A.T @ np.linalg.inv(Pp[t + 1])
        xs[t] = xf[t] + G @ (xs[t + 1] - xp[t + 1])
        Ps[t] = Pf[t] + G @ (Ps[t + 1] - Pp[t + 1]) @ G.T
        lag[t] = G @ Ps[t + 1]
    return xf, Pf, xs, Ps, lag, logp


def following_rts(A, Q, P0, C, R, mean, V, drift, Y):
    """States smoothed while C (m, r) with covariances V (m, r, r) follows the rows, all in plain loops.

    Forward, in every row: the states with C and V as the rows before left them, then every loading with the states.
    Backward: the textbook recursion over the states. Every entry is read with its row's own C and V.
    Returns states (T, r), and mean and variance (T, m) of every noise-free entry.
    """
    T, m = Y.shape
    r = A.shape[0]
    C, V = C.copy(), V.copy()
    xf, Pf, xp, Pp, Cs, Vs = [], [], [], [], [], []
    for t in range(T):
        x, P = (np.zeros(r), P0) if t == 0 else (A @ xf[-1], A @ Pf[-1] @ A.T + Q)
        xp.append(x)
        Pp.append(P)
        precision, h = np.linalg.inv(P), np.linalg.inv(P) @ x
        for i in range(m):
            if np.isfinite(Y[t, i]):
                precision = precision + (np.outer(C[i], C[i]) + V[i]) / R[i]
                h = h + C[i] * (Y[t, i] - mean[i]) / R[i]
        P = np.linalg.inv(precision)
        x = P @ h
        xf.append(x)
        Pf.append(P)
        for i in range(m):
            V[i] = V[i] + drift * np.eye(r)
            if np.isfinite(Y[t, i]):
                gain = V[i] @ x / (x @ V[i] @ x + C[i] @ P @ C[i] + R[i])
                C[i] = C[i] + gain * (Y[t, i] - mean[i] - C[i] @ x)
                V[i] = V[i] - np.outer(gain, V[i] @ x)
        Cs.append(C.copy())
        Vs.append(V.copy())
    xs, Ps = list(xf), list(Pf)
    for t in range(T - 2, -1, -1):
        G = Pf[t] @ A.T @ np.linalg.inv(Pp[t + 1])
        xs[t] = xf[t] + G @ (xs[t + 1] - xp[t + 1])
        Ps[t] = Pf[t] + G @ (Ps[t + 1] - Pp[t + 1]) @ G.T
    signal, var = np.zeros((T, m)), np.zeros((T, m))
    for t in range(T):
        for i in range(m):
            c = Cs[t][i]
            signal[t, i] = mean[i] + c @ xs[t]
            var[t, i] = c @ Ps[t] @ c + np.trace(Vs[t][i] @ (np.outer(xs[t], xs[t]) + Ps[t]))
    return np.array(xs), signal, var


def em_sums(x, P, lag, Y):
    """E-step sums by plain loops: S11, S10, S00, and per feature sum over observed of E xx', y x, y^2."""
    T, m = Y.shape
    r = x.shape[1]
    S11, S10, S00 = np.zeros((r, r)), np.zeros((r, r)), np.zeros((r, r))
    G, g, h = np.zeros((m, r, r)), np.zeros((m, r)), np.zeros(m)
    for t in range(T):
        second = P[t] + np.outer(x[t], x[t])
        if t > 0:
            S11 += second
            S10 += lag[t - 1].T + np.outer(x[t], x[t - 1])
        if t < T - 1:
            S00 += second
        for i in range(m):
            if np.isfinite(Y[t, i]):
                G[i] += second
                g[i] += Y[t, i] * x[t]
                h[i] += Y[t, i] ** 2
    return S11, S10, S00, G, g, h


def simulate(rng, A, Q, P0, C, R, mean, phi, q, p0, T, nu=np.inf):
    """Draw (states, own levels, Y) from the model."""
    m, r = C.shape
    x = np.linalg.cholesky(P0) @ rng.normal(size=r)
    own = rng.normal(size=m) * np.sqrt(p0)
    xs, ls, Y = [], [], []
    for t in range(T):
        if t:
            x = A @ x + np.linalg.cholesky(Q) @ rng.normal(size=r)
            own = phi * own + rng.normal(size=m) * np.sqrt(q)
        noise = rng.normal(size=m) if np.isinf(nu) else rng.standard_t(nu, size=m)
        xs.append(x)
        ls.append(own)
        Y.append(C @ x + own + mean + np.sqrt(R) * noise)
    return np.array(xs), np.array(ls), np.array(Y)


FREE = 1e12
"""Variance of a level that may begin anywhere."""


def line_joint(y, X, R, q, qb, slope, spread, v, steps=0):
    """Level, slope and coefficients of one feature from the Gaussian of all of them and the observed y, written out.

    y_t = l_t + x_tᵀβ + N(0, R), l_t = l_{t-1} + b_{t-1} + N(0, q), b_t = b_{t-1} + N(0, qb), l_1 ~ N(0, FREE),
    b_1 ~ N(slope, spread), β_j ~ N(0, v_j). Everything is a linear map of (l_1, b_1, all steps, β), which are
    independent. Returns the mean and covariance of (l_1..l_T, b_1..b_T, β) given the observed y, for T rows of y and
    `steps` more.
    """
    T, p = len(y) + steps, len(v)
    names = 2 + 2 * (T - 1) + p
    prior = np.array([FREE, spread] + [q] * (T - 1) + [qb] * (T - 1) + list(v))
    mean = np.zeros(names)
    mean[1] = slope
    L, B = np.zeros((T, names)), np.zeros((T, names))
    L[0, 0], B[0, 1] = 1.0, 1.0
    for t in range(1, T):
        L[t], B[t] = L[t - 1] + B[t - 1], B[t - 1]
        L[t, 1 + t] += 1.0
        B[t, T + t] += 1.0
    beta = np.hstack([np.zeros((p, names - p)), np.eye(p)])
    every = np.vstack([L, B, beta])
    seen = np.flatnonzero(np.isfinite(y))
    H = L[seen] + X[seen] @ beta
    moves = prior > 0  # precisions, so that a free level costs no digits
    H, rest = H[:, moves], y[seen] - H @ mean
    cov = np.linalg.inv(np.diag(1.0 / prior[moves]) + H.T @ H / R)
    mean[moves] += cov @ H.T @ rest / R
    return every @ mean, every[:, moves] @ cov @ every[:, moves].T


def widths(size, seen, held, claim, memory, drawn):
    """Factors on widths after rows of error sizes (T, m), one plain number at a time."""
    from statistics import NormalDist

    z = NormalDist().inv_cdf((1 + held) / 2)
    gain = 1 / (2 * z * NormalDist().pdf(z))
    m = size.shape[1]
    common, rows, own, values = 0.0, 0, [0.0] * m, [0] * m
    for errors, here in zip(size, seen, strict=True):
        out = [i for i in range(m) if here[i] and errors[i] > z * np.exp(common + own[i])]
        n = sum(bool(one) for one in here)
        if n == 0:
            continue
        for i in range(m):
            if here[i]:
                own[i] += gain / (min(values[i], memory) + claim) * ((i in out) - len(out) / n - drawn * own[i])
                values[i] += 1
        common += gain / (min(rows, memory) + claim) * (len(out) / n - (1 - held))
        rows += 1
    return np.array([np.exp(common + own[i]) for i in range(m)])


def stream_score(A, Q, P0, C, R, mean, Y, memory):
    """The forgotten log-density of the rows, and of entries hidden in runs of 10 every 50, counted five times.

    Two textbook filters, one of the data and one of the data without the hidden entries; rows are counted from 1.
    """
    m = Y.shape[1]
    score = 0.0
    beliefs = [(np.zeros(len(A)), P0)] * 2
    for t, y in enumerate(Y, 1):
        hidden = [(t + 17 * i) % 50 < 10 for i in range(m)]
        kept = [np.isfinite(y), np.isfinite(y) & ~np.array(hidden)]
        for k, o in enumerate(kept):
            x, P = beliefs[k]
            if t > 1:
                x, P = A @ x, A @ P @ A.T + Q
            S = C[o] @ P @ C[o].T + np.diag(R[o])
            e = (y - mean)[o] - C[o] @ x
            G = P @ C[o].T @ np.linalg.inv(S)
            if k == 0:
                logp = -0.5 * (len(e) * np.log(2 * np.pi) + np.linalg.slogdet(S)[1] + e @ np.linalg.solve(S, e))
            beliefs[k] = (x + G @ e, P - G @ C[o] @ P)
        x, P = beliefs[1]
        filled = 0.0
        for i in range(m):
            if hidden[i] and np.isfinite(y[i]):
                v = C[i] @ P @ C[i] + R[i]
                filled -= 0.5 * (np.log(v) + (y[i] - mean[i] - C[i] @ x) ** 2 / v)
        score = (1 - 1 / min(max(t / 2, 1), memory)) * score + logp + 5 * filled
    return score


def principal_factors(S, communality, r, sweeps):
    """Iterated principal factors, with a decomposition of the whole matrix in every sweep."""
    full = np.diag(S).copy()
    for _ in range(sweeps):
        K = S.copy()
        for i in range(len(S)):
            K[i, i] = communality[i]
        w, U = np.linalg.eigh(K)
        best = np.argsort(-w)[:r]
        C = np.array([np.sqrt(max(w[j], 0.0)) * U[:, j] for j in best]).T
        communality = np.minimum((C * C).sum(1), full)
    return C


def scaled_covariance(Y):
    """The covariance about zero of rows with gaps; sums are divided by the pairs that gaps apart would leave."""
    T, m = Y.shape
    n = [int(np.isfinite(Y[:, i]).sum()) for i in range(m)]
    both = sum(np.isfinite(Y[t, i]) and np.isfinite(Y[t, j]) for t in range(T) for i in range(m) for j in range(m))
    S = np.zeros((m, m))
    for i in range(m):
        for j in range(m):
            pairs = n[i] if i == j else n[i] * n[j] * both / sum(n) ** 2
            products = [Y[t, i] * Y[t, j] for t in range(T)]
            S[i, j] = sum(p for p in products if np.isfinite(p)) / pairs
    return S


def tapered_spectrum(Y):
    """Power of every feature less its least-squares line, tapered by a raised cosine, as shares that are summed."""
    T, m = Y.shape
    out = np.zeros(T // 2 + 1)
    for j in range(m):
        seen = [t for t in range(T) if np.isfinite(Y[t, j])]
        line = np.polyfit(seen, Y[seen, j], 1)
        z = [
            (Y[t, j] - np.polyval(line, t)) * np.sin(np.pi * (t + 0.5) / T) ** 2 if t in seen else 0.0 for t in range(T)
        ]
        power = [abs(sum(z[t] * np.exp(-2j * np.pi * k * t / T) for t in range(T))) ** 2 for k in range(T // 2 + 1)]
        out += np.array(power) / sum(power)
    return out


def left_beside_wave(Y, f):
    """Squares that a constant, a line and a wave of f turns per row leave of all features."""
    t = np.arange(len(Y))
    D = np.stack([np.ones(len(Y)), t, np.cos(2 * np.pi * f * t), np.sin(2 * np.pi * f * t)], axis=1)
    total = 0.0
    for y in Y.T:
        seen = np.isfinite(y)
        total += float(((y[seen] - D[seen] @ np.linalg.lstsq(D[seen], y[seen], rcond=None)[0]) ** 2).sum())
    return total
