"""Weights of the entries of a sequence: what its smoother says about them, handed to the noise (see `noise`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..linalg import Array
from .filter import LEAST_FREE
from .levels import smooth_levels
from .model import Belief, SequenceModel, Smoothed
from .moments import Moments, observed_moments
from .noise import GaussianNoise, GaussianSpec, NoiseSpec, StudentNoise
from .smoother import smooth

WEIGHT_TURNS = 4
"""Turns of states and weights when a model is asked about rows. Not tuned: errors move by at most 0.2% between 2 and 8
(``benchmarks/sequence_defaults.py``)."""


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
    s = smooth(model, Y, w, start, entries=entries or isinstance(model.noise, StudentNoise))
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
    own_share = p / model.noise.R if w is None else p * w / model.noise.R
    free = np.clip(1.0 - own_share, LEAST_FREE, 1.0)
    e = np.where(np.isfinite(Y), Y - s.signal, 0.0)
    return e / free, np.maximum(p, 0.0) / free


def expected_squares(model: SequenceModel, Y: Array, s: Smoothed) -> Array:
    """E(y - signal)² / R; 1 where missing. With levels C is taken as known, as in the smoother. O(T m r²)."""
    var = s.var if model.levels is None else known_variance(model, s)
    return np.asarray(np.where(np.isfinite(Y), (Y - s.signal) ** 2 + var, model.noise.R) / model.noise.R)


def judged(model: SequenceModel, noise: StudentNoise, Y: Array, s: Smoothed, w: Array | None) -> Array:
    """Weights of the entries by what the others say of them, from a smoother that ran with weights `w`."""
    return noise.evident_weights(*left_out(model, Y, s, w))


def reweigh(
    model: SequenceModel, spec: NoiseSpec, Y: Array, s: Smoothed, w: Array | None, early: bool
) -> Reweighed | None:
    """Weights after a smoother that ran with weights `w`, and the noise that they suggest; None if Gaussian. O(T m r²).

    `early`: each entry is judged by the others only, for a level would already have followed it.
    """
    noise = model.noise
    if isinstance(spec, GaussianSpec) or isinstance(noise, GaussianNoise):
        return None
    seen = np.isfinite(Y)
    squares = None if early else expected_squares(model, Y, s)
    for _ in range(1 if squares is None else spec.learning_turns):
        new = judged(model, noise, Y, s, w) if squares is None else noise.expected_weights(squares)
        before, noise = noise, spec.learn(noise, new[seen])
        bound = float(noise.weights_bound(new, before)[seen].sum())
    return Reweighed(new, model._replace(noise=noise), bound)


def weights(model: SequenceModel, Y: Array, start: Belief | None = None, turns: int = WEIGHT_TURNS) -> Array | None:
    """Weights of Y's entries, by a few turns of states and weights; None where the noise gives none."""
    noise = model.noise
    if isinstance(noise, GaussianNoise):
        return None
    w: Array | None = None
    for k in range(turns):
        s = expect(model, Y, w, start)[0]
        by_others = model.levels is not None and k < turns - 1
        w = judged(model, noise, Y, s, w) if by_others else noise.expected_weights(expected_squares(model, Y, s))
    return w
