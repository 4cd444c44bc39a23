"""How wide forecasts with seasons must be, by those made in the last third of the rows.

Errors grow otherwise than the model says, and not alike in all features: a level that wanders without limit over a few
rows may be held by something over many. So there is a factor for each feature and for each doubling of the steps ahead.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from ...linalg import Array
from ...telling import Tell, silent
from ..choose import PARTS, PRIOR_COUNT, TRIAL_SWEEPS, USUAL, WIDE
from ..drift import with_drift
from ..filter import forecast, predict, update
from ..fit import Kind, fit
from ..noise import GaussianNoise, Noise, NoiseSpec
from ..scale import LEAST_KNOWN, standards, student_factor
from ..stream import StreamOptions
from .damping import judged_steps, roots
from .layers import Plan, ahead, learn, long_enough, passed_before, take

ORIGINS = 4
"""Forecasts of the last third, at least, that do not overlap; and how many begin within the length of one. Not
tuned."""


class Tried(NamedTuple):
    """Forecasts of one kind of model in the last third of the rows, in deviations of what the seasons leave."""

    noise: Noise
    off: Array  # (origins, steps, m) errors; NaN: unknown
    var: Array  # (origins, steps, m) of the signal
    factor: Array  # (m,) Student's for few values; NaN where there are too few
    truth: Array  # (origins, steps, m) the rows that came, and
    scale: Array  # (m,) that deviation, both in the units of the rows


def tried_ahead(
    Y: Array,
    plan: Plan,
    kinds: Sequence[Kind],
    rows: int,
    opt: StreamOptions,
    *,
    before: bool,
    steps: int | None = None,
    tell: Tell = silent,
) -> list[Tried]:
    """Forecasts of every kind of model in the last third of Y.

    Seasons are learned from the first two thirds, and a model of what they leave from the last `rows` of these. Both
    then follow the rows of the last third. Forecasts go so many `steps`, or up to the longest period, if ORIGINS of
    them fit in. `before`: the model learns from what the seasons leave of rows before they see them, as in a stream.
    """
    n, m = (PARTS - 1) * len(Y) // PARTS, Y.shape[1]
    periods = long_enough(plan.periods, n)
    if (plan.periods and not periods) or not np.isfinite(Y[:n]).any():
        nothing = np.full((0, 1, m), np.nan)
        return [Tried(GaussianNoise(np.ones(m)), nothing, nothing, np.ones(m), nothing, np.ones(m))] * len(kinds)
    plan = plan._replace(periods=periods, shaped=plan.shaped if periods[-1:] == plan.periods[-1:] else plan.shaped[:0])
    known = plan.known
    layers, season = learn(Y[:n], plan, opt.r, opt.noise, TRIAL_SWEEPS, tell=tell)
    if before:
        layers, season = passed_before(layers, Y[:n], known=known)
    rest = (Y[:n] - season.signal)[-rows:]
    shift, scale = standards(rest, opt.noise)
    how: dict[str, Any] = {"dynamics": opt.dynamics, "noise": opt.noise, "sweeps": TRIAL_SWEEPS, "tell": tell}
    fits = [fit((rest - shift) / scale, opt.r, kind, **how) for kind in kinds]
    N = np.isfinite(Y[:n]).sum(0)
    models, beliefs = [with_drift(f.model, opt.drift) for f in fits], [f.smoothed.end for f in fits]
    steps = judged_steps(len(Y), n, max(periods, default=0), ORIGINS) if steps is None else steps
    errors: list[list[Array]] = [[] for _ in kinds]
    variances: list[list[Array]] = [[] for _ in kinds]
    came: list[Array] = []
    for now in range(n, len(Y)):
        if (now - n) % apart(steps) == 0:
            truth = np.full((steps, m), np.nan)
            truth[: len(Y) - now] = Y[now : now + steps]
            came.append(truth)
            comes = ahead(layers, m, steps, None if known is None else _repeated(known[now : now + steps], steps))
            for k, (model, belief) in enumerate(zip(models, beliefs, strict=True)):
                mean, var = forecast(model, belief, steps)
                errors[k].append((truth - comes.signal - shift) / scale - mean)
                variances[k].append(var - fits[k].model.noise.variance + comes.var / scale**2)
        layers, signal, _ = take(layers, Y[now], None if known is None else known[now])
        z = (Y[now] - signal - shift) / scale
        beliefs = [update(model, predict(model, belief), z)[0] for model, belief in zip(models, beliefs, strict=True)]
    factor = np.where(N >= LEAST_KNOWN, student_factor(N), np.nan)
    return [
        Tried(f.model.noise, np.array(off), np.array(var), factor, np.array(came), scale)
        for f, off, var in zip(fits, errors, variances, strict=True)
    ]


def apart(steps: int) -> int:
    """Rows from the origin of one forecast of so many steps to the next."""
    return max(steps // ORIGINS, 1)


def weights_ahead(tried: Sequence[Tried], noise: NoiseSpec) -> Array:
    """How much the forecast of each kind of model counts for each feature (kinds, m): one over its mean loss.

    Those are the best weights of forecasts whose errors do not depend on each other (Bates and Granger 1969); where
    they do, weights that are estimated with the dependence are known to do worse.
    """
    losses = np.array([roots(noise.loss(np.abs(one.off)).reshape(-1, one.off.shape[2]), axis=0) for one in tried]) ** 2
    least = np.finfo(float).tiny
    inverse = 1.0 / np.maximum(np.where(np.isfinite(losses), losses, 1.0), least)
    return np.asarray(inverse / inverse.sum(0))


def sizes_of(tried: Sequence[Tried], weights: Array) -> Array:
    """Errors of the weighed forecasts, as `normal_size` of the first kind's noise has them; see `mixed`."""
    first = tried[0]
    off, var = mixed([one.off for one in tried], [one.var for one in tried], weights)
    R = sum(w * one.noise.R for w, one in zip(weights, tried, strict=True))
    return np.asarray(first.noise.normal_size(off, var, np.broadcast_to(R, off.shape)) / first.factor)


