"""A device that is not the host, in any installation: array-api-strict refuses whatever the array API does not promise.

``pytest --place strict`` brings all NumPy and SciPy rows there. Its arrays are on a device of their own, so that no
array of the host can slip in. ``--place torch`` and ``--place cupy`` bring them to a GPU.
"""

from __future__ import annotations

import array_api_strict
import pytest

from factorstream.arrays import device_of, namespace
from factorstream.tall.array_place import ArrayPlace

DEVICE = array_api_strict.Device("device1")
STRICT = ArrayPlace(array_api_strict, DEVICE)


def device_place(library: str) -> ArrayPlace:
    """The place of the arrays of ``strict``, or of those that ``torch`` or ``cupy`` have on a GPU.

    Without a GPU, ``torch`` computes with tensors of the host.
    """
    if library == "strict":
        return STRICT
    arrays = pytest.importorskip(library)
    on_gpu = library == "torch" and arrays.cuda.is_available()
    like = arrays.zeros(1, device="cuda") if on_gpu else arrays.zeros(1)
    return ArrayPlace(namespace(like), device_of(like))
