"""Rows through the filter one at a time, compiled: ``recursion.absorb`` and the passes over C around it as loops.

NumPy spends some fifty microseconds per sample on calls, whatever the sizes; here a sample of twenty features
takes two. ``rows_numpy`` and ``sparse_numpy`` are the twins that the tests hold this to. What is rare is left to them:
a sample that cannot be done here is handed back with nothing changed. The arguments are those of ``compiled_steps``.
"""

from __future__ import annotations

import numpy as np

from ..cores.loops import inlined, loops
from .compiled_steps import (
    EPS,
    coefficients,
    drifted,
    gain,
    learn_prior,
    look_at,
    normal_equations,
    sample_weight,
    space,
)
from .loops import dot


@inlined
def absorb(n, yy, matrices, xbar, numbers, rules, room, line):  # type: ignore[no-untyped-def]
    """``recursion.absorb`` for C_ΩᵀC_Ω in room[0], C_Ωᵀy_Ω in line[0] and ‖y_Ω‖²; z and the gain into line[2], line[3].

    Returns ‖e‖² and xᵀVx / s, or −1 with nothing changed. C has still to move.
    """
    G_all, St, G = matrices[0], matrices[1], room[0]
    b, h, z, g, f = line[0], line[1], line[2], line[3], line[4]
    q, lam = len(b), numbers[0]
    noise = max(numbers[1] / numbers[2], EPS * lam)
    if rules.drifts and not drifted(matrices, numbers, noise, room):
        return -1.0, 0.0
    fitted, prior_noise = coefficients(n, matrices, xbar, noise, rules, room, line)
    if fitted < 0.0:
        return -1.0, 0.0
    if rules.drifts:
        for i in range(q):
            for k in range(q):
                St[k, i] = room[5, i, k] if k <= i else 0.0
    ee = yy
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

    weight = sample_weight(numbers[3])
    if rules.learn_noise and n - fitted > 0.0:
        numbers[1] += weight * (ee / (1.0 + xVx / lam) - numbers[1])
        numbers[2] += weight * (n - fitted - numbers[2])
    if rules.learn_prior:
        learn_prior(z, f, matrices[2], xbar, weight, q > rules.r, prior_noise, room)
    if rules.track_noise:
        numbers[0] = max(numbers[1] / numbers[2], EPS * lam)
    numbers[3] += 1.0
    return ee, xVx / (lam + xVx)


@loops
def filter_row(C, seen, y, n, missing_idx, n_missing, matrices, xbar, numbers, rules, room, line, tiles):  # type: ignore[no-untyped-def]
    """One sample, and C ← C + e gᵀ; returns what :func:`absorb` does."""
    q, z, g = C.shape[1], line[2], line[3]
    if not normal_equations(C, seen, y, n, missing_idx, n_missing, matrices[0], room[0], line[0], tiles):
        return -1.0, 0.0
    ee, part = absorb(n, dot(y, y, n), matrices, xbar, numbers, rules, room, line)
    for i in range(n if ee >= 0.0 else 0):
        row = C[seen[i]]
        e = y[i] - dot(row, z, q)
        for k in range(q):
            row[k] += e * g[k]
    return ee, part


@loops
def filter_rows(C, Y, matrices, xbar, numbers, rules, innovation, n_observed, share):  # type: ignore[no-untyped-def]
    """Pass the rows of Y (NaN = missing) through the filter; returns how many: not all where the twin has to go on.

    C, the state and the three records, one entry per row, change in place; a row with nothing observed
    changes nothing and leaves 0 in ``n_observed``.
    """
    m, q = C.shape
    room, line, tiles = space(m, q)
    seen, missing_idx, y = np.empty(m, np.intp), np.empty(m, np.intp), np.empty(m)
    for s in range(len(Y)):
        n, n_missing = look_at(Y[s], seen, y, missing_idx)
        n_observed[s] = n
        if n > 0:
            ee, part = filter_row(
                C, seen, y, n, missing_idx, n_missing, matrices, xbar, numbers, rules, room, line, tiles
            )
            if ee < 0.0:
                return s
            innovation[s], share[s] = ee, part
    return len(Y)


@loops
def filter_sparse_rows(  # type: ignore[no-untyped-def]
    C, indptr, indices, data, origin, unseen, matrices, xbar, numbers, rules, innovation, n_observed, share
):
    """The same for rows whose stored entries are the observed ones, not centred.

    Features that are ``unseen`` are settled at their first value as in ``sparse_products.settle``: that stays
    done where the sample is then handed back.
    """
    (m, q), G = C.shape, matrices[0]
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
            ee, part = filter_row(C, seen, y, n, seen, m, matrices, xbar, numbers, rules, room, line, tiles)
            if ee < 0.0:
                return s
            innovation[s], share[s] = ee, part
    return len(indptr) - 1
