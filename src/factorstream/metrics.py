"""How well entries were restored. ``where`` picks the entries that count: say which ones with every number.

``where=mask`` scores the removed entries only (the honest number), ``where=None`` all of them. Entries whose
truth is NaN cannot be scored and are left out; a NaN in a prediction that counts makes the result NaN. Arrays of other
libraries are brought to the host.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from .arrays import to_host

__all__ = ["coverage", "interval_coverage", "rmse", "snr"]


def snr(y_true: ArrayLike, y_pred: ArrayLike, *, where: ArrayLike | None = None) -> float:
    """Signal-to-noise ratio in decibels, 10·log₁₀(Σ y² / Σ (y − ŷ)²); infinite for a perfect restoration.

    >>> round(snr([3.0, 4.0], [3.0, 0.0]), 3)
    1.938
    >>> snr([3.0, 4.0], [3.0, 0.0], where=[True, False])
    inf
    """
    truth, prediction = _selected(where, y_true, y_pred)
    signal, noise = float(truth @ truth), float(np.sum((truth - prediction) ** 2))
    if noise == 0:
        return math.inf
    if signal == 0 or noise == math.inf:
        return -math.inf
    return 10 * math.log10(signal / noise)


def rmse(y_true: ArrayLike, y_pred: ArrayLike, *, where: ArrayLike | None = None) -> float:
    """Root of the mean squared error, in the units of the data.

    >>> rmse([1.0, 2.0, float("nan")], [1.0, 4.0, 0.0], where=[False, True, True])
    2.0
    """
    truth, prediction = _selected(where, y_true, y_pred)
    return math.sqrt(float(np.mean((truth - prediction) ** 2)))


def coverage(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    y_std: ArrayLike,
    *,
    level: float = 0.95,
    n_std: float | None = None,
    where: ArrayLike | None = None,
) -> float:
    """Share of entries inside the central Gaussian interval of probability ``level``, or inside ±``n_std``.

    An honest 95% interval covers 0.95. For bounds, as ``predict_interval`` gives them, see :func:`interval_coverage`.

    >>> coverage([0.0, 1.0, 2.5, 0.1], [0.0, 0.0, 0.0, 0.0], 1.0)
    0.75
    >>> coverage([0.0, 1.0, 2.5, 0.1], [0.0, 0.0, 0.0, 0.0], 1.0, n_std=3)
    1.0
    """
    if n_std is None:
        if not 0 < level < 1:
            raise ValueError(f"The level of an interval lies between 0 and 1; got {level}.")
        n_std = float(ndtri((1 + level) / 2))
    truth, prediction, std = _selected(where, y_true, y_pred, y_std)
    if np.isnan(prediction).any() or np.isnan(std).any():
        return math.nan
    if (std < 0).any():
        raise ValueError("y_std has negative numbers; for the bounds of intervals take interval_coverage.")
    return float(np.mean(np.abs(truth - prediction) <= n_std * std))


def interval_coverage(
    y_true: ArrayLike, lower: ArrayLike, upper: ArrayLike, *, where: ArrayLike | None = None
) -> float:
    """Share of entries that lie within their bounds, such as those of ``predict_interval``; the bounds count as within.

    Say ``where``: an observed entry lies within its bounds anyway, as both are the entry itself.

    >>> interval_coverage([0.0, 1.0, 2.5, 0.1], [-1.0, 0.0, 0.0, 0.1], [1.0, 2.0, 2.0, 0.1])
    0.75
    """
    truth, low, high = _selected(where, y_true, lower, upper)
    if np.isnan(low).any() or np.isnan(high).any():
        return math.nan
    if (low > high).any():
        raise ValueError("A lower bound lies above its upper bound; for standard deviations take coverage.")
    return float(np.mean((low <= truth) & (truth <= high)))


def _selected(where: ArrayLike | None, y_true: ArrayLike, *others: ArrayLike) -> list[NDArray[np.float64]]:
    """The chosen entries of the truth and of every other array, flat and in double precision."""
    truth = np.asarray(to_host(y_true), dtype=np.float64)
    chosen = ~np.isnan(truth)
    if where is not None:
        where = np.asarray(to_host(where))
        if where.dtype != np.bool_ or where.shape != truth.shape:
            raise ValueError(f"where must be Boolean, {truth.shape} like y_true, not {where.dtype} {where.shape}.")
        chosen &= where
    if not chosen.any():
        raise ValueError("No entry to score: every one is left out by where or has no true value.")
    arrays = [np.asarray(to_host(other), dtype=np.float64) for other in others]
    for array in arrays:
        if array.ndim and array.shape != truth.shape:
            raise ValueError(f"Shapes differ: y_true has {truth.shape}, the other array {array.shape}.")
    return [np.broadcast_to(array, truth.shape)[chosen] for array in (truth, *arrays)]
