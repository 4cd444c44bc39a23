"""The seasons that are asked for, and what they leave of the rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..core.dynamics.choose import TRIAL_SWEEPS
from ..core.dynamics.few import FEW_ROWS
from ..core.dynamics.fit import Kind, filtered, smoothed
from ..core.dynamics.scale import standards
from ..core.dynamics.seasons.finding import MOST_PERIODS
from ..core.dynamics.seasons.growing import grows
from ..core.dynamics.seasons.hidden import APART
from ..core.dynamics.seasons.judge import SHAPED_PERIODS, judge, kinds_of, trends_of
from ..core.dynamics.seasons.layers import LEAST_PERIODS, SeasonLayer, learn, passed_before
from ..core.dynamics.seasons.season import Season, no_season
from ..core.dynamics.stream import StreamOptions
from ..core.linalg import Array
from ..core.telling import Tell, silent
from ._sequence import Chosen, Parameter, choose_kind, planned_sweeps, turns

SHORTEST = 2
"""Rows of the shortest period: what comes back in every row is no season."""


def is_auto(given: dict[str, Parameter]) -> bool:
    """Whether periods are to be found."""
    return isinstance(given["period"], str)  # scikit-learn has checked which


def periods_of(given: dict[str, Parameter]) -> tuple[int, ...]:
    """The periods asked for, longest first; none without seasons, and where they are to be found."""
    period = given["period"]
    if period is None or is_auto(given):
        return ()
    values = np.atleast_1d(np.asarray(period, dtype=np.float64))
    whole = values.ndim == 1 and bool((np.isfinite(values) & (values == np.rint(values))).all())
    if not whole or not len(values) or values.min() < SHORTEST:
        raise ValueError(f"period must be None, or whole numbers of rows from {SHORTEST} on; got {period!r}.")
    return tuple(sorted({int(value) for value in values}, reverse=True))


def check_long_enough(periods: tuple[int, ...], T: int) -> None:
    """Refuse rows that do not show the longest period often enough."""
    if periods and LEAST_PERIODS * periods[0] > T:
        raise ValueError(
            f"X has n_samples={T} time steps, fewer than {LEAST_PERIODS} periods of {periods[0]}; pass more rows, or "
            "leave that period out."
        )


def planned_fits(
    Y: Array, opt: StreamOptions, given: dict[str, Parameter], *, known: bool = False
) -> list[tuple[int, int]]:
    """The sweeps that each fit of `left_by_seasons`, and then the last one, may make, and their rows at most."""
    T, m = Y.shape
    periods, n_candidates, last = periods_of(given), len(opt.candidates), given["max_iter"]
    auto, trend = is_auto(given), given["trend"] is not False
    if not periods and not auto and not trend and not known:
        return planned_sweeps(T, opt, given, turning=_turning(Y, opt))
    assert isinstance(last, int)  # for the type checker: scikit-learn has checked it
    trials = m + 2 if auto or (periods and SHAPED_PERIODS * periods[-1] <= T) else 0
    trials += APART * (1 + min(n_candidates, 2)) if T <= FEW_ROWS else 2 + n_candidates
    trials += 2 if given["calibrate"] else 0
    trials += 2 + n_candidates + 1 if trend else 0
    if given["marginals"] == "auto" and grows(Y, max(periods, default=0)).any():
        trials += 2 * len(kinds_of(opt)) + 2 + MOST_PERIODS * MOST_PERIODS * auto + 2 * trend
    if auto:  # and there may be none after all
        trials = MOST_PERIODS * MOST_PERIODS + max(trials, len(planned_sweeps(T, opt, given, turning=True)) - 1)
    return [*((TRIAL_SWEEPS, T) for _ in range(trials)), *[(last, T)] * (3 if trend else 2)]


def _turning(Y: Array, opt: StreamOptions) -> bool:
    """Whether `choose_kind` will try cycles."""
    shift, scale = standards(Y, opt.noise)
    return len(turns((Y - shift) / scale, opt)) > 0


class Left(NamedTuple):
    """What the seasons leave of some rows, and which model it asks for."""

    layers: tuple[SeasonLayer, ...]
    season: Season
    rows: Array  # less the season
    shift: Array
    scale: Array
    Z: Array  # the rows, standardised
    chosen: Chosen
    kinds: tuple[Kind, ...] = ()  # for forecasts, that of gaps first; none where it alone forecasts
    weights: Array | None = None  # (kinds, m) of these
    ahead: Array | None = None  # factors on forecasts by feature and steps, where seasons were looked at


def trends_in(
    Y: Array,
    periods: tuple[int, ...],
    given: dict[str, Parameter],
    opt: StreamOptions,
    tell: Tell = silent,
    *,
    known: Array | None = None,
    rates: Array | None = None,
) -> Array | None:
    """The damping (m,) of the trends of rows Y (T, m), NaN where a feature has none; None: none has. `rates`: of
    features whose trends are settled, NaN for others."""
    if given["trend"] is False:
        return None
    settled = np.zeros(Y.shape[1], dtype=bool) if rates is None else np.isfinite(rates)
    if rates is not None and settled.all():
        return rates
    found = trends_of(Y.astype(np.float64), periods, opt, auto=given["trend"] == "auto", known=known, tell=tell)
    damping = found if rates is None else np.where(settled, rates, found)
    return None if np.isnan(damping).all() else damping


def left_by_seasons(
    Y: Array,
    periods: tuple[int, ...],
    given: dict[str, Parameter],
    opt: StreamOptions,
    tell: Tell = silent,
    *,
    known: Array | None = None,
    rates: Array | None = None,
) -> Left:
    """Learn seasons, trends and what known columns (T, p) say of raw rows Y (T, m), and look at what they leave.
    `rates`: see `trends_in`.

    Where rows are filtered and not smoothed, it is what they leave of each row before they see it.
    """
    damping = trends_in(Y, periods, given, opt, tell, known=known, rates=rates)
    if not periods and damping is None and known is None:
        shift, scale = standards(Y, opt.noise)
        Z = (Y - shift) / scale
        return Left((), no_season(Y[-1:]), Y, shift, scale, Z, choose_kind(Z, opt, given, tell))
    sweeps, tol, answers = given["max_iter"], given["tol"], smoothed if given["smooth"] else filtered
    assert isinstance(sweeps, int)  # for the type checker: scikit-learn has checked them
    assert isinstance(tol, int | float)
    Y = Y.astype(np.float64)
    calibrate = bool(given["calibrate"])
    how: dict[str, Any] = {"damping": damping, "known": known, "tell": tell}
    found = judge(Y, periods, opt, calibrate=calibrate, answers=answers, **how)
    layers, season = learn(Y, found.plan, opt.r, opt.noise, sweeps, float(tol), tell)
    if not given["smooth"]:
        layers, season = passed_before(layers, Y, known=known)
    rows = Y - season.signal
    shift, scale = standards(rows, opt.noise)
    Z = (rows - shift) / scale
    chosen = Chosen(found.kind, found.gaps, 1.0, opt.dynamics)
    left = Left(layers, season, rows, shift, scale, Z, chosen, ahead=found.ahead)
    return left if len(found.kinds) == 1 else left._replace(kinds=found.kinds, weights=found.weights)
