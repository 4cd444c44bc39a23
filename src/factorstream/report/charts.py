"""Drawings of a report, as SVG that takes the fonts of the page; matplotlib is imported when the first one is drawn.

Widths are in inches of 72 units. A page shows small drawings about 290 units wide on a phone and 430 wide on a screen,
so that text of 9 units can be read on both.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import plot
from ..estimators._times import rebuild_table
from ..plot._calibration import draw_calibration
from ..plot._canvas import BLUE, INK, ORANGE, name_ticks, shortened, tidy, title
from ..plot._panel import read_table
from .given import Answers, Given
from .page import Chart

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = NDArray[Any]

SMALL, WIDE = 4.0, 8.5
"""Widths in inches, by eye: see above."""
LEAST_FONT = 9.0
"""Units of the smallest text."""
EXCERPT = 240
"""Rows of a sequence in one drawing: ten days of hours. By eye: more run into one another on a phone."""
MARGIN = 0.4
"""Inches below panels, for the names of their rows."""
NARROW_NAME = 14
"""Characters of a name beside a small drawing. By eye."""
BINS = 24
"""Bars of a histogram, by eye."""


def figure_of(width: float, height: float) -> tuple[Figure, Axes]:
    """A new figure with one Axes, which pyplot knows nothing of."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots()


def to_svg(figure: Figure, key: str) -> str:
    """The figure as one ``<svg>`` element without a size, a background or names that another element has."""
    from matplotlib import rc_context
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        text.set_parse_math(False)  # a name of a column may have two dollars
        text.set_fontsize(max(LEAST_FONT, text.get_fontsize()))
    stream = io.StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": key}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # the browser has the font
        figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None})
    svg = stream.getvalue()
    svg = svg[svg.index("<svg") :].strip()
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(<g) id="[^"]*"', r"\1", svg)  # of groups, which every drawing calls axes_1
    svg = re.sub(r'font: [^;"]*?([\d.]+px)[^;"]*', r"font-size: \1", svg)  # of older versions of matplotlib
    svg = re.sub(r'font-family: [^;"]*;? ?', "", svg)
    return re.sub(r' (width|height)="[\d.]+pt"', "", svg, count=2)


def panels(draw: Callable[[Any], Any], n: int, height: float, key: str, alt: str) -> Chart:
    """What ``draw`` draws on n Axes below each other, each so many inches high; legends have no room on a phone."""
    from matplotlib.figure import Figure

    drawings = []
    for width in (SMALL, WIDE):
        figure = Figure(figsize=(width, n * height + MARGIN), layout="constrained")
        axes = figure.subplots(n, 1, sharex=True, squeeze=False).ravel()
        draw(axes)
        for ax in axes:
            if width == SMALL:
                _without_legend(ax)
                if ax.images:
                    _shorten_names(ax)
        drawings.append(to_svg(figure, f"{key}-{width:g}"))
    return Chart(drawings[0], alt, drawings[1])


def gap_map(found: Given, filled: Array | None) -> Chart:
    """Which entries are observed, filled, or still missing; without ``filled``, observed or missing."""
    drawings = []
    for width in (SMALL, WIDE):
        figure, ax = figure_of(width, 0.9 + 0.16 * min(max(found.panel.values.shape[1], 6), 30))
        plot.gaps(found.asked, None if filled is None else rebuild_table(filled, found.table), ax=ax)
        if found.panel.named:  # a caller may have named the columns of an array
            name_ticks(ax.yaxis, found.names)
            ax.set_ylabel("")
        if width == SMALL:
            _shorten_names(ax)
        drawings.append(to_svg(figure, f"gaps-{width:g}"))
    shown = "observed and missing" if filled is None else "observed, filled and missing"
    return Chart(drawings[0], f"Map of the table: {shown} entries", drawings[1])


def excerpts(found: Given, said: Answers, columns: Sequence[int]) -> list[Chart]:
    """Columns of a sequence around their gaps, with what fills them and its interval."""
    charts = []
    for column in columns:
        figure, ax = figure_of(SMALL, 2.3)
        rows = excerpt(found.gap[:, column])
        parts = (said.filled, said.lower, said.upper) if said.lower is not None else (said.filled,)
        values, *fills = (_part(one, found, rows, column) for one in (found.panel.values, *parts) if one is not None)
        plot.series(tuple(fills), values, ax=ax)
        if not found.panel.dated:
            _shift_numbers(ax, float(found.panel.x[rows.start] - read_table(values).x[0]))
        _without_legend(ax)
        charts.append(_small(figure, ax, found.names[column], f"excerpt-{column}", "over time"))
    return charts


