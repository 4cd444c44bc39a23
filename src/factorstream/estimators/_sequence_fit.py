"""A fit of a whole sequence, as the state of its estimator."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dynamics.choose import COMPARED_ROWS
from ..core.dynamics.fit import Kind, fit, steps
from ..core.dynamics.noise import GaussianSpec, LearnedStudentSpec
from ..core.dynamics.stream import followed, resumed
from ..core.dynamics.tails import add_errors, begin_tails, heavy
from ..core.linalg import Array
from ..core.telling import Tell, silent
from ._sequence_blend_fit import learn_blend
from ._sequence_seasons import left_by_seasons
from ._sequence_state import Other, SequenceState


def learned(
    state: SequenceState,
    Y: Array,
    periods: tuple[int, ...],
    tell: Tell = silent,
    *,
    known: Array | None = None,
    rates: Array | None = None,
) -> SequenceState:
    """The state after a fit of all rows Y (T, m), in the units of the model, beside those known (T, p), with the
    parameters it has. Where it is to see by itself whether the noise has heavy tails, and it has, once more."""
    new = _learned(state, Y, periods, tell, known=known, rates=rates)
    if state.parameters["robust"] == "auto" and isinstance(state.options.noise, GaussianSpec) and _heavy(*new[:2]):
        robust = state._replace(options=state.options._replace(noise=LearnedStudentSpec()))
        new = _learned(robust, Y, periods, tell, known=known, rates=rates)
    state, Z, kind = new
    if state.layers:
        return state
    return state._replace(blend=learn_blend(Z, Y.astype(np.float64), kind, state.options, state.parameters, tell))


def _heavy(state: SequenceState, Z: Array) -> bool:
    """Whether the one-step errors of the model in the last of its standardised rows ask for heavy tails."""
    tails = begin_tails(Z.shape[1])
    for (_, _, one), z in zip(steps(state.model, Z[-COMPARED_ROWS:]), Z[-COMPARED_ROWS:], strict=True):
        tails = add_errors(tails, z, one.mean, np.sqrt(one.var))
    return heavy(tails)


def _learned(
    state: SequenceState, Y: Array, periods: tuple[int, ...], tell: Tell, *, known: Array | None, rates: Array | None
) -> tuple[SequenceState, Array, Kind]:
    """The state after a fit with the noise that it has, the standardised rows that the seasons leave, and the kind of
    their model."""
    given = state.parameters
    opt = state.options._replace(dynamics=state.options.dynamics._replace(cycles=None))  # of the fit before
    left = left_by_seasons(Y, periods, given, opt, tell, known=known, rates=rates)
    kind, interval_scale, forecast_scale, dynamics = left.chosen
    opt = opt._replace(dynamics=dynamics)
    sweeps, tol = given["max_iter"], given["tol"]
    assert isinstance(sweeps, int)  # for the type checker: scikit-learn has checked them
    assert isinstance(tol, int | float)
    how: dict[str, Any] = {"dynamics": opt.dynamics, "noise": opt.noise, "tell": tell}
    found = fit(left.Z, opt.r, kind, sweeps=sweeps, tol=float(tol), **how)
    raw = left.rows.astype(np.float64)
    stream = followed(resumed(found, kind, left.shift, left.scale, raw, opt), left.Z)
    others: list[Other] = []
    for other in left.kinds[1:]:
        f, own = fit(left.Z, opt.r, other, sweeps=sweeps, tol=float(tol), **how), opt._replace(candidates=(other,))
        others.append(Other(own, followed(resumed(f, other, left.shift, left.scale, raw, own), left.Z)))
    state = state._replace(
        options=opt,
        stream=stream,
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
    )
    return state, left.Z, kind
