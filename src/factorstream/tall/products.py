"""What is done to dense arrays with a feature axis: plain functions, which a ``Place`` runs where the features are.

Some give every feature something of its own (for ``place.each``), others a small array or a number that adds up over
the features (for ``place.total``). They have names, no closures and no state, so that a place may send them elsewhere
or put its own in their stead. C is (m × q), rows Y are (B × m). ``core.linalg.gram`` is one of them; those for sparse
rows are in ``sparse_products``, those for projecting in ``projecting_products``.
"""

from __future__ import annotations

import math
from math import isnan
from typing import Any

import numpy as np
from scipy.linalg import blas

from ..arrays import dtype_of, is_here, namespace
from ..core.linalg import Array, piece
from ..core.place import Place, Tall
from ..cores import MULTIPLICATION, PASS, each_of, each_piece, pieces, sum_of, sum_of_pieces

MANY = 2**18
"""Numbers from which on a pass over them may be divided among threads. Derived: below, it costs less than a piece."""

NONE_MISSING = np.empty(0, dtype=np.intp)
"""The indices of the gaps of a complete row."""

# ------------------------------------------------------------------ sums over the features


def cross(C: Array, Y: Array) -> Array:
    """K = CᵀYᵀ (q × B); BLAS is faster at its transpose, which has the long rows of Y on the left."""
    m, parts = len(C), pieces(len(C), MULTIPLICATION * C.size * len(Y))
    if len(parts) > 1:
        return np.asarray(sum_of(lambda some: (Y[:, some] @ C[some]).T.astype(np.float64, copy=False), parts))
    step = piece(m, len(Y) * C.shape[1]) if len(Y) > 1 else max(m, 1)
    K = Y @ C if step >= m else Y[:, :step] @ C[:step]
    for start in range(step, m, step):
        K += Y[:, start : start + step] @ C[start : start + step]
    return K.T.astype(np.float64, copy=False)


def self_products(Y: Array) -> Array:
    """N = YYᵀ (B × B)."""

    def some(features: slice) -> Array:
        y = Y[:, features]
        return (y @ y.T).astype(np.float64, copy=False)

    return np.asarray(sum_of_pieces(some, Y.shape[1], MULTIPLICATION * Y.size * len(Y)))


def row_products(C: Array, y: Array) -> tuple[Array, float]:
    """Cᵀy (q) and ‖y‖² of one row y (m); ``dot`` takes half the time of ``@`` for few features."""

    def part(some: slice) -> tuple[Array, float]:
        return y[some].dot(C[some]).astype(np.float64, copy=False), float(y[some].dot(y[some]))

    b, yy = sum_of_pieces(part, len(C), PASS * C.size)
    return b, yy


def square_sum(Y: Array) -> float:
    """The sum of all squares, the quickest pass over the numbers: NaN if one of them is, and infinite likewise."""
    if not is_here(Y):
        with np.errstate(over="ignore", invalid="ignore"):
            return float(namespace(Y).linalg.vector_norm(Y)) ** 2 if math.prod(Y.shape) else 0.0
    if not (Y.flags.c_contiguous or Y.flags.f_contiguous):
        return sum(square_sum(np.ascontiguousarray(row)) for row in Y)
    values = Y.ravel(order="K")
    if values.size == 0:
        return 0.0
    if values.size < MANY:
        dot = blas.ddot if Y.dtype == np.float64 else blas.sdot  # says nothing about an overflow, unlike that of NumPy
        return float(dot(values, values))
    with np.errstate(over="ignore", invalid="ignore"):
        return float(sum_of_pieces(lambda some: values[some].dot(values[some]), values.size, PASS * values.size))


def has_gaps(place: Place, Y: Tall) -> bool:
    """Whether there is a NaN in Y, which has no infinite numbers."""
    return isnan(place.total(nan_if_gaps, Y))


def nan_if_gaps(Y: Array) -> float:
    """NaN if there is a NaN in Y; otherwise a number that means nothing."""
    return square_sum(Y)


def count_missing(missing: Array) -> Array:
    """How many entries of each row are missing (B)."""

    def count(rows: slice) -> list[int]:
        return [int(np.count_nonzero(row)) for row in missing[rows]]  # quicker than np.count_nonzero(missing, axis=1)

    return np.array([n for part in each_piece(count, len(missing), PASS / 4 * missing.size) for n in part])


def n_to_centre(C: Array, origin: Array, dtype: np.dtype[Any]) -> int:
    """Of how many features the values, given as ``dtype``, have to be converted to C's or moved to the origin."""
    return int(C.shape[0]) if dtype != dtype_of(C) else int(namespace(origin).count_nonzero(origin))


def still_unseen(place: Place, unseen: Tall) -> Tall | None:
    """The mask of the features without a value yet, or None where there are no such features any more."""
    return unseen if place.total(np.count_nonzero, unseen) else None


def first_values(Y: Array, unseen: Array) -> Array:
    """How many features that are ``unseen`` have a value, row by row (B)."""
    return np.asarray(np.count_nonzero(~np.isnan(Y[:, unseen]), axis=1))


# ------------------------------------------------------------------ feature by feature


def copied(C: Array) -> Array:
    """A copy that may be changed in place."""
    out = np.empty_like(C)

    def fill(some: slice) -> None:
        out[some] = C[some]

    each_piece(fill, len(C), PASS * C.size)
    return out


def room(C: Array, n: int) -> Array:
    """Room for n rows in C's dtype."""
    return np.empty((n, len(C)), C.dtype)


