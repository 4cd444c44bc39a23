"""The filter: one time step, one measurement, and the rows to come. See `model` for the model and the arrow form."""

from __future__ import annotations

import numpy as np

from ..linalg import Array
from .drift import grow
from .model import (
    LOG2PI,
    Belief,
    Innovation,
    LevelBelief,
    Levels,
    SequenceModel,
    identity,
    inv,
    row_sums,
    solve,
    squares,
)

JUMP = 0.01
"""Chance that an outlier of four standard deviations is a level that has moved for good. Not tuned: where levels jump
every 25 rows beside 5% of outliers, 0.003 has 2.1% more error in gaps and 0.03 has 1.5% less, with intervals 3.6% wider
(``benchmarks/sequence_defaults.py``)."""
LEAST_FREE = 1e-9
"""Least share of an entry's variance that the other entries leave open; keeps a division by rounding errors away."""
MOST_PRECISE = 1e10
"""Precision of a row's entries relative to what was known before, from which on rounding is kept from making variances
negative, at some cost. Derived: it leaves six of the sixteen digits of double precision to the plain formula."""

MOST_SURPRISING = float(np.finfo(np.float64).max) ** 0.5
"""Most that eᵀS⁻¹e of a row may be: no alarm tells anything beyond it apart. Derived: log-densities of any number of
such rows can still be added up."""


def initial(model: SequenceModel) -> Belief:
    """The prior of the first step, to be given to `update` (not to `predict`)."""
    m, r = model.emission.C.shape
    levels = None
    if model.levels is not None:
        levels = LevelBelief(np.zeros(m), np.zeros((m, r)), model.levels.p0.copy())
    return Belief(np.zeros(r), model.dynamics.P0.copy(), levels)


def predict(model: SequenceModel, s: Belief) -> Belief:
    """One time step: P ← A P Aᵀ + Q; levels by moment matching. O(m r² + r³)."""
    if model.levels is not None and s.levels is not None:
        return predict_levels(model, s, model.levels, s.levels)[0]
    A, Q, _ = model.dynamics
    P = A.dot(s.P).dot(A.T) + Q
    return Belief(A.dot(s.x), (P + P.T) / 2)


def predict_levels(model: SequenceModel, s: Belief, levels: Levels, known: LevelBelief) -> tuple[Belief, Array]:
    """`predict` with the levels of the model and what is `known` of them; the new P⁻¹ too."""
    A, Q, _ = model.dynamics
    AP = A.dot(s.P)
    P = AP.dot(A.T) + Q
    P = (P + P.T) / 2
    Pi = inv(P)
    phi, q, _ = levels
    level_mean, B, d = known
    cross = phi[:, None] * B.dot(AP.T)  # Cov(l_i, x) at the new time
    new_B = cross.dot(Pi)
    var = phi * phi * (d + squares(B, s.P)) + q
    d = np.maximum(var - row_sums(cross * new_B), q)
    return Belief(A.dot(s.x), P, LevelBelief(phi * level_mean, new_B, d)), Pi


def update(model: SequenceModel, s: Belief, y: Array) -> tuple[Belief, Innovation]:
    """Condition on the observed entries of y (m,). O(m r² + r³).

    Given x, y_i = mean_i + l_i + c_iᵀx + b_iᵀ(x - mean of x) + N(0, d_i + R_i): loading h_i = c_i + b_i, noise s_i.

        P⁻¹ ← P⁻¹ + sum_i (h_i h_iᵀ + V_i) / s_i,   then l_i | x, y_i by one scalar gain k_i = d_i / s_i.

    V_i enters P only without levels (variational Bayes): a level absorbs a slow error of c_iᵀx, and V_i / s_i
    would count it as noise at every step. It always enters the predictive variance. Under Student-t noise R_i is
    divided by the entry's weight, and `logp` is a lower bound (see `noise`).
    """
    obs = np.isfinite(y)
    H, _, d = _given_state(model, s)
    mu, var = entry(model, s)
    e = np.where(obs, y - mu, 0.0)

    def others(w: Array) -> tuple[Array, Array]:
        """As in `outliers.left_out`: x without entry i is off by (e_i - h_iᵀdx) / (1 - k_i), k_i = h_iᵀP h_i / s_i.

        Judged by what the other entries of its row say, an entry that shares a shock with all of them is no outlier.
        """
        iw = obs / (d + model.noise.R / w)
        _, P, dx, _ = _state_step(model, s, H, e, iw)
        p = np.maximum(squares(H, P), 0.0)  # rounding may be negative
        free = np.maximum(1.0 - p * iw, LEAST_FREE)
        return (e - H @ dx) / free, p / free + d

    weights = model.noise.judge_row(others)
    R, bound = model.noise.R, 0.0
    if weights is not None:
        R, bound = R / weights.w, float(weights.bound[obs].sum())
    noise = d + R
    iw = obs / noise
    pivots, P, dx, chi2 = _state_step(model, s, H, e, iw)
    levels = None
    if s.levels is not None:
        k = d * iw
        level_mean = s.levels.mean + s.levels.B @ dx + k * (e - H @ dx)
        d = d * (1.0 - k)
        if weights is not None:  # after a few such rows the level follows, however far it went
            d = d + np.where(obs & (s.levels.d > 0) & weights.far, JUMP * weights.off * weights.off, 0.0)
        levels = LevelBelief(level_mean, s.levels.B - k[:, None] * H, d)
    logdet = float(np.log(np.abs(pivots)).sum())
    logp = bound - 0.5 * float(np.log(noise[obs]).sum() + obs.sum() * LOG2PI + logdet + chi2)
    return Belief(s.x + dx, P, levels), Innovation(logp, int(obs.sum()), chi2, obs, mu, var + model.noise.variance)


