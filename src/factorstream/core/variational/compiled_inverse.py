"""Stacks of packed symmetric matrices inverted by compiled loops: the twin of ``packed.invert``.

LAPACK takes about as long for a matrix, but SciPy calls it for one at a time and keeps Python's lock meanwhile, so that
only one thread works. Several threads run these loops at once. They take LANES matrices together, entry by entry, so
that the innermost loop is as long whatever the size of a matrix, and goes through memory that lies together.
"""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from ...cores.loops import loops

LANES = 32
"""Matrices that are inverted together. With 16 it takes 1.2 times as long at q = 41, with 64 as long; speed only."""


@loops
def invert(a, B, position, solution, logdet):  # type: ignore[no-untyped-def]
    """A_b (N × p, packed) replaced by its inverse; A_b⁻¹ b_b and log det A_b⁻¹ into the last two.

    Returns the number of a matrix that is not positive definite, or -1. With A = UᵀU and R = U⁻ᵀ the inverse is RᵀR.
    """
    N, q = B.shape
    T, total = np.empty((q, q, LANES)), np.empty(LANES)
    for start in range(0, N, LANES):
        stop = min(start + LANES, N)
        some = a[start:stop]
        bad = _factor(some, position, T, total, logdet[start:stop])
        if bad >= 0:
            return start + bad
        _invert_factor(T, total, stop - start)
        _solve(T, B[start:stop], total, solution[start:stop])
        _multiply(T, total, position, some)
    return -1


@loops
def _factor(a, position, T, total, logdet):  # type: ignore[no-untyped-def]
    """U above the diagonal of T, and one over its diagonal on it; -2 Σ log of the diagonal of U into the last.

    Returns the number of a matrix that is not positive definite, or -1.
    """
    n, q = len(a), len(T)
    for lane in range(n):
        logdet[lane] = 0.0
    for i in range(q):
        scale = T[i, i]
        for j in range(i, q):
            for lane in range(n):
                total[lane] = a[lane, position[i, j]]
            for k in range(i):
                left, right = T[k, i], T[k, j]
                for lane in range(n):
                    total[lane] -= left[lane] * right[lane]
            if j == i:
                for lane in range(n):
                    if not total[lane] > 0.0:
                        return lane
                    logdet[lane] -= log(total[lane])
                    scale[lane] = 1.0 / sqrt(total[lane])
            else:
                entry = T[i, j]
                for lane in range(n):
                    entry[lane] = total[lane] * scale[lane]
    return -1


@loops
def _invert_factor(T, total, n):  # type: ignore[no-untyped-def]
    """R below the diagonal of T, which is its own already, from U above."""
    q = len(T)
    for i in range(q):
        scale = T[i, i]
        for j in range(i):
            for lane in range(n):
                total[lane] = 0.0
            for k in range(j, i):
                left, right = T[k, i], T[k, j]
                for lane in range(n):
                    total[lane] -= left[lane] * right[lane]
            entry = T[i, j]
            for lane in range(n):
                entry[lane] = total[lane] * scale[lane]


@loops
def _solve(T, B, total, solution):  # type: ignore[no-untyped-def]
    """Rᵀ(R b)."""
    n, q = B.shape
    for lane in range(n):
        for i in range(q):
            solution[lane, i] = 0.0
    for k in range(q):
        for lane in range(n):
            total[lane] = 0.0
        for j in range(k + 1):
            for lane in range(n):
                total[lane] += T[k, j, lane] * B[lane, j]
        for i in range(k + 1):
            for lane in range(n):
                solution[lane, i] += total[lane] * T[k, i, lane]


@loops
def _multiply(T, total, position, a):  # type: ignore[no-untyped-def]
    """RᵀR, packed."""
    n, q = len(a), len(T)
    for i in range(q):
        for j in range(i, q):
            for lane in range(n):
                total[lane] = 0.0
            for k in range(j, q):
                left, right = T[k, i], T[k, j]
                for lane in range(n):
                    total[lane] += left[lane] * right[lane]
            for lane in range(n):
                a[lane, position[i, j]] = total[lane]
