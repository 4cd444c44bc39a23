"""Small arrays that go to a device and come back again and again, in memory that is kept.

A GPU copies at once from and to memory that is pinned, while the process goes on; of other memory it first makes a
copy, and the process waits. Only tensors of PyTorch on a GPU go this way, all others as ``beside`` and ``to_host`` do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .where import Array, beside, is_torch, namespace, to_host


def on_gpu(values: Array) -> bool:
    """Whether it is a tensor of PyTorch on a GPU."""
    return is_torch(values) and values.device.type == "cuda"


class ToDevice:
    """Vectors on their way to the library and the device of an array; each lasts until the next of its size."""

    def __init__(self, other: Array) -> None:
        self._other, self._rooms = other, dict[tuple[int, str], tuple[Any, Any, Any]]()

    def put(self, values: NDArray[Any]) -> Array:
        """The vector there. It may still be under way; the device waits for it before it goes on."""
        if not on_gpu(self._other):
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
        gone.record(namespace(there).cuda.current_stream(there.device))
        return there


class FromDevice:
    """An array on its way to this process, as it is once the device has done what it was told so far.

    What the device is told next may go on while the array is waited for. An array that is not a tensor on a GPU is read
    when somebody asks for it: nobody may change it before.
    """

    def __init__(self, values: Array, room: Any = None) -> None:
        """``room`` is memory for it, which a former one has had."""
        self._values, self.room = values, room
        self._come: Any = None
        if not on_gpu(values):
            return
        xp = namespace(values)
        if room is None or room.shape != values.shape or room.dtype != values.dtype:
            self.room = xp.empty(tuple(values.shape), dtype=values.dtype, pin_memory=True)
        self.room.copy_(values, non_blocking=True)
        self._come = xp.cuda.Event()
        self._come.record(xp.cuda.current_stream(values.device))

    def get(self) -> NDArray[Any]:
        """The array, in memory of its own."""
        if self._come is None:
            return np.array(to_host(self._values))
        self._come.synchronize()
        return np.array(self.room.numpy())
