"""Linear dynamics on the coefficients: filter, smoother, forecast.

    y_ti = mean_i + c_i' x_t + l_ti + e_ti      e_ti ~ N(0, R_i / w_ti)
    x_t  = A x_{t-1} + N(0, Q)                  x_1  ~ N(0, P0)            shared, r
    l_ti = phi_i l_{t-1,i} + N(0, q_i)          l_1i ~ N(0, p0_i)          own level, one per feature

NaN = missing. Without levels everything here is exact. With levels the exact joint state has r + m
dimensions and costs O((r+m)^3) per step; instead the belief keeps the *arrow* form

    x ~ N(x, P),    l_i | x ~ N(l_i + b_i'(x - mean), d_i)   independent over i given x,

which a measurement preserves exactly (given x, feature i only sees y_i). Only the time step creates
dependence between levels given the new x; it is dropped, while the marginals of x, of every l_i and all
cross covariances (x, l_i) are kept. Cost O(m r^2) per step, as without levels. `augment` gives the
exact model for comparison and for small m.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve_banded, cholesky_banded

from ..linalg import Array
from .robust import evident_weights, weights_bound

LOG2PI = float(np.log(2 * np.pi))
ROUNDS = 3
"""Turns of states and weights within one row."""
JUMP = 0.01
"""Chance that an outlier of four standard deviations is a level that has moved."""


class Model(NamedTuple):
    """Parameters. V holds the posterior covariance of each row of C: (m, r, r), or (1, r, r) when shared."""

    A: Array  # (r, r)
    Q: Array  # (r, r)
    P0: Array  # (r, r)
    C: Array  # (m, r)
    V: Array  # (m, r, r) or (1, r, r); zeros: C is known
    mean: Array  # (m,)
    R: Array  # (m,)
    phi: Array  # (m,)
    q: Array  # (m,)
    p0: Array  # (m,); all zero: no levels
    nu: float  # degrees of freedom of the noise; inf: Gaussian


class State(NamedTuple):
    """Belief about (x_t, l_t) in arrow form."""

    x: Array  # (r,)
    P: Array  # (r, r)
    lev: Array  # (m,)
    B: Array  # (m, r)
    d: Array  # (m,)


class StepInfo(NamedTuple):
    """Innovation facts of one step; `chi2` feeds the alarm rule."""

    logp: float  # log p(y_t | y_{1:t-1})
    n_obs: int
    chi2: float  # e' S^-1 e, chi-squared with n_obs degrees of freedom under the model
    seen: Array  # (m,) bool
    mean: Array  # (m,) one-step predictive mean of every entry
    var: Array  # (m,) one-step predictive variance of every entry, noise included


class Smoothed(NamedTuple):
    """x (T, r), P (T, r, r), lag (T-1, r, r) = Cov(x_t, x_{t+1}); signal (noise-free entry) mean and variance."""

    x: Array
    P: Array
    lag: Array
    signal: Array  # (T, m)
    var: Array  # (T, m) variance of the signal, C's uncertainty included
    logp: float  # log-likelihood (or the bound, when V is not zero)
    end: State  # belief after the last row, where smoother and filter agree


def noise_variance(model: Model) -> Array:
    """Variance of the noise: R, times nu / (nu - 2) for Student-t noise (nu is kept above 2)."""
    return model.R if np.isinf(model.nu) else model.R * (model.nu / (model.nu - 2.0))


def inv(M: Array) -> Array:
    """Inverse, batched, float64."""
    return np.asarray(np.linalg.inv(M), dtype=np.float64)


def weighted_V(V: Array, w: Array) -> Array:
    """sum_i w_i V_i, (r, r); V may be shared. O(m r^2)."""
    if V.shape[0] == 1:
        return np.asarray(w.sum() * V[0])
    return (w @ V.reshape(len(w), -1)).reshape(V.shape[1:])


def initial(model: Model) -> State:
    """The prior of the first step, to be given to `update` (not to `predict`)."""
    m, r = model.C.shape
    return State(np.zeros(r), model.P0.copy(), np.zeros(m), np.zeros((m, r)), model.p0.copy())


def predict(model: Model, s: State) -> State:
    """One time step: P <- A P A' + Q; levels by moment matching. O(m r^2 + r^3)."""
    AP = model.A @ s.P
    P = AP @ model.A.T + model.Q
    P = (P + P.T) / 2
    x = model.A @ s.x
    if not model.p0.any():
        return State(x, P, s.lev, s.B, s.d)
    phi = model.phi
    cross = phi[:, None] * (s.B @ AP.T)  # Cov(l_i, x) at the new time
    B = cross @ inv(P)
    var = phi**2 * (s.d + ((s.B @ s.P) * s.B).sum(1)) + model.q
    d = np.maximum(var - (cross * B).sum(1), model.q)
    return State(x, P, phi * s.lev, B, d)


