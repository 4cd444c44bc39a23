"""Stacks of symmetric q x q matrices, one per row, in LAPACK's rectangular full packed order.

A row holds the p = q(q+1)/2 distinct entries of one matrix, so that a weighted sum of matrices over
samples or features is ONE matrix product, and ?PFTRF / ?PFTRI factor and invert the row in place: no
unpacking, half the flops and half the memory of q x q storage. Nothing outside this file knows the order.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpftrf, dpftri, dpftrs, dtrttf

from ...arrays import beside, device_of, empty_beside, is_here, launched, namespace, picked, zeros_beside
from ...cores import compiling, each_piece
from .stacked_inverse import inverse_and_logdet

Array = Any
"""An array of any library (``factorstream.arrays``), of double precision."""

Mask = Any
"""One of booleans."""

Index = NDArray[np.intp]

STACKED = 10
"""Up to this q a stack of NumPy inverses (measured: 1 µs each at q=6) beats a LAPACK call per matrix (4 µs)."""


LOOPS = "factorstream.core.variational.compiled_inverse"
"""Where the compiled loops are."""

DONE = -1
"""What the loops return where all matrices are positive definite."""

MANY, LARGE, INVERSION = 2**24, 100, 1 / 5
"""Stacks from N q³ = MANY on go through compiled loops where q is at most LARGE, and cost INVERSION times N q³ in the
unit of ``cores.pieces``. On one thread the loops take a tenth of the time otherwise at q = 10, two thirds at q = 41 and
1.6 times as long at q = 101; but several threads run them at once, while SciPy keeps Python's lock. Rough; speed and
rounding only."""

KERNEL, KERNEL_LARGEST = "factorstream.core.variational.triton_inverse", 48
"""Where the kernel for a GPU is, and the largest q that it has room for."""

ROOM = 2**26
"""Numbers of a stack of q x q matrices that are unpacked at once on a device: half a GiB. Memory and speed only."""


class Layout(NamedTuple):
    """Where the entries of a symmetric q x q matrix sit in a packed row of length p = q(q+1)/2."""

    i: Index  # (p,) row of each packed entry
    j: Index  # (p,) column of each packed entry
    position: Index  # (q, q) packed position of entry (i, j), symmetric
    diagonal: Index  # (q,) packed positions of the diagonal
    flat: Index  # (p,) position of each packed entry in the q x q matrix, row by row
    weight: Array  # (p,) 1 on the diagonal, 2 off it: tr(A B) = sum(weight * a * b)


@lru_cache(maxsize=128)
def layout(q: int) -> Layout:
    """Packed order of size q. The arrays are shared: do not write into them."""
    if q == 0:
        none = np.zeros(0, dtype=np.intp)
        return Layout(none, none, none.reshape(0, 0), none, none, np.zeros(0))
    flat, _ = dtrttf(np.arange(q * q, dtype=np.float64).reshape(q, q))
    i, j = np.divmod(np.rint(flat).astype(np.intp), q)
    position = np.empty((q, q), dtype=np.intp)
    position[i, j] = position[j, i] = np.arange(i.size)
    return Layout(i, j, position, np.diagonal(position).copy(), i * q + j, np.where(i == j, 1.0, 2.0))


_moved: dict[tuple[Any, ...], Any] = {}


def beside_once(A: Array, make: Callable[..., Any], *sizes: int) -> Any:
    """The index arrays ``make(*sizes)``, a tuple, beside A; they go once to each device. Do not write into them."""
    if type(A) is np.ndarray or is_here(A):
        return make(*sizes)
    key = (make, sizes, namespace(A), str(device_of(A)))
    if key not in _moved:
        found = make(*sizes)
        parts = [beside(part, A) for part in found]
        _moved[key] = type(found)(*parts) if hasattr(found, "_fields") else tuple(parts)
    return _moved[key]


def layout_beside(A: Array, q: int) -> Layout:
    """``layout(q)`` beside an array."""
    found: Layout = beside_once(A, layout, q)
    return found


def size(q: int) -> int:
    """Length p of a packed row."""
    return q * (q + 1) // 2


def pack(A: Array) -> Array:
    """(..., q, q) -> (..., p)."""
    q = A.shape[-1]
    if type(A) is np.ndarray:  # the way of all libraries, in fewer calls; also below
        return A.reshape(*A.shape[:-2], q * q).take(layout(q).flat, -1)
    return picked(namespace(A).reshape(A, (*A.shape[:-2], q * q)), layout_beside(A, q).flat, -1)


def unpack(a: Array, q: int) -> Array:
    """(..., p) -> (..., q, q)."""
    if type(a) is np.ndarray:
        return a.take(layout(q).position, -1)
    xp = namespace(a)
    where = xp.reshape(layout_beside(a, q).position, (q * q,))
    return xp.reshape(picked(a, where, -1), (*a.shape[:-1], q, q))


def outer(X: Array) -> Array:
    """Packed x xᵀ of every row: (B, q) -> (B, p)."""
    if type(X) is np.ndarray:
        o = layout(X.shape[1])
        return X.take(o.i, 1) * X.take(o.j, 1)
    o = layout_beside(X, X.shape[1])
    return picked(X, o.i, 1) * picked(X, o.j, 1)


def invert(a: Array, B: Array) -> tuple[Array, Array, Array]:
    """Invert every matrix IN PLACE and solve one system with each. Cost q³ flops per row.

    a (N, p) positive definite, overwritten by its inverse; B (N, q) right-hand sides.
    Returns (inverse (N, p), A_b⁻¹ b_b (N, q), log det of the INVERSE (N,)).
    """
    N, q = B.shape
    if q == 0:
        return a, B, zeros_beside(B, N)
    if not is_here(a):
        return _invert_elsewhere(a, B)
    if q <= LARGE and compiling.applies(N * q**3 >= MANY, LOOPS) and (found := _invert_compiled(a, B)) is not None:
        return found
    if q <= STACKED:
        return _invert_small(a, B)
    solution, diagonal = np.empty_like(B), np.empty_like(B)
    where = layout(q).diagonal
    for b in range(N):  # 13 µs per matrix at q=41, where np.linalg.inv on the stack takes 32
        factor, info = dpftrf(q, a[b], overwrite_a=1)
        if info != 0:
            raise np.linalg.LinAlgError(f"matrix {b} of the stack is not positive definite")
        diagonal[b] = factor[where]
        x, _ = dpftrs(q, factor, B[b])
        solution[b] = x[:, 0] if x.ndim == 2 else x
        a[b], _ = dpftri(q, factor, overwrite_a=1)
    return a, solution, -2.0 * np.log(diagonal).sum(axis=1)


def _invert_compiled(a: Array, B: Array) -> tuple[Array, Array, Array] | None:
    """The same by loops that several threads run at once; None, and nothing changed, where the compiler fails."""
    from . import compiled_inverse

    N, q = B.shape
    solution, logdet, position = np.empty_like(B), np.empty(N), layout(q).position
    lanes = compiled_inverse.LANES

    def some(groups: slice) -> int:
        rows = slice(lanes * groups.start, lanes * groups.stop)
        return compiling.call(compiled_inverse.invert, a[rows], B[rows], position, solution[rows], logdet[rows])

    if some(slice(0, 0)) != DONE:  # compiled before any thread has begun
        return None
    if max(each_piece(some, -(-N // lanes), INVERSION * N * q**3)) != DONE:
        raise np.linalg.LinAlgError("a matrix of the stack is not positive definite")
    return a, solution, logdet


def _invert_small(a: Array, B: Array) -> tuple[Array, Array, Array]:
    """The same through NumPy's stacks, which win while a call costs more than its flops."""
    A = unpack(a, B.shape[1])
    factor = np.linalg.cholesky(A)  # also the check that the matrices are positive definite
    inverse = np.linalg.inv(A)
    a[...] = pack(inverse)
    logdet = -2.0 * np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
    return a, np.einsum("bij,bj->bi", inverse, B), logdet


