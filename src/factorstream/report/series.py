"""Plots of time series with intervals; matplotlib is imported when the first one is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .figures import PALETTE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Series", "series_panels"]


@dataclass(frozen=True)
class Series:
    """One feature over time: what was observed, what was removed, and what was put in its place.

    ``std`` are the standard deviations of ``filled``; ``other`` is another way to fill the gaps, for comparison.
    """

    title: str
    x: NDArray[np.float64]
    truth: NDArray[np.float64]
    removed: NDArray[np.bool_]
    filled: NDArray[np.float64]
    std: NDArray[np.float64]
    other: NDArray[np.float64]


def series_panels(panels: Sequence[Series], *, x_label: str, y_label: str, other_label: str) -> Figure:
    """One panel below the other; filled values and their ±2σ band are drawn in the gaps only."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.5, 2.3 * len(panels) + 0.8), layout="constrained")
    axes = np.atleast_1d(figure.subplots(len(panels), 1, sharex=True))
    for axis, series in zip(axes, panels, strict=True):
        gap = series.removed
        low, high = (np.where(gap, series.filled + k * series.std, np.nan) for k in (-2.0, 2.0))
        axis.fill_between(series.x, low, high, color=PALETTE[1], alpha=0.35, lw=0, label="±2σ")
        axis.plot(series.x, np.where(gap, np.nan, series.truth), color="#555555", lw=1.1, label="observed")
        axis.plot(series.x[gap], series.truth[gap], ".", color=PALETTE[4], ms=4, label="removed")
        axis.plot(series.x, np.where(gap, series.filled, np.nan), color=PALETTE[0], lw=1.6, label="filled in")
        axis.plot(series.x, np.where(gap, series.other, np.nan), "--", color="#999999", lw=1, label=other_label)
        axis.set_title(series.title, fontsize=9.5, loc="left", fontweight="bold")
        axis.set_ylabel(y_label)
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
    axes[-1].set_xlabel(x_label)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, fontsize=8, frameon=False)
    return figure