def mixed(means: Sequence[Array], variances: Sequence[Array], weights: Array) -> tuple[Array, Array]:
    """Mean and variance of a mixture: where its parts disagree, it is wider than they are."""
    if len(means) == 1:
        return means[0], variances[0]
    mean = sum(w * part for w, part in zip(weights, means, strict=True))
    var = sum(w * (v + (part - mean) ** 2) for w, part, v in zip(weights, means, variances, strict=True))
    return np.asarray(mean), np.asarray(var)


def _repeated(known: Array, steps: int) -> Array:
    """The known rows of the steps to come; where they end, the last one again: no truth is compared with it."""
    return known[np.minimum(np.arange(steps), len(known) - 1)]


def widths_ahead(size: Array, noise: NoiseSpec) -> Array:
    """Factors (b, m) on standard deviations: row k for 2^k to 2^(k+1) - 1 steps ahead, the last for all beyond.

    As `stretch`: 95% quantiles over that of a Gaussian. That of a feature is drawn towards 1 as if PRIOR_COUNT more
    errors had been right, those of its steps as much towards that of the feature. Forecasts overlap, so that their
    errors count for one part in ORIGINS.
    """
    _, steps, m = size.shape
    out = np.ones((int(steps).bit_length(), m))
    for j in range(m):
        whole = _drawn(size[:, :, j], 1.0, noise)
        for k in range(len(out)):
            out[k, j] = _drawn(size[:, 2**k - 1 : 2 ** (k + 1) - 1, j], whole, noise)
    return out


def _drawn(size: Array, towards: float, noise: NoiseSpec) -> float:
    size = size[np.isfinite(size)]
    if not len(size):
        return towards
    wide, usual = (float(np.quantile(size, held) / ndtri((1.0 + held) / 2.0)) for held in (WIDE, USUAL))
    known = len(size) / ORIGINS
    return float(towards * (noise.width(wide, usual) / towards) ** (known / (known + PRIOR_COUNT)))


def width_at(widths: Array, steps: int) -> Array:
    """The factors (steps, m) of the next steps."""
    row = [min((h + 1).bit_length(), len(widths)) - 1 for h in range(steps)]
    return np.asarray(widths[row])
