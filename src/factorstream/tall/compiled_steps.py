"""One sample in compiled loops: its normal equations, coefficients, gain and what is learned from it.

The twin of ``core.filter``: a rule that changes there changes here too, and ``make compiled`` holds the two together.

``matrices`` holds G, Sᵀ, T and Q (4 × q × q, T in the corner), ``numbers`` λ, noise_sum, noise_dof and k: the arrays of
``state.SmallState``, updated in place. ``room`` and ``line`` are room for matrices (6 × q × q) and vectors (6 × q),
``tiles`` for rows of C cut into tiles of sixteen columns (tiles × rows × 16), with one tile more for their products.
They are few arrays, because that shortens the compilation.

``numba`` comes with the extra ``fast``. Its cache of compiled code does not notice a change in a file that another
one imports: ``make compiled`` clears it.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from ..cores.loops import inlined, loops
from .loops import TILE, add_gram, backward, cholesky, dot, forward, inverse

CANCELLATION, EPS = 1e-6, 2.0**-52
"""As in ``core.filter``, once more: the cache of compiled code would miss a change there (a test compares them)."""

TILE_ROWS = 1024
"""Rows of C that are gathered at once. Not tuned: their tiles fit into the second-level cache; speed only."""


class Rules(NamedTuple):
    """The part of ``FilterModel`` that the loops know."""

    r: int
    ridge: bool
    """x ~ N(0, I), always; otherwise least squares, or x ~ N(x̄, T) where too little is observed."""
    doubts: bool
    """Whether x is found for all that C may be (``compiled_counted``)."""
    kalman: bool
    """Algorithm 1's gain; otherwise Broyden's."""
    drifts: bool
    learn_noise: bool
    learn_prior: bool
    track_noise: bool
    min_observed: int
    rcond: float


@loops
def sample_weight(k):  # type: ignore[no-untyped-def]
    """As in ``core.filter.state`` (a test compares them)."""
    return 2.0 / (k + 3.0)


@loops
def drifted(matrices, numbers, noise, room):  # type: ignore[no-untyped-def]
    """``covariance.add_drift``: write the square root of V + Q_V λ/σ² into room[5]; False if it has none."""
    St, Q, V = matrices[1], matrices[3], room[4]
    q = len(St)
    for i in range(q):
        for k in range(q):
            V[i, k] = Q[i, k] * (numbers[0] / noise)
        for j in range(q):
            for k in range(q):
                V[i, k] += St[j, i] * St[j, k]
    return cholesky(V, room[5], q, 0.0)


@loops
def from_prior(x, matrices, xbar, noise, rules, room, u):  # type: ignore[no-untyped-def]
    """``coefficients.from_learned_prior`` for G in room[0] and b in x; degrees of freedom that x took, or −1.

    T = BBᵀ, M = BᵀGB + σ²I = LLᵀ, x = x̄ + B M⁻¹ Bᵀ(b − Gx̄); B is left in room[2], L⁻ᵀ in room[3].
    """
    r = rules.r
    G, L, B, F, M = room[0], room[1], room[2], room[3], room[4]
    if rules.ridge:
        for i in range(r):
            for k in range(r):
                M[i, k] = G[i, k]
    else:
        if not cholesky(matrices[2], B, r, 0.0):
            return -1.0
        for i in range(r):  # GB, for the moment in F
            for k in range(r):
                F[i, k] = 0.0
            for j in range(r):
                for k in range(j + 1):
                    F[i, k] += G[i, j] * B[j, k]
        for i in range(r):
            for k in range(r):
                M[i, k] = 0.0
            for j in range(i, r):
                for k in range(r):
                    M[i, k] += B[j, i] * F[j, k]
        for i in range(r):
            x[i] -= dot(G[i], xbar, r)
            u[i] = 0.0
        for j in range(r):
            for k in range(j + 1):
                u[k] += B[j, k] * x[j]
        for i in range(r):
            x[i] = u[i]
    for i in range(r):
        M[i, i] += noise
    if not cholesky(M, L, r, 0.0):
        return -1.0
    forward(L, x, r)
    backward(L, x, r)
    if not rules.ridge:
        for i in range(r - 1, -1, -1):
            x[i] = xbar[i] + dot(B[i], x, i + 1)
    return max(r - noise * inverse(L, F, r), 0.0)


@loops
def gain(z, g, f, St, lam, kalman):  # type: ignore[no-untyped-def]
    """The gain into g, Sᵀ updated by Potter's form (not for Broyden's rule); xᵀVx."""
    q, xVx = len(g), 0.0
    g[:] = 0.0
    for i in range(q):
        f[i] = dot(St[i], z, q)
        xVx += f[i] * f[i]
        for k in range(q):
            g[k] += f[i] * St[i, k]
    s = lam + xVx
    if kalman:
        for i in range(q):
            scaled = f[i] / (s + sqrt(lam) * sqrt(s))
            for k in range(q):
                St[i, k] -= scaled * g[k]
    for k in range(q):
        g[k] /= s
    return xVx if kalman else 0.0


@loops
def root(from_prior, r, room):  # type: ignore[no-untyped-def]
    """F into room[4], with σ² FFᵀ the covariance of x: L⁻ᵀ, or BL⁻ᵀ under x ~ N(x̄, T); B in room[2], L⁻ᵀ in room[3]."""
    B, inverted, F = room[2], room[3], room[4]
    for i in range(r):
        for k in range(r):
            F[i, k] = 0.0 if from_prior else inverted[i, k]
        for j in range(i + 1 if from_prior else 0):
            for k in range(r):
                F[i, k] += B[i, j] * inverted[j, k]


@loops
def learn_prior(x, d, T, xbar, weight, with_mean, noise, room):  # type: ignore[no-untyped-def]
    """The coefficients' moments as in ``recursion._learn``; ``noise`` is σ² where x came from the prior, else zero."""
    r = len(xbar)
    for k in range(r):
        d[k] = x[k] - xbar[k]
    share = weight * (1.0 - weight) if with_mean else weight
    for i in range(r):
        for k in range(r):
            T[i, k] = (1.0 - weight) * T[i, k] + share * d[i] * d[k]
    if with_mean:
        for k in range(r):
            xbar[k] += weight * d[k]
    if noise > 0.0:  # T ← T + weight Σ,  Σ = σ² FFᵀ
        root(True, r, room)
        F = room[4]
        for i in range(r):
            for k in range(i + 1):
                T[i, k] += weight * noise * dot(F[i], F[k], r)
                T[k, i] = T[i, k]


