"""Filtering with levels in arrow form, whole sequences at once."""

from __future__ import annotations

import numpy as np

from ...cores import compiling
from ..linalg import Array
from .arrow import Arrow, flat, levels_of, transposed
from .filter import initial, predict_levels
from .level_rows import LARGEST_PRECISION, forward_rows
from .model import LOG2PI, Belief, LevelBelief, SequenceModel, inv

MANY_ROWS = 1000
"""Rows from which on the recursions are compiled. Derived: that saves some 30 microseconds per row and sweep, and a fit
makes tens of sweeps; to load the loops takes some 0.3 seconds. Speed and rounding only."""

LOOPS = "factorstream.core.dynamics.compiled_levels"


def forward(model: SequenceModel, Y: Array, w: Array | None, start: Belief | None) -> tuple[Arrow, Array]:
    """Filtered beliefs of all rows, stacked over time, and log-densities (T,). O(T m r²).

    The same recursion as predict/update with Gaussian noise R / w, and with the log-determinants taken for all steps at
    once. C is taken as known here (see `update`).
    """
    obs = np.isfinite(Y)
    y = np.where(obs, Y, 0.0) - model.emission.mean
    R = np.broadcast_to(model.noise.R, Y.shape) if w is None else model.noise.R / w
    levels = levels_of(model)
    if not len(Y):
        return _empty(0, Y.shape[1], len(model.dynamics.A)), np.zeros(0)
    if start is None:
        first = flat(initial(model))
    else:
        first = flat(predict_levels(model, start, levels, LevelBelief(*flat(start)[2:]))[0])
    found = _by_loops(model, y, obs, R, first)
    if found is None:
        small_Q = np.abs(inv(model.dynamics.Q)).max(initial=0.0) > LARGEST_PRECISION
        found = (_carefully if small_Q else _by_rows)(model, y, obs, R, first)
    out, prior_P, noise, chi2 = found
    logdet = np.linalg.slogdet(prior_P)[1] - np.linalg.slogdet(out.P)[1]
    return out, np.asarray(-0.5 * ((obs * (np.log(noise) + LOG2PI)).sum(1) + logdet + chi2))


Forward = tuple[Arrow, Array, Array, Array]
"""Filtered beliefs, P before each row (T, r, r), the entries' variances given x (T, m), and eᵀS⁻¹e (T,)."""


def _empty(T: int, m: int, r: int) -> Arrow:
    """Where compiled loops and single rows leave their beliefs."""
    return Arrow(np.empty((T, r)), np.empty((T, r, r)), np.empty((T, m)), np.empty((T, m, r)), np.empty((T, m)))


def _by_rows(model: SequenceModel, y: Array, obs: Array, R: Array, first: Arrow) -> Forward:
    """By `forward_rows`; what does not feed back into the recursion follows here for all rows at once."""
    (T, m), (A, Q, _), C = y.shape, model.dynamics, model.emission.C
    r, levels = len(A), levels_of(model)
    B, d, precision = np.empty((T, r, m)), np.empty((T, m)), np.empty((T, r + 1, r + 1))
    a, iw = np.empty((T, m)), np.empty((T, m))
    forward_rows(A, Q, C, *levels[:2], y, np.where(obs, R, np.inf), first, B, d, precision, a, iw)
    J = precision[:, :r, :r]
    P = np.linalg.inv(J)
    P = (P + transposed(P)) / 2
    x = -(P @ precision[:, :r, r:])[:, :, 0]
    level_mean = a
    level_mean += (x[:, None, :] @ B)[:, 0, :]
    prior_P = np.concatenate([first.P[None], A @ P[:-1] @ A.T + Q])
    # eᵀS⁻¹e = Σ e_i² / v_i - hᵀdx, where dx = P h is what the row has moved x by
    before = np.vstack([first.x, x[:-1] @ A.T])
    e = y - before @ C.T - np.vstack([first.level_mean, levels.phi * level_mean[:-1]])
    dx = x - before
    chi2 = (iw * e * e).sum(1) - ((J @ dx[:, :, None])[:, :, 0] * dx).sum(1)
    noise = np.divide(1.0, iw, out=np.ones((T, m)), where=obs)
    return Arrow(x, P, level_mean, transposed(B), d), prior_P, noise, chi2


def _carefully(model: SequenceModel, y: Array, obs: Array, R: Array, first: Arrow) -> Forward:
    """By covariances instead of precisions, with more operations per row, for a Q that is nearly zero."""
    T, m = y.shape
    C, levels, s = model.emission.C, levels_of(model), first
    out = _empty(T, m, C.shape[1])
    prior_P, noise, chi2 = np.empty_like(out.P), np.empty((T, m)), np.empty(T)
    for t, (yt, seen, Rt) in enumerate(zip(y, obs, R, strict=True)):
        if t == 0:
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
    return out, prior_P, noise, chi2


def _by_loops(model: SequenceModel, y: Array, obs: Array, R: Array, first: Arrow) -> Forward | None:
    """By compiled loops; None where NumPy has to do it."""
    if not compiling.applies(len(y) >= MANY_ROWS, LOOPS):
        return None
    from .compiled_levels import forward

    T, m = y.shape
    out = _empty(T, m, len(model.dynamics.A))
    prior_P, noise, chi2 = np.empty_like(out.P), np.empty((T, m)), np.empty(T)
    given = (*model.dynamics[:2], model.emission.C, *levels_of(model)[:2], y, obs, R)
    plain = [compiling.plain(np.asarray(some)) for some in given]
    done = compiling.call(forward, *plain, *(np.array(f, order="C") for f in first), *out, prior_P, noise, chi2)
    return (out, prior_P, noise, chi2) if done > 0 else None