def update(model: Model, s: State, y: Array) -> tuple[State, StepInfo]:
    """Condition on the observed entries of y (m,). O(m r^2 + r^3).

    Given x, y_i = mean_i + l_i + c_i'x + b_i'(x - xhat) + N(0, d_i + R_i): loading h_i = c_i + b_i, noise s_i.

        P^-1 <- P^-1 + sum_i (h_i h_i' + V_i) / s_i,   then l_i | x, y_i by one scalar gain k_i = d_i / s_i.

    V_i enters P only without levels (variational Bayes): a level absorbs a slow error of c_i'x, and V_i / s_i
    would count it as noise at every step. It always enters the predictive variance. Under Student-t noise R_i is
    divided by the entry's weight, and `logp` is a lower bound (see `robust`).
    """
    C, R = model.C, model.R
    obs = np.isfinite(y)
    H = C + s.B
    mu = model.mean + C @ s.x + s.lev
    e = np.where(obs, y - mu, 0.0)
    sv = np.einsum("ij,ij->i", H @ s.P, H) + s.d
    if model.V.any():
        sv = sv + np.einsum("ijk,jk->i", model.V, s.P + np.outer(s.x, s.x))
    tails, jump = 0.0, np.zeros_like(e)
    if np.isfinite(model.nu):
        w, jump = _outliers(model, s, H, e, obs)
        tails, R = float(weights_bound(w, model.nu, model.nu)[obs].sum()), R / w
    noise = s.d + R
    iw = obs / noise
    T, P, dx, chi2 = _state_step(model, s, H, e, iw)
    k = s.d * iw
    lev = s.lev + s.B @ dx + k * (e - H @ dx)
    new = State(s.x + dx, P, lev, s.B - k[:, None] * H, s.d * (1.0 - k) + jump)
    logdet = float(np.linalg.slogdet(T)[1])
    logp = tails - 0.5 * float(np.log(noise[obs]).sum() + obs.sum() * LOG2PI + logdet + chi2)
    return new, StepInfo(logp, int(obs.sum()), chi2, obs, mu, sv + noise_variance(model))


def _state_step(model: Model, s: State, H: Array, e: Array, iw: Array) -> tuple[Array, Array, Array, float]:
    """I + P J, the new P, the change of x and e'S^-1 e, from the entries' precisions given x. O(m r^2 + r^3)."""
    Hs = H * iw[:, None]
    U = weighted_V(model.V, np.zeros_like(iw) if model.p0.any() else iw)
    J, h = Hs.T @ H + U, Hs.T @ e - U @ s.x
    T = np.eye(len(s.x)) + s.P @ J
    P = np.linalg.solve(T, s.P)  # (P^-1 + J)^-1 without P^-1: P = 0 is allowed
    P = (P + P.T) / 2
    dx = P @ h
    return T, P, dx, float(iw @ (e * e) + s.x @ U @ s.x - h @ dx)


