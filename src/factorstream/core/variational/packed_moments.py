"""x xᵀ + Σ of many rows, packed, and traces of them: every number is read and written once where loops are compiled.

NumPy stays as the way without them, in blocks that fit into a processor's cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from ...arrays import empty_beside, is_here, launched, namespace, picked, zeros_beside
from ...cores import PASS, compiling, each_piece
from .packed import DONE, MANY, Array, Index, beside_once, layout, layout_beside, outer, size

LOOPS = "factorstream.core.variational.compiled_moments"
"""Where the compiled loops are."""

KERNEL = "factorstream.core.variational.triton_moments"
"""Where the kernel for a GPU is."""

CACHE = 2**17
"""Floats in a temporary that should stay in a processor's cache: 1 MiB, which NumPy works on for a while without
Python's lock. Speed only."""


def second_moments(X: Array, V: Array, scale: Array) -> Array:
    """scale_b (x_b x_bᵀ + V_b): (N, q), (N, p), (N,) -> (N, p)."""
    if not is_here(X):
        found = _by_kernel(X, V, scale, X.shape[1])
        return (outer(X) + V) * scale[:, None] if found is None else found
    out, o = np.empty(V.shape), layout(X.shape[1])

    def fill(rows: slice) -> None:
        for b in _in_cache(rows, V.shape[1]):
            np.add(outer(X[b]), V[b], out=out[b])
            out[b] *= scale[b, None]

    if not _looped("second_moments", out, X.shape[1], X, V, scale, o.i, o.j):
        each_piece(fill, len(X), PASS * out.size)
    return out


@lru_cache(maxsize=128)
def interior(r: int, q: int) -> tuple[Index, Index]:
    """Where a packed q × q matrix keeps its leading r × r block, in the packed order of size r, and its last column.

    The arrays are shared: do not write into them.
    """
    small, big = layout(r), layout(q)
    return big.position[small.i, small.j], big.position[:r, q - 1]


def exterior(r: int, q: int) -> tuple[Index]:
    """Of each packed position inside size q: its position in the leading r x r block, or the one after its last."""
    inside, found = interior(r, q)[0], np.full(size(q), size(r))
    found[inside] = np.arange(size(r))
    return (found,)


def leading_moments(X: Array, Sigma: Array, r: int) -> Array:
    """x_b x_bᵀ with Σ_b added to its leading r x r block: (N, q), (N, p') -> (N, p)."""
    if not is_here(X):
        if (found := _by_kernel(X, Sigma, None, r)) is not None:
            return found
        (positions,) = beside_once(X, exterior, r, X.shape[1])
        some = namespace(X).concat([Sigma, zeros_beside(X, X.shape[0], 1)], axis=1)
        return outer(X) + picked(some, positions, 1)
    inside = interior(r, X.shape[1])[0]
    out, o = np.empty((len(X), size(X.shape[1]))), layout(X.shape[1])

    def fill(rows: slice) -> None:
        some = outer(X[rows])
        some[:, inside] += Sigma[rows]
        out[rows] = some

    if not _looped("leading_moments", out, X.shape[1], X, Sigma, inside, o.i, o.j):
        each_piece(fill, len(X), 3 * PASS * out.size)
    return out


def _by_kernel(X: Array, V: Array, scale: Array | None, r: int) -> Array | None:
    """scale_b (x_b x_bᵀ + V_b), V_b as large as the leading r x r block, by a kernel; None where it cannot be used."""
    N, q = X.shape
    if N * q**3 < MANY:  # not worth compiling
        return None
    out, o, (positions,) = empty_beside(X, N, size(q)), layout_beside(X, q), beside_once(X, exterior, r, q)
    return out if launched(X, KERNEL, "moments", X, V, scale, o.i, o.j, positions, out) else None


def moment_traces(X: Array, V: Array, S: Array) -> Array:
    """tr((x_b x_bᵀ + V_b) S_b): (N, q), (N, p), (N, p) -> (N,)."""
    if not is_here(X):
        return ((outer(X) + V) * S) @ layout_beside(X, X.shape[1]).weight
    out, o = np.empty(len(X)), layout(X.shape[1])

    def fill(rows: slice) -> None:
        for b in _in_cache(rows, V.shape[1]):
            M = outer(X[b])
            M += V[b]
            M *= S[b]
            out[b] = M @ o.weight

    if not _looped("moment_traces", out, X.shape[1], X, V, S, o.weight, o.i, o.j):
        each_piece(fill, len(X), 2 * PASS * V.size)
    return out


def traces(A: Array, B: Array, q: int) -> Array:
    """tr(A_b B_b) of symmetric q x q matrices: (N, p), (N, p) -> (N,)."""
    if not is_here(A):
        return (A * B) @ layout_beside(A, q).weight
    out, weight = np.empty(len(A)), layout(q).weight

    def fill(rows: slice) -> None:
        for b in _in_cache(rows, A.shape[1]):
            out[b] = (A[b] * B[b]) @ weight

    if not _looped("traces", out, q, A, B, weight):
        each_piece(fill, len(A), PASS * A.size)
    return out


def leading(A: Array, K: Array, r: int, q: int) -> Array:
    """The leading r x r blocks of q x q matrices, and K added: (N, p), (p',) -> (N, p')."""
    inside, _ = beside_once(A, interior, r, q)
    if not is_here(A):
        return picked(A, inside, 1) + K
    out = np.empty((len(A), inside.size))

    def fill(rows: slice) -> None:
        np.take(A[rows], inside, axis=1, out=out[rows], mode="clip")
        out[rows] += K

    if not _looped("leading", out, r, A, inside, K):
        each_piece(fill, len(A), 2 * PASS * out.size)
    return out


def has_loops(N: int, q: int) -> bool:
    """Whether compiled loops can be used for N symmetric q x q matrices: so many that their inverses use theirs."""
    return compiling.applies(N * q**3 >= MANY, LOOPS)


def _in_cache(rows: slice, width: int) -> Iterator[slice]:
    """The rows in parts of at most CACHE floats."""
    step = max(1, CACHE // max(1, width))
    return (slice(s, min(rows.stop, s + step)) for s in range(rows.start, rows.stop, step))


def _looped(name: str, out: Array, q: int, *arguments: Any) -> bool:
    """Fill all rows of ``out`` by the compiled loop of this name; False where NumPy has to do it instead."""
    N = len(out)
    if N == 1 or not has_loops(N, q):  # of one row NumPy makes as much in a call
        return False
    from . import compiled_moments

    loop, arrays = getattr(compiled_moments, name), [np.ascontiguousarray(some) for some in arguments]

    def some(rows: slice) -> int:
        return compiling.call(loop, rows.start, rows.stop, *arrays, out)

    if some(slice(0, 0)) != DONE:  # compiled before any thread has begun
        return False
    each_piece(some, N, PASS * N * size(q))
    return True
