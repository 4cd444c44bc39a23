"""Which features are forecast better in logarithms, because their seasons grow with their level.

A look at the rows comes first and costs next to nothing: over blocks of a period, the slope of the logarithm of the
spread on that of the mean is 0 where a season is added to the level and 1 where it multiplies it (after Guerrero 1993).
Only features whose slope is clearly above 0, and nearer to 1 than to 0, are tried.

Both ways to read a feature then forecast the last third of the rows. They are compared by the log-density of what came,
in the data's units: that of a logarithm is divided by the value (the Jacobian). It asks for the right middle and for
the right width at once, and rows at a high level, where errors in the data's units are large, do not decide alone, as
they would do for squared errors. Either way's widths are first made right on average, since those of a fit are
calibrated. Nobody is to pay for that with errors in the data's units: those of the forecasts must not be larger, and
those of hidden runs not clearly so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...linalg import Array
from ...telling import Tell, silent
from ..choose import COMPARED_ROWS, HIDDEN_RUN, MIN_Z, PARTS, TRIAL_SWEEPS, HiddenRuns, clearly
from ..fit import fit
from ..stream import StreamOptions
from .ahead import ORIGINS, Tried, apart, mixed, sizes_of, tried_ahead, weights_ahead
from .damping import LEAST_BLOCKS, blocks, judged_steps, roots
from .hidden import hidden_runs, left_by_plan
from .judge import JUDGED_PERIODS, kinds_of
from .layers import Plan

NEARER = 0.5
"""Slope from which on it is nearer to 1 than to 0. Derived."""
LEAST_SHOWN = 4
"""Blocks without which nothing is said of a slope: two more than it has parameters. Not tuned."""


def grows(Y: Array, period: int) -> Array:
    """Which features of rows Y (T, m) are positive, and have a spread within `period` rows that clearly grows with
    their level (m,). O(T m)."""
    length = period if period > 1 else HIDDEN_RUN
    n = len(Y) // length
    out = np.zeros(Y.shape[1], dtype=bool)
    if n < LEAST_SHOWN:
        return out
    W = Y[len(Y) - n * length :].astype(np.float64).reshape(n, length, -1)
    seen = np.isfinite(W)
    count = np.maximum(seen.sum(1), 1)
    mean = np.where(seen, W, 0.0).sum(1) / count
    square = (np.where(seen, W - mean[:, None], 0.0) ** 2).sum(1) / count
    told = 2 * seen.sum(1) >= length
    positive = (np.where(np.isfinite(Y), Y, np.inf) > 0.0).all(0)
    for j in np.flatnonzero(positive):
        some = told[:, j] & (square[:, j] > np.finfo(float).tiny)
        if some.sum() >= LEAST_SHOWN:
            out[j] = _rises(np.log(mean[some, j]), 0.5 * np.log(square[some, j]))
    return out


def _rises(x: Array, y: Array) -> bool:
    """Whether the slope of y on x is nearer to 1 than to 0, and clearly above zero."""
    x, y = x - x.mean(), y - y.mean()
    total = float(x @ x)
    if total <= LEAST_SQUARE * len(x):
        return False
    slope = float(x @ y) / total
    left = y - slope * x
    error = np.sqrt(float(left @ left) / (len(x) - 2) / total)
    return slope > NEARER and slope > MIN_Z * error


LEAST_SQUARE = 1e-6
"""Variance of the logarithm of the level below which there is no growth to speak of: a tenth of a percent. Not
tuned: speed only."""


class Way(NamedTuple):
    """One way to read rows, and what is taken off them."""

    Y: Array  # (T, m) in its units
    plan: Plan


def better_in_logarithms(plain: Way, logs: Way, opt: StreamOptions, *, before: bool, tell: Tell = silent) -> Array:
    """Which of the features of `plain` are better read in logarithms, as `logs` has them (m,).

    For either way a fit of each kind of model, and one more if forecasts speak for logarithms. Forecasts go as far as
    elsewhere, but no further than a period where the last third would hold too few of them.
    """
    T = len(plain.Y)
    n, longest = (PARTS - 1) * T // PARTS, max((*plain.plan.periods, *logs.plan.periods), default=0)
    rows, steps = max(COMPARED_ROWS, JUDGED_PERIODS * longest), judged_steps(T, n, longest, ORIGINS)
    if longest and T - n < LEAST_BLOCKS * steps:  # too few forecasts that do not overlap
        steps = min(steps, longest)
    how: dict[str, Any] = {"before": before, "steps": steps, "tell": tell}
    both = [_foretold(tried_ahead(way.Y, way.plan, kinds_of(opt), rows, opt, **how), opt) for way in (plain, logs)]
    out = _foretold_better(both[0], both[1])
    if not out.any():
        return out
    runs = hidden_runs(plain.Y, logs.plan.shortest)
    plainly, newly = (
        _hidden(way, plain.Y, runs, rows, opt, tell, log=log) for way, log in ((plain, False), (logs, True))
    )
    worse = [clearly(b - a, MIN_Z) for a, b in zip(plainly, newly, strict=True)]
    return np.asarray(out & ~np.array(worse))


class Foretold(NamedTuple):
    """Forecasts of the last third by all kinds of models together, in the units of a way to read it."""

    off: Array  # (origins, steps, m) errors; NaN: unknown
    size: Array  # the same in deviations, as `normal_size` has them
    std: Array  # (origins, steps, m)
    truth: Array  # (origins, steps, m)


def _foretold(tried: Sequence[Tried], opt: StreamOptions) -> Foretold:
    weights = weights_ahead(tried, opt.noise)
    off, var = mixed([one.off for one in tried], [one.var for one in tried], weights)
    R = sum(w * one.noise.variance for w, one in zip(weights, tried, strict=True))
    scale = tried[0].scale
    return Foretold(off * scale, sizes_of(tried, weights), np.sqrt(var + R) * scale, tried[0].truth)


def _foretold_better(plain: Foretold, logs: Foretold) -> Array:
    """Which features are foretold clearly better in logarithms, by forecasts of either way."""
    steps, m = plain.off.shape[1:]
    out = np.zeros(m, dtype=bool)
    if not len(plain.off) or not len(logs.off):
        return out
    for j in range(m):
        truth = plain.truth[:, :, j]
        gain = _by_blocks(_means(_density(logs, j) - np.log(truth) - _density(plain, j)), steps)
        near = _by_blocks(roots(_squares(plain, j), axis=1) - roots(_squares(logs, j, truth), axis=1), steps)
        out[j] = len(gain) >= LEAST_BLOCKS and clearly(gain, MIN_Z) and bool(near.mean() >= 0.0)
    return out


def _density(one: Foretold, j: int) -> Array:
    """The log-density (origins, steps) of what came of feature j, in the units of the model, up to a constant."""
    size = one.size[:, :, j]
    wide = np.sqrt(max(float(np.nanmean(size**2)), np.finfo(float).tiny)) if np.isfinite(size).any() else 1.0
    return np.asarray(-0.5 * (size / wide) ** 2 - np.log(wide * one.std[:, :, j]))


def _squares(one: Foretold, j: int, truth: Array | None = None) -> Array:
    """Squared errors (origins, steps) in the units of the data; `truth`: of forecasts of its logarithm."""
    off = one.off[:, :, j]
    return np.asarray((off if truth is None else truth * np.expm1(-off)) ** 2)


def _means(values: Array) -> Array:
    """The means (origins,) of forecasts (origins, steps); NaN where nothing came."""
    seen = np.isfinite(values)
    mean = np.where(seen, values, 0.0).sum(1) / np.maximum(seen.sum(1), 1)
    return np.where(seen.any(1), mean, np.nan)


def _by_blocks(values: Array, steps: int) -> Array:
    """Means of what is said of every origin (origins,): forecasts of so many steps that overlap count as one."""
    return blocks(values, -(-steps // apart(steps)))


def _hidden(
    way: Way, Y: Array, runs: HiddenRuns, rows: int, opt: StreamOptions, tell: Tell, *, log: bool
) -> list[Array]:
    """The root of the summed squares of every hidden run's errors in the units of the data, Y (T, m), for each feature;
    `log`: logarithms are filled."""
    left = left_by_plan(way.Y, way.plan, runs, opt, before=False, tell=tell).last(rows)
    hide, run, _ = left.runs
    Z = np.where(hide, np.nan, left.Z)
    said = fit(Z, opt.r, opt.candidates[0], dynamics=opt.dynamics, noise=opt.noise, sweeps=TRIAL_SWEEPS, tell=tell)
    off = (said.smoothed.signal - left.Z) * left.scale
    off = (Y[len(Y) - len(Z) :] * np.expm1(off) if log else off)[hide]
    column = np.broadcast_to(np.arange(hide.shape[1]), hide.shape)[hide]
    out = []
    for j in range(hide.shape[1]):
        own = column == j
        number = np.unique(run[own], return_inverse=True)[1]
        out.append(np.sqrt(np.bincount(number, weights=off[own] ** 2)))
    return out