def _outliers(model: Model, s: State, H: Array, e: Array, obs: Array) -> tuple[Array, Array]:
    """Weights of the entries of one row, and what the doubt about each outlier adds to its level's variance.

    As in `robust.left_out`, entry i is judged by what the others of its row say: x without it is off by
    (e_i - h_i'dx) / (1 - k_i), k_i = h_i'P h_i / s_i, so a shock that all features share is no outlier.
    An outlier may be a level that has moved for good: JUMP of its square is added to d, so that after a
    few such rows the level follows, however far it went.
    """
    w = np.ones_like(e)
    for _ in range(ROUNDS):
        iw = obs / (s.d + model.R / w)
        _, P, dx, _ = _state_step(model, s, H, e, iw)
        p = np.einsum("ij,ij->i", H @ P, H)
        free = np.maximum(1.0 - p * iw, 1e-9)
        off, v = (e - H @ dx) / free, p / free + s.d
        w = evident_weights(off, v, model.R, model.nu)
    far = obs & (s.d > 0) & (off * off > 16.0 * (v + noise_variance(model)))
    return w, np.where(far, JUMP * off * off, 0.0)


def filter_rows(model: Model, Y: Array, start: State | None = None) -> tuple[list[State], list[StepInfo]]:
    """Filter the rows of Y (T, m); `start` is the filtered state before the first row. O(T m r^2).

    Rows one by one, in one call or in any split give the same result.
    """
    states: list[State] = []
    infos: list[StepInfo] = []
    s = start
    for y in Y:
        s, info = update(model, initial(model) if s is None else predict(model, s), y)
        states.append(s)
        infos.append(info)
    return states, infos


def forecast(model: Model, s: State, steps: int, Q_V: float = 0.0) -> tuple[Array, Array]:
    """Means and variances (steps, m) of the coming rows, noise and the drift of C included. O(steps m r^2)."""
    means, variances = [], []
    for _ in range(steps):
        s = predict(model, s)
        model = model._replace(V=model.V + Q_V * np.eye(len(s.x))) if Q_V else model
        mu, var = entry(model, s)
        means.append(mu)
        variances.append(var + noise_variance(model))
    return np.array(means).reshape(steps, -1), np.array(variances).reshape(steps, -1)


def entry(model: Model, s: State) -> tuple[Array, Array]:
    """Mean and variance of every noise-free entry: (c+b)'P(c+b) + d + tr V_i(xx' + P). O(m r^2)."""
    H = model.C + s.B
    var = np.einsum("ij,ij->i", H @ s.P, H) + s.d
    if model.V.any():
        var = var + np.einsum("ijk,jk->i", model.V, s.P + np.outer(s.x, s.x))
    return model.mean + model.C @ s.x + s.lev, var


