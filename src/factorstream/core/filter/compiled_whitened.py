"""The loop of ``whitened`` over complete samples, compiled. Its twin ``whitened.in_numpy`` has the explanations.

Letters, shapes and order of the steps are those of the twin.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from ...cores.loops import loops

LAM, TOTAL, DOF, MU_MU = range(4)
"""Where the numbers that change are kept in ``numbers``."""


@loops
def times(M, n, x, out):  # type: ignore[no-untyped-def]
    """The first n rows of M times x, into ``out``."""
    for i in range(n):
        total = 0.0
        for k in range(len(x)):
            total += M[i, k] * x[k]
        out[i] = total


@loops
def transposed_times(v, M, n, out):  # type: ignore[no-untyped-def]
    """vᵀM over the first n rows, into ``out``: four rows at a time, so that ``out`` is written a quarter as often."""
    out[:] = 0.0
    whole = n - n % 4
    for i in range(0, whole, 4):
        a, b, c, d = v[i], v[i + 1], v[i + 2], v[i + 3]
        for k in range(len(out)):
            out[k] += a * M[i, k] + b * M[i + 1, k] + c * M[i + 2, k] + d * M[i + 3, k]
    for i in range(whole, n):
        for k in range(len(out)):
            out[k] += v[i] * M[i, k]


@loops
def subtract_outer(M, n, u, v, factor):  # type: ignore[no-untyped-def]
    """M ← M − factor · u vᵀ over the first n rows."""
    for i in range(n):
        by = factor * u[i]
        for k in range(len(v)):
            M[i, k] -= by * v[k]


@loops
def dot(a, b):  # type: ignore[no-untyped-def]
    """aᵀb."""
    total = 0.0
    for k in range(len(a)):
        total += a[k] * b[k]
    return total


@loops
def samples(  # type: ignore[no-untyped-def]
    root, H, N, P, C_mu, grown_so_far, numbers, rules, x_of, g_of, ee_of, share_of, weight_of, growth_of
):
    """``whitened.in_numpy``: matrices, C_mu, the numbers and the records change in place. The sample after the last.

    ``rules`` are r, m, whether C is doubted, whether the noise is learned and whether λ follows it, the first sample
    and the one after the last, the number of the first in the stream, the least λ relative to the last one, and the
    growth at which to stop.
    """
    r, m, doubts, learned, tracked, first, stop, k, eps, growth = rules
    q, has_mean = root.shape[1], len(C_mu) > 0
    lam, total, dof, mu_mu = numbers[LAM], numbers[TOTAL], numbers[DOF], numbers[MU_MU]
    b, p, f = np.empty(r), np.empty(r), np.empty(q)
    doubted = float(m) if doubts else 0.0
    v_mean, along, grown, free, at = 0.0, 0.0, grown_so_far[0], float(m - r), first
    if doubts and has_mean:
        for i in range(q):
            v_mean += root[i, r] * root[i, r]
            for j in range(r):
                C_mu[j] += doubted * root[i, r] * root[i, j]
    while at < stop and grown < growth:
        x, g = x_of[at], g_of[at]
        x_free, g_free = x[:r], g[:r]
        ee, b_mean = N[at, at], 0.0
        b[:] = H[at, :r]
        if has_mean:
            b_mean = H[at, r]
            ee += mu_mu - 2.0 * b_mean
            for j in range(r):
                b[j] -= C_mu[j]
        times(P, r, b, x_free)
        ee -= dot(x_free, b)

        noise = lam
        times(root, q, x, f)
        xVx = dot(f, f)
        share_of[at] = xVx / (noise + xVx)
        if doubts:
            noise = noise * (1.0 + r / m) + xVx
        s = noise + xVx
        transposed_times(f, root, q, g)
        for j in range(q):
            g[j] *= 1.0 / s
            f[j] *= s / (s + sqrt(noise) * sqrt(s))
        subtract_outer(root, q, f, g, 1.0)
        for i in range(at + 1, stop):
            along_e = N[at, i] - dot(H[i], x)
            for j in range(q):
                H[i, j] += along_e * g[j]

        times(P, r, g_free, p)
        if doubts:
            along = doubted * s
            ee = max(ee - doubted * (xVx - v_mean), 0.0)
            more = ee + along
            weight_of[at], growth_of[at] = lam / noise, more + along
        else:
            ee = max(ee, 0.0)
            more = ee
            weight_of[at], growth_of[at] = 1.0, ee
        subtract_outer(P, r, p, p, more / (1.0 + more * dot(p, g_free)))
        grown += more * dot(g_free, g_free)
        if has_mean:
            g_mean = g[r]
            mu_e = b_mean - mu_mu - dot(C_mu, x_free)
            if doubts:
                mu_e += along * g_mean - doubted * v_mean
                v_mean -= s * g_mean * g_mean
            for j in range(r):
                C_mu[j] += (mu_e + ee * g_mean) * g_free[j]
            mu_mu += (2.0 * mu_e + ee * g_mean) * g_mean

        ee_of[at] = ee
        if learned:
            weight, doubt = 2.0 / (k + 3.0), xVx / lam
            says = (1.0 + doubt) ** -2 if doubts else 1.0
            total += weight * (says * ee / (1.0 + doubt) - total)
            dof += weight * (says * free - dof)
            if tracked:
                lam = max(total / dof, eps * lam)
        k += 1
        at += 1
    if doubts and has_mean:
        for i in range(q):
            for j in range(r):
                C_mu[j] -= doubted * root[i, r] * root[i, j]
    grown_so_far[0] = grown
    numbers[LAM], numbers[TOTAL], numbers[DOF], numbers[MU_MU] = lam, total, dof, mu_mu
    return at
