"""Which features of a sequence are modelled in logarithms."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core.dynamics.logarithms import into_model, not_positive
from ..core.dynamics.seasons.finding import found_periods
from ..core.dynamics.seasons.growing import Way, better_in_logarithms, grows
from ..core.dynamics.seasons.judge import trends_of
from ..core.dynamics.seasons.layers import Plan, long_enough
from ..core.dynamics.stream import StreamOptions
from ..core.linalg import Array
from ..core.telling import Tell
from ._sequence import Parameter
from ._sequence_seasons import is_auto, periods_of, trends_in


class Read(NamedTuple):
    """How the rows of a fit are read."""

    logs: Array | None  # (m,) the features in logarithms; None: no feature is
    periods: tuple[int, ...]  # of the seasons
    rates: Array | None = None  # (m,) damping of the trends of those features; None: they are looked for as others are


def way_to_read(
    Y: Array,
    given: dict[str, Parameter],
    opt: StreamOptions,
    usual: tuple[int, ...],
    tell: Tell,
    *,
    known: Array | None = None,
) -> Read:
    """The features of rows Y (T, m) that are modelled in logarithms, and the periods: those asked for, or those of the
    usual ones, or of any, that the data have. Only features whose spread grows with their level are tried, by
    themselves: what `trend` says of "auto", they are tried with a rate of growth, and keep it."""
    if given["marginals"] == "log":
        every = np.ones(Y.shape[1], dtype=bool)
        return Read(every, periods_in(_positive(Y, every), given, opt, usual, tell))
    periods = periods_in(Y, given, opt, usual, tell)
    if given["marginals"] != "auto" or (given["period"] is None and given["trend"] is False) or _given_matrix(opt):
        return Read(None, periods)
    some = np.flatnonzero(grows(Y, max(periods, default=0)))
    if not len(some):
        return Read(None, periods)
    few, trend = Y[:, some].astype(np.float64), given["trend"] is not False
    Z = np.log(few)
    others = periods_in(Z, given, opt, usual, tell) if is_auto(given) else periods
    slopes = trends_in(few, periods, given, opt, tell, known=known)
    rates = trends_of(Z, others, opt, auto=False, known=known, tell=tell) if trend else None
    plain, logs = (
        Way(values, Plan(long_enough(own, len(Y)), np.arange(0), damping, known))
        for values, own, damping in ((few, periods, slopes), (Z, others, rates))
    )
    if not logs.plan.periods and not trend:
        return Read(None, periods)
    better = better_in_logarithms(plain, logs, opt, before=not given["smooth"], tell=tell)
    if not better.any():
        return Read(None, periods)
    L, damping = np.zeros(Y.shape[1], dtype=bool), np.full(Y.shape[1], np.nan)
    L[some] = better
    if rates is not None:
        damping[some] = np.where(better, rates, np.nan)
    return Read(L, tuple(sorted({*periods, *others}, reverse=True)), damping)


def _given_matrix(opt: StreamOptions) -> bool:
    """Whether states are given that need all features."""
    return isinstance(opt.dynamics.A, np.ndarray) or isinstance(opt.dynamics.Q, np.ndarray)


def periods_in(
    Y: Array, given: dict[str, Parameter], opt: StreamOptions, usual: tuple[int, ...], tell: Tell
) -> tuple[int, ...]:
    """The periods of rows Y (T, m): those asked for, or those of the usual ones, or of any, that the data have."""
    if not is_auto(given):
        return periods_of(given)
    return found_periods(Y.astype(np.float64), opt, usual, tell)


def _positive(Y: Array, L: Array) -> Array:
    """The logarithms of rows Y, or the sentence that says which value has none."""
    bad = not_positive(Y, L)
    if len(bad.row):
        raise ValueError(
            f"With marginals='log' all values must be positive; X has {bad.value[0]:.6g} at row {bad.row[0]}, column "
            f"{bad.column[0]}."
        )
    return into_model(Y, L)
