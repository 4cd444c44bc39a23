"""Layers of seasons: each sees what the layers before it leave, and their signals add up.

y_t = sum over layers of (signal of layer k at row t) + what is left. In a batch, a layer sees y_t less the smoothed
signals of the layers before it; row by row, less what these said before they saw y_t.

Columns that are known in every row, K (T, p), go through the phases beside the features: what they have in common with
the season is the season's, and the layer of trends is told what is left of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...linalg import Array
from ...telling import Tell, silent
from ..choose import HIDDEN_RUN
from ..noise import NoiseSpec
from .phases import PhaseLayer, learn_phases
from .season import Season, no_season
from .shapes import ShapeLayer, learn_shapes
from .trends import TrendLayer, learn_trends, without_outliers_beside

SeasonLayer = PhaseLayer | TrendLayer | ShapeLayer


class Plan(NamedTuple):
    """Which layers there are to be: phases of every period, longest first, for all features, then trends and known
    columns, then shapes."""

    periods: tuple[int, ...]  # longest first
    shaped: Array  # (k,) numbers of the features whose shortest period has shapes
    damping: Array | None = None  # (m,) of the slope of each feature, NaN where it has no trend; None: none has
    known: Array | None = None  # (T, p), of as many rows at least as are learned from; None: there is none

    @property
    def shortest(self) -> int:
        """The shortest period; without one, twice the run of rows that is hidden elsewhere in `dynamics`."""
        return self.periods[-1] if self.periods else 2 * HIDDEN_RUN

    def follows(self, m: int) -> bool:
        """Whether m features have a layer of trends."""
        return self.known is not None or bool(np.isfinite(self.slopes(m)).any())

    def slopes(self, m: int) -> Array:
        """The damping of every feature's slope."""
        return np.full(m, np.nan) if self.damping is None else self.damping


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
    m = Y.shape[1]
    Y = beside(Y, plan.known)
    every, out = np.arange(Y.shape[1]), no_season(Y)
    for P in plan.periods:
        shorter = max((p for p in plan.periods if p < P and P % p == 0), default=None)
        one, season = learn_phases(noise.without_outliers(Y - out.signal), P, every, shorter)
        layers.append(one)
        out = _sum(out, every, season)
    if plan.follows(m):
        trends, season = learn_trends(without_outliers_beside(Y - out.signal, noise, m), plan.slopes(m), m=m)
        layers.append(trends)
        out = _sum(out, every, season)
    if len(plan.shaped):
        rest = (Y - out.signal)[:, plan.shaped]
        shapes, season = learn_shapes(rest, plan.periods[-1], plan.shaped, r, noise, sweeps, tol, tell)
        layers.append(shapes)
        out = _sum(out, plan.shaped, season)
    return tuple(layers), _of_features(out, m)


def season_of(layers: Sequence[SeasonLayer], Y: Array, place: int = 0, known: Array | None = None) -> Season:
    """What all of Y (T, m) says of its season; the first row stands `place` rows after place 0 of all periods."""
    m = Y.shape[1]
    Y = beside(Y, known)
    out = no_season(Y)
    for layer in layers:
        one = layer.smoothed((Y - out.signal)[:, layer.columns], place % layer.period)
        out = _sum(out, layer.columns, one)
    return _of_features(out, m)


def ahead(layers: Sequence[SeasonLayer], m: int, steps: int, known: Array | None = None) -> Season:
    """The season of the rows to come, with the known columns (steps, p) of these."""
    rows = beside(np.full((steps, m), np.nan), known)
    out = no_season(rows)
    for layer in layers:
        one = layer.ahead(rows - out.signal) if isinstance(layer, TrendLayer) else layer.ahead(steps)
        out = _sum(out, layer.columns, one)
    return _of_features(out, m)


def restarted(layers: Sequence[SeasonLayer], place: int = 0) -> tuple[SeasonLayer, ...]:
    """The layers before the first row of another sequence; for `place` see `season_of`."""
    return tuple(layer.restarted(place % layer.period) for layer in layers)


def take(
    layers: Sequence[SeasonLayer], y: Array, known: Array | None = None
) -> tuple[tuple[SeasonLayer, ...], Array, Array]:
    """The layers after the next row y (m,), and mean and variance (m,) of its season before it was seen."""
    m = len(y)
    y = y if known is None else np.concatenate([y, known])
    signal, var = np.zeros(len(y)), np.zeros(len(y))
    after: list[SeasonLayer] = []
    for layer in layers:
        rest = (y - signal)[layer.columns]
        mean, more = layer.now(rest) if isinstance(layer, TrendLayer) else layer.now()
        after.append(layer.taken(rest))
        signal[layer.columns] += mean
        var[layer.columns] += more
    return tuple(after), signal[:m], var[:m]


def season_before(layers: Sequence[SeasonLayer], Y: Array, place: int = 0, known: Array | None = None) -> Season:
    """What the rows before each row of Y (T, m) say of its season; for `place` see `season_of`."""
    return passed_before(layers, Y, place, known)[1]


def passed_before(
    layers: Sequence[SeasonLayer], Y: Array, place: int = 0, known: Array | None = None
) -> tuple[tuple[SeasonLayer, ...], Season]:
    """`season_before`, and the layers after the last row: as they were but for trends, which stand where those rows
    have led them. What the coefficients of known columns were learned from is not counted twice."""
    out = no_season(Y)
    end = restarted(layers, place)
    for t, y in enumerate(Y):
        end, out.signal[t], out.var[t] = take(end, y, None if known is None else known[t])
    return tuple(
        now.with_coefficients_of(old) if isinstance(now, TrendLayer) and isinstance(old, TrendLayer) else old
        for now, old in zip(end, layers, strict=True)
    ), out


def beside(Y: Array, known: Array | None) -> Array:
    """Rows Y (T, m) with the known columns of the same rows, of which there may be more after them."""
    return Y if known is None else np.hstack([Y, known[: len(Y)]])


def _of_features(season: Season, m: int) -> Season:
    return Season(season.signal[:, :m], season.var[:, :m])


def _sum(total: Season, columns: Array, one: Season) -> Season:
    signal, var = total.signal.copy(), total.var.copy()
    signal[:, columns] += one.signal
    var[:, columns] += one.var
    return Season(signal, var)
