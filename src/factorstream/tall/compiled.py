"""Samples one at a time, compiled: ``recursion.absorb`` and the passes over C around it, written out as loops.

NumPy spends some fifty microseconds per sample on calls, whatever the sizes; here a sample of twenty features
takes two. The NumPy way in ``filtering`` is the twin that the tests hold this to. What is rare is left to that
twin: a sample that cannot be taken in here is handed back with nothing changed.

``small`` holds G, Sᵀ, T and Q (4 × q × q, T in the corner), ``numbers`` λ, noise_sum, noise_dof and k: the arrays of
``state.SmallState``, updated in place. ``room`` and ``line`` are room for matrices (6 × q × q) and vectors (6 × q),
``tiles`` for rows of C cut into tiles of sixteen columns (tiles × rows × 16), with one tile more for their products.

They are few arrays, because that shortens the compilation. ``numba`` comes with the extra ``fast``; only ``kernel``
imports this file. Its cache of compiled code does not notice a change in ``loops``: ``make compiled`` clears it.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from .loops import TILE, add_gram, backward, cholesky, dot, forward, inverse, loops

CANCELLATION, EPS = 1e-6, 2.0**-52
"""As in ``core``, once more: the cache of compiled code would miss a change there (a test compares them)."""

TILE_ROWS = 1024
"""Rows of C that are gathered at once."""


class Rules(NamedTuple):
    """The part of ``state.Model`` that the loops know."""

    r: int
    ridge: bool
    """MAP: x ~ N(0, I), always; otherwise least squares, or x ~ N(x̄, T) where too little is observed."""
    kalman: bool
    """Algorithm 1's gain; otherwise Broyden's."""
    drifts: bool
    learn_noise: bool
    learn_prior: bool
    track_noise: bool
    enough: int
    rcond: float


@loops
def drift(small, numbers, noise, room):  # type: ignore[no-untyped-def]
    """``covariance.drift``: the square root of V + Q_V λ/σ² into room[5]; whether there is one."""
    St, Q, V = small[1], small[3], room[4]
    q = len(St)
    for i in range(q):
        for k in range(q):
            V[i, k] = Q[i, k] * (numbers[0] / noise)
        for j in range(q):
            for k in range(q):
                V[i, k] += St[j, i] * St[j, k]
    return cholesky(V, room[5], q, 0.0)


@loops
def from_prior(x, small, xbar, noise, rules, room, u):  # type: ignore[no-untyped-def]
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
        if not cholesky(small[2], B, r, 0.0):
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
def learn_prior(x, d, T, xbar, weight, with_mean, doubt, room):  # type: ignore[no-untyped-def]
    """The coefficients' moments as in ``recursion._learn``; ``doubt`` is σ² where x came from the prior, else zero."""
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
    if doubt > 0.0:  # T ← T + weight Σ,  Σ = σ² FFᵀ
        root(True, r, room)
        F = room[4]
        for i in range(r):
            for k in range(i + 1):
                T[i, k] += weight * doubt * dot(F[i], F[k], r)
                T[k, i] = T[i, k]


@loops
def normal_equations(C, seen, y, n, gone, n_gone, G_all, G, b, tiles):  # type: ignore[no-untyped-def]
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
    from_gone = n_gone < n
    G[:] = 0.0
    add_gram(C, gone if from_gone else seen, n_gone if from_gone else n, G, tiles)
    exact = True
    for i in range(q):
        for k in range(i + 1):
            if from_gone:
                G[i, k] = G_all[i, k] - G[i, k]
            G[k, i] = G[i, k]
        exact &= not from_gone or n_gone == 0 or G[i, i] > CANCELLATION * G_all[i, i]
    return exact


