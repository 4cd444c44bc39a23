"""The parameters of a sequence estimator, checked, in the words of the core."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from ..core.dynamics.em import DynamicsSpec
from ..core.dynamics.fit import ALL_LEVELS, LEVELS, STATES, WALKS, Kind, filtered, smoothed
from ..core.dynamics.noise import GaussianSpec, GivenStudentSpec, LearnedStudentSpec, NoiseSpec
from ..core.dynamics.stream import StreamOptions
from ..core.linalg import Array
from ..core.telling import Tell, silent
from ._given_numbers import as_covariance

Parameter = str | bool | int | float | None | Array
"""A parameter as plain data."""

LEAST_PROCESS_NOISE = 1e-12
"""Least eigenvalue of Q, relative to its largest or to 1: rounding of P takes away what is smaller."""
LARGEST_RADIUS = 1.0 + 1e-9
"""Spectral radius of A up to which it counts as not growing: rounding of a rotation."""


def plain_parameters(estimator: BaseEstimator) -> dict[str, Parameter]:
    """The parameters that answers depend on, as numbers, strings and copied arrays."""
    given = estimator.get_params(deep=False)
    return {name: _plain(name, value) for name, value in given.items() if name != "verbose"}


def _plain(name: str, value: object) -> Parameter:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Real):
        return int(value) if isinstance(value, Integral) else float(value)
    try:
        return np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise ValueError(f"{name} must be an array of numbers; got {value!r}.") from problem


def options(given: dict[str, Parameter], m: int) -> StreamOptions:
    """The parameters as the core wants them, for m features."""
    r = given["n_components"]
    assert isinstance(r, int)  # for the type checker: scikit-learn has checked it
    spec = _dynamics(given["dynamics"], given["process_noise"], r)
    candidates, drift = _slow_part(given["drift"])
    if isinstance(spec.A, np.ndarray) or isinstance(spec.Q, np.ndarray):  # matrices fix the number of components
        if r > m:
            raise ValueError(f"A matrix of dynamics needs n_components of at most n_features={m}; got {r}.")
        candidates = tuple(kind for kind in candidates if kind != LEVELS)
    lag = given["lag"]
    keep = 1 + lag if isinstance(lag, int) else 1
    return StreamOptions(r, candidates, spec, _noise(given["robust"]), drift, keep=keep)


def check_enough(Y: Array, r: int) -> None:
    """Refuse rows that are too few for r components, or hold no number."""
    if len(Y) < r:
        raise ValueError(
            f"X has n_samples={len(Y)} time steps, fewer than n_components={r}; lower n_components, or stream the "
            "rows with partial_fit, which begins with one."
        )
    if np.isnan(Y).all():
        raise ValueError("X has no observed entry: every value is NaN; pass data with some numbers in it.")


def _slow_part(drift: Parameter) -> tuple[tuple[Kind, ...], float | None]:
    """The kinds of models to choose from, and Q_V of a drifting dictionary, by what may change slowly."""
    if drift == "auto":
        return (LEVELS, ALL_LEVELS, STATES), None
    if drift == "level":
        return (LEVELS, ALL_LEVELS), None
    if drift == "none":
        return (STATES,), None
    if not isinstance(drift, int | float) or not np.isfinite(drift):
        raise ValueError(f"drift must be 'auto', 'level', 'none', 0 or a positive number; got {drift!r}.")
    return (STATES,), float(drift) or None


def _noise(robust: Parameter) -> NoiseSpec:
    if robust == "auto":  # until errors say otherwise
        return GaussianSpec()
    if isinstance(robust, bool):
        return LearnedStudentSpec() if robust else GaussianSpec()
    assert isinstance(robust, int | float)  # for the type checker: scikit-learn has checked it
    return GivenStudentSpec(float(robust))


_SHAPES: dict[str, Literal["fixed", "diagonal", "full"]] = {
    "auto": "full",
    "full": "full",
    "diagonal": "diagonal",
    "fixed": "fixed",
}


def _dynamics(dynamics: Parameter, process_noise: Parameter, r: int) -> DynamicsSpec:
    Q = None if isinstance(process_noise, str) else _process_noise(process_noise, r)
    if isinstance(dynamics, str):
        return DynamicsSpec(_SHAPES[dynamics], None, Q)
    if not isinstance(dynamics, np.ndarray):
        assert dynamics is not None  # for the type checker: scikit-learn has checked it
        return DynamicsSpec("fixed", float(dynamics), Q)
    A = np.diag(dynamics) if dynamics.ndim == 1 else dynamics.copy()
    if A.shape != (r, r) or not np.isfinite(A).all():
        raise ValueError(f"dynamics must be finite and have shape ({r}, {r}); got shape {dynamics.shape}.")
    radius = float(np.abs(np.linalg.eigvals(A)).max())
    if radius > LARGEST_RADIUS:
        raise ValueError(f"dynamics must not grow: its spectral radius is {radius:.4g}, and may be 1 at most.")
    return DynamicsSpec("fixed", A, Q)


def _process_noise(value: Parameter, r: int) -> Array | float:
    Q = as_covariance(value, r, "process_noise", definite=True) if isinstance(value, np.ndarray) else float(value)  # type: ignore[arg-type]
    sizes = np.linalg.eigvalsh(np.atleast_2d(Q))
    least = LEAST_PROCESS_NOISE * max(1.0, sizes[-1])
    if sizes[0] < least:
        raise ValueError(
            f"process_noise must be at least {least:.2g}, or rounding takes it away; got {sizes[0]:.3g}, "
            "but 1e-12 already stands for states that do not move by themselves."
        )
    return Q


def planned_sweeps(
    T: int, opt: StreamOptions, given: dict[str, Parameter], *, turning: bool = False
) -> list[tuple[int, int]]:
    """The sweeps that each fit of `choose_kind` on T rows, and then the last one, may make, and their rows.

    `turning`: the spectrum shows cycles.
    """
    from ..core.dynamics.choose import COMPARED_ROWS, PARTS, TRIAL_SWEEPS  # only fits need these
    from ..core.dynamics.few import FEW_ROWS, FEWEST_ROWS, FOLDS, MIN_ROWS_TO_CHOOSE

    n_candidates, last = len(opt.candidates), given["max_iter"]
    assert isinstance(last, int)  # for the type checker: scikit-learn has checked it
    trials = 0
    if n_candidates > 1 or turning:
        several = min(n_candidates, 2) + turning
        few, many = FOLDS * several * (T >= FEWEST_ROWS), max(several, n_candidates)
        trials = few if T <= MIN_ROWS_TO_CHOOSE else many
    fits = [(PARTS - 1) * T // PARTS] * (2 * turning) + [min(T, COMPARED_ROWS)] * trials
    if given["calibrate"]:
        alone = n_candidates == 1 or T > COMPARED_ROWS
        fits += [T] * (FOLDS * (not trials or T > MIN_ROWS_TO_CHOOSE) if T <= FEW_ROWS else int(alone))
        fits.append((PARTS - 1) * min(T, COMPARED_ROWS) // PARTS)
    return [*((TRIAL_SWEEPS, n_rows) for n_rows in fits), (last, T)]


class Chosen(NamedTuple):
    """The kind of model that some rows ask for."""

    kind: Kind
    interval_scale: float  # factor on the standard deviations of gaps
    forecast_scale: Array | float  # the same of forecasts; (m,), or one of all
    dynamics: DynamicsSpec  # with the cycles that were found


def turns(Z: Array, opt: StreamOptions) -> Array:
    """The cycles of standardised rows that are tried: those of their spectrum, where all about the dynamics is learned
    and the dictionary stays as it is."""
    from ..core.dynamics.cycles import MOST_CYCLES, cycles_in  # only fits need this

    spec = opt.dynamics
    if spec.kind != "full" or spec.A is not None or spec.Q is not None or opt.drift is not None:
        return np.zeros(0)
    return cycles_in(opt.noise.without_outliers(Z), min(MOST_CYCLES, opt.r // 2))


def choose_kind(Z: Array, opt: StreamOptions, given: dict[str, Parameter], tell: Tell = silent) -> Chosen:
    """The kind of model, the factors on intervals and forecasts, and cycles, on hidden runs of standardised rows."""
    from ..core.dynamics.choose import COMPARED_ROWS, Choice, choose  # only fits need these
    from ..core.dynamics.cycles_ahead import better_ahead
    from ..core.dynamics.few import FEW_ROWS, MIN_ROWS_TO_CHOOSE, choose_few, stretches
    from ..core.dynamics.forecasts import forecast_stretch

    best, candidates, hidden = Choice(opt.candidates[0]), opt.candidates, None
    how: dict[str, Any] = {"dynamics": opt.dynamics, "noise": opt.noise, "drift": opt.drift, "tell": tell}
    answers = smoothed if given["smooth"] else filtered
    cycles = turns(Z, opt)
    helps = len(cycles) > 0 and better_ahead(Z, cycles, opt.r, candidates[0], noise=opt.noise, tell=tell)
    tried = cycles if helps else None
    if len(Z) <= MIN_ROWS_TO_CHOOSE:
        best, hidden = choose_few(Z, opt.r, candidates, cycles=tried, answers=answers, **how)
    elif len(candidates) > 1 or helps:
        if helps:  # one between the first and the last would add to the cost, and seldom be the best
            candidates = tuple(dict.fromkeys((candidates[0], candidates[-1])))
        if LEVELS in candidates and isinstance(opt.noise, GaussianSpec):
            candidates = (*candidates, WALKS)
        best = choose(Z, opt.r, candidates, cycles=tried, **how)
    if best.turns:
        how["dynamics"] = opt.dynamics._replace(cycles=cycles)
    if not given["calibrate"]:
        return Chosen(best.kind, 1.0, 1.0, how["dynamics"])
    if len(Z) <= FEW_ROWS:
        both = stretches(Z, opt.r, best.kind, answers=answers, hidden=hidden, **how)
        return Chosen(best.kind, *both, how["dynamics"])
    if len(candidates) == 1 or len(Z) > COMPARED_ROWS:  # what few rows teach is less certain
        best = choose(Z, opt.r, [best.kind], rows=len(Z), follow_by=answers, **how)
    return Chosen(best.kind, best.stretch, forecast_stretch(Z, opt.r, best.kind, **how), how["dynamics"])
