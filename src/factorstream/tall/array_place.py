"""The features in one array of another library than NumPy: PyTorch, CuPy, or whoever follows the array API.

Functions that a place is asked to run take arrays of any library (``factorstream.arrays``). What is small and here goes
to the arrays' device for the call; sums come back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import device_of, is_here, namespace, to_device, to_host
from ..core.linalg import is_sparse
from ..core.place import Tall
from ..cores import undivided
from .rows import dense


class ArrayPlace:
    """A library and one of its devices. Two with the same are equal."""

    room = 2**28
    """2 GiB: kernels of a GPU should have much to do."""

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
        with undivided():
            return function(*(self._moved(argument) for argument in arguments))

    def total(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """One call, whose result comes back."""
        return _brought(self.each(function, *arguments))

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
        """An argument on the device; those that are no arrays stay as they are."""
        if isinstance(value, tuple):
            return _rebuilt(value, [self._moved(part) for part in value])
        if isinstance(value, np.ndarray):
            return to_device(value, self.xp, self.device)
        return value


def _brought(result: Any) -> Any:
    if isinstance(result, tuple):
        return _rebuilt(result, [_brought(part) for part in result])
    return to_host(result)


def _rebuilt(like: Any, values: list[Any]) -> Any:
    """A tuple, or a NamedTuple of the same kind, of other values."""
    return type(like)(*values) if hasattr(like, "_fields") else tuple(values)


def place_beside(values: Any) -> ArrayPlace | None:
    """The place of an array of another library; None for what is here."""
    return None if is_here(values) else ArrayPlace(namespace(values), device_of(values))
