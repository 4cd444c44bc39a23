"""Dense linear algebra on small matrices as compiled loops, for ``compiled``: the twin of ``core.linalg``."""

from __future__ import annotations

from math import sqrt

import numpy as np

from ..cores.loops import inlined, loops

TILE = 16
"""As in ``core.linalg``."""


@loops
def dot(a, b, n):  # type: ignore[no-untyped-def]
    """The first n terms of aᵀb."""
    total = 0.0
    for k in range(n):
        total += a[k] * b[k]
    return total


@loops
def cholesky(M, L, n, rcond):  # type: ignore[no-untyped-def]
    """L (n × n, lower) with M = LLᵀ, and whether M is positive definite: ``linalg.cholesky``."""
    least, total = np.inf, 0.0
    for i in range(n):
        for j in range(i):
            L[i, j] = (M[i, j] - dot(L[i], L[j], j)) / L[j, j]
        square = M[i, i] - dot(L[i], L[i], i)
        if not square > 0.0:
            return False
        L[i, i] = sqrt(square)
        least, total = min(least, square), total + square
    return least > rcond * total


@loops
def forward(L, x, n):  # type: ignore[no-untyped-def]
    """x ← L⁻¹x."""
    for i in range(n):
        x[i] = (x[i] - dot(L[i], x, i)) / L[i, i]


@loops
def backward(L, x, n):  # type: ignore[no-untyped-def]
    """x ← L⁻ᵀx."""
    for i in range(n - 1, -1, -1):
        x[i] /= L[i, i]
        for k in range(i):
            x[k] -= L[i, k] * x[i]


@inlined
def into_tiles(C, index, first, n, tiles, at):  # type: ignore[no-untyped-def]
    """Copies n rows, those in ``index`` from ``first`` on, into tiles of sixteen columns, from their row ``at`` on."""
    last = len(tiles) - 2
    width = C.shape[1] - last * TILE
    for i in range(n):
        row = C[index[first + i]]
        for s in range(last):
            for k in range(TILE):
                tiles[s, at + i, k] = row[s * TILE + k]
        for k in range(width):
            tiles[last, at + i, k] = row[last * TILE + k]


@inlined
def add_products(tiles, rows, sums):  # type: ignore[no-untyped-def]
    """sums ← sums + Σ c cᵀ over the first ``rows`` rows in the tiles: its lower triangle, as ``linalg.gram`` does."""
    q, last, product = len(sums), len(tiles) - 2, tiles[-1, :TILE]
    width = q - last * TILE
    for s in range(last + 1):
        for t in range(s + 1):
            np.dot(tiles[s, :rows].T, tiles[t, :rows], product)
            for i in range(TILE if s < last else width):
                for k in range(TILE if t < last else width):
                    sums[s * TILE + i, t * TILE + k] += product[i, k]


@loops
def add_gram(C, index, n, sums, tiles):  # type: ignore[no-untyped-def]
    """sums ← sums + Σ c cᵀ over the first n rows in ``index``, its lower triangle."""
    for first in range(0, n, tiles.shape[1]):
        rows = min(tiles.shape[1], n - first)
        into_tiles(C, index, first, rows, tiles, 0)
        add_products(tiles, rows, sums)


@loops
def inverse(L, F, n):  # type: ignore[no-untyped-def]
    """L⁻ᵀ into F; the sum of its squares."""
    total = 0.0
    for j in range(n):  # column j of L⁻¹ is row j of L⁻ᵀ
        for k in range(n):
            F[j, k] = 1.0 if k == j else 0.0
        forward(L, F[j], n)
        total += dot(F[j], F[j], n)
    return total