@loops
def coefficients(n, small, xbar, noise, rules, room, line):  # type: ignore[no-untyped-def]
    """x, and a mean's 1, into line[2]; the degrees of freedom it took, or −1; σ² if it came from the prior, else 0."""
    r, q, G, b, z = rules.r, len(line[0]), room[0], line[0], line[2]
    for i in range(r):
        z[i] = b[i] - (G[i, r] if q > r else 0.0)
    if q > r:
        z[r] = 1.0
    if not rules.ridge and n >= rules.enough and cholesky(G, room[1], r, rules.rcond):
        forward(room[1], z, r)
        backward(room[1], z, r)
        return float(r), 0.0
    return from_prior(z, small, xbar, noise, rules, room, line[5]), noise


@loops
def take_in(C, seen, y, n, gone, n_gone, small, xbar, numbers, rules, room, line, tiles):  # type: ignore[no-untyped-def]
    """``recursion.absorb``, and C ← C + e gᵀ; returns ‖e‖² and xᵀVx / s, or −1 with nothing changed."""
    q, G_all, St, G = C.shape[1], small[0], small[1], room[0]
    b, h, z, g, f = line[0], line[1], line[2], line[3], line[4]
    if not normal_equations(C, seen, y, n, gone, n_gone, G_all, G, b, tiles):
        return -1.0, 0.0
    lam = numbers[0]
    noise = max(numbers[1] / numbers[2], EPS * lam)
    if rules.drifts and not drift(small, numbers, noise, room):
        return -1.0, 0.0
    fitted, doubt = coefficients(n, small, xbar, noise, rules, room, line)
    if fitted < 0.0:
        return -1.0, 0.0
    if rules.drifts:
        for i in range(q):
            for k in range(q):
                St[k, i] = room[5, i, k] if k <= i else 0.0
    ee = dot(y, y, n)
    for i in range(q):
        h[i] = b[i] - dot(G[i], z, q)
        ee -= z[i] * (b[i] + h[i])
    ee = max(ee, 0.0)
    xVx = gain(z, g, f, St, lam, rules.kalman)
    for k in range(q):
        h[k] += 0.5 * ee * g[k]
    for i in range(q):
        for k in range(q):
            G_all[i, k] += h[i] * g[k] + g[i] * h[k]

    weight = 2.0 / (numbers[3] + 3.0)
    if rules.learn_noise and n - fitted > 0.0:
        numbers[1] += weight * (ee / (1.0 + xVx / lam) - numbers[1])
        numbers[2] += weight * (n - fitted - numbers[2])
    if rules.learn_prior:
        learn_prior(z, f, small[2], xbar, weight, q > rules.r, doubt, room)
    if rules.track_noise:
        numbers[0] = max(numbers[1] / numbers[2], EPS * lam)
    numbers[3] += 1.0

    for i in range(n):
        row = C[seen[i]]
        e = y[i] - dot(row, z, q)
        for k in range(q):
            row[k] += e * g[k]
    return ee, xVx / (lam + xVx)


