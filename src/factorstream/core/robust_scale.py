"""Location and scale of values of which some may be gross outliers."""

from __future__ import annotations

import numpy as np

from .linalg import Array

MAD_TO_STD = 1.4826
"""Standard deviation of a normal law over its median absolute deviation, 1/Φ⁻¹(3/4) = 1.4826 (derived)."""


def mad_scale(residuals: Array) -> float:
    """Standard deviation of residuals that scatter around zero, by the median of their sizes; 0 if there are none."""
    return MAD_TO_STD * float(np.median(np.abs(residuals))) if residuals.size else 0.0


def median_and_scale(values: Array) -> tuple[float, float]:
    """Median of some values and their standard deviation by the median distance from it; (0, 0) without values."""
    if not values.size:
        return 0.0, 0.0
    middle = float(np.median(values))
    return middle, mad_scale(values - middle)
