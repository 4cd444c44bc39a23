"""Pictures as PNG bytes; matplotlib is imported when the first one is drawn, without global state."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..plot._canvas import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILLION

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["PALETTE", "Curve", "curves", "image_panels", "mosaic", "to_png"]

PALETTE = (BLUE, SKY, GREEN, ORANGE, VERMILLION, PURPLE, "#000000", "#8C8C8C", "#6A3D9A", "#B8A800")
"""The colours of pictures, and four more for experiments with many methods."""
_MISSING_COLOUR = "#C8553D"
_INK = "#1c2330"


@dataclass(frozen=True)
class Curve:
    """One line of a plot; a single point is drawn as a marker."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    colour: str


def to_png(figure: Figure, dpi: int = 150) -> bytes:
    """The figure as PNG bytes."""
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=dpi, facecolor="white")
    return stream.getvalue()


def mosaic(images: NDArray[np.float64], gap: int = 2, gap_value: float = 255.0) -> NDArray[np.float64]:
    """Lay images (k, height, width) out in a square grid; missing pixels stay NaN.

    >>> mosaic(np.zeros((4, 3, 3)), gap=1).shape
    (7, 7)
    """
    k, height, width = images.shape
    columns = math.ceil(math.sqrt(k))
    rows = math.ceil(k / columns)
    sheet = np.full((rows * (height + gap) - gap, columns * (width + gap) - gap), gap_value)
    for index, image in enumerate(images):
        top, left = (index // columns) * (height + gap), (index % columns) * (width + gap)
        sheet[top : top + height, left : left + width] = image
    return sheet


def image_panels(
    rows: Sequence[tuple[str, Sequence[tuple[str, NDArray[np.float64]]]]],
    *,
    columns: int = 5,
    vmax: float = 255.0,
) -> Figure:
    """Lettered panels under each heading; a panel is a caption and images (k, height, width), NaN in red."""
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    n_lines = [math.ceil(len(panels) / columns) for _, panels in rows]
    figure = Figure(figsize=(2.3 * columns, sum(2.55 * lines + 0.35 for lines in n_lines)), layout="constrained")
    strips = figure.subfigures(len(rows), 1, squeeze=False, height_ratios=n_lines)[:, 0]
    grey = colormaps["gray"].with_extremes(bad=_MISSING_COLOUR)
    for strip, lines, (heading, panels) in zip(strips, n_lines, rows, strict=True):
        strip.suptitle(heading, x=0.005, ha="left", fontsize=11, fontweight="bold", color=_INK)
        axes = strip.subplots(lines, columns, squeeze=False).ravel()
        for axis in axes:
            axis.set_axis_off()
        for letter, axis, (caption, images) in zip(ascii_lowercase, axes, panels, strict=False):
            axis.imshow(mosaic(images, gap_value=vmax), cmap=grey, vmin=0, vmax=vmax, interpolation="none")
            axis.set_title(f"({letter}) {caption}", fontsize=8, color=_INK, pad=4)
    return figure


def curves(
    panels: Sequence[tuple[str, Sequence[Curve]]],
    *,
    x_label: str,
    y_label: str,
    levels: Mapping[str, float] | None = None,
    log_x: bool = True,
    **axis_settings: Any,
) -> Figure:
    """Plots side by side with one legend; ``levels`` are labelled horizontal lines in every panel."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.9 * len(panels) + 0.4, 4.1), layout="constrained")
    axes = np.atleast_1d(figure.subplots(1, len(panels)))
    for axis, (title, lines) in zip(axes, panels, strict=True):
        for line in lines:
            axis.plot(line.x, line.y, "o-", color=line.colour, label=line.label, ms=4, lw=1.6)
        for label, level in (levels or {}).items():
            axis.axhline(level, color="#777777", lw=1, ls=(0, (4, 3)))
            axis.annotate(
                label,
                (0.99, level),
                xycoords=("axes fraction", "data"),
                ha="right",
                va="bottom",
                fontsize=7.5,
            )
        if log_x:
            axis.set_xscale("log")
            axis.xaxis.set_major_formatter("{x:g}")
        axis.set_title(title, fontsize=9.5, loc="left", fontweight="bold", color=_INK, wrap=True)
        axis.set_xlabel(x_label)
        axis.set(**axis_settings)
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel(y_label)
    handles = {label: handle for axis in axes for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)}
    figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=4, fontsize=8, frameon=False)
    return figure
