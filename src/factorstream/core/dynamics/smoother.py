"""The exact smoother of a model without levels: the posterior of all states given all rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import cho_solve_banded, cholesky_banded

from ..linalg import Array
from .filter import initial, predict
from .model import LOG2PI, Belief, SequenceModel, Smoothed, inv, loading_covariance


def smooth(
    model: SequenceModel, Y: Array, w: Array | None = None, start: Belief | None = None, entries: bool = True
) -> Smoothed:
    """Exact posterior of x_1..x_T without levels, by one banded Cholesky factor. O(T (m r² + r³)).

    The joint precision is block tridiagonal, M_tt = sum_i W_ti (c_i c_iᵀ + V_i) + prior, M_{t+1,t} = -Q⁻¹A.
    With M = L Lᵀ: x_t = G_t x_{t+1} + N(0, (L_tt L_ttᵀ)⁻¹), G_t = -L_tt⁻ᵀ L_{t+1,t}ᵀ, which is the RTS
    smoother with every gain computed in one LAPACK call and batched products; only
    P_t = (L_tt L_ttᵀ)⁻¹ + G_t P_{t+1} G_tᵀ is a Python loop. `w` (T, m): weights of the entries;
    `start`: filtered belief before the first row (default: x_1 ~ N(0, P0)); `entries`: signal and var wanted
    (Gaussian EM sweeps do not need them).
    """
    T, m = Y.shape
    A, Q, _ = model.dynamics
    emission = model.emission
    r = A.shape[0]
    W = np.isfinite(Y) / model.noise.R  # precision of every entry, 0 where missing
    W = W if w is None else W * w
    e = np.where(np.isfinite(Y), Y - emission.mean, 0.0)
    CC = (emission.C[:, :, None] * emission.C[:, None, :] + loading_covariance(emission)).reshape(m, r * r)
    h = (W * e) @ emission.C
    Qi = inv(Q)
    QiA = Qi @ A
    D = (W @ CC).reshape(T, r, r)
    first = initial(model) if start is None else predict(model, start)
    Pi = inv(first.P)
    D[0] += Pi
    h[0] += Pi @ first.x
    D[1:] += Qi
    D[:-1] += A.T @ QiA
    x, P, lag, logdet = _block_tridiagonal(D, -QiA, h)
    logq = np.linalg.slogdet(first.P)[1] + (T - 1) * np.linalg.slogdet(Q)[1]
    positive = W[W > 0]
    logp = -0.5 * float(first.x @ Pi @ first.x) + 0.5 * float(
        np.log(positive).sum() - len(positive) * LOG2PI - (W * e * e).sum() + (h * x).sum() - logdet - logq
    )
    end = Belief(x[-1].copy(), P[-1].copy())
    if not entries:
        return Smoothed(x, P, lag, np.empty((0, m)), np.empty((0, m)), logp, end)
    signal = emission.mean + x @ emission.C.T
    var = P.reshape(T, -1) @ CC.T
    if emission.V is not None:
        xx = (x[:, :, None] * x[:, None, :]).reshape(T, -1)
        var = var + xx @ np.broadcast_to(emission.V, (m, r, r)).reshape(m, -1).T
    return Smoothed(x, P, lag, signal, var, logp, end)


def _block_tridiagonal(D: Array, off: Array, h: Array) -> tuple[Array, Array, Array, float]:
    """Solve M x = h and return x, diagonal blocks and (t, t+1) blocks of M⁻¹, log det M."""
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


def smooth_states(model: SequenceModel, beliefs: Sequence[Belief]) -> list[Belief]:
    """Each of the filtered `beliefs` without levels given the data of all of them (Rauch, Tung and Striebel). O(T r³).

    Covariances by Joseph's form, a sum of squares: P may be singular, as after entries of any precision.
    """
    A, Q, _ = model.dynamics
    out = [beliefs[-1]]
    for s in reversed(beliefs[:-1]):
        G = s.P @ A.T @ inv(A @ s.P @ A.T + Q)
        kept = np.eye(len(A)) - G @ A
        P = kept @ s.P @ kept.T + G @ (Q + out[-1].P) @ G.T
        out.append(Belief(s.x + G @ (out[-1].x - A @ s.x), (P + P.T) / 2))
    return out[::-1]
