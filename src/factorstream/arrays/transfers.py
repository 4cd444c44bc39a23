"""Small arrays that go to a device and come back again and again, in memory that is kept.

A GPU copies at once from and to memory that is pinned, while the process goes on; of other memory it first makes a
copy, and the process waits. Only tensors of PyTorch on a GPU go this way, all others as ``beside`` and ``to_host`` do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .where import Array, beside, is_torch, namespace, to_host


def _on_gpu(values: Array) -> bool:
    return is_torch(values) and values.device.type == "cuda"


class ToDevice:
    """Vectors on their way to the library and the device of an array; each lasts until the next of its size."""

    def __init__(self, other: Array) -> None:
        self._other, self._rooms = other, dict[tuple[int, str], tuple[Any, Any, Any]]()

    def put(self, values: NDArray[Any]) -> Array:
        """The vector there. It may still be under way; the device waits for it before it goes on."""
        if not _on_gpu(self._other):
            return beside(values, self._other)
        key = values.size, values.dtype.str
        if key not in self._rooms:
            xp = namespace(self._other)
            here = xp.from_numpy(values.copy()).pin_memory()
            self._rooms[key] = here, xp.empty_like(here, device=self._other.device), xp.cuda.Event()
        here, there, gone = self._rooms[key]
        gone.synchronize()  # what was sent before is on the device
        here.numpy()[...] = values
        there.copy_(here, non_blocking=True)
        gone.record()
        return there


class FromDevice:
    """An array on its way to this process, one at a time."""

    def __init__(self) -> None:
        self._asked: Array = np.empty(0)
        self._rooms = dict[int, Any]()
        self._come: Any = None

    def ask(self, values: Array) -> None:
        """Ask for a vector as it is once the device has done what it was told so far. What it is told next may go on
        while the vector is waited for."""
        self._asked = values
        if not _on_gpu(values):
            return
        xp, size = namespace(values), int(values.shape[0])
        if size not in self._rooms:
            self._rooms[size] = xp.empty(values.shape, dtype=values.dtype, pin_memory=True)
            self._come = self._come or xp.cuda.Event()
        self._rooms[size].copy_(values, non_blocking=True)
        self._come.record()

    def get(self) -> NDArray[Any]:
        """The vector that was asked for last, as an array of its own."""
        if not _on_gpu(self._asked):
            return np.array(to_host(self._asked))
        self._come.synchronize()
        return np.array(self._rooms[int(self._asked.shape[0])].numpy())
