"""A fit of a whole sequence, as the state of its estimator."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dynamics.fit import fit
from ..core.dynamics.seasons.finding import found_periods
from ..core.dynamics.stream import followed, resumed
from ..core.linalg import Array
from ..core.telling import Tell, silent
from ._sequence_blend_fit import learn_blend
from ._sequence_seasons import is_auto, left_by_seasons, periods_of
from ._sequence_state import Other, SequenceState


def periods_in(state: SequenceState, Y: Array, usual: tuple[int, ...] = (), tell: Tell = silent) -> tuple[int, ...]:
    """The periods of rows Y (T, m): those asked for, or those of the usual ones, or of any, that the data have."""
    if not is_auto(state.parameters):
        return periods_of(state.parameters)
    return found_periods(Y.astype(np.float64), state.options, usual, tell)


def learned(
    state: SequenceState,
    Y: Array,
    periods: tuple[int, ...],
    tell: Tell = silent,
    *,
    known: Array | None = None,
) -> SequenceState:
    """The state after a fit of all rows Y (T, m), beside those known (T, p), with the parameters it has."""
    given = state.parameters
    opt = state.options._replace(dynamics=state.options.dynamics._replace(cycles=None))  # of the fit before
    left = left_by_seasons(Y, periods, given, opt, tell, known=known)
    kind, interval_scale, forecast_scale, dynamics = left.chosen
    opt = opt._replace(dynamics=dynamics)
    sweeps, tol = given["max_iter"], given["tol"]
    assert isinstance(sweeps, int)  # for the type checker: scikit-learn has checked them
    assert isinstance(tol, int | float)
    how: dict[str, Any] = {"dynamics": opt.dynamics, "noise": opt.noise, "tell": tell}
    found = fit(left.Z, opt.r, kind, sweeps=sweeps, tol=float(tol), **how)
    raw = left.rows.astype(np.float64)
    stream = followed(resumed(found, kind, left.shift, left.scale, raw, opt), left.Z)
    blend = None if left.layers else learn_blend(left.Z, raw, kind, opt, given, tell)
    others: list[Other] = []
    for other in left.kinds[1:]:
        f, own = fit(left.Z, opt.r, other, sweeps=sweeps, tol=float(tol), **how), opt._replace(candidates=(other,))
        others.append(Other(own, followed(resumed(f, other, left.shift, left.scale, raw, own), left.Z)))
    return state._replace(
        options=opt,
        stream=stream,
        rows=Y[-1:].copy(),
        counts=np.isfinite(Y).sum(0, dtype=np.float64),
        n_rows=len(Y),
        interval_scale=interval_scale,
        forecast_scale=forecast_scale,
        history=tuple(found.history),
        n_iter=len(found.history),
        layers=left.layers,
        ahead_scale=left.ahead,
        others=tuple(others),
        weights=left.weights,
        seasons=np.stack([part[-1:] for part in left.season], axis=1) if left.layers else None,
        blend=blend,
    )