def smooth(
    model: Model, Y: Array, w: Array | None = None, start: State | None = None, entries: bool = True
) -> Smoothed:
    """Exact posterior of x_1..x_T without levels, by one banded Cholesky factor. O(T (m r^2 + r^3)).

    The joint precision is block tridiagonal, M_tt = sum_i W_ti (c_i c_i' + V_i) + prior, M_{t+1,t} = -Q^-1 A.
    With M = L L': x_t = G_t x_{t+1} + N(0, (L_tt L_tt')^-1), G_t = -L_tt^-T L_{t+1,t}', which is the RTS
    smoother with every gain computed in one LAPACK call and batched products; only
    P_t = (L_tt L_tt')^-1 + G_t P_{t+1} G_t' is a Python loop. `w` (T, m): weights of the entries;
    `start`: filtered belief before the first row (default: x_1 ~ N(0, P0)); `entries`: signal and var wanted
    (Gaussian EM sweeps do not need them).
    """
    T, m = Y.shape
    r = model.A.shape[0]
    W = np.isfinite(Y) / model.R  # precision of every entry, 0 where missing
    W = W if w is None else W * w
    e = np.where(np.isfinite(Y), Y - model.mean, 0.0)
    CC = (model.C[:, :, None] * model.C[:, None, :] + model.V).reshape(m, r * r)
    h = (W * e) @ model.C
    Qi = inv(model.Q)
    QiA = Qi @ model.A
    D = (W @ CC).reshape(T, r, r)
    first = initial(model) if start is None else predict(model, start)
    Pi = inv(first.P)
    D[0] += Pi
    h[0] += Pi @ first.x
    D[1:] += Qi
    D[:-1] += model.A.T @ QiA
    x, P, lag, logdet = _block_tridiagonal(D, -QiA, h)
    logq = np.linalg.slogdet(first.P)[1] + (T - 1) * np.linalg.slogdet(model.Q)[1]
    positive = W[W > 0]
    logp = -0.5 * float(first.x @ Pi @ first.x) + 0.5 * float(
        np.log(positive).sum() - len(positive) * LOG2PI - (W * e * e).sum() + (h * x).sum() - logdet - logq
    )
    end = initial(model)._replace(x=x[-1].copy(), P=P[-1].copy())
    if not entries:
        return Smoothed(x, P, lag, np.empty((0, m)), np.empty((0, m)), logp, end)
    signal = model.mean + x @ model.C.T
    var = P.reshape(T, -1) @ CC.T
    if model.V.any():
        xx = (x[:, :, None] * x[:, None, :]).reshape(T, -1)
        var = var + xx @ np.broadcast_to(model.V, (m, r, r)).reshape(m, -1).T
    return Smoothed(x, P, lag, signal, var, logp, end)


def _block_tridiagonal(D: Array, off: Array, h: Array) -> tuple[Array, Array, Array, float]:
    """Solve M x = h and return x, diagonal blocks and (t, t+1) blocks of M^-1, log det M."""
    T, r, _ = D.shape
    # LAPACK's lower band storage: column t r + a of M holds M[t r + a :, t r + a]; transposed, that is C order
    band = np.zeros((T, r, 2 * r))
    for a in range(r):
        band[:, a, : r - a] = D[:, a, a:]
        band[:-1, a, r - a : 2 * r - a] = off[:, a]
    cb = cholesky_banded(band.reshape(T * r, 2 * r).T, overwrite_ab=True, lower=True, check_finite=False)
    x = cho_solve_banded((cb, True), h.ravel(), check_finite=False).reshape(T, r)
    logdet = 2.0 * float(np.log(cb[0]).sum())
    band = cb.T.reshape(T, r, 2 * r)
    LT, NT = np.zeros((T, r, r)), np.empty((T - 1, r, r))  # transposed blocks
    for a in range(r):
        LT[:, a, a:] = band[:, a, : r - a]
        NT[:, a] = band[:-1, a, r - a : 2 * r - a]
    LiT = inv(LT)
    P = LiT @ LiT.transpose(0, 2, 1)
    G = -(LiT[:-1] @ NT)
    GT = G.transpose(0, 2, 1)
    for t in range(T - 2, -1, -1):
        P[t] += G[t].dot(P[t + 1]).dot(GT[t])
    return x, P, G @ P[1:], logdet


def augment(model: Model) -> Model:
    """The same model with the levels as extra components: exact, O((r+m)^3) per step; for small m and tests."""
    m, r = model.C.shape
    n = r + m

    def block(a: Array, b: Array) -> Array:
        out = np.zeros((n, n))
        out[:r, :r] = a
        out[r:, r:] = np.diag(b)
        return out

    zero = np.zeros(m)
    V = np.zeros((model.V.shape[0], n, n))
    V[:, :r, :r] = model.V
    return model._replace(
        A=block(model.A, model.phi),
        Q=block(model.Q, model.q),
        P0=block(model.P0, model.p0),
        C=np.hstack([model.C, np.eye(m)]),
        V=V,
        phi=zero,
        q=zero,
        p0=zero,
    )
