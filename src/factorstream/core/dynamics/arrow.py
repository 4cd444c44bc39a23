"""Beliefs about states and levels in one flat tuple."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..linalg import Array
from .model import Belief, LevelBelief, Levels, SequenceModel


class Arrow(NamedTuple):
    """A belief in one flat tuple, so that a time axis can lead every field. Without levels m is 0."""

    x: Array  # (r,)
    P: Array  # (r, r)
    level_mean: Array  # (m,)
    B: Array  # (m, r)
    d: Array  # (m,)


def flat(s: Belief) -> Arrow:
    """The belief as an arrow."""
    if s.levels is not None:
        return Arrow(s.x, s.P, *s.levels)
    return Arrow(s.x, s.P, np.zeros(0), np.zeros((0, len(s.x))), np.zeros(0))


def nested(a: Arrow) -> Belief:
    """The belief, with levels, that an arrow stands for."""
    return Belief(a.x, a.P, LevelBelief(a.level_mean, a.B, a.d))


def levels_of(model: SequenceModel) -> Levels:
    """The model's levels; none of them where it has none."""
    none = np.zeros(0)
    return Levels(none, none, none) if model.levels is None else model.levels


def transposed(M: Array) -> Array:
    """Its last two axes exchanged, as a view."""
    return np.swapaxes(M, -1, -2)