def excerpt(gap: Array) -> slice:
    """Which EXCERPT rows of a column to draw: those that show most of how gaps and values lie beside each other.

    Every window of that many rows counts its gaps or its values, whichever are fewer: a window of nothing but gaps
    shows as little as one without any. The window where this count is largest is drawn. Where windows next to each
    other share the largest count, it is the middle one of them, which has the gap in its middle; of windows elsewhere
    with the same count, the first.
    """
    n = min(EXCERPT, len(gap))
    sums = np.concatenate([[0], np.cumsum(gap)])
    counts = sums[n:] - sums[:-n]
    seen = np.minimum(counts, n - counts)
    first = int(np.argmax(seen))
    others = np.flatnonzero(seen[first:] < seen[first])
    start = first + (int(others[0]) if len(others) else len(seen) - first) // 2
    return slice(start, start + n)


def distributions(found: Given, filled: Array, columns: Sequence[int]) -> list[Chart]:
    """Histograms of columns: observed values, and what fills the gaps."""
    charts = []
    for column in columns:
        figure, ax = figure_of(SMALL, 2.1)
        gap = found.gap[:, column]
        observed, new = found.panel.values[~gap, column], filled[gap, column]
        new = new[np.isfinite(new)]
        edges = np.histogram_bin_edges(np.concatenate([observed, new]), BINS)
        for values, colour, filling in ((observed, INK, False), (new, BLUE, True)):
            if len(values):
                shares = np.histogram(values, edges)[0] / len(values)
                alpha, width = (0.45, 0.0) if filling else (1.0, 1.2)
                ax.stairs(shares, edges, color=colour, fill=filling, alpha=alpha, linewidth=width)
        ax.set_yticks([])
        ax.spines["left"].set_visible(False)
        charts.append(_small(figure, ax, found.names[column], f"values-{column}", "observed and filled values"))
    return charts


def accuracy(names: Sequence[str], errors: dict[str, Array]) -> Chart:
    """Root-mean-square errors of columns beside those of other ways to fill, in the columns' standard deviations."""
    drawings = []
    for width in (SMALL, WIDE):
        figure, ax = figure_of(width, 1.0 + 0.22 * len(names))
        _draw_errors(ax, names, errors)
        if width == SMALL:
            _shorten_names(ax)
        drawings.append(to_svg(figure, f"accuracy-{width:g}"))
    return Chart(drawings[0], "Errors of columns on hidden values", drawings[1])


def _draw_errors(ax: Axes, names: Sequence[str], errors: dict[str, Array]) -> None:
    y = np.arange(len(names))
    ends = np.array(list(errors.values()))
    ax.hlines(y, np.nanmin(ends, axis=0), np.nanmax(ends, axis=0), color="#999999", linewidth=1.0, zorder=1)
    for (label, values), colour, marker in zip(errors.items(), (BLUE, INK, ORANGE), "os^", strict=False):
        ax.scatter(values, y, color=colour, marker=marker, s=26, label=label, zorder=2)
    ax.set_yticks(y, [shortened(name) for name in names])
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set_xlim(left=0.0)
    ax.set_xlabel("error, in standard deviations")
    tidy(ax)
    ax.figure.legend(loc="outside upper left", ncols=3, frameon=False, handlelength=0.8, columnspacing=1.0)


def calibration(levels: Sequence[float], held: Sequence[float], n: int, name: str) -> Chart:
    """The share of hidden entries that intervals hold, against what they promise."""
    figure, ax = figure_of(SMALL, 3.7)
    draw_calibration(ax, levels, held, n, name)
    return Chart(
        to_svg(figure, "calibration"), "Share of hidden values inside their intervals, against what they promise"
    )


def _without_legend(ax: Axes) -> None:
    """What the colours mean is said once, below the drawings."""
    legend = ax.get_legend()
    if legend is not None:
        legend.remove()


def _small(figure: Figure, ax: Axes, name: str, key: str, what: str) -> Chart:
    title(ax, shortened(name))
    tidy(ax)
    return Chart(to_svg(figure, key), f"{name}: {what}")


def _shorten_names(ax: Axes) -> None:
    """Leave room for the drawing on a phone."""
    names = [label.get_text() for label in ax.get_yticklabels()]
    ax.set_yticks(
        ax.get_yticks(), [name if len(name) <= NARROW_NAME else name[: NARROW_NAME - 1] + "…" for name in names]
    )


def _part(values: Array, found: Given, rows: slice, column: int) -> Any:
    """Some rows of one column as a table."""
    table = found.table
    labels, times = (None if part is None else part[rows] for part in (table.labels, table.times))
    columns = table.columns[column : column + 1]
    return rebuild_table(values[rows, column : column + 1], table._replace(labels=labels, times=times, columns=columns))


def _shift_numbers(ax: Axes, first: float) -> None:
    """Number the rows of an excerpt as the whole table does."""
    from matplotlib.ticker import MaxNLocator

    left, right = ax.get_xlim()
    ticks = np.asarray(MaxNLocator(5).tick_values(left + first, right + first))
    shown = ticks[(ticks >= left + first) & (ticks <= right + first)]
    ax.set_xticks(shown - first, [f"{tick:g}" for tick in shown])
