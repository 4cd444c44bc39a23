"""The plots of the benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING

from factorstream.report.figures import PALETTE, Curve, curves

from .rows import Peak, Point, Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FLOOR = PALETTE[7]


def scaling_figure(lines: Mapping[str, Sequence[Point]]) -> Figure:
    """Time per sample against each size, above its floor; the keys of ``lines`` name the axes."""
    panels = []
    for points in lines.values():
        x = [point.size for point in points]
        ours = Curve("filter", x, [point.microseconds for point in points], PALETTE[0])
        panels.append(("", [ours, Curve("floor", x, [point.floor for point in points], FLOOR)]))
    figure = curves(panels, x_label="", y_label="µs per sample", log_x=False)
    for axis, (name, points) in zip(figure.axes, lines.items(), strict=True):
        axis.set_xlabel(name)
        axis.set_ylim(bottom=0)
        if points[0].size >= 1:  # all but the fraction
            axis.set_xscale("log")
            axis.set_xticks([point.size for point in points], [f"{point.size:g}" for point in points])
            axis.minorticks_off()
    return figure


def quality_figure(rows: Sequence[Row]) -> Figure:
    """SNR over the removed entries against seconds, one mark per method; the legend goes from fast to slow."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 5), layout="constrained")
    axis = figure.subplots()
    styles = zip(cycle(PALETTE), cycle("os^Dv*P"), strict=False)  # no two methods share colour and mark
    for row, (colour, mark) in zip(sorted(rows, key=lambda row: row.seconds or 0.0), styles, strict=False):
        edge = {"ms": 10, "mec": "black", "mew": 1.5} if row.role == "ours" else {"ms": 7}
        axis.plot(row.seconds or 0.0, row.quality or 0.0, mark, color=colour, alpha=0.85, label=row.method, **edge)
    axis.set_xscale("log")
    axis.xaxis.set_major_formatter("{x:g}")
    axis.set(xlabel="seconds", ylabel="dB over removed entries")
    axis.set_title(rows[0].case, fontsize=9.5, loc="left", fontweight="bold")
    axis.grid(alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside right upper", fontsize=8, frameon=False, title="from fast to slow", alignment="left")
    return figure


def memory_figure(peaks: Sequence[Peak]) -> Figure:
    """Peak extra memory of one call against the number of its rows, and the one copy of C that it must make."""
    n = [peak.rows for peak in peaks]
    lines = [
        Curve("partial_fit", n, [peak.extra / 1e6 for peak in peaks], PALETTE[0]),
        Curve("floor: the new C", n, [peak.dictionary / 1e6 for peak in peaks], FLOOR),
    ]
    figure = curves([("peak extra memory", lines)], x_label="rows n of one call", y_label="MB", log_x=False)
    figure.axes[0].set_ylim(bottom=0)
    return figure
