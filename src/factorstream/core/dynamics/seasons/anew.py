"""What a stream keeps while it learns seasons, trends and what known columns say again; see `relearning`."""

from __future__ import annotations

from typing import Literal, NamedTuple

from ...linalg import Array
from ..stream import Stream
from .layers import SeasonLayer
from .lines import LineVariances, Running
from .phases import PhaseLayer
from .trends import Search, TrendLayer

Trends = Literal["none", "asked", "auto"]
"""Whether features have trends: none, all of them, or those whose forecasts are better for it."""


class Lines(NamedTuple):
    """How far learning of trends and coefficients has come."""

    clean: tuple[Array, ...] = ()  # (n, 1) each, the features without outliers; none under Gaussian noise
    units: tuple[Array, Array, Array] | None = None  # of the features (m,), shift and scale (p,) of the known columns
    search: Search | None = None  # for the variances
    variances: LineVariances | None = None  # found
    running: Running | None = None  # the filter with these
    at: int = 0  # rows that the search, or then the filter, has passed


class Damped(NamedTuple):
    """Forecasts of the last third of the rows learned from, by which a damping is chosen."""

    levels: Array  # (h, 2, m) levels and slopes before the last h rows
    losses: Array  # (k, 1 + dampings, m) of forecasts by a level alone, and by each damping


class Anew(NamedTuple):
    """How far learning has come."""

    periods: tuple[int, ...]  # longest first
    trends: Trends
    rows: int  # of the stream, from the first one on, from which is learned
    rest: Array  # (rows, m + p) these, less what the finished layers say; NaN: no longer needed
    parts: tuple[PhaseLayer, ...] = ()  # of the period under way, a feature each
    signals: tuple[Array, ...] = ()  # what these say of the last rows
    lines: Lines = Lines()
    layers: tuple[SeasonLayer, ...] = ()  # finished
    trend: TrendLayer | None = None  # of these, as it was learned; None: there is none
    learned: bool = False  # whether all layers are finished
    damped: Damped | None = None  # None: the damping is known, or there is none
    at: int = 0  # rows of the stream that these have followed since
    left: Array | None = None  # (k, m) what they left of the last of these, before they saw them; None: of none yet
    seasons: Array | None = None  # (k, 2, m) mean and variance of what they said of these
    stream: Stream | None = None  # of what they leave; None: they have not caught up yet
    counts: Array | None = None  # (m,) values that its model was learned from; None: there is no model yet
    score: float = 0.0  # by how much it foretold rows better than the model in use; what is long ago counts less
    compared: int = 0  # rows

    @property
    def ready(self) -> bool:
        """Whether there is a model that has caught up, too."""
        return self.stream is not None and bool(self.stream.bank)
