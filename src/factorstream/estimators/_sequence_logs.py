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
from ._sequence_seasons import Trends, is_auto, periods_of, trends_in


class Read(NamedTuple):
    """How the rows of a fit are read."""

    logs: Array | None  # (m,) the features in logarithms; None: no feature is
    periods: tuple[int, ...]  # of the seasons
    trends: Trends | None = None  # the trends that go with them; None: they are still to be looked for


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
    usual ones, or of any, that the data have. Fits only where a feature's spread grows with its level."""
    if given["marginals"] == "log":
        every = np.ones(Y.shape[1], dtype=bool)
        return Read(every, periods_in(_positive(Y, every), given, opt, usual, tell))
    periods = periods_in(Y, given, opt, usual, tell)
    if given["marginals"] != "auto" or (given["period"] is None and given["trend"] is False):
        return Read(None, periods)
    L = grows(Y, max(periods, default=0))
    if not L.any():
        return Read(None, periods)
    Y, Z = Y.astype(np.float64), into_model(Y, L).astype(np.float64)
    others = periods_in(Z, given, opt, usual, tell) if is_auto(given) else periods
    trends = trends_in(Y, periods, given, opt, tell, known=known)
    rates = Trends(_beside(L, _rates(Z, others, given, opt, tell, known), trends.damping))
    plain, logs = (
        Way(values, Plan(long_enough(some, len(Y)), np.arange(0), one.damping, known))
        for values, some, one in ((Y, periods, trends), (Z, others, rates))
    )
    if not logs.plan.periods and not logs.plan.follows(len(L)):
        return Read(None, periods)
    L = better_in_logarithms(plain, logs, L, opt, before=not given["smooth"], tell=tell)
    if not L.any():
        return Read(None, periods, trends)
    return Read(L, others, Trends(_beside(L, rates.damping, trends.damping)))


def _rates(
    Z: Array, periods: tuple[int, ...], given: dict[str, Parameter], opt: StreamOptions, tell: Tell, known: Array | None
) -> Array | None:
    """The damping of trends of logarithms Z (T, m), where trends are asked for or may be there: what grows with its
    level is taken to have a rate, which is judged together with the logarithms."""
    return None if given["trend"] is False else trends_of(Z, periods, opt, auto=False, known=known, tell=tell)


def _beside(L: Array, damping: Array | None, other: Array | None) -> Array | None:
    """Of features L the first damping (m,), of the others the second; None where no feature has one."""
    both = np.where(L, np.nan if damping is None else damping, np.nan if other is None else other)
    return None if np.isnan(both).all() else both


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
