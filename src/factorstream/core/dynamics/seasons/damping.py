"""Which features have a trend, and how fast it fades in forecasts: by forecasts in the last third of the rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...linalg import Array
from ..choose import HORIZON, MIN_Z, PARTS, clearly
from ..stream import StreamOptions
from .layers import Plan, beside, learn, long_enough, take
from .trends import TrendLayer, learn_trends, without_outliers_beside

DAMPINGS = (1.0, 0.98, 0.9, 0.8)
"""Factors by which a slope may shrink from step to step. From the range that is usual for damped trends, .8 to .98
(Hyndman and Athanasopoulos, Forecasting, 8.2), and a line."""
LEAST_BLOCKS = 3
"""Forecasts that do not overlap, without which nothing is said for or against a trend. Not tuned."""


def judged_steps(T: int, n: int, longest: int, origins: int) -> int:
    """How far forecasts of rows n to T are judged: the longest period, if so many origins fit in, or some rows."""
    return max(min(longest, (T - n) // origins), min(HORIZON, T - n))


def dampings(Y: Array, plan: Plan, opt: StreamOptions, steps: int, *, auto: bool) -> Array:
    """The damping (m,) of the slope of each feature of raw rows Y (T, m); `auto`: NaN where a level alone, which goes
    on as it is, does not forecast clearly worse.

    Seasons, slopes and coefficients are learned from the first two thirds, and follow the others. Errors are those of
    each feature by itself: `steps` rows ahead of every row, and those of forecasts that overlap count as one.
    """
    T, m = Y.shape
    n = (PARTS - 1) * T // PARTS
    every = np.ones(m)
    if T - n < LEAST_BLOCKS * steps:
        return np.full(m, np.nan) if auto else every
    rest = _left_by_phases(Y, plan, n, opt)
    plain, _ = learn_trends(rest[:n], np.full(m, np.nan), m=m)
    trended, _ = learn_trends(rest[:n], every, m=m)
    base, *losses = _losses(rest, n, steps, plain, trended, opt)
    return chosen(base, losses, steps, auto=auto)


def chosen(base: Array, losses: Sequence[Array], steps: int, *, auto: bool) -> Array:
    """The best of the DAMPINGS for each feature, by the losses (origins, m) of forecasts of so many steps; `auto`: NaN
    where those by a level alone, `base`, are not clearly more."""
    m = base.shape[1]
    out = np.full(m, np.nan)
    for j in range(m):
        best = int(np.argmin([np.nansum(loss[:, j]) for loss in losses]))
        gain = blocks(base[:, j] - losses[best][:, j], steps)
        if not auto or (len(gain) >= LEAST_BLOCKS and clearly(gain, MIN_Z)):
            out[j] = DAMPINGS[best]
    return out


def _left_by_phases(Y: Array, plan: Plan, n: int, opt: StreamOptions) -> Array:
    """Rows and known columns (T, m + p) less the slow seasons, as the first n rows and those before each one say."""
    W = beside(Y, plan.known)
    phases = Plan(long_enough(plan.periods, n), np.arange(0))
    layers, season = learn(W[:n], phases, opt.r, opt.noise, 1)
    rest = W.copy()
    rest[:n] -= season.signal
    for t in range(n, len(W)):
        layers, signal, _ = take(layers, W[t])
        rest[t] -= signal
    return without_outliers_beside(rest, opt.noise, Y.shape[1])


def _losses(rest: Array, n: int, steps: int, plain: TrendLayer, trended: TrendLayer, opt: StreamOptions) -> list[Array]:
    """Root mean losses (origins, m) of forecasts by a level alone, and with a slope for each of the dampings."""
    T, m = len(rest), len(plain.damping)
    sums = [np.cumsum(phi ** np.arange(steps))[:, None] - 1.0 for phi in DAMPINGS]
    out: list[list[Array]] = [[] for _ in range(1 + len(sums))]
    for now in range(n, T):
        rows = rest[now : now + steps]
        truth, far = rows[:, :m], [np.zeros((len(rows), 1)), *(some[: len(rows)] for some in sums)]
        for place, (layer, sizes) in enumerate(zip([plain] + [trended] * len(sums), far, strict=True)):
            level, slope, known = layer.line(rows)
            out[place].append(roots(opt.noise.loss(np.abs(truth - level - sizes * slope - known)), axis=0))
        plain, trended = plain.taken(rest[now]), trended.taken(rest[now])
    return [np.array(part) for part in out]


def roots(loss: Array, axis: int) -> Array:
    """Roots of mean losses along an axis; NaN where nothing was seen."""
    seen = np.isfinite(loss)
    total = np.where(seen, loss, 0.0).sum(axis)
    return np.where(seen.any(axis), np.sqrt(total / np.maximum(seen.sum(axis), 1)), np.nan)


def blocks(gain: Array, origins: int) -> Array:
    """Mean gains of so many origins in turn."""
    parts = [part[np.isfinite(part)] for part in np.split(gain, range(origins, len(gain), origins))]
    return np.array([part.mean() for part in parts if len(part)])
