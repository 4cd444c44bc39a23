"""The rows to come as a fan of intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..estimators.sequence import SequenceFilter
from ._answers import checked_levels
from ._canvas import BLUE, AxesArray, draw_observed, label_rows, legend_above, many_axes, positions, tidy, title
from ._panel import Panel, chosen_columns, read_table
from ._series import SHOWN

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[Any]

LEVELS = (0.5, 0.8, 0.95)
"""Probabilities of the intervals, where none are given. By eye: three can be told apart."""
PAST = 4
"""Rows of X that are drawn for each step of the forecast, where their number is not given. By eye."""


def forecast(
    model: SequenceFilter,
    steps: int,
    X: Any = None,
    *,
    columns: Any = None,
    levels: Sequence[float] = LEVELS,
    past: int | None = None,
    ax: Any = None,
) -> AxesArray:
    """Draw the rows to come after the end of the data: their means, and a fan of intervals around them.

    One panel for each column. The intervals are those of ``model.forecast_interval``.

    Parameters
    ----------
    model : fitted SequenceFilter
    steps : int
        How many rows to come.
    X : array or table (n_steps, n_features), default=None
        Rows that end with the last one that the model has taken in; the last of them are drawn before the forecast.
    columns : list of names or numbers, default=None
        Columns to draw; by default the first four.
    levels : sequence of float, default=(0.5, 0.8, 0.95)
        Probabilities of the intervals.
    past : int, default=None
        How many rows of X are drawn; by default four for each step.
    ax : Axes or array of Axes, one for each column, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    array of matplotlib.axes.Axes, one for each column

    Examples
    --------
    >>> import numpy as np
    >>> from factorstream import SequenceFilter, plot
    >>> rng = np.random.default_rng(0)
    >>> time = np.arange(120)[:, None]
    >>> X = 20 + 5 * np.sin(time / 8 + np.arange(4)) + 0.3 * rng.normal(size=(120, 4))
    >>> model = SequenceFilter(2, drift="none", calibrate=False).fit(X)
    >>> axes = plot.forecast(model, 24, X, columns=[0, 2])
    >>> [text.get_text() for text in axes[0].get_legend().get_texts()]
    ['95%', '80%', '50%', 'observed', 'forecast']
    """
    if not isinstance(model, SequenceFilter):
        raise TypeError(f"{type(model).__name__} does not forecast; fit a SequenceFilter.")
    levels = checked_levels(levels)
    future = read_table(model.forecast(steps))
    if not future.dated:
        future = future._replace(x=np.arange(steps, dtype=np.float64) + model.n_samples_seen_, row_word="row")
    before = None if X is None else _before(read_table(X), future, PAST * steps if past is None else past)
    return draw_forecast(model, future, before, columns=columns, levels=levels, ax=ax)


def draw_forecast(
    model: SequenceFilter,
    future: Panel,
    before: Panel | None,
    *,
    columns: Any = None,
    levels: Sequence[float] = LEVELS,
    ax: Any = None,
) -> AxesArray:
    """What `forecast` draws, where it is known already when the rows to come are, and the rows before them."""
    bands = []
    for level in sorted(levels, reverse=True):  # the widest first
        lower, upper = (read_table(bound).values for bound in model.forecast_interval(len(future.x), level))
        bands.append((level, lower, upper))
    places = chosen_columns(future, columns, range(min(SHOWN, len(future.columns))))
    axes = many_axes(ax, len(places), (9.0, 1.9))
    for one, place in zip(axes, places, strict=True):
        _fan(one, positions(future), [(level, low[:, place], high[:, place]) for level, low, high in bands])
        if before is not None:
            draw_observed(one, positions(before), before.values[:, place])
        one.plot(
            positions(future), future.values[:, place], color=BLUE, marker=".", markersize=2.5, label="forecast", lw=1.4
        )
        title(one, future.names[place])
        tidy(one)
        label_rows(one, future)
    for one in axes[:-1]:
        one.set_xlabel("")
    legend_above(axes[0], columns=len(levels) + 2)
    return axes


def _before(panel: Panel, future: Panel, past: int) -> Panel:
    """The last rows of X, where they lie before the forecast."""
    if panel.values.shape[1] != future.values.shape[1]:
        raise ValueError(f"X has {panel.values.shape[1]} columns, and the forecast {future.values.shape[1]}.")
    if panel.dated != future.dated or (panel.dated and not panel.x[-1] < future.x[0]):
        raise ValueError("X does not end before the forecast begins; pass rows that the model has taken in.")
    n = len(panel.x)
    x = panel.x if panel.dated else future.x[0] + np.arange(-n, 0, dtype=np.float64)
    first = max(n - past, 0)
    return panel._replace(values=panel.values[first:], x=x[first:])


def _fan(ax: Axes, x: Array, bands: Sequence[tuple[float, Array, Array]]) -> None:
    """Bands of (level, lower, upper); the first is the lightest, and lies below the others."""
    from matplotlib.colors import to_rgb

    for rank, (level, lower, upper) in enumerate(bands, 1):
        low, high = (np.where(np.isfinite(bound), bound, np.nan) for bound in (lower, upper))  # nothing is known there
        depth = 0.55 * rank / len(bands)
        colour = tuple(1.0 - depth * (1.0 - part) for part in to_rgb(BLUE))
        label = f"{100 * level:g}%"
        if len(x) > 1:
            ax.fill_between(x, low, high, color=colour, linewidth=0, label=label)
        else:  # a band of no width would not be seen
            ax.vlines(x, low, high, color=colour, linewidth=9, label=label)
