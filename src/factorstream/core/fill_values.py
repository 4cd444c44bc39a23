"""Numbers that file formats and loggers write where there is no value."""

from __future__ import annotations

from typing import Any

import numpy as np

FILL_VALUES = {
    9.969209968386869e36: "the fill value of NetCDF files",
    1e15: "the fill value of NASA's reanalyses",
    1e20: "a fill value of climate models",
    9.999e20: "the fill value of GrADS",
    1e30: "a common fill value",
    1e31: "the fill value of CDF files",
    1e34: "the fill value of Ferret",
    1e35: "a common fill value",
    1e36: "a common fill value",
    1e37: "a common fill value",
    float(np.finfo(np.float32).max): "the largest float32, a common fill value",
    float(np.finfo(np.float64).max): "the largest float64, a common fill value",
    999.0: "a common mark of missing values",
    9999.0: "a common mark of missing values",
    99999.0: "a common mark of missing values",
    999999.0: "a common mark of missing values",
    65535.0: "a limit of 16-bit integers, a common fill value",
    4294967295.0: "a limit of 32-bit integers, a common fill value",
    32767.0: "a limit of 16-bit integers, a common fill value",
    32768.0: "a limit of 16-bit integers, a common fill value",
    2147483647.0: "a limit of 32-bit integers, a common fill value",
    2147483648.0: "a limit of 32-bit integers, a common fill value",
    9223372036854775807.0: "a limit of 64-bit integers, a common fill value",
}
"""By their sizes: both signs are in use."""

HUGE = 1e18
"""Fill values from here on are nobody's data where nothing is known of a feature: the largest integer and more."""

_SAME = 1e-6
"""Relative difference up to which a number is a fill value: in float32 they are rounded."""

_SIZES = np.array(sorted(FILL_VALUES))


def is_fill(values: Any) -> Any:
    """Whether numbers are fill values.

    >>> is_fill([9.96921e36, -9999.0, 37.2]).tolist()
    [True, True, False]
    """
    size = np.abs(np.asarray(values, dtype=np.float64))
    return np.abs(_nearest(size) - size) <= _SAME * size


def is_huge_fill(values: Any) -> Any:
    """Whether numbers are fill values that nobody would take for data."""
    return (np.abs(values) >= HUGE) & is_fill(values)


def meaning(value: float) -> str | None:
    """What a number that is a fill value stands for; None for others.

    >>> meaning(-9999.0)
    'a common mark of missing values'
    """
    return FILL_VALUES[float(_nearest(abs(value)))] if is_fill(value) else None


def _nearest(size: Any) -> Any:
    """The fill value that could be of this size."""
    at = np.searchsorted(_SIZES, np.asarray(size) * (1.0 - _SAME))
    return _SIZES[np.minimum(at, len(_SIZES) - 1)]
