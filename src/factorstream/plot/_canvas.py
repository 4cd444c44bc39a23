"""What all pictures share: colours, new or given axes, and an axis of rows or of time."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..extras import require
from ._panel import Panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[Any]
AxesArray = NDArray[Any]

# Okabe and Ito's colours, which people with any kind of colour blindness can tell apart, and two greys.
BLUE, ORANGE, GREEN, VERMILLION, PURPLE = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7"
SKY, YELLOW, INK, PALE = "#56B4E9", "#F0E442", "#4D4D4D", "#E6E6E6"
CLASSES = (BLUE, ORANGE, GREEN, VERMILLION, PURPLE, SKY, YELLOW, INK)

MOST_NAMES = 30
"""Most columns that are all named along an axis; of more, every second, third, … is. By eye."""
MANY_ROWS = 1000
"""Rows from which on lines are thinner, so that they do not run into one another. By eye."""
LONGEST_NAME = 24
"""Characters of a name that are shown. By eye."""


def pyplot() -> Any:
    """matplotlib.pyplot, imported when the first picture is drawn."""
    require("matplotlib", extra="plot")
    return import_module("matplotlib.pyplot")


def one_axes(ax: Any, size: tuple[float, float]) -> Axes:
    """The Axes that were given, or those of a new figure."""
    plt = pyplot()
    axes: Axes = plt.subplots(figsize=size, layout="constrained")[1] if ax is None else ax
    return axes


def many_axes(ax: Any, n: int, size: tuple[float, float], *, columns: int = 1, share: bool = True) -> AxesArray:
    """The n Axes that were given, or those of a new figure: so many columns of panels, each of this size."""
    plt = pyplot()
    if ax is not None:
        given = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
        if len(given) != n:
            raise ValueError(f"This picture has {n} panel(s), and ax {len(given)}; pass one Axes for each panel.")
        return given
    lines = ceil(n / columns)
    figsize = (size[0] * columns, size[1] * lines + 0.6)
    axes = plt.subplots(lines, columns, figsize=figsize, layout="constrained", sharex=share, squeeze=False)[1].ravel()
    for unused in axes[n:]:
        unused.set_axis_off()
    return np.asarray(axes[:n])


def positions(panel: Panel) -> Array:
    """Where the rows lie on the axis of a picture: numbers, for time stamps matplotlib's days."""
    if not panel.dated:
        return panel.x
    dates = import_module("matplotlib.dates")
    return np.asarray(dates.date2num(panel.x), dtype=np.float64)


def label_rows(ax: Axes, panel: Panel) -> None:
    """Name the axis of the rows, with dates where the rows have time stamps."""
    if panel.dated:
        dates = import_module("matplotlib.dates")
        locator = dates.AutoDateLocator(tz=panel.zone)
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator, tz=panel.zone))
    else:
        ax.set_xlabel(panel.row_word)


def name_ticks(axis: Any, names: Sequence[str]) -> None:
    """Names at 0, 1, … along an axis, thinned out where there are many."""
    step = ceil(len(names) / MOST_NAMES)
    shown = range(0, len(names), step)
    axis.set_ticks(list(shown), [shortened(names[i]) for i in shown], fontsize=8)


def shortened(name: str) -> str:
    """A name that fits beside an axis."""
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"


def draw_observed(ax: Axes, x: Array, y: Array) -> None:
    """Observed values as a line that is broken at gaps, with a dot for each: one between two gaps has no line."""
    thin = len(x) > MANY_ROWS
    width, dot = (0.6, 1.0) if thin else (1.0, 2.5)
    ax.plot(x, y, color=INK, linewidth=width, marker=".", markersize=dot, label="observed")


def tidy(ax: Axes) -> None:
    """A light grid, and no frame at the top and the right."""
    ax.grid(alpha=0.25, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def title(ax: Axes, text: str) -> None:
    """A title at the left, out of the way of a legend."""
    ax.set_title(text, loc="left", fontsize=10)


def legend_above(ax: Axes, handles: Any = None, columns: int = 5) -> None:
    """A legend in one line above the axes, at the right."""
    ax.legend(
        handles=ax.get_legend_handles_labels()[0] if handles is None else handles,
        loc="lower right",
        bbox_to_anchor=(1.0, 1.0),
        ncols=columns,
        frameon=False,
        fontsize=8,
        handlelength=1.4,
        columnspacing=1.2,
        borderaxespad=0.2,
    )
