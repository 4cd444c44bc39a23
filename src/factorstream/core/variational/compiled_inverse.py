"""Stacks of packed symmetric matrices inverted by compiled loops: the twin of ``packed.invert``.

LAPACK takes about as long for a matrix, but SciPy calls it for one at a time and keeps Python's lock meanwhile, so that
only one thread works. Several threads run these loops at once.
"""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from ...cores.loops import loops


@loops
def invert(a, B, position, solution, logdet):  # type: ignore[no-untyped-def]
    """A_b (N × p, packed) replaced by its inverse; A_b⁻¹ b_b and log det A_b⁻¹ into the last two.

    Returns the number of the first matrix that is not positive definite, or -1. With A = UᵀU and R = U⁻ᵀ the inverse
    is RᵀR. All three are made by adding multiples of rows, which lie together.
    """
    N, q = B.shape
    U, R = np.empty((q, q)), np.empty((q, q))
    for b in range(N):
        for i in range(q):
            for j in range(i, q):
                U[i, j] = a[b, position[i, j]]
        total = 0.0
        for k in range(q):
            if not U[k, k] > 0.0:
                return b
            pivot = sqrt(U[k, k])
            total += log(pivot)
            for j in range(k, q):
                U[k, j] /= pivot
            for i in range(k + 1, q):
                u = U[k, i]
                for j in range(i, q):
                    U[i, j] -= u * U[k, j]
        logdet[b] = -2.0 * total
        for i in range(q):
            for j in range(i):
                R[i, j] = 0.0
            for k in range(i):
                u = U[k, i]
                for j in range(k + 1):
                    R[i, j] -= u * R[k, j]
            for j in range(i):
                R[i, j] /= U[i, i]
            R[i, i] = 1.0 / U[i, i]
        for i in range(q):
            solution[b, i] = 0.0
            for j in range(i, q):
                U[i, j] = 0.0
        for k in range(q):
            z = 0.0
            for j in range(k + 1):
                z += R[k, j] * B[b, j]
            for i in range(k + 1):
                solution[b, i] += z * R[k, i]
                u = R[k, i]
                for j in range(i, k + 1):
                    U[i, j] += u * R[k, j]
        for i in range(q):
            for j in range(i, q):
                a[b, position[i, j]] = U[i, j]
    return -1
