"""How well every row fits the model, and where a sequence raises alarms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import to_host
from ..core.dynamics.alarm import CUT
from ..estimators.sequence import SequenceFilter
from ._canvas import (
    BLUE,
    GREEN,
    INK,
    ORANGE,
    VERMILLION,
    AxesArray,
    label_rows,
    legend_above,
    many_axes,
    positions,
    tidy,
    title,
)
from ._panel import Panel, read_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[Any]


def innovations(model: Any, X: Any, *, n_marked: int = 5, ax: Any = None) -> AxesArray:
    """Draw how well every row of X fits the model, over time; for a sequence also its alarms.

    The first panel has the log-density of every row (``score_samples``), divided by the number of its observed entries,
    so that rows with gaps do not look better for having fewer; the lowest are marked. A
    :class:`factorstream.SequenceFilter` has a second panel with what ``alarms`` says: the score of every row, the two
    sums, the threshold at which an alarm is raised, and the alarms.

    Parameters
    ----------
    model : fitted estimator with ``score_samples``
    X : array, table or sparse rows (n_samples, n_features)
        NaN marks a missing entry. The time stamps of a table become the horizontal axis.
    n_marked : int, default=5
        How many of the rows with the lowest density are marked.
    ax : Axes or array of Axes, one for each panel, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    array of matplotlib.axes.Axes, one, or two for a sequence

    Examples
    --------
    >>> import numpy as np
    >>> from factorstream import DictionaryFilter, plot
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 2)) @ rng.normal(size=(2, 8)) + 0.1 * rng.normal(size=(100, 8))
    >>> X[60] = rng.normal(size=8)  # a row that is not like the others
    >>> axes = plot.innovations(DictionaryFilter(2, random_state=0).fit(X), X, n_marked=1)
    >>> axes[0].lines[-1].get_xdata().tolist()
    [60.0]
    """
    if not hasattr(model, "score_samples"):
        raise TypeError(f"{type(model).__name__} does not score rows; take an estimator that has score_samples.")
    panel = read_table(X)
    density = np.asarray(to_host(model.score_samples(X)), dtype=np.float64)
    alarms = model.alarms(X) if isinstance(model, SequenceFilter) else None
    axes = many_axes(ax, 1 if alarms is None else 2, (9.0, 2.2))
    _densities(axes[0], panel, density, n_marked)
    if alarms is not None:
        _alarms(axes[1], panel, alarms, model.state_.thresholds.spread)
    return _over_rows(axes, panel)


def _densities(ax: Axes, panel: Panel, density: Array, n_marked: int) -> None:
    count = np.count_nonzero(~np.isnan(panel.values), axis=1)
    score = np.where(count > 0, density / np.maximum(count, 1), np.nan)
    x = positions(panel)
    ax.plot(x, score, color=INK, linewidth=0.9, label="log-density")
    lowest = np.argsort(score, kind="stable")[: max(n_marked, 0)]  # NaN comes last
    lowest = np.sort(lowest[np.isfinite(score[lowest])])
    if lowest.size:
        ax.plot(x[lowest], score[lowest], "o", color=VERMILLION, markersize=5, label=f"lowest {lowest.size}")
    ax.set_ylabel("per observed entry")
    title(ax, "log-density of the rows")
    legend_above(ax)


def _alarms(ax: Axes, panel: Panel, alarms: Any, threshold: float) -> None:
    x = positions(panel)
    score = np.clip(alarms.score, -CUT, CUT)  # as it is summed
    ax.plot(x, score, ".", color="#999999", markersize=2.5, label="score")
    ax.plot(x, alarms.up, color=BLUE, linewidth=1.2, label="sum up")
    ax.plot(x, alarms.down, color=GREEN, linewidth=1.2, label="sum down")
    ax.axhline(threshold, color=ORANGE, linestyle="--", linewidth=1.2, label="threshold")
    fired = np.flatnonzero(alarms.fired)
    if fired.size:
        top = max(float(threshold), float(np.nanmax(score)))
        ax.plot(x[fired], np.full(fired.size, 1.08 * top), "v", color=VERMILLION, markersize=6, label="alarm")
    ax.set_ylabel("normal scores")
    title(ax, "alarms")
    legend_above(ax)


def draw_strange(
    panel: Panel, score: Array, rows: Array, alarms: Any = None, threshold: float = 0.0, ax: Any = None
) -> AxesArray:
    """The score of every row of a panel, with some rows marked; below it, where there are any, sums and alarms."""
    axes = many_axes(ax, 1 if alarms is None else 2, (9.0, 2.2))
    x, shown = positions(panel), np.where(np.isfinite(score), score, np.nan)
    top = np.nanmax(shown, initial=0.0)
    axes[0].plot(x, shown, color=INK, linewidth=0.9, label="score")
    if len(rows):
        heights = np.where(np.isfinite(score[rows]), score[rows], 1.08 * top)  # infinite ones above all
        axes[0].plot(x[rows], heights, "o", color=VERMILLION, markersize=5, label=f"strangest {len(rows)}")
    title(axes[0], "score of every row: the higher, the stranger")
    legend_above(axes[0])
    if alarms is not None:
        _alarms(axes[1], panel, alarms, threshold)
    return _over_rows(axes, panel)


def _over_rows(axes: AxesArray, panel: Panel) -> AxesArray:
    """Axes one below the other over the rows of a panel, which the lowest names."""
    for one in axes:
        tidy(one)
        label_rows(one, panel)
    for one in axes[:-1]:
        one.set_xlabel("")
    return axes
