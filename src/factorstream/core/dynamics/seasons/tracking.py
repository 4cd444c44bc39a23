"""Widths of forecasts in a stream: what was forecast is compared with what came.

Some forecasts are kept until their last row has come. Each row tells of every one of them whether its interval of 95%,
with the factor on its width, held the value; the factor grows if not, and shrinks a little if so, so that in the long
run the intervals hold 95% whatever the errors' law (adaptive conformal inference, Gibbs and Candès 2021, on a scale of
logarithms).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from ...linalg import Array
from ..choose import WIDE

EVERY = 4
"""Forecasts that begin within the length of one. Not tuned."""
RATE = 0.3
"""How much the logarithm of a factor moves by a forecast that misses all values of its doubling. Not tuned: at once
by a third, and from one to a half in about fifty forecasts that miss none."""


class Forecast(NamedTuple):
    """A forecast that was made, and how many of its rows have come."""

    mean: Array  # (steps, m)
    std: Array  # (steps, m) without the factor
    age: int = 0


def compared(
    widths: Array, forecasts: Sequence[Forecast], y: Array, first: int = 0
) -> tuple[Array, tuple[Forecast, ...]]:
    """The factors (b, m), see `widths_ahead`, after the row y (m,), and the forecasts of which more is to come.

    Those of the `first` doublings stay as they are.
    """
    widths = widths.copy()
    seen = np.isfinite(y)
    half = float(ndtri((1.0 + WIDE) / 2.0))
    for mean, std, age in forecasts:
        k = min((age + 1).bit_length(), len(widths)) - 1
        if k < first:
            continue
        rows = min(2 ** (k + 1) - 1, len(mean)) - 2**k + 1  # of this doubling
        missed = np.abs(np.where(seen, y, 0.0) - mean[age]) > half * widths[k] * std[age]
        widths[k] *= np.where(seen, np.exp(RATE / rows * (missed - (1.0 - WIDE))), 1.0)
    return widths, tuple(one._replace(age=one.age + 1) for one in forecasts if one.age + 1 < len(one.mean))
