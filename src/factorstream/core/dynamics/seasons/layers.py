"""Layers of seasons: each sees what the layers before it leave, and their signals add up.

y_t = sum over layers of (signal of layer k at row t) + what is left. In a batch, a layer sees y_t less the smoothed
signals of the layers before it; row by row, less what these said before they saw y_t.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...linalg import Array
from ...telling import Tell, silent
from ..noise import NoiseSpec
from .phases import PhaseLayer, learn_phases
from .season import Season, no_season
from .shapes import ShapeLayer, learn_shapes

SeasonLayer = PhaseLayer | ShapeLayer


class Plan(NamedTuple):
    """Which layers there are to be: phases of every period, longest first, for all features, then shapes."""

    periods: tuple[int, ...]  # longest first
    shaped: Array  # (k,) numbers of the features whose shortest period has shapes


LEAST_PERIODS = 2
"""Periods without which there is no season: what comes back must have come twice."""


def long_enough(periods: Sequence[int], T: int) -> tuple[int, ...]:
    """The periods that T rows show often enough, longest first."""
    return tuple(sorted((P for P in set(periods) if LEAST_PERIODS * P <= T), reverse=True))


def learn(
    Y: Array, plan: Plan, r: int, noise: NoiseSpec, sweeps: int, tol: float = 1e-3, tell: Tell = silent
) -> tuple[tuple[SeasonLayer, ...], Season]:
    """The layers of raw rows Y (T, m), which begin at place 0 of every period, and what they say of these rows."""
    layers: list[SeasonLayer] = []
    every, out = np.arange(Y.shape[1]), no_season(Y)
    for P in plan.periods:
        shorter = max((p for p in plan.periods if p < P and P % p == 0), default=None)
        one, season = learn_phases(noise.without_outliers(Y - out.signal), P, every, shorter)
        layers.append(one)
        out = _sum(out, every, season)
    if len(plan.shaped):
        rest = (Y - out.signal)[:, plan.shaped]
        shapes, season = learn_shapes(rest, plan.periods[-1], plan.shaped, r, noise, sweeps, tol, tell)
        layers.append(shapes)
        out = _sum(out, plan.shaped, season)
    return tuple(layers), out


def season_of(layers: Sequence[SeasonLayer], Y: Array, place: int = 0) -> Season:
    """What all of Y (T, m) says of its season; the first row stands `place` rows after place 0 of all periods."""
    out = no_season(Y)
    for layer in layers:
        one = layer.smoothed((Y - out.signal)[:, layer.columns], place % layer.period)
        out = _sum(out, layer.columns, one)
    return out


def ahead(layers: Sequence[SeasonLayer], m: int, steps: int) -> Season:
    """The season of the rows to come."""
    out = no_season(np.empty((steps, m)))
    for layer in layers:
        out = _sum(out, layer.columns, layer.ahead(steps))
    return out


def restarted(layers: Sequence[SeasonLayer], place: int = 0) -> tuple[SeasonLayer, ...]:
    """The layers before the first row of another sequence; for `place` see `season_of`."""
    return tuple(layer.restarted(place % layer.period) for layer in layers)


def take(layers: Sequence[SeasonLayer], y: Array) -> tuple[tuple[SeasonLayer, ...], Array, Array]:
    """The layers after the next row y (m,), and mean and variance (m,) of its season before it was seen."""
    signal, var = np.zeros(len(y)), np.zeros(len(y))
    after: list[SeasonLayer] = []
    for layer in layers:
        mean, more = layer.now()
        after.append(layer.taken((y - signal)[layer.columns]))
        signal[layer.columns] += mean
        var[layer.columns] += more
    return tuple(after), signal, var


def season_before(layers: Sequence[SeasonLayer], Y: Array, place: int = 0) -> Season:
    """What the rows before each row of Y (T, m) say of its season; for `place` see `season_of`."""
    out = no_season(Y)
    layers = restarted(layers, place)
    for t, y in enumerate(Y):
        layers, out.signal[t], out.var[t] = take(layers, y)
    return out


def _sum(total: Season, columns: Array, one: Season) -> Season:
    signal, var = total.signal.copy(), total.var.copy()
    signal[:, columns] += one.signal
    var[:, columns] += one.var
    return Season(signal, var)
