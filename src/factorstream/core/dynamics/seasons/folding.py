"""Rows folded to a period, and back. The first row is at a given place of its period; what is not there is NaN."""

from __future__ import annotations

import numpy as np

from ...linalg import Array


def fold(Y: Array, period: int, place: int = 0) -> Array:
    """Y (T, m) as long rows (n, period m): row t of Y is part (place + t) mod period of long row (place + t) // period.

    0 <= place < period. The parts before the first row and after the last one are NaN. A copy.
    """
    T, m = Y.shape
    n = -(-(place + T) // period)
    long = np.full((n * period, m), np.nan)
    long[place : place + T] = Y
    return long.reshape(n, period * m)


def unfold(long: Array, period: int, T: int, place: int = 0) -> Array:
    """The T rows (T, m) that `fold` made `long` (n, period m) of."""
    n, width = long.shape
    return np.asarray(long.reshape(n * period, width // period)[place : place + T])