@loops
def normal_equations(C, seen, y, n, missing_idx, n_missing, G_all, G, b, tiles):  # type: ignore[no-untyped-def]
    """C_ΩᵀC_Ω and C_Ωᵀy_Ω for the values y at the features ``seen``; False where a difference lost too many digits."""
    q = C.shape[1]
    b[:] = 0.0
    fours = n - n % 4
    for i in range(0, fours, 4):
        c0, c1, c2, c3 = C[seen[i]], C[seen[i + 1]], C[seen[i + 2]], C[seen[i + 3]]
        y0, y1, y2, y3 = y[i], y[i + 1], y[i + 2], y[i + 3]
        for k in range(q):
            b[k] += y0 * c0[k] + y1 * c1[k] + y2 * c2[k] + y3 * c3[k]
    for i in range(fours, n):
        for k in range(q):
            b[k] += y[i] * C[seen[i], k]
    subtract = n_missing < n
    G[:] = 0.0
    add_gram(C, missing_idx if subtract else seen, n_missing if subtract else n, G, tiles)
    return completed(G, G_all, n_missing, subtract)


@inlined
def completed(G, G_all, n_missing, subtract):  # type: ignore[no-untyped-def]
    """C_ΩᵀC_Ω from its lower triangle, or, to ``subtract``, from that of the missing rows; False where that cancels."""
    q, exact = len(G), True
    for i in range(q):
        for k in range(i + 1):
            if subtract:
                G[i, k] = G_all[i, k] - G[i, k]
            G[k, i] = G[i, k]
        exact &= not subtract or n_missing == 0 or G[i, i] > CANCELLATION * G_all[i, i]
    return exact


@loops
def coefficients(n, matrices, xbar, noise, rules, room, line):  # type: ignore[no-untyped-def]
    """x, and a mean's 1, into line[2]; the degrees of freedom it took, or −1; σ² if it came from the prior, else 0."""
    r, q, G, b, z = rules.r, len(line[0]), room[0], line[0], line[2]
    for i in range(r):
        z[i] = b[i] - (G[i, r] if q > r else 0.0)
    if q > r:
        z[r] = 1.0
    if not rules.ridge and n >= rules.min_observed and cholesky(G, room[1], r, rules.rcond):
        forward(room[1], z, r)
        backward(room[1], z, r)
        return float(r), 0.0
    return from_prior(z, matrices, xbar, noise, rules, room, line[5]), noise


@loops
def space(m, q):  # type: ignore[no-untyped-def]
    """``room``, ``line`` and ``tiles``."""
    tiles = np.zeros(((q - 1) // TILE + 2, max(min(m, TILE_ROWS), TILE), TILE))
    return np.zeros((6, q, q)), np.zeros((6, q)), tiles


@loops
def look_at(y, seen, values, missing_idx):  # type: ignore[no-untyped-def]
    """Where y is observed and where it is NaN, and the values; how many of each. Gaps may be anywhere: no branches."""
    n = n_missing = 0
    for j in range(len(y)):
        missing = y[j] != y[j]
        seen[n], missing_idx[n_missing], values[n] = j, j, y[j]
        n += not missing
        n_missing += missing
    return n, n_missing
