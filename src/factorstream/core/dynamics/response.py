"""What a shift of features does to a filter that does not know of it, row by row since it came.

The filter is linear, so this is the difference of two filters, with the shift and without (Willsky and Jones 1976).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..linalg import Array
from .bank import ODDS
from .filter import predict, update
from .model import Belief, SequenceModel

FOLLOWED = 12
"""Rows over which it is found out how far a model follows features that move; it goes on as in the last of them."""


class Response(NamedTuple):
    """What a shift does in each of the rows since it came, at most FOLLOWED; afterwards it is as in the last."""

    innovations: Array  # (k, m)
    x: Array  # (k, r) what it adds to the states
    levels: Array  # (k, m) and to the levels; zero where there are none

    def without(self, s: Belief, row: int) -> Belief:
        """The belief `s` after the shift's row number `row`, the first being 0, without the shift."""
        if row < 0:  # the shift came later
            return s
        k = min(row, len(self.x) - 1)
        levels = None if s.levels is None else s.levels._replace(mean=s.levels.mean - self.levels[k])
        return s._replace(x=s.x - self.x[k], levels=levels)


def response(model: SequenceModel, s: Belief, by: Array, rows: int) -> Response:
    """What a shift by so much (m,), standardised, does in so many rows. O(FOLLOWED m r²).

    Both filters begin at the belief s, whose covariance counts, and see what the one without the shift expects.
    """
    plain = moved = s
    innovations, x, levels = [], [], []
    for _ in range(min(rows, FOLLOWED)):
        plain, moved = predict(model, plain), predict(model, moved)
        mean = _mean(model, plain)
        innovations.append(mean + by - _mean(model, moved))
        plain, moved = update(model, plain, mean)[0], update(model, moved, mean + by)[0]
        x.append(moved.x - plain.x)
        levels.append(_level(moved) - _level(plain) + np.zeros(len(by)))
    return Response(np.array(innovations), np.array(x), np.array(levels))


def _mean(model: SequenceModel, s: Belief) -> Array:
    return np.asarray(model.emission.mean + model.emission.C @ s.x + _level(s))


def _level(s: Belief) -> Array:
    return np.zeros(1) if s.levels is None else s.levels.mean


def in_rows(response: Array, rows: int) -> Array:
    """What is in each of so many rows (rows, m), if it is so in the first (k, m), and then as in the last of these."""
    return np.asarray(response[np.minimum(np.arange(rows), len(response) - 1)])


def remains(off: Array, shown: Array) -> bool:
    """Whether scores less what is usual (n, m) say that a shift, which shows as (n, m), is no step of the filter's own.

    The row with which it came is left out: there it looks like a step of the states or the levels, and where it is one,
    little is left of it in the rows after.
    """
    gain = np.where(np.isfinite(off), shown * (off - shown / 2), 0.0)
    return float(gain[1:].sum()) > ODDS