@loops
def space(m, q):  # type: ignore[no-untyped-def]
    """``room``, ``line`` and ``tiles``."""
    tiles = np.zeros(((q - 1) // TILE + 2, max(min(m, TILE_ROWS), TILE), TILE))
    return np.zeros((6, q, q)), np.zeros((6, q)), tiles


@loops
def look_at(y, seen, values, gone):  # type: ignore[no-untyped-def]
    """Where y is observed and where it is NaN, and the values; how many of each. Gaps may be anywhere: no branches."""
    n = n_gone = 0
    for j in range(len(y)):
        missing = y[j] != y[j]
        seen[n], gone[n_gone], values[n] = j, j, y[j]
        n += not missing
        n_gone += missing
    return n, n_gone


@loops
def filter_rows(C, Y, small, xbar, numbers, rules, innovation, n_observed, share):  # type: ignore[no-untyped-def]
    """Pass the rows of Y (NaN = missing) through the filter; returns how many: not all where the twin has to go on.

    C, the state and the three records, one entry per row, change in place; a row with nothing observed
    changes nothing and leaves 0 in ``n_observed``.
    """
    m, q = C.shape
    room, line, tiles = space(m, q)
    seen, gone, y = np.empty(m, np.intp), np.empty(m, np.intp), np.empty(m)
    for s in range(len(Y)):
        n, n_gone = look_at(Y[s], seen, y, gone)
        n_observed[s] = n
        if n > 0:
            ee, part = take_in(C, seen, y, n, gone, n_gone, small, xbar, numbers, rules, room, line, tiles)
            if ee < 0.0:
                return s
            innovation[s], share[s] = ee, part
    return len(Y)


@loops
def filter_sparse_rows(  # type: ignore[no-untyped-def]
    C, indptr, indices, data, origin, unseen, small, xbar, numbers, rules, innovation, n_observed, share
):
    """The same for rows whose stored entries are the observed ones, not centred.

    Features that are ``unseen`` are settled at their first value as in ``filtering.filter_sparse_rows``: that stays
    done where the sample is then handed back.
    """
    (m, q), G = C.shape, small[0]
    room, line, tiles = space(m, q)
    y = np.empty(np.max(np.diff(indptr)))
    for s in range(len(indptr) - 1):
        seen = indices[indptr[s] : indptr[s + 1]]
        n = len(seen)
        n_observed[s] = n
        if n > 0:
            for i in range(n):
                if unseen[seen[i]]:
                    row = C[seen[i]]
                    for j in range(q):
                        for k in range(q):
                            G[j, k] -= row[j] * row[k]
                    origin[seen[i]], unseen[seen[i]] = data[indptr[s] + i], False
                    row[:] = 0.0
                y[i] = data[indptr[s] + i] - origin[seen[i]]
            ee, part = take_in(C, seen, y, n, seen, m, small, xbar, numbers, rules, room, line, tiles)
            if ee < 0.0:
                return s
            innovation[s], share[s] = ee, part
    return len(indptr) - 1


@loops
def square(F, c, u, r):  # type: ignore[no-untyped-def]
    """‖Fᵀc‖²; u is room."""
    u[:r] = 0.0
    for i in range(r):
        for k in range(r):
            u[k] += c[i] * F[i, k]
    return dot(u, u, r)


@loops
def project_rows(C, Y, small, xbar, noise, doubt, rules, X, variance, everywhere):  # type: ignore[no-untyped-def]
    """The coefficients of the rows of Y under a fixed C into X; returns how many rows, as :func:`filter_rows` does.

    Into ``variance``, unless it has no rows, the predictive variance of all entries as ``projecting.predict`` has it:
    σ² + zᵀVz + tr(ṼΣ) + c_iᵀΣc_i, V = doubt · SSᵀ. Without ``everywhere`` only that of the missing ones, and complete
    rows are passed over.
    """
    m, q = C.shape
    r, St = rules.r, small[1]
    room, line, tiles = space(m, q)
    F, z, u = room[4], line[2], line[5]
    seen, gone, y = np.empty(m, np.intp), np.empty(m, np.intp), np.empty(m)
    for s in range(len(Y)):
        n, n_gone = look_at(Y[s], seen, y, gone)
        if n_gone == 0 and not everywhere:
            continue
        if not normal_equations(C, seen, y, n, gone, n_gone, small[0], room[0], line[0], tiles):
            return s
        fitted, by_prior = coefficients(n, small, xbar, noise, rules, room, line)
        if fitted < 0.0:
            return s
        X[s] = z[:r]
        if s < len(variance):
            if by_prior == 0.0:
                inverse(room[1], room[3], r)
            root(by_prior > 0.0 and not rules.ridge, r, room)
            common = 0.0
            for i in range(q):
                common += dot(St[i], z, q) ** 2 + noise * square(F, St[i], u, r)
            for i in range(m if everywhere else n_gone):
                j = i if everywhere else gone[i]
                variance[s, j] = noise * (1.0 + square(F, C[j], u, r)) + doubt * common
    return len(Y)
