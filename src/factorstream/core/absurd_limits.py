"""The limits beyond which a value of a feature is absurd: see ``absurd``, which has the rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import namespace

FAR = 1e4
"""Units outside the range from which on a value is absurd. Not tuned: one 10⁶ deviations away has to be, where the
range of a wide law is some 50 deviations long, and a sensor of 13 bits that wakes up must not."""

ENOUGH = 10
"""Values whose range is a unit on its own: that of a few can be tiny by chance. Not tuned."""

ROUNDING = 1e-6
"""Share of the size of the values below which their range may be rounding, in single precision. Not tuned."""


def limits(low: Any, high: Any, count: Any) -> tuple[Any, Any]:
    """Beyond these a value is absurd, given the range of the others and how many are not zero; infinite if none is."""
    xp = namespace(low)
    with np.errstate(over="ignore", invalid="ignore"):
        length, size = high - low, xp.maximum(abs(low), abs(high))
        reach = FAR * xp.where(length > ROUNDING * size, length, size)
        reach = xp.where(count < ENOUGH, FAR * xp.maximum(length, size), reach)
        reach = xp.where(count < 3, FAR * FAR * size, reach)
        reach = xp.where((count > 0) & (size > 0), reach, np.inf)
        return xp.where(count > 0, low, 0.0) - reach, xp.where(count > 0, high, 0.0) + reach


def varies(low: Any, high: Any) -> Any:
    """Whether a range is more than rounding. The limits of such a feature, once it has ENOUGH values, only move apart:
    values that keep to them now keep to all that follow."""
    with np.errstate(over="ignore", invalid="ignore"):
        return high - low > ROUNDING * namespace(low).maximum(abs(low), abs(high))
