"""How much wider forecasts are than a model says, feature by feature, by those made in the last third of the rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..linalg import Array
from ..telling import Tell, silent
from .choose import COMPARED_ROWS, HORIZON, PARTS, TRIAL_SWEEPS, stretch
from .drift import with_drift
from .em import LEARNED, DynamicsSpec
from .filter import forecast
from .fit import Kind, fit, steps
from .noise import GaussianSpec, NoiseSpec
from .scale import LEAST_KNOWN, student_factor
from .widths import held_by, own_factors


def forecast_stretch(
    Y: Array,
    r: int,
    kind: Kind,
    *,
    dynamics: DynamicsSpec = LEARNED,
    noise: NoiseSpec = GaussianSpec(),  # noqa: B008  an immutable tuple
    drift: float | None = None,
    sweeps: int = TRIAL_SWEEPS,
    tell: Tell = silent,
) -> Array:
    """Factors (m,) of forecasts up to HORIZON steps in the last third of Y, by a fit of the rest; at least 1. One fit.

    Beyond the data every error in the dynamics counts, which gaps between data hardly show.
    """
    Y = Y[-COMPARED_ROWS:]
    size = forecast_sizes(Y, r, kind, dynamics=dynamics, noise=noise, drift=drift, sweeps=sweeps, tell=tell)
    return np.maximum(by_feature(size, noise, stretch), 1.0)


def by_feature(size: Array, noise: NoiseSpec, of_all: Callable[[Array, NoiseSpec], float]) -> Array:
    """Factors (m,) for errors of these sizes (rows, m), NaN: unknown. O(rows m).

    A feature has its own (`own_factors`), so that one which is further off than the others does not widen these. What
    they all have in common is what `of_all` says of the errors that are left, and 1 where there are none.
    """
    own = own_factors(size, held_by(noise))
    left = size / own
    return own * of_all(left[np.isfinite(left)], noise)


def forecast_sizes(
    Y: Array,
    r: int,
    kind: Kind,
    *,
    dynamics: DynamicsSpec,
    noise: NoiseSpec,
    drift: float | None,
    sweeps: int,
    tell: Tell = silent,
) -> Array:
    """Errors (rows, m) of forecasts in the last third of Y by a fit of the rest: see `normal_size`; with Student's law.

    NaN where nothing was seen, and in features that the rest has fewer than LEAST_KNOWN values of.
    """
    n = (PARTS - 1) * len(Y) // PARTS
    f = fit(Y[:n], r, kind, dynamics=dynamics, noise=noise, sweeps=sweeps, tell=tell)
    N = np.isfinite(Y[:n]).sum(0)
    sizes = [np.zeros((0, Y.shape[1]))]
    for now, (model, belief, _) in enumerate(steps(with_drift(f.model, drift), Y), 1):
        if now < n or (now - n) % HORIZON or now == len(Y):
            continue
        rows = Y[now : now + HORIZON]
        mean, var = forecast(model, belief, len(rows))
        signal, R = var - f.model.noise.variance, np.broadcast_to(f.model.noise.R, rows.shape)
        size = f.model.noise.normal_size(rows - mean, signal, R) / student_factor(N)
        sizes.append(np.where(N >= LEAST_KNOWN, size, np.nan))
    return np.concatenate(sizes)
