"""Coefficients and predictive variances under a fixed dictionary, compiled: the twin of ``projecting_numpy``."""

from __future__ import annotations

import numpy as np

from ..core.filter.state import EPS
from ..cores.loops import loops
from .compiled_counted import doubted, trust
from .compiled_groups import SQUARES, count
from .compiled_steps import coefficients, look_at, normal_equations, root, space
from .loops import dot, inverse


@loops
def square(F, c, u, r):  # type: ignore[no-untyped-def]
    """‖Fᵀc‖²; u is room."""
    u[:r] = 0.0
    for i in range(r):
        for k in range(r):
            u[k] += c[i] * F[i, k]
    return dot(u, u, r)


@loops
def shared_part(St, z, F, noise, u, r):  # type: ignore[no-untyped-def]
    """zᵀVz + tr(ṼΣ), what the predictive variances of all features of a group have in common, with Σ = σ² FFᵀ."""
    q, total = len(z), 0.0
    for i in range(q):
        total += dot(St[i], z, q) ** 2 + noise * square(F, St[i], u, r)
    return total


@loops
def observed_noise(ratio, sizes, seen, n, share):  # type: ignore[no-untyped-def]
    """See ``projecting_numpy.Noises.of_coefficients``; ``share`` is how much of x comes from the row."""
    weighted, size, all_sizes = 0.0, 0.0, sizes.sum()
    for i in range(n):
        weighted += ratio[seen[i]] * sizes[seen[i]]
        size += sizes[seen[i]]
    if not size > EPS * all_sizes:
        return 1.0
    return 1.0 + share * (weighted / size - 1.0)


@loops
def project_rows(  # type: ignore[no-untyped-def]
    C, Y, own, matrices, xbar, lam, noise, scale, rules, X, variance, ratio, sizes, complete_too
):
    """Write the coefficients of the rows of Y under a fixed C into X; returns how many rows were done.

    Complete rows are passed over unless ``complete_too``. Into ``variance``, unless it has no rows, the predictive
    variance of the missing entries as ``projecting.predict`` has it: κ_i²(σ² + zᵀVz + tr(ṼΣ)) + κ̄² c_iᵀΣc_i, with
    V = scale · SSᵀ, κ_i² in ``ratio`` and ‖c_i‖² in ``sizes``.
    """
    m, q = C.shape
    r, group, facts, active = rules.r, own.group, own.facts, own.active
    roots, V = own.covariances[0], own.covariances[1]
    room, line, tiles = space(m, q)
    F, z, u, common = room[4], line[2], line[5], facts[SQUARES]
    seen, missing_idx, y = np.empty(m, np.intp), np.empty(m, np.intp), np.empty(m)
    for s in range(len(Y)):
        n, n_missing = look_at(Y[s], seen, y, missing_idx)
        if n_missing == 0 and not complete_too:
            continue
        if not normal_equations(C, seen, y, n, missing_idx, n_missing, matrices[0], room[0], line[0], tiles):
            return s
        if rules.doubts and n > 0:
            n_active = count(group, facts, active, seen, n)
            alike = trust(facts, active, n_active, V, n, lam, matrices[2], xbar)
            doubted(C, seen, y, n, group, facts, active, n_active, V, alike, room[0], line[0], room[5])
        fitted, by_prior = coefficients(n, matrices, xbar, noise, rules, room, line)
        if fitted < 0.0:
            return s
        X[s] = z[:r]
        if s < len(variance):
            if by_prior == 0.0:
                inverse(room[1], room[3], r)
            root(by_prior > 0.0 and not rules.ridge, r, room)
            common[:] = -1.0
            of_x = noise * observed_noise(ratio, sizes, seen, n, fitted / r)
            for i in range(n_missing):
                j = missing_idx[i]
                k = group[j]
                if common[k] < 0.0:
                    common[k] = shared_part(roots[k], z, F, noise, u, r)
                variance[s, j] = ratio[j] * (noise + scale * common[k]) + of_x * square(F, C[j], u, r)
    return len(Y)