def _given_state(model: SequenceModel, s: Belief) -> tuple[Array, Array, Array]:
    """Loadings H (m, r) of the entries given x, the mean of the levels (m,), and the variance d (m,) they have then."""
    C = model.emission.C
    if s.levels is None:
        none = np.zeros(len(C))
        return C, none, none
    return C + s.levels.B, s.levels.mean, s.levels.d


def _state_step(model: SequenceModel, s: Belief, H: Array, e: Array, iw: Array) -> tuple[Array, Array, Array, float]:
    """Pivots of I + P J, the new P, the change of x and eᵀS⁻¹e, from the entries' precisions given x. O(m r² + r³)."""
    HT = H.T * iw
    J, h, offset = HT.dot(H), HT.dot(e), 0.0
    V, U = model.emission.V, None
    if V is not None and model.levels is None:
        U = weighted_V(V, iw)
        J, h, offset = J + U, h - U @ s.x, float(s.x @ U @ s.x)
    T = identity(len(s.x)) + s.P.dot(J)
    if np.abs(T).max(initial=0.0) > MOST_PRECISE:
        return _precise_step(s, H, e, iw, U)
    P, pivots = solve(T, s.P)  # (P⁻¹ + J)⁻¹ without P⁻¹: P = 0 is allowed
    P = (P + P.T) / 2
    dx = P.dot(h)
    with np.errstate(over="ignore", invalid="ignore"):  # `_surprise`
        return pivots, P, dx, _surprise(iw @ (e * e) + offset - h @ dx)


def _surprise(chi2: float) -> float:
    """eᵀS⁻¹e, at most MOST_SURPRISING: entries that are absurdly far off may have squares that overflow."""
    return float(chi2) if chi2 < MOST_SURPRISING else MOST_SURPRISING


def _precise_step(s: Belief, H: Array, e: Array, iw: Array, U: Array | None) -> tuple[Array, Array, Array, float]:
    """The same by square roots, so that rounding makes no variance negative; first, numbers of the same product.

    J = BᵀB and h = Bᵀb, where the rows of B are √iw H and a root of U. With P = L Lᵀ and B L = W diag(g) Zᵀ,

        (P⁻¹ + J)⁻¹ = L Z diag(1 / (1 + g²)) (L Z)ᵀ,   dx = L Z diag(g / (1 + g²)) Wᵀb.
    """
    root = np.sqrt(iw)
    B, b = H * root[:, None], root * e
    if U is not None:
        R = _root(U).T
        B, b = np.vstack([B, R]), np.concatenate([b, -R @ s.x])
    L = _root(s.P)
    missing = max(len(L) - len(B), 0)  # with rows of zeros there are as many singular values as components
    W, g, Zt = np.linalg.svd(np.pad(B, ((0, missing), (0, 0))) @ L, full_matrices=False)
    b = np.pad(b, (0, missing))
    LZ, along, grown = L @ Zt.T, W.T @ b, 1.0 + g * g
    rest = b - W @ along
    P = (LZ / grown) @ LZ.T
    with np.errstate(over="ignore"):  # `_surprise`
        chi2 = _surprise(rest @ rest + along @ (along / grown))
    return grown, (P + P.T) / 2, LZ @ (g / grown * along), chi2


def _root(P: Array) -> Array:
    """L with P = L Lᵀ, for a covariance that may be singular."""
    size, E = np.linalg.eigh(P)
    return np.asarray(E * np.sqrt(np.maximum(size, 0.0)))


def weighted_V(V: Array, w: Array) -> Array:
    """sum_i w_i V_i, (r, r); V may be shared. O(m r²)."""
    if V.shape[0] == 1:
        return np.asarray(w.sum() * V[0])
    return (w @ V.reshape(len(w), -1)).reshape(V.shape[1:])


def entry(model: SequenceModel, s: Belief) -> tuple[Array, Array]:
    """Mean and variance of every noise-free entry: hᵀP h + d + tr V_i(x xᵀ + P), h = c + b. O(m r²)."""
    emission = model.emission
    H, level_mean, d = _given_state(model, s)
    var = np.maximum(squares(H, s.P), 0.0) + d  # rounding may be negative
    if emission.V is not None:
        second = s.P + s.x[:, None] * s.x
        var = var + emission.V.reshape(len(emission.V), -1).dot(second.ravel())
    return emission.mean + emission.C.dot(s.x) + level_mean, var


def filter_rows(model: SequenceModel, Y: Array, start: Belief | None = None) -> tuple[list[Belief], list[Innovation]]:
    """Filter the rows of Y (T, m) with C as it is; `start` is the filtered belief before the first row. O(T m r²).

    Rows one by one, in one call or in any split give the same result.
    """
    beliefs: list[Belief] = []
    innovations: list[Innovation] = []
    s = start
    for y in Y:
        s, innovation = update(model, initial(model) if s is None else predict(model, s), y)
        beliefs.append(s)
        innovations.append(innovation)
    return beliefs, innovations


def forecast(model: SequenceModel, s: Belief, steps: int) -> tuple[Array, Array]:
    """Means and variances (steps, m) of the coming rows, noise and the drift of C included. O(steps m r²)."""
    means, variances = [], []
    for _ in range(steps):
        s = predict(model, s)
        model = model._replace(emission=grow(model.emission))
        mu, var = entry(model, s)
        means.append(mu)
        variances.append(var + model.noise.variance)
    return np.array(means).reshape(steps, -1), np.array(variances).reshape(steps, -1)
