"""Smoothing with levels in arrow form: whole sequences (for EM and imputation) and fixed lags (for streams)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...cores import compiling
from ..linalg import Array
from .arrow import Arrow, flat, levels_of, nested, transposed
from .forward_levels import LOOPS, MANY_ROWS, forward
from .level_rows import backward_rows
from .model import Belief, SequenceModel, Smoothed, inv, row_sums
from .moments import LevelMoments, Moments, observed_moments

CHUNK = 256
"""Rows whose kernels are made at once, at most: batched products without O(T m r) more memory. It changes no result."""
CHUNK_NUMBERS = 1 << 17
"""Numbers (rows, r, m) of a kernel at most, unless it is of one row. Derived: 1 MiB, so that what one operation leaves
is still in the processor's cache for the next. Speed, memory and rounding only."""


class Kernel(NamedTuple):
    """p(x_t, l_t | x_{t+1}, l_{t+1}, y_{1:t}): all fields may carry a leading time axis."""

    L: Array  # (r, r) covariance of x_t
    F: Array  # (r, r) weight of x_{t+1}
    E: Array  # (m, r) weight of l_{t+1}
    x0: Array  # (r,)
    gain: Array  # (m,) weight of l_{t+1,i} in l_ti
    beta: Array  # (m, r) weight of x_t in l_ti
    l0: Array  # (m,)
    v: Array  # (m,) variance of l_ti


def kernel(model: SequenceModel, s: Arrow) -> Kernel:
    """Backward kernel of filtered beliefs (fields with or without a leading time axis). O(m r² + r³) each.

    l_{t+1,i} = phi_i (l_i + b_iᵀ(x_t - mean of x_t)) + N(0, u_i), u_i = phi_i² d_i + q_i, therefore x_t has precision
    P⁻¹ + AᵀQ⁻¹A + sum_i phi_i² b_i b_iᵀ / u_i, and l_ti is scalar given x_t, with gain phi_i d_i / u_i.
    """
    A = model.dynamics.A
    phi, q, _ = levels_of(model)
    u = np.maximum(phi**2 * s.d + q, 1e-300)
    QiA = np.linalg.solve(model.dynamics.Q, A)
    B = transposed(s.B)  # (r, m), as below: features lie next to each other
    D = (phi / u)[..., None, :] * B
    J = A.T @ QiA + (phi * B) @ transposed(D)
    L = np.linalg.solve(np.eye(len(A)) + s.P @ J, s.P)
    L = (L + transposed(L)) / 2
    E, F = L @ D, L @ QiA.T
    x0 = s.x - _mv(F @ A, s.x) - _mv(E, phi * s.level_mean)
    gain = phi * s.d / u
    forgotten = gain * phi
    beta = (1.0 - forgotten)[..., None, :] * B
    l0 = (1.0 - forgotten) * s.level_mean - (s.x[..., None, :] @ beta)[..., 0, :]
    return Kernel(L, F, transposed(E), x0, gain, transposed(beta), l0, s.d * q / u)


def _mv(M: Array, v: Array) -> Array:
    return np.asarray((M @ v[..., None])[..., 0])


def back(k: Kernel, n: Arrow) -> tuple[Arrow, Array, Array]:
    """Average the kernel over the smoothed belief `n` at t+1. O(m r² + r³).

    Returns the smoothed belief at t, N with Cov(x_t, x_{t+1}) = N P_{t+1}, and K with rows Cov(l_{t+1,i}, x_t).
    The marginals of x_t and every l_ti and their cross covariances are the exact moments of the average.
    """
    L, F, E, x0, gain, beta, l0, v = k
    ET = E.T
    N = F + ET.dot(n.B)
    NT = N.T
    x = x0 + F.dot(n.x) + ET.dot(n.level_mean)
    P = N.dot(n.P).dot(NT) + (ET * n.d).dot(E) + L
    nBP = n.B.dot(n.P)
    K = nBP.dot(NT) + n.d[:, None] * E
    KPi = K.dot(inv(P))
    var = n.d + row_sums(nBP * n.B - K * KPi)
    d = gain * gain * np.maximum(var, 0.0) + v
    return Arrow(x, P, l0 + beta.dot(x) + gain * n.level_mean, beta + gain[:, None] * KPi, d), N, K


def smooth_recent(model: SequenceModel, beliefs: Sequence[Belief]) -> list[Belief]:
    """Each of the filtered `beliefs`, in order, given the data of all of them. O(len m r²).

    Works with and without levels (then it is the exact Rauch-Tung-Striebel recursion).
    """
    out, n = [beliefs[-1]], flat(beliefs[-1])
    for s in reversed(beliefs[:-1]):
        n = back(kernel(model, flat(s)), n)[0]
        out.append(Belief(n.x, n.P) if s.levels is None else nested(n))
    return out[::-1]


def _back_by_loops(ks: Kernel, s: Arrow, Ns: Array, Ks: Array, rows: int) -> bool:
    """Let compiled loops smooth all of s but its last row, of `rows` in all; False where NumPy has to do it."""
    if not s.B.flags.c_contiguous or not compiling.applies(rows >= MANY_ROWS, LOOPS):
        return False
    from .compiled_levels import backward

    before = [f[:-1].copy() for f in s]
    if compiling.call(backward, *map(compiling.plain, ks), *s, Ns, Ks) > 0:
        return True
    for f, kept in zip(s, before, strict=True):
        f[:-1] = kept
    return False


