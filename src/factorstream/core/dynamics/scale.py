"""The units in which a sequence is modelled: location and spread of every feature, and how well they are known."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri, stdtrit

from ..linalg import Array
from .noise import GaussianSpec, NoiseSpec

MIN_SCALE_VALUES = 3
"""Values from which on a feature has a spread of its own: two have one whose relative error is about 70%. Not tuned,
and it matters: in features that start late with few values, 2 has 8.5% to 12% more error in gaps and 2% to 3% in
forecasts, with intervals 7% to 10% narrower that hold 1 to 3 points less; 6 has 2% to 6% less in gaps and 2% to 3% in
forecasts (``benchmarks/sequence_defaults.py``)."""
LEAST_KNOWN = 2
"""Values without which nothing says how far another one may lie."""
LEAST_SPREAD = 1e-12
"""Spread, relative to the size of the values, below which it is rounding."""

LEAST_SCALE = float(np.finfo(np.float64).tiny) ** 0.25
"""The smallest spread that a feature may have, in the data's units. Derived: the fourth power of a smaller one would
round to zero."""


def standards(Y: Array, noise: NoiseSpec = GaussianSpec()) -> tuple[Array, Array]:  # noqa: B008  an immutable tuple
    """Mean and standard deviation of each column; a column (nearly) without data or spread borrows the median.

    What is borrowed is at least what would be rounding in the column itself: few huge values, in units of the spread of
    small ones, would have no squares.
    Where no column has a spread, the size of the values stands for it. Taken in units of a power of two, so that
    no square overflows. Under Student-t noise spikes do not count.
    """
    Y = noise.without_outliers(Y.astype(np.float64, copy=False))  # a float32 median may overflow
    seen = np.isfinite(Y)
    n = seen.sum(0)
    y = np.where(seen, Y, 0.0).astype(np.float64)  # a sum of many float32 values loses the mean
    size = np.abs(y).max(0)
    unit = np.frexp(size)[1]
    y = np.ldexp(y, -unit)
    mean = y.sum(0) / np.maximum(n, 1)
    sd = np.sqrt((np.where(seen, y - mean, 0.0) ** 2).sum(0) / np.maximum(n, 1))
    good = (n >= MIN_SCALE_VALUES) & (sd > LEAST_SPREAD)
    mean, sd = np.ldexp(mean, unit), np.maximum(np.ldexp(sd, unit), LEAST_SCALE)
    if not good.any():
        return mean, np.where(mean == 0.0, 1.0, np.maximum(np.abs(mean), LEAST_SCALE))
    borrowed = np.maximum(np.median(sd[good]), LEAST_SPREAD * size)
    return np.where(n > 0, mean, np.median(mean[good])), np.where(good, sd, borrowed)


def student_factor(N: Array, held: float = 0.95) -> Array:
    """How much wider than a Gaussian's the interval of a feature is whose spread was learned from N values. (m,)

    It is Student's quantile with N - 1 degrees of freedom over the normal one, at the probability `held`. Infinite
    below LEAST_KNOWN values: they have no spread, and that of the other features says nothing about this one.
    """
    at = (1.0 + held) / 2.0
    return np.where(N >= LEAST_KNOWN, stdtrit(np.maximum(N - 1.0, 1.0), at) / ndtri(at), np.inf)