def centred(Y: Array, origin: Array, room: Array, unit: Array | None = None) -> Array:
    """Y − origin, or Y / unit − origin, in the given room."""
    out = room[: len(Y)]

    def fill(rows: slice) -> None:
        some, to = Y[rows], out[rows]
        if some.dtype != to.dtype:
            to[...] = some  # converted first: the difference is to be that of converted rows, to the last digit
            some = to
        if unit is not None:
            some = np.divide(some, unit, out=to)
        np.subtract(some, origin, out=to)

    each_piece(fill, len(Y), PASS * out.size)
    return out


def centred_anew(Y: Array, origin: Array, unit: Array | None = None) -> Array:
    """The same in new room of the origin's dtype."""
    return centred(Y, origin, np.empty(Y.shape, origin.dtype), unit)


def in_units(Y: Array, unit: Array) -> Array:
    """Y / unit, in the dtype of the units."""
    out: Array = namespace(Y).astype(Y, unit.dtype, copy=False) / unit
    return out


def some_rows(Y: Array, start: int, stop: int) -> Array:
    """Rows ``start`` to ``stop`` of values or of a mask."""
    return Y[start:stop, :]


def is_missing(Y: Array) -> Array:
    """Where Y is NaN (boolean)."""
    out = np.empty(Y.shape, dtype=bool)
    each_piece(lambda rows: np.isnan(Y[rows], out=out[rows]), len(Y), PASS * Y.size)
    return out


def all_gaps(missing: Array) -> Array:
    """What :func:`row_without_gaps` finds the gaps of a row in: the mask itself. Another place may make more of it."""
    return missing


def row_without_gaps(Y: Array, gaps: Array, j: int, start: int, stop: int) -> tuple[Array, Array]:
    """Row j with zeros at the missing entries, whatever stands there in Y, and the indices of these.

    Of all gaps of the rows, one row after another, it has those from ``start`` to ``stop``.
    """
    missing_idx = np.flatnonzero(gaps[j])
    y = Y[j].copy()
    y[missing_idx] = 0.0
    return y, missing_idx


def complete_row(Y: Array, j: int) -> tuple[Array, Array]:
    """The same for a row without gaps."""
    return Y[j], NONE_MISSING


def clear_gaps(Y: Array) -> Array:
    """Put zeros in place of NaN in Y (C-contiguous), and return where they were (boolean).

    By index: a copy under a random mask takes three times as long, since no processor can foresee its branches.
    """
    missing = np.isnan(Y)
    Y.reshape(-1)[np.flatnonzero(missing)] = 0.0
    return missing


def combine(C: Array, A: Array, Y: Array, D: Array) -> Array:
    """C₀A + YᵀD (m × q) as a new array; BLAS adds the second product to the first without a temporary."""
    gemm = blas.sgemm if C.dtype == np.float32 else blas.dgemm
    A, D = A.astype(C.dtype, copy=False), D.astype(C.dtype, copy=False)
    out = np.empty(C.shape, C.dtype)
    step = piece(len(C), D.size)
    if len(parts := pieces(len(C), MULTIPLICATION * len(C) * (A.size + D.size))) > 1:

        def fill(some: slice) -> None:
            np.matmul(C[some], A, out=out[some])
            out[some] += Y[:, some].T @ D

        each_of(fill, parts)
        return out
    for start in range(0, len(C), step):
        some = slice(start, start + step)
        gemm(1.0, A.T, C[some].T, 0.0, out[some].T, 0, 0, 1)
        gemm(1.0, D.T, Y[:, some].T, 1.0, out[some].T, 0, 1, 1)
    return out


def residual(C: Array, x: Array, y: Array, missing_idx: Array) -> Array:
    """e = y − Cx over the observed entries, zero at the missing ones."""
    x = x.astype(C.dtype, copy=False)
    if len(parts := pieces(len(C), PASS * C.size)) > 1:
        e = np.empty_like(y)

        def fill(some: slice) -> None:
            np.subtract(y[some], C[some].dot(x), out=e[some])

        each_of(fill, parts)
    else:
        e = y - C.dot(x)
    if len(missing_idx):
        e[missing_idx] = 0.0
    return e


def add_rank_one(C: Array, e: Array, g: Array) -> Array:
    """C ← C + e gᵀ in place; a matrix product takes two thirds of the time of the rank-one update of BLAS here."""
    if len(e) == 0:
        return C
    g = g.astype(C.dtype, copy=False)
    if len(parts := pieces(len(C), 2 * PASS * C.size)) > 1:

        def add(some: slice) -> None:
            C[some] += e[some, None] * g

        each_of(add, parts)
        return C
    gemm = blas.sgemm if C.dtype == np.float32 else blas.dgemm
    gemm(1.0, g[:, None], e[:, None], trans_b=1, beta=1.0, c=C.T, overwrite_c=1)
    return C


def move(C: Array, x: Array, y: Array, missing_idx: Array, g: Array) -> Array:
    """C ← C + e gᵀ in place, with e the residual of one row."""
    return add_rank_one(C, residual(C, x, y, missing_idx), g)


def settle(C: Array, origin: Array, unseen: Array, Y: Array, j: int) -> tuple[Array, Array, Array]:
    """C, origin and unseen, changed where a feature has its first value in row j of Y: see ``filtering``."""
    new = unseen & ~np.isnan(Y[j])
    C, origin, unseen = C.copy(), origin.copy(), unseen.copy()
    origin[new], C[new], unseen[new] = Y[j][new], 0.0, False
    return C, origin, unseen