def _back(ks: Kernel, s: Arrow, Ns: Array, rows: int) -> Array:
    """Smooth all of s but its last row, which is, of `rows` in all; Ns is filled, and Cov(l_{t+1}, x_t) comes back."""
    m, r = s.B.shape[1:]
    Ks = np.empty((len(Ns), m, r))
    if _back_by_loops(ks, s, Ns, Ks, rows):
        return transposed(Ks)
    K = np.empty((len(Ns), r, m))
    L, F, E, x0, gain, beta, l0, v = ks
    B = np.ascontiguousarray(transposed(s.B))  # a copy only where the rows came from `forward_by_information`
    backward_rows(F, transposed(E), L, x0, gain, transposed(beta), l0, v, *s[:3], B, s.d, Ns, K)
    s.B[...] = transposed(B)
    return K


def smooth_levels(
    model: SequenceModel, Y: Array, w: Array | None = None, start: Belief | None = None
) -> tuple[Smoothed, Moments]:
    """Filter and smoother with levels, with the sums EM needs. O(T m r²) time, O(T m r) memory.

    `w` (T, m): noise weights of a robust sweep; `start`: filtered belief before the first row.
    """
    T, m = Y.shape
    r = len(model.dynamics.A)
    s, logp = forward(model, Y, w, start)
    lag = np.empty((max(T - 1, 0), r, r))
    ll10, M10, M01 = np.zeros(m), np.zeros((r, m)), np.zeros((r, m))
    chunk = _chunk(m, r)
    for hi in range(T - 1, 0, -chunk):
        lo = max(hi - chunk, 0)
        ks = kernel(model, Arrow(*(f[lo:hi] for f in s)))
        Ns = np.empty((hi - lo, r, r))
        K = _back(ks, Arrow(*(f[lo : hi + 1] for f in s)), Ns, T)
        # pairs (t, t+1), t in [lo, hi): all smoothed by now
        now, new = Arrow(*(f[lo:hi] for f in s)), Arrow(*(f[lo + 1 : hi + 1] for f in s))
        lag[lo:hi] = Ns @ new.P
        B = transposed(new.B)
        PB = new.P @ B
        var = new.d + products_by_feature(PB, B)
        beta = transposed(ks.beta)
        ll10 += (now.level_mean * new.level_mean + products_by_feature(beta, K) + ks.gain * var).sum(0)
        M10 += now.x.T @ new.level_mean + K.sum(0)
        M01 += new.x.T @ now.level_mean + (transposed(lag[lo:hi]) @ beta).sum(0)
        M01 += np.einsum("ti,tji->ji", ks.gain, PB)
    return _collect(model, Y, w, s, lag, float(logp.sum()), ll10, M10.T, M01.T)


def products_by_feature(A: Array, B: Array) -> Array:
    """Σ_j A_tji B_tji (t, m), without an array of all the products."""
    return np.asarray(np.einsum("tji,tji->ti", A, B))


def _chunk(m: int, r: int) -> int:
    """How many rows of m features with r states are worked on at once."""
    return min(max(CHUNK_NUMBERS // max(m * r, 1), 1), CHUNK)


def _collect(
    model: SequenceModel,
    Y: Array,
    w: Array | None,
    s: Arrow,
    lag: Array,
    logp: float,
    ll10: Array,
    M10: Array,
    M01: Array,
) -> tuple[Smoothed, Moments]:
    """Same-time moments, signal means and variances, in chunks of time."""
    T, m = Y.shape
    obs = np.isfinite(Y)
    W = obs.astype(float) if w is None else obs * w
    ll = np.empty((T, m))
    C, mean, V, _ = model.emission
    r = C.shape[1]
    WLX, LX = np.zeros((r, m)), np.zeros((r, m))
    ends = np.zeros((2, m, r))
    var = np.empty((T, m))
    uncertainty = None if V is None else np.broadcast_to(V, (m, r, r)).reshape(m, -1)
    chunk, CT = _chunk(m, r), np.ascontiguousarray(C.T)
    for lo in range(0, T, chunk):
        rows = slice(lo, lo + chunk)
        c = Arrow(*(f[rows] for f in s))
        B = transposed(c.B)
        PB = c.P @ B
        own = c.level_mean**2
        own += c.d
        own += products_by_feature(PB, B)
        ll[rows] = own
        LX += PB.sum(0) + c.x.T @ c.level_mean
        WLX += np.einsum("ti,tji->ji", W[rows], PB) + c.x.T @ (W[rows] * c.level_mean)
        H = B + CT
        var[rows] = products_by_feature(c.P @ H, H) + c.d
        if uncertainty is not None:
            second = c.P + c.x[:, :, None] * c.x[:, None, :]
            var[rows] += second.reshape(len(c.x), -1) @ uncertainty.T
    for k, t in enumerate((0, -1)):
        ends[k] = s.B[t] @ s.P[t] + s.level_mean[t][:, None] * s.x[t]
    signal = mean + s.x @ C.T + s.level_mean
    out = Smoothed(s.x, s.P, lag, signal, var, logp, nested(Arrow(*(f[-1].copy() for f in s))))
    y = np.where(obs, Y, 0.0)
    mom = observed_moments(Y, out, w)
    g = mom.g - np.hstack([WLX.T, (W * s.level_mean).sum(0)[:, None]])
    h = mom.h + (W * (ll - 2 * y * s.level_mean)).sum(0)
    total = ll.sum(0)
    L = np.stack([total - ll[0], ll10, total - ll[-1]])
    M = np.stack([LX.T - ends[0], M10, M01, LX.T - ends[1]])
    return out, mom._replace(g=g, h=h, levels=LevelMoments(L, M, np.full(m, float(T - 1))))
