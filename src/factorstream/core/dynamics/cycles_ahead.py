"""Whether cycles help: by forecasts in the last third of the rows."""

from __future__ import annotations

import numpy as np

from ..linalg import Array
from ..telling import Tell, silent
from .choose import COMPARED_ROWS, HORIZON, MIN_Z, PARTS, TRIAL_SWEEPS, clearly
from .em import LEARNED, DynamicsSpec
from .filter import filter_rows, forecast
from .fit import Kind, fit
from .noise import GaussianSpec, NoiseSpec

JUDGED_TURNS = 16
"""Turns of the longest cycle on which cycles are judged, where that is more than COMPARED_ROWS. Not tuned."""
STRETCHES = 4
"""Forecasts of the last third, at least, that do not overlap; and how many begin within the length of one. Not
tuned."""
LEAST_PARTS = 3
"""Stretches and features that have been forecast, without which nothing is said for cycles. Not tuned."""


def better_ahead(
    Y: Array,
    cycles: Array,
    r: int,
    kind: Kind,
    *,
    noise: NoiseSpec = GaussianSpec(),  # noqa: B008  an immutable tuple
    tell: Tell = silent,
) -> bool:
    """Whether a model of this kind of standardised Y (T, m) forecasts clearly better beside cycles of these
    frequencies. Two fits."""
    turn = int(np.ceil(1.0 / cycles.min()))
    Y = Y[-max(COMPARED_ROWS, JUDGED_TURNS * turn) :]
    specs = (LEARNED, LEARNED._replace(cycles=cycles))
    plain, turning = (_ahead(Y, r, kind, turn, spec, noise, tell) for spec in specs)
    return len(plain) >= LEAST_PARTS and clearly(plain - turning, MIN_Z)


def _ahead(Y: Array, r: int, kind: Kind, turn: int, dynamics: DynamicsSpec, noise: NoiseSpec, tell: Tell) -> Array:
    """Roots of mean losses of forecasts up to a turn, if STRETCHES of them fit into the last third: of each stretch and
    feature, over the forecasts that begin in it."""
    n = (PARTS - 1) * len(Y) // PARTS
    steps = max(min(turn, (len(Y) - n) // STRETCHES), min(HORIZON, len(Y) - n))
    f = fit(Y[:n], r, kind, dynamics=dynamics, noise=noise, sweeps=TRIAL_SWEEPS, tell=tell)
    beliefs = [f.smoothed.end, *filter_rows(f.model, Y[n:], f.smoothed.end)[0]]
    origins = np.arange(n, len(Y) - steps + 1, max(steps // STRETCHES, 1))
    off = np.array([Y[now : now + steps] - forecast(f.model, beliefs[now - n], steps)[0] for now in origins])
    parts = [noise.loss(np.abs(off[(origins - n) // steps == k])) for k in range((len(Y) - n) // steps)]
    means = [_mean(part[:, :, j]) for part in parts for j in range(Y.shape[1])]
    return np.sqrt([mean for mean in means if np.isfinite(mean)])


def _mean(loss: Array) -> float:
    """The mean of what is known; NaN where nothing is."""
    known = loss[np.isfinite(loss)]
    return float(known.mean()) if len(known) else float("nan")
