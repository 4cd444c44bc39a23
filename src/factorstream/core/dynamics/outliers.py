"""Weights of the entries of a sequence: what its smoother says about them, handed to the noise (see `noise`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..linalg import Array
from .filter import LEAST_FREE
from .levels import smooth_levels
from .model import Belief, SequenceModel, Smoothed
from .moments import Moments, observed_moments
from .noise import NoiseSpec
from .smoother import smooth

WEIGHT_TURNS = 4
"""Turns of states and weights when a model is asked about rows. Not tuned: a small round number."""


class Reweighed(NamedTuple):
    """Weights (T, m), the model whose noise was learned from them, and what they add to the bound."""

    w: Array
    model: SequenceModel
    bound: float


def expect(
    model: SequenceModel, Y: Array, w: Array | None = None, start: Belief | None = None, entries: bool = False
) -> tuple[Smoothed, Moments]:
    """E-step: exact and banded without levels, arrow form with levels; `entries`: signal and var wanted in any case."""
    if model.levels is not None:
        return smooth_levels(model, Y, w, start)
    s = smooth(model, Y, w, start, entries=entries or model.noise.weighs)
    return s, observed_moments(Y, s, w)


def known_variance(model: SequenceModel, s: Smoothed) -> Array:
    """Variance of the signal for a known C: the smoother's, without that of C. (T, m). O(T m r²)."""
    C, _, V, _ = model.emission
    if V is None:
        return s.var
    m, r = C.shape
    second = s.P + s.x[:, :, None] * s.x[:, None, :]
    return np.asarray(s.var - second.reshape(len(s.x), -1) @ np.broadcast_to(V, (m, r, r)).reshape(m, -1).T)


def left_out(model: SequenceModel, Y: Array, s: Smoothed, w: Array | None) -> tuple[Array, Array]:
    """Residual of every observed entry from what the others say of it, and the variance of what they say. O(T m r²).

    The smoother's variance p of the signal holds the entry's own part, h = p w / R: without it the residual
    is e / (1 - h) and the variance p / (1 - h).
    """
    p = known_variance(model, s)
    own = p / model.noise.R if w is None else p * w / model.noise.R
    free = np.clip(1.0 - own, LEAST_FREE, 1.0)
    e = np.where(np.isfinite(Y), Y - s.signal, 0.0)
    return e / free, np.maximum(p, 0.0) / free


def expected_squares(model: SequenceModel, Y: Array, s: Smoothed) -> Array:
    """E(y - signal)² / R; 1 where missing. With levels C is taken as known, as in the smoother. O(T m r²)."""
    var = s.var if model.levels is None else known_variance(model, s)
    return np.asarray(np.where(np.isfinite(Y), (Y - s.signal) ** 2 + var, model.noise.R) / model.noise.R)


def judged(model: SequenceModel, Y: Array, s: Smoothed, w: Array | None) -> Array:
    """Weights of the entries by what the others say of them, from a smoother that ran with weights `w`."""
    return model.noise.evident_weights(*left_out(model, Y, s, w))


def reweigh(model: SequenceModel, spec: NoiseSpec, Y: Array, s: Smoothed, w: Array | None, early: bool) -> Reweighed:
    """Weights after a smoother that ran with weights `w`, and the noise that they suggest. O(T m r²).

    `early`: each entry is judged by the others only, for a level would already have followed it.
    """
    seen = np.isfinite(Y)
    squares = None if early else expected_squares(model, Y, s)
    bound = 0.0
    for _ in range(1 if squares is None else spec.learning_turns):
        new = judged(model, Y, s, w) if squares is None else model.noise.expected_weights(squares)
        noise = spec.learn(model.noise, new[seen])
        bound = float(noise.weights_bound(new, model.noise)[seen].sum())
        model = model._replace(noise=noise)
    return Reweighed(new, model, bound)


def weights(model: SequenceModel, Y: Array, start: Belief | None = None, turns: int = WEIGHT_TURNS) -> Array | None:
    """Weights of Y's entries, by a few turns of states and weights; None where the noise gives none."""
    w: Array | None = None
    if model.noise.weighs:
        for k in range(turns):
            s = expect(model, Y, w, start)[0]
            by_others = model.levels is not None and k < turns - 1
            w = judged(model, Y, s, w) if by_others else model.noise.expected_weights(expected_squares(model, Y, s))
    return w
