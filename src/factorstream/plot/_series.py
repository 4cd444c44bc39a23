"""Columns over time, with their gaps filled and the intervals of what fills them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._answers import Fills, check_shape, fills_of, refuse_other_kinds
from ._canvas import (
    BLUE,
    VERMILLION,
    AxesArray,
    draw_observed,
    label_rows,
    legend_above,
    many_axes,
    positions,
    tidy,
    title,
)
from ._panel import Panel, chosen_columns, read_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[Any]

SHOWN = 4
"""Columns drawn where none are named, so that a figure fits on a screen."""


def series(
    model: Any,
    X: Any,
    *,
    columns: Any = None,
    level: float = 0.95,
    truth: Any = None,
    ax: Any = None,
) -> AxesArray:
    """Draw columns of a table over time: what is observed, what fills the gaps, and the intervals of that.

    One panel for each column. Fills and bands begin and end at the observed values beside a gap. A band is left out
    where its bounds are infinite.

    Parameters
    ----------
    model : fitted estimator with intervals, or tuple of tables
        Fills X and says how sure it is. What was computed already is passed as ``(filled, lower, upper)``, or as
        ``(filled,)`` without intervals.
    X : array or table (n_samples, n_features)
        NaN marks a missing entry. The time stamps of a table become the horizontal axis.
    columns : list of names or numbers, default=None
        Columns to draw; by default the first four that have gaps and values, or else the first four.
    level : float, default=0.95
        Probability of the intervals, where a model is asked for them.
    truth : array or table like X, default=None
        True values of missing entries, where they are known; drawn as points.
    ax : Axes or array of Axes, one for each column, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    array of matplotlib.axes.Axes, one for each column

    Examples
    --------
    >>> import numpy as np
    >>> from factorstream import DictionaryFilter, plot
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 2)) @ rng.normal(size=(2, 8)) + 0.1 * rng.normal(size=(100, 8))
    >>> gappy = X.copy()
    >>> gappy[30:50, [1, 3]] = np.nan
    >>> model = DictionaryFilter(2, random_state=0).fit(gappy)
    >>> axes = plot.series(model, gappy, truth=X)
    >>> [ax.get_title("left") for ax in axes]
    ['column 1', 'column 3']
    """
    refuse_other_kinds(model)
    panel = read_table(X)
    gap = np.isnan(panel.values)
    some = np.flatnonzero(gap.any(axis=0) & ~gap.all(axis=0))
    places = chosen_columns(panel, columns, (some if some.size else range(gap.shape[1]))[:SHOWN])
    fills = fills_of(model, X, panel, level)
    known = None
    if truth is not None:
        known = read_table(truth).values
        check_shape(known, panel, "truth")
    axes = many_axes(ax, len(places), (9.0, 1.7))
    word = "interval" if isinstance(model, tuple) else f"{100 * level:g}% interval"
    for one, place in zip(axes, places, strict=True):
        _draw(one, panel, place, fills, known, word)
        title(one, panel.names[place])
        tidy(one)
    label_rows(axes[-1], panel)
    for one in axes[:-1] if panel.dated else ():
        label_rows(one, panel)
    legend_above(axes[0])
    return axes


def _draw(ax: Axes, panel: Panel, place: int, fills: Fills, truth: Array | None, word: str) -> None:
    x, y = positions(panel), panel.values[:, place]
    gap = np.isnan(y)
    near = gap.copy()  # with the observed values beside a gap, where the bounds meet
    near[1:] |= gap[:-1]
    near[:-1] |= gap[1:]
    if fills.lower is not None and fills.upper is not None and gap.any():
        low, high = (np.where(near, bound[:, place], np.nan) for bound in (fills.lower, fills.upper))
        known = np.isfinite(low) & np.isfinite(high)
        low, high = (np.where(known, bound, np.nan) for bound in (low, high))
        ax.fill_between(x, low, high, color=BLUE, alpha=0.22, linewidth=0, label=word)
    draw_observed(ax, x, y)
    if gap.any():
        ax.plot(x, np.where(near, fills.filled[:, place], np.nan), color=BLUE, linewidth=1.4, label="filled")
    if truth is not None and gap.any():
        ax.plot(x[gap], truth[gap, place], ".", color=VERMILLION, markersize=3.5, label="truth")
