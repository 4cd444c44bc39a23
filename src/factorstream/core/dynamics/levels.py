"""Smoothing with levels in arrow form: whole sequences (for EM and imputation) and fixed lags (for streams)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...cores import compiling
from ..linalg import Array
from .filter import initial, predict_levels
from .model import LOG2PI, Belief, LevelBelief, Levels, SequenceModel, Smoothed, inv, row_sums
from .moments import LevelMoments, Moments, observed_moments

CHUNK = 256
"""Rows whose kernels are made at once: batched products without O(T m r) more memory. It changes no result."""

MANY_ROWS = 1000
"""Rows from which on the recursions are compiled. Derived: that saves some 50 microseconds per row and sweep, and a fit
makes tens of sweeps; to load the loops takes some 0.3 seconds. Speed and rounding only."""

LOOPS = "factorstream.core.dynamics.compiled_levels"


class Arrow(NamedTuple):
    """A belief in one flat tuple, so that a time axis can lead every field. Without levels m is 0."""

    x: Array  # (r,)
    P: Array  # (r, r)
    level_mean: Array  # (m,)
    B: Array  # (m, r)
    d: Array  # (m,)


def flat(s: Belief) -> Arrow:
    """The belief as an arrow."""
    if s.levels is not None:
        return Arrow(s.x, s.P, *s.levels)
    return Arrow(s.x, s.P, np.zeros(0), np.zeros((0, len(s.x))), np.zeros(0))


def nested(a: Arrow) -> Belief:
    """The belief, with levels, that an arrow stands for."""
    return Belief(a.x, a.P, LevelBelief(a.level_mean, a.B, a.d))


def levels_of(model: SequenceModel) -> Levels:
    """The model's levels; none of them where it has none."""
    none = np.zeros(0)
    return Levels(none, none, none) if model.levels is None else model.levels


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
    D = (phi / u)[..., None] * s.B
    QiA = np.linalg.solve(model.dynamics.Q, A)
    BT = np.swapaxes(phi[:, None] * s.B, -1, -2)
    J = A.T @ QiA + BT @ D
    L = np.linalg.solve(np.eye(len(A)) + s.P @ J, s.P)
    L = (L + np.swapaxes(L, -1, -2)) / 2
    E, F = D @ L, L @ QiA.T
    x0 = s.x - _mv(F @ A, s.x) - _mv(np.swapaxes(E, -1, -2), phi * s.level_mean)
    gain = phi * s.d / u
    beta = (1.0 - gain * phi)[..., None] * s.B
    return Kernel(L, F, E, x0, gain, beta, s.level_mean - _mv(beta, s.x) - gain * phi * s.level_mean, s.d * q / u)


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


def forward(model: SequenceModel, Y: Array, w: Array | None, start: Belief | None) -> tuple[Arrow, Array]:
    """Filtered beliefs of all rows, stacked over time, and log-densities (T,). O(T m r²).

    The same recursion as predict/update with Gaussian noise R / w, in the inverse form and with the
    log-determinants taken for all steps at once. C is taken as known here (see `update`).
    """
    T, m = Y.shape
    C, R = model.emission.C, model.noise.R
    r = C.shape[1]
    out = Arrow(np.empty((T, r)), np.empty((T, r, r)), np.empty((T, m)), np.empty((T, m, r)), np.empty((T, m)))
    prior_P, noise, chi2 = np.empty((T, r, r)), np.empty((T, m)), np.empty(T)
    obs = np.isfinite(Y)
    y = np.where(obs, Y, 0.0) - model.emission.mean
    R = np.broadcast_to(R, Y.shape) if w is None else R / w
    if T and _forward_by_loops(model, y, obs, R, start, out, prior_P, noise, chi2):
        return out, _log_densities(obs, noise, chi2, prior_P, out.P)
    s, levels = None if start is None else flat(start), levels_of(model)
    for t, (yt, seen, Rt) in enumerate(zip(y, obs, R, strict=True)):
        if s is None:
            s = flat(initial(model))
            Pi = inv(s.P)
        else:
            now, Pi = predict_levels(model, Belief(s.x, s.P), levels, LevelBelief(*s[2:]))
            s = flat(now)
        x, prior_P[t], level_mean, B, d = s
        H = C + B
        e = (yt - C.dot(x) - level_mean) * seen
        noise[t] = v = d + Rt
        iw = seen / v
        HT = H.T * iw
        h = HT.dot(e)
        P = inv(Pi + HT.dot(H))
        dx = P.dot(h)
        k = d * iw
        chi2[t] = iw.dot(e * e) - h.dot(dx)
        level_mean = level_mean + B.dot(dx) + k * (e - H.dot(dx))
        s = Arrow(x + dx, P, level_mean, B - k[:, None] * H, d * (1.0 - k))
        for a, b in zip(out, s, strict=True):
            a[t] = b
    return out, _log_densities(obs, noise, chi2, prior_P, out.P)


def _log_densities(obs: Array, noise: Array, chi2: Array, prior_P: Array, P: Array) -> Array:
    """Of all rows (T,), from the entries' variances given x, eᵀS⁻¹e, and P before and after each row."""
    logdet = np.linalg.slogdet(prior_P)[1] - np.linalg.slogdet(P)[1]
    return np.asarray(-0.5 * ((obs * (np.log(noise) + LOG2PI)).sum(1) + logdet + chi2))


