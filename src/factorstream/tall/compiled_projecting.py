"""Coefficients and predictive variances under a fixed dictionary, compiled: the twin of ``projecting_numpy``."""

from __future__ import annotations

import numpy as np

from .compiled_steps import coefficients, look_at, normal_equations, root, space
from .loops import dot, inverse, loops


@loops
def square(F, c, u, r):  # type: ignore[no-untyped-def]
    """‖Fᵀc‖²; u is room."""
    u[:r] = 0.0
    for i in range(r):
        for k in range(r):
            u[k] += c[i] * F[i, k]
    return dot(u, u, r)


@loops
def project_rows(C, Y, matrices, xbar, noise, scale, rules, X, variance, complete_too):  # type: ignore[no-untyped-def]
    """Write the coefficients of the rows of Y under a fixed C into X; returns how many rows were done.

    Complete rows are passed over unless ``complete_too``. Into ``variance``, unless it has no rows, the predictive
    variance of the missing entries as ``projecting.predict`` has it: σ² + zᵀVz + tr(ṼΣ) + c_iᵀΣc_i, V = scale · SSᵀ.
    """
    m, q = C.shape
    r, St = rules.r, matrices[1]
    room, line, tiles = space(m, q)
    F, z, u = room[4], line[2], line[5]
    seen, missing_idx, y = np.empty(m, np.intp), np.empty(m, np.intp), np.empty(m)
    for s in range(len(Y)):
        n, n_missing = look_at(Y[s], seen, y, missing_idx)
        if n_missing == 0 and not complete_too:
            continue
        if not normal_equations(C, seen, y, n, missing_idx, n_missing, matrices[0], room[0], line[0], tiles):
            return s
        fitted, by_prior = coefficients(n, matrices, xbar, noise, rules, room, line)
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
            for i in range(n_missing):
                j = missing_idx[i]
                variance[s, j] = noise * (1.0 + square(F, C[j], u, r)) + scale * common
    return len(Y)
