"""The features in one array of another library than NumPy: PyTorch, CuPy, or whoever follows the array API.

Functions that a place is asked to run take arrays of any library (``factorstream.arrays``), or have a twin in the table
of ``array_products`` that does. What is small and here goes to the arrays' device for the call; sums come back.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ..arrays import device_of, dtype_of, is_here, namespace, raising_as_numpy, to_device, to_host
from ..core.linalg import is_sparse
from ..core.place import Tall
from ..cores import undivided
from .rows import dense


class ArrayPlace:
    """A library and one of its devices. Two with the same are equal."""

    room = 2**28
    """2 GiB, a small part of a GPU's memory: its kernels should have much to do. Not tuned; memory, speed and rounding
    only."""

    lag = 16
    """C is then written once in sixteen rows, and the residuals of these are fewer numbers than a C of more components.
    Not tuned; speed and rounding only."""

    keeps_sparse, works_ahead, far = False, True, False

    def __init__(self, xp: Any, device: Any) -> None:
        self.xp, self.device = xp, device

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ArrayPlace) and (self.xp, self.device) == (other.xp, other.device)

    def __hash__(self) -> int:
        return hash(str(self.device))

    def put(self, values: Any, axis: int) -> Tall:
        """On the device; sparse rows become dense ones with gaps."""
        return self._moved(dense(values) if is_sparse(values) else values)

    def get(self, values: Tall, axis: int) -> Any:
        """As an array of NumPy."""
        return to_host(values)

    def each(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """One call, on the device, which has threads of its own."""
        function = twins().get(function, function)
        with undivided(), raising_as_numpy():
            return function(*(self._moved(argument) for argument in arguments))

    def total(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """One call, whose result comes back."""
        return brought(self.each(function, *arguments))

    def by_row(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """One call, on the device."""
        return self.each(function, *arguments)

    def rows(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """One call, on the device."""
        return self.each(function, *arguments)

    def empty(self, *shape: int) -> Any:
        """On the device."""
        return self.xp.empty(shape, dtype=self.xp.float64, device=self.device)

    def _moved(self, value: Any) -> Any:
        """An argument on the device; numbers become Python's, and all else stays as it is."""
        if isinstance(value, tuple):
            return _rebuilt(value, [self._moved(part) for part in value])
        if isinstance(value, np.ndarray):
            return to_device(value, self.xp, self.device)
        return value.item() if isinstance(value, np.generic) else value


@cache
def twins() -> dict[Callable[..., Any], Callable[..., Any]]:
    """What is called in the stead of a function; loaded by the first array of another library."""
    from . import array_columns, array_counted, array_products, array_projecting  # noqa: F401  (they fill the table)

    return array_products.INSTEAD


def brought(result: Any) -> Any:
    """In this process. Several arrays of one type, or of floating-point numbers, come in one piece of the widest type:
    every transfer has to be waited for."""
    if not isinstance(result, tuple):
        return to_host(result)
    arrays = [part for part in result if not is_here(part)]
    if len(arrays) < 2 or len(arrays) < len(result) or not _joinable(arrays):
        return _rebuilt(result, [brought(part) for part in result])
    xp = namespace(arrays[0])
    joined = to_host(xp.concat([xp.reshape(part, (-1,)) for part in arrays]))
    ends = np.cumsum([int(np.prod(part.shape, dtype=int)) for part in arrays])[:-1]
    parts = zip(np.split(joined, ends), arrays, strict=True)
    return _rebuilt(result, [part.reshape(tuple(array.shape)) for part, array in parts])


def _joinable(arrays: list[Any]) -> bool:
    types = {dtype_of(part) for part in arrays}
    return len(types) == 1 or all(np.issubdtype(dtype, np.floating) for dtype in types)


def _rebuilt(like: Any, values: list[Any]) -> Any:
    """A tuple, or a NamedTuple of the same kind, of other values."""
    return type(like)(*values) if hasattr(like, "_fields") else tuple(values)


def place_beside(values: Any) -> ArrayPlace | None:
    """The place of an array of another library; None for what is here."""
    return None if is_here(values) else ArrayPlace(namespace(values), device_of(values))