def _forward_by_loops(
    model: SequenceModel,
    y: Array,
    obs: Array,
    R: Array,
    start: Belief | None,
    out: Arrow,
    prior_P: Array,
    noise: Array,
    chi2: Array,
) -> bool:
    """Let compiled loops fill the last four arguments; False where NumPy has to do it."""
    if not compiling.applies(len(y) >= MANY_ROWS, LOOPS):
        return False
    from .compiled_levels import forward

    levels = levels_of(model)
    first = initial(model) if start is None else predict_levels(model, start, levels, LevelBelief(*flat(start)[2:]))[0]
    given = (*model.dynamics[:2], model.emission.C, *levels[:2], y, obs, R)
    plain = [compiling.plain(np.asarray(some)) for some in given]
    return (
        compiling.call(forward, *plain, *(np.array(f, order="C") for f in flat(first)), *out, prior_P, noise, chi2) > 0
    )


def _back_by_loops(ks: Kernel, s: Arrow, Ns: Array, Ks: Array, rows: int) -> bool:
    """Let compiled loops smooth all of s but its last row, of `rows` in all; False where NumPy has to do it."""
    if not compiling.applies(rows >= MANY_ROWS, LOOPS):
        return False
    from .compiled_levels import backward

    before = [f[:-1].copy() for f in s]
    if compiling.call(backward, *map(compiling.plain, ks), *s, Ns, Ks) > 0:
        return True
    for f, kept in zip(s, before, strict=True):
        f[:-1] = kept
    return False


def _back(ks: Kernel, s: Arrow, Ns: Array, Ks: Array) -> None:
    """The same row by row, by `back`: the last row of s is smoothed already, the others become so."""
    n = Arrow(*(f[-1] for f in s))
    backwards = zip(*(f[::-1] for f in ks), strict=True)
    for t, k in zip(range(len(Ns) - 1, -1, -1), map(Kernel._make, backwards), strict=True):
        n, Ns[t], Ks[t] = back(k, n)
        for a, b in zip(s, n, strict=True):
            a[t] = b


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
    ll10, M10, M01 = np.zeros(m), np.zeros((m, r)), np.zeros((m, r))
    for hi in range(T - 1, 0, -CHUNK):
        lo = max(hi - CHUNK, 0)
        ks = kernel(model, Arrow(*(f[lo:hi] for f in s)))
        Ns, Ks = np.empty((hi - lo, r, r)), np.empty((hi - lo, m, r))
        if not _back_by_loops(ks, Arrow(*(f[lo : hi + 1] for f in s)), Ns, Ks, T):
            _back(ks, Arrow(*(f[lo : hi + 1] for f in s)), Ns, Ks)
        # pairs (t, t+1), t in [lo, hi): all smoothed by now
        now, new = Arrow(*(f[lo:hi] for f in s)), Arrow(*(f[lo + 1 : hi + 1] for f in s))
        lag[lo:hi] = Ns @ new.P
        BP = new.B @ new.P
        var = new.d + (BP * new.B).sum(2)
        ll10 += (now.level_mean * new.level_mean + (ks.beta * Ks).sum(2) + ks.gain * var).sum(0)
        M10 += new.level_mean.T @ now.x + Ks.sum(0)
        M01 += now.level_mean.T @ new.x + (ks.beta @ lag[lo:hi] + ks.gain[:, :, None] * BP).sum(0)
    return _collect(model, Y, w, s, lag, float(logp.sum()), ll10, M10, M01)


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
    WLX, LX = np.zeros((m, r)), np.zeros((m, r))
    ends = np.zeros((2, m, r))
    var = np.empty((T, m))
    uncertainty = None if V is None else np.broadcast_to(V, (m, r, r)).reshape(m, -1)
    for lo in range(0, T, CHUNK):
        c = Arrow(*(f[lo : lo + CHUNK] for f in s))
        BP = c.B @ c.P
        ll[lo : lo + CHUNK] = c.level_mean**2 + c.d + (BP * c.B).sum(2)
        LX += BP.sum(0) + c.level_mean.T @ c.x
        WLX += np.einsum("ti,tij->ij", W[lo : lo + CHUNK], BP) + (W[lo : lo + CHUNK] * c.level_mean).T @ c.x
        H = C + c.B
        var[lo : lo + CHUNK] = ((H @ c.P) * H).sum(2) + c.d
        if uncertainty is not None:
            second = c.P + c.x[:, :, None] * c.x[:, None, :]
            var[lo : lo + CHUNK] += second.reshape(len(c.x), -1) @ uncertainty.T
    for k, t in enumerate((0, -1)):
        ends[k] = s.B[t] @ s.P[t] + s.level_mean[t][:, None] * s.x[t]
    signal = mean + s.x @ C.T + s.level_mean
    out = Smoothed(s.x, s.P, lag, signal, var, logp, nested(Arrow(*(f[-1].copy() for f in s))))
    y = np.where(obs, Y, 0.0)
    mom = observed_moments(Y, out, w)
    g = mom.g - np.hstack([WLX, (W * s.level_mean).sum(0)[:, None]])
    h = mom.h + (W * (ll - 2 * y * s.level_mean)).sum(0)
    total = ll.sum(0)
    L = np.stack([total - ll[0], ll10, total - ll[-1]])
    M = np.stack([LX - ends[0], M10, M01, LX - ends[1]])
    return out, mom._replace(g=g, h=h, levels=LevelMoments(L, M, np.full(m, float(T - 1))))
