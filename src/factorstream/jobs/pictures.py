"""Pictures of what jobs have found, with the dates of the file along the axis, or its lines where it has none."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import plot
from ..plot._canvas import many_axes, title
from ..plot._forecast import LEVELS, PAST, draw_forecast
from ..plot._innovations import draw_strange
from ..plot._panel import Panel
from ..sources.columns import take_names, use_names
from ..sources.table import Array
from .detection import Detection
from .factors import Factors
from .forecasting import Forecast
from .places import Where, where_next_rows_are, where_rows_are

__all__ = ["draw_detection", "draw_factors", "draw_rows_to_come", "drawn_levels"]


def drawn_levels(level: float) -> tuple[float, ...]:
    """Probabilities of the intervals in a picture of a forecast: the narrow ones of every fan, and its own.

    >>> drawn_levels(0.99), drawn_levels(0.8)
    ((0.5, 0.8, 0.99), (0.5, 0.8))
    """
    return tuple(sorted({*LEVELS[:-1], level}))


def draw_rows_to_come(found: Forecast, level: float, columns: Any = None, ax: Any = None) -> Any:
    """A fan of intervals for every column, ``level`` among them, after the last rows of the file; the Axes."""
    steps = len(found.mean)
    table = None if found.given is None else found.given.table
    where = where_next_rows_are(table, found.when, steps, found.model.n_samples_seen_)
    before = None
    if found.given is not None and found.X is not None:
        rows = _panel(found.X, found.names, where_rows_are(found.given.table, found.when, spread=True))
        last = slice(-PAST * steps, None)
        before = rows._replace(values=rows.values[last], x=rows.x[last])
    return draw_forecast(
        found.model, _panel(found.mean, found.names, where), before, columns=columns, levels=drawn_levels(level), ax=ax
    )


def draw_detection(found: Detection, ax: Any = None) -> Any:
    """The score of every row, with the rows of the table marked; below it, of time steps, sums and alarms."""
    spread = found.sums is not None
    where = where_rows_are(found.given.table, found.given.when, spread=spread)
    score = np.full(len(found.X), np.nan)
    score[found.at] = found.score
    marked = found.at[[one.row for one in found.rows]]
    threshold = found.model.state_.thresholds.spread if spread else 0.0
    return draw_strange(_panel(found.X, found.given.names, where), score, marked, found.sums, threshold, ax)


def draw_factors(found: Factors, ax: Any = None) -> Any:
    """A map of the loadings, with the components of the table in its order."""
    if found.axes is None:
        axes = many_axes(ax, 1, (4.0, 1.5))
        title(axes[0], "no components")
        return axes
    try:
        model = use_names(found.model, found.given.names)
        return plot.components(model, "loadings", principal=found.axes, ax=ax)
    finally:
        take_names(found.model)


def _panel(values: Array, names: list[str], where: Where) -> Panel:
    return Panel(values, tuple(names), where.x, where.zone, named=True, row_word=where.word)
