"""The functions of ``products`` for arrays of other libraries than NumPy, which an ``ArrayPlace`` puts in their stead.

Those of ``products`` are made of BLAS calls, of writes by index and of pieces for threads. These use what the array API
has. Gaps of a row, and other sets of features, are a :class:`Some` here: the array API gathers by indices, but writes
by masks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..arrays import Array, add_outer, combined, device_of, divided_less, dtype_of, in_tiles, namespace, picked
from ..arrays import copied as own_memory
from ..core import linalg
from ..core.filter import masked
from . import products

F = TypeVar("F", bound=Callable[..., Any])

INSTEAD: dict[Callable[..., Any], Callable[..., Any]] = {}
"""What an ``ArrayPlace`` calls in the stead of a function."""

AT_ONCE = 2**18
"""Features over which products of float32 are summed in float32; the sums of these are float64.

Not tuned; speed and rounding only."""


class Some(NamedTuple):
    """Some of the features."""

    mask: Array
    """Which (m, boolean)."""
    idx: Array
    """Their numbers, in order."""


def instead_of(function: Callable[..., Any]) -> Callable[[F], F]:
    """A decorator: at an ``ArrayPlace`` the decorated function is called for ``function``."""

    def register(own: F) -> F:
        INSTEAD[function] = own
        return own

    return register


def there(values: Any, like: Array) -> Array:
    """Small numbers in the dtype of an array."""
    return namespace(like).astype(values, like.dtype, copy=False)


def double(values: Array) -> Array:
    """In float64."""
    xp = namespace(values)
    return xp.astype(values, xp.float64, copy=False)


def summed(function: Callable[[slice], Array], n: int, at_once: int) -> Array:
    """The sum, in float64, of what ``function`` makes of all of n features, some at a time."""
    if n <= at_once:
        return double(function(slice(0, n)))
    parts = [function(slice(start, min(start + at_once, n))) for start in range(0, n, at_once)]
    xp = namespace(parts[0])
    return xp.sum(xp.stack(parts), axis=0, dtype=xp.float64)


def is_float32(values: Array) -> bool:
    """Whether the numbers have single precision."""
    return bool(dtype_of(values) == np.float32)


# ------------------------------------------------------------------ sums over the features


@instead_of(len)
def length(values: Array) -> int:
    """How many features there are."""
    return int(values.shape[0])


@instead_of(np.sum)
def total(values: Array) -> Array:
    """The sum of all values."""
    return namespace(values).sum(values)


@instead_of(np.count_nonzero)
def count_nonzero(values: Array) -> Array:
    """How many values are not zero."""
    return namespace(values).count_nonzero(values)


@instead_of(products.cross)
def cross(C: Array, Y: Array) -> Array:
    """K = CᵀYᵀ (q × B)."""
    at_once, whole = AT_ONCE if is_float32(C) else C.shape[0], in_tiles(C.shape[1])
    K = summed(lambda some: Y[:, some] @ C[some, :whole], C.shape[0], at_once).T
    if whole == C.shape[1]:
        return K
    mean = own_memory(C[:, whole])  # a device multiplies numbers side by side four times as fast
    last = summed(lambda some: Y[:, some] @ mean[some], C.shape[0], at_once)
    return namespace(C).concat([K, last[None, :]])


@instead_of(products.self_products)
def self_products(Y: Array) -> Array:
    """N = YYᵀ (B × B)."""
    m = Y.shape[1]
    return summed(lambda some: Y[:, some] @ Y[:, some].T, m, AT_ONCE if is_float32(Y) else m)


@instead_of(linalg.gram)
def gram(C: Array) -> Array:
    """CᵀC in float64: a copy of float32 is made of some features at a time.

    Products in float32, summed in float64, would be off by 1e-7 of the largest entry, and nearly parallel columns of C
    by more than what tells them apart.
    """

    def part(some: slice) -> Array:
        rows = double(C[some, :])
        return rows.T @ rows

    return summed(part, C.shape[0], AT_ONCE)


@instead_of(masked.gram_of)
def gram_of(C: Array, gaps: Some) -> Array:
    """The Gram matrix of the rows of C at the gaps."""
    return gram(picked(C, gaps.idx, axis=0))


@instead_of(masked.gram_without)
def gram_without(C: Array, gaps: Some) -> Array:
    """The Gram matrix of all the other rows of C."""
    return gram(C[~gaps.mask])


@instead_of(products.row_products)
def row_products(C: Array, y: Array) -> tuple[Array, Array]:
    """Cᵀy (q) and ‖y‖² of one row y (m)."""
    return double((y[None, :] @ C)[0, :]), double(namespace(y).sum(y * y))


@instead_of(products.nan_if_gaps)
def nan_if_gaps(Y: Array) -> Array:
    """NaN if there is a NaN in Y; otherwise a number that means nothing, here the sum of all values."""
    return namespace(Y).sum(Y)


@instead_of(products.count_missing)
def count_missing(missing: Array) -> Array:
    """How many entries of each row are missing (B)."""
    return namespace(missing).count_nonzero(missing, axis=1)


@instead_of(products.first_values)
def first_values(Y: Array, unseen: Array) -> Array:
    """How many features that are ``unseen`` have a value, row by row (B)."""
    xp = namespace(Y)
    return xp.count_nonzero(~xp.isnan(Y) & unseen, axis=1)


# ------------------------------------------------------------------ feature by feature


@instead_of(np.logical_not)
def logical_not(values: Array) -> Array:
    """Where the values are false."""
    return ~values


@instead_of(products.copied)
def copied(C: Array) -> Array:
    """A copy that may be changed in place."""
    return namespace(C).asarray(C, copy=True)


@instead_of(products.room)
def room(C: Array, n: int) -> Array:
    """Room for no rows: a library that has a device keeps the memory of arrays that are gone for the next ones."""
    return namespace(C).empty((0, C.shape[0]), dtype=C.dtype, device=device_of(C))


@instead_of(products.centred)
def centred(Y: Array, origin: Array, room: Array, unit: Array | None = None) -> Array:
    """Y − origin, or Y / unit − origin, in the dtype of the room."""
    Y = there(Y, room)
    return Y - origin if unit is None else divided_less(Y, there(unit, room), origin)


@instead_of(products.is_missing)
def is_missing(Y: Array) -> Array:
    """Where Y is NaN (boolean)."""
    return namespace(Y).isnan(Y)


@instead_of(products.all_gaps)
def all_gaps(missing: Array) -> Some:
    """The mask, and where all gaps are in it, row after row: found at once, because a device has to be waited for."""
    xp = namespace(missing)
    return Some(missing, xp.nonzero(xp.reshape(missing, (-1,)))[0])


@instead_of(products.row_without_gaps)
def row_without_gaps(Y: Array, gaps: Some, j: int, start: int, stop: int) -> tuple[Array, Some]:
    """Row j with zeros at the missing entries, and these."""
    mask = gaps.mask[j, :]
    idx = gaps.idx[start:stop] - j * Y.shape[1]
    return namespace(Y).where(mask, 0.0, Y[j, :]), Some(mask, idx)


@instead_of(products.complete_row)
def complete_row(Y: Array, j: int) -> tuple[Array, None]:
    """The same for a row without gaps."""
    return Y[j, :], None


@instead_of(products.clear_gaps)
def clear_gaps(Y: Array) -> Array:
    """Put zeros in place of NaN in Y, and return where they were (boolean)."""
    missing = is_missing(Y)
    Y[missing] = 0.0
    return missing


@instead_of(products.combine)
def combine(C: Array, A: Array, Y: Array, D: Array) -> Array:
    """C₀A + YᵀD (m × q) as a new array."""
    return combined(C, there(A, C), Y, there(D, C))


@instead_of(products.residual)
def residual(C: Array, x: Array, y: Array, gaps: Some | None) -> Array:
    """e = y − Cx over the observed entries, zero at the missing ones."""
    e = y - (C @ there(x, C)[:, None])[:, 0]
    return e if gaps is None else namespace(C).where(gaps.mask, 0.0, e)


@instead_of(products.add_rank_one)
def add_rank_one(C: Array, e: Array, g: Array) -> Array:
    """C ← C + e gᵀ in place."""
    return add_outer(C, there(e, C), there(g, C))


@instead_of(products.move)
def move(C: Array, x: Array, y: Array, gaps: Some | None, g: Array) -> Array:
    """C ← C + e gᵀ in place, with e the residual of one row."""
    return add_rank_one(C, residual(C, x, y, gaps), g)


@instead_of(products.settle)
def settle(C: Array, origin: Array, unseen: Array, Y: Array, j: int) -> tuple[Array, Array, Array]:
    """C, origin and unseen, changed where a feature has its first value in row j of Y."""
    xp, y = namespace(C), there(Y[j, :], origin)
    new = unseen & ~xp.isnan(y)
    return xp.where(new[:, None], 0.0, C), xp.where(new, y, origin), unseen & ~new
