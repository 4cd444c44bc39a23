"""A device that is not the host, in any installation: array-api-strict refuses whatever the array API does not promise.

``pytest --place strict`` brings all NumPy and SciPy rows there. Its arrays are on a device of their own, so that no
array of the host can slip in.
"""

from __future__ import annotations

import array_api_strict

from factorstream.tall.array_place import ArrayPlace

DEVICE = array_api_strict.Device("device1")
STRICT = ArrayPlace(array_api_strict, DEVICE)
