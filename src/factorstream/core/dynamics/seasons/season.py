"""What layers say of rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...linalg import Array


class Season(NamedTuple):
    """Mean and variance of a season, without noise; both (T, m)."""

    signal: Array
    var: Array


def no_season(Y: Array) -> Season:
    """The season of rows that have none."""
    return Season(np.zeros(Y.shape), np.zeros(Y.shape))
