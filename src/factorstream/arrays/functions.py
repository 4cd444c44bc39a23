"""What the array API standard has no name, or no quick way, for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import array_api_compat as compat
import numpy as np
from numpy.typing import NDArray

from .where import Array, beside, device_of, dtype_of, is_here, namespace, to_host

TILE = 32
"""Columns from which on, in steps of as many, one more takes a device about as long as another tile.

Measured on a GPU, float32, 256 rows of 10⁶ features: 64 columns take 1.02 ms in YC and 1.13 in CA + YᵀD, and 65 to 80
take 2.0 to 2.2 in both. Not measured at 32 and other multiples; speed and rounding only."""

ALIGNED = 4
"""Columns of whose multiples there is room in a row, so that rows of float32 begin at multiples of 16 bytes.

Products take as long with rows of 65, 66, 68 and 72 numbers (within 2%, measured on a GPU, 64 columns and one apart):
this is for kernels that read rows 16 bytes at a time."""


def as_type(values: Any, dtype: np.dtype[Any] | type) -> Any:
    """An array or sparse rows with numbers of another type; itself where they are of that type."""
    dtype = np.dtype(dtype)
    if is_here(values):
        return values.astype(dtype, copy=False)
    if dtype_of(values) == dtype:
        return values
    xp = namespace(values)
    return xp.astype(values, getattr(xp, dtype.name))


def copied(values: Any) -> Any:
    """An array or sparse rows of its own."""
    return values.copy() if is_here(values) else namespace(values).asarray(values, copy=True)


def taken(values: Array, indices: Any, axis: int = 0) -> Array:
    """Some rows, or entries along another axis, by an array of their numbers: one of NumPy, or one beside the values.

    Also for sparse rows, along their first axis.
    """
    if is_here(values):
        return values[indices] if axis == 0 else np.take(values, indices, axis=axis)
    xp = namespace(values)
    return xp.take(values, xp.asarray(indices, device=device_of(values)), axis=axis)


def set_entries(values: Array, rows: NDArray[np.intp], columns: NDArray[np.intp], number: float) -> None:
    """Write one number into some entries of a matrix. Only libraries that can be written into have a way for many."""
    if is_here(values) or compat.is_torch_array(values) or compat.is_cupy_array(values):
        values[beside(rows, values), beside(columns, values)] = number
        return
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        values[row, column] = number


def positions(mask: Array) -> NDArray[np.intp]:
    """Where a mask of one dimension is true, as an array of NumPy."""
    if is_here(mask):
        return np.flatnonzero(mask)
    found: NDArray[np.intp] = to_host(namespace(mask).nonzero(mask)[0]).astype(np.intp, copy=False)
    return found


def counted(mask: Array, axis: int | None = None) -> Array:
    """How many entries of a mask are true: a number, or along an axis an array beside it."""
    if is_here(mask):
        return np.count_nonzero(mask, axis=axis)
    xp = namespace(mask)
    found = xp.sum(xp.astype(mask, xp.int64), axis=axis)
    return int(found) if axis is None else found


def picked(values: Array, indices: Array, axis: int = 0) -> Array:
    """Entries along an axis, by an array beside the values of their numbers, none of which is negative.

    The standard allows negative ones, which costs PyTorch three more kernels.
    """
    if type(values) is np.ndarray:
        return values.take(indices, axis)
    if compat.is_torch_array(values):
        return values.index_select(axis, indices)
    return namespace(values).take(values, indices, axis=axis)


def factored(A: Array) -> Array:
    """The lower factors of a stack of positive definite matrices.

    Where a matrix is not positive definite, NumPy raises an error; another library may do so, or leave on the diagonal
    of that factor a number whose logarithm is not finite. PyTorch would have to wait for the device to raise one, and
    gives NaN instead.
    """
    xp = namespace(A)
    if compat.is_torch_array(A):
        L, info = xp.linalg.cholesky_ex(A)
        return xp.where((info == 0)[..., None, None], L, xp.nan)
    return xp.linalg.cholesky(A)


def within(values: Array, most: float) -> Array:
    """Numbers with those beyond ± ``most`` brought to it."""
    return np.clip(values, -most, most) if is_here(values) else namespace(values).clip(values, -most, most)


def read_only(values: Array) -> Array:
    """A view that cannot be written through; where only NumPy has those, of other libraries a copy."""
    if not is_here(values):
        return copied(values)
    view = values.view()
    view.flags.writeable = False
    return view


def count_by_number(numbers: Array, n: int, weights: Array | None = None) -> Array:
    """How often each of 0, …, n − 1 is among some numbers, or the sum of the weights there (float64).

    The standard has no such function, but nearly every library has. Without it the numbers are sorted.
    """
    xp = namespace(numbers)
    if numbers.shape[0] == 0:
        return zeros_beside(numbers, n)
    if hasattr(xp, "bincount"):
        return xp.astype(xp.bincount(numbers, weights=weights, minlength=n), xp.float64)
    order = xp.argsort(numbers)
    ends = xp.searchsorted(xp.take(numbers, order), xp.arange(n, device=device_of(numbers)), side="right")
    if weights is not None:
        sums = xp.cumulative_sum(xp.take(xp.astype(weights, xp.float64), order), include_initial=True)
        ends = xp.take(sums, ends)
    below = xp.astype(ends, xp.float64)
    return xp.concat([below[:1], below[1:] - below[:-1]])


def add_outer(C: Array, e: Array, g: Array) -> Array:
    """C + e gᵀ, in the memory of C where the library lets it be so without a temporary as large as C."""
    if compat.is_torch_array(C):
        return C.addr_(e, g)
    C += e[:, None] * g[None, :]
    return C


def add_product(C: Array, A: Array, B: Array) -> Array:
    """C + AB, likewise."""
    if compat.is_torch_array(C):
        return C.addmm_(A, B)
    C += A @ B
    return C


def in_tiles(q: int) -> int:
    """How many of q columns a device should multiply at once: all of them, or all but the last.

    It computes products in tiles, and a mean beside 64 columns would cost as much as 64 more.
    """
    return q - 1 if q > TILE and q % TILE == 1 else q


def combined(C: Array, A: Array, Y: Array, D: Array) -> Array:
    """CA + YᵀD as a new array."""
    if not compat.is_torch_array(C):
        return add_product(C @ A, Y.T, D)
    xp, q = namespace(C), A.shape[1]
    whole, room = in_tiles(q), -(-q // ALIGNED) * ALIGNED
    out = xp.empty((C.shape[0], room), dtype=C.dtype, device=C.device)[:, :q]
    first, last = out[:, :whole], whole
    xp.mm(C, A[:, :whole].contiguous(), out=first)
    first.addmm_(Y.T, D[:, :whole].contiguous())
    if whole < q:
        out[:, last] = xp.addmv(C @ A[:, last], Y.T, D[:, last])
    return out


def divided_less(Y: Array, unit: Array, origin: Array) -> Array:
    """Y / unit − origin, in one pass where the library has one."""
    if compat.is_torch_array(Y):
        return namespace(Y).addcdiv(-origin, Y, unit)
    Y = Y / unit
    Y -= origin
    return Y


def set_rows(C: Array, mask: Array, idx: Array, rows: Array) -> Array:
    """C with these rows, in place, where the mask is true, which is at ``idx``: the standard writes by masks only."""
    if compat.is_torch_array(C) or compat.is_cupy_array(C):
        C[idx] = rows
    else:
        C[mask] = rows
    return C


def inverse_of_factored(A: Array, L: Array) -> Array:
    """A⁻¹ of every matrix of a stack, given L of A = LLᵀ.

    By L where the library can: PyTorch takes a quarter of the time then (1.9 ms instead of 7.8 for 20,000 matrices of
    41 rows on a GPU).
    """
    xp = namespace(A)
    by_factor = getattr(xp, "cholesky_inverse", None)
    return xp.linalg.inv(A) if by_factor is None else by_factor(L)


@contextmanager
def raising_as_numpy() -> Iterator[None]:
    """Let errors of linear algebra be those of NumPy: PyTorch has a type of its own for them."""
    try:
        yield
    except Exception as failure:
        if type(failure).__name__.strip("_") == "LinAlgError" and not isinstance(failure, np.linalg.LinAlgError):
            raise np.linalg.LinAlgError(str(failure)) from failure
        raise


def zeros_beside(values: Array, *shape: int) -> Array:
    """Zeros (float64) of the library and on the device of an array."""
    return np.zeros(shape) if is_here(values) else _new("zeros", values, shape)


def empty_beside(values: Array, *shape: int) -> Array:
    """Room for numbers (float64) of the library and on the device of an array."""
    return np.empty(shape) if is_here(values) else _new("empty", values, shape)


def _new(kind: str, values: Array, shape: tuple[int, ...]) -> Array:
    xp = namespace(values)
    return getattr(xp, kind)(shape, dtype=xp.float64, device=device_of(values))


def full_like(values: Array, number: float) -> Array:
    """An array of the same shape, every entry of which is ``number``."""
    return namespace(values).full_like(values, number)


def total(values: Array) -> Array:
    """The sum of all entries, beside them."""
    return values.sum() if type(values) is np.ndarray else namespace(values).sum(values)


def at_least(values: Array, least: Array | float) -> Array:
    """The larger of each entry and ``least``, which may be an array."""
    if is_here(values):
        return np.maximum(values, least)
    xp = namespace(values)
    return xp.clip(values, min=least) if isinstance(least, float) else xp.maximum(values, least)


def column_products(A: Array, B: Array) -> Array:
    """Σ_k a_ki b_ki of every column i."""
    return np.einsum("km,km->m", A, B) if is_here(A) else namespace(A).sum(A * B, axis=0)
