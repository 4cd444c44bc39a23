"""What the values of a column can be: limits for fills and bounds."""

from __future__ import annotations

import numpy as np

from ..arrays import counted, namespace, to_host
from ..core.linalg import Array
from ..core.place import Tall

OFTEN, LEAST_OFTEN = 0.02, 10
"""Share of a column's values, and how many of them, that have to be equal to the least or greatest one for it to be a
limit, as zeros of a count or the full marks of a test are. The share is not tuned: a round number. The number is
derived: after so many values at an end, or on one side of zero, the next one lies beyond with probability 1 / (10 + 2).
"""


def shown_limits(least: Tall, greatest: Tall, X: Tall) -> tuple[Array, Array]:
    """Limits that m columns show themselves, by their least and greatest values and by rows X (n, m; NaN where
    missing), which may be some of all.

    A column without negative values stays so, and one without positive values too, if ten values at least say so. A
    least or greatest value that is seen again and again is a limit.
    """
    low, high = to_host(least), to_host(greatest)
    n = to_host(counted(~namespace(X).isnan(X), axis=0))
    often, many = np.maximum(LEAST_OFTEN, OFTEN * n), n >= LEAST_OFTEN
    at_least, at_most = (to_host(counted(end == X, axis=0)) >= often for end in (least, greatest))
    some = low <= high
    return (
        np.where(some & at_least, low, np.where(many & (low >= 0.0), 0.0, -np.inf)),
        np.where(some & at_most, high, np.where(many & (high <= 0.0), 0.0, np.inf)),
    )


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