def _invert_elsewhere(a: Array, B: Array) -> tuple[Array, Array, Array]:
    """The same by stacks of another library; its log-determinants may not be finite where NumPy raises an error."""
    N, q = B.shape
    if q <= KERNEL_LARGEST and N * q**3 >= MANY:  # worth compiling
        solution, logdet = empty_beside(B, N, q), empty_beside(B, N)
        if launched(a, KERNEL, "invert", a, B, layout_beside(a, q).position, solution, logdet):
            return a, solution, logdet
    step = max(1, ROOM // (q * q))
    if step >= N:
        return _stack_inverted(a, B)
    solution, logdet = zeros_beside(B, N, q), zeros_beside(B, N)
    for s in range(0, N, step):
        b = slice(s, min(s + step, N))
        a[b, :], solution[b, :], logdet[b] = _stack_inverted(a[b, :], B[b, :])
    return a, solution, logdet


def _stack_inverted(a: Array, B: Array) -> tuple[Array, Array, Array]:
    inverse, logdet = inverse_and_logdet(unpack(a, B.shape[1]))
    return pack(inverse), (inverse @ B[:, :, None])[:, :, 0], logdet


def congruence(a: Array, T: Array, chunk: int = 256) -> Array:
    """Packed Tᵀ A_b T for every row: (N, p) and (q, k) -> (N, k(k+1)/2). Cost 2 q² k + 2 q k² per row."""
    N, (q, k) = a.shape[0], T.shape
    if not is_here(a):
        chunk = max(1, ROOM // (q * q))
    out = zeros_beside(a, N, size(k))
    for s in range(0, N, chunk):
        b = slice(s, min(s + chunk, N))
        out[b, :] = pack(T.T @ (unpack(a[b, :], q) @ T))
    return out
