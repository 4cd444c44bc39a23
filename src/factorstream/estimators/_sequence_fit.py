"""A fit of a whole sequence, as the state of its estimator."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dynamics.choose import COMPARED_ROWS
from ..core.dynamics.filter import filter_rows
from ..core.dynamics.fit import fit, steps
from ..core.dynamics.noise import GaussianSpec, LearnedStudentSpec
from ..core.dynamics.seasons.finding import found_periods
from ..core.dynamics.stream import followed, resumed
from ..core.dynamics.tails import add_errors, begin_tails, heavy
from ..core.linalg import Array
from ..core.telling import Tell, silent
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
    streamed: bool = False,
) -> SequenceState:
    """The state after a fit of all rows Y (T, m), beside those known (T, p), with the parameters it has; in a stream,
    with what `recent` needs. Where it is to see by itself whether the noise has heavy tails, and it has, once more."""
    new, Z = _learned(state, Y, periods, tell, known=known, streamed=streamed)
    if state.parameters["robust"] != "auto" or not isinstance(state.options.noise, GaussianSpec) or not _heavy(new, Z):
        return new
    robust = state._replace(options=state.options._replace(noise=LearnedStudentSpec()))
    return _learned(robust, Y, periods, tell, known=known, streamed=streamed)[0]


def _heavy(state: SequenceState, Z: Array) -> bool:
    """Whether the one-step errors of the model in the last of its standardised rows ask for heavy tails."""
    tails = begin_tails(Z.shape[1])
    for (_, _, one), z in zip(steps(state.model, Z[-COMPARED_ROWS:]), Z[-COMPARED_ROWS:], strict=True):
        tails = add_errors(tails, z, one.mean, np.sqrt(one.var))
    return heavy(tails)


def _learned(
    state: SequenceState,
    Y: Array,
    periods: tuple[int, ...],
    tell: Tell,
    *,
    known: Array | None,
    streamed: bool,
) -> tuple[SequenceState, Array]:
    """The state after a fit with the noise that it has, and the standardised rows that the seasons leave."""
    given, opt = state.parameters, state.options
    left = left_by_seasons(Y, periods, given, opt, tell, known=known, streamed=streamed)
    keep = 1 + state.lag if streamed else 1
    sweeps, tol = given["max_iter"], given["tol"]
    assert isinstance(sweeps, int)  # for the type checker: scikit-learn has checked them
    assert isinstance(tol, int | float)
    how: dict[str, Any] = {"dynamics": opt.dynamics, "noise": opt.noise, "tell": tell}
    found = fit(left.Z, opt.r, left.kind, sweeps=sweeps, tol=float(tol), **how)
    before = filter_rows(found.model, left.Z)[0][-keep:-1] if keep > 1 else []
    raw = left.rows.astype(np.float64)
    stream = followed(resumed(found, left.kind, left.shift, left.scale, raw, opt, tuple(before)), left.Z)
    others: list[Other] = []
    for kind in left.kinds[1:]:
        f, own = fit(left.Z, opt.r, kind, sweeps=sweeps, tol=float(tol), **how), opt._replace(candidates=(kind,))
        others.append(Other(own, followed(resumed(f, kind, left.shift, left.scale, raw, own), left.Z)))
    state = state._replace(
        stream=stream,
        rows=Y[-keep:].copy(),
        counts=np.isfinite(Y).sum(0, dtype=np.float64),
        n_rows=len(Y),
        interval_scale=left.interval_scale,
        forecast_scale=left.forecast_scale,
        history=tuple(found.history),
        n_iter=len(found.history),
        layers=left.layers,
        ahead_scale=left.ahead,
        others=tuple(others),
        weights=left.weights,
        seasons=np.stack([part[-keep:] for part in left.season], axis=1) if left.layers else None,
    )
    return state, left.Z
