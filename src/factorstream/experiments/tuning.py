"""Settings chosen on observed entries that were held out; removed entries are never looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..masks import random_mask
from ..metrics import snr

__all__ = ["HELD_OUT", "choose"]

HELD_OUT = 0.1
"""Share of the observed entries that is hidden while settings are compared. Not tuned: a round number."""


def choose(
    restore: Callable[[Mapping[str, float], NDArray[np.float64]], NDArray[np.float64]],
    grid: Sequence[Mapping[str, float]],
    X: NDArray[np.float64],
    rng: np.random.Generator,
) -> Mapping[str, float]:
    """Return the setting of ``grid`` whose restoration has the highest SNR on held-out observed entries.

    ``restore(setting, X)`` fills the NaN of X. A restoration that is not finite never wins.

    >>> X = np.ones((20, 20))
    >>> fill = lambda setting, X: np.where(np.isnan(X), setting["value"], X)
    >>> choose(fill, [{"value": 0.0}, {"value": 0.9}, {"value": 2.0}], X, np.random.default_rng(0))
    {'value': 0.9}
    """
    if len(grid) == 1:
        return grid[0]
    observed = ~np.isnan(X)
    held_out = observed & random_mask(X.shape, HELD_OUT, rng)
    held_out[:, ~(observed & ~held_out).any(axis=0)] = False  # every feature keeps something to learn from
    train = np.where(held_out, np.nan, X)
    scores = [snr(X, restore(setting, train), where=held_out) for setting in grid]
    return grid[int(np.argmax(np.nan_to_num(scores, nan=-np.inf)))]
