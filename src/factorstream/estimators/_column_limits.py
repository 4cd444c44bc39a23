"""What the values of a column can be: limits for fills and bounds."""

from __future__ import annotations

import numpy as np

from ..core.linalg import Array

OFTEN = 0.02
"""Share of a column's values that have to be equal to the least or greatest one for it to be a limit, as zeros of a
count or the full marks of a test are. Not tuned: a round number."""


def shown_limits(X: Array) -> tuple[Array, Array]:
    """Limits that the columns of X (n, m; NaN where missing) show themselves.

    A column without negative values stays so, and one without positive values too. A least or greatest value that is
    seen again and again is a limit.
    """
    low, high = np.full(X.shape[1], -np.inf), np.full(X.shape[1], np.inf)
    for j, column in enumerate(X.T):
        x = column[~np.isnan(column)]
        if x.size == 0:
            continue
        least, greatest = x.min(), x.max()
        often = max(3, OFTEN * x.size)
        if least >= 0.0:
            low[j] = 0.0
        if greatest <= 0.0:
            high[j] = 0.0
        if np.count_nonzero(x == least) >= often:
            low[j] = least
        if np.count_nonzero(x == greatest) >= often:
            high[j] = greatest
    return low, high


def joined_limits(given: tuple[Array, Array] | None, shown: tuple[Array, Array]) -> tuple[Array, Array]:
    """Limits that are given, and on sides without one those that the columns show, which never contradict it."""
    if given is None:
        return shown
    low, high = (np.where(np.isfinite(mine), mine, theirs) for mine, theirs in zip(given, shown, strict=True))
    return np.minimum(low, given[1]), np.maximum(high, given[0])


def given_limits(value: object, name: str, m: int, otherwise: float) -> Array:
    """``min_value`` or ``max_value`` as one number for each of m columns."""
    if value is None:
        return np.full(m, otherwise)
    try:
        limit = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        limit = np.array(np.nan)
    if limit.shape not in ((), (m,)) or np.isnan(limit).any():
        raise ValueError(f"{name} must be a number, or one for each of the {m} columns; got {value!r}.")
    return np.broadcast_to(limit, (m,)).copy()
