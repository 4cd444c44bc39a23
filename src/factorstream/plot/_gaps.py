"""The gaps of a table as a map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._answers import check_shape
from ._canvas import BLUE, PALE, VERMILLION, label_rows, legend_above, name_ticks, one_axes, positions
from ._panel import read_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[Any]

MOST_CELLS = (600, 300)
"""Most blocks of rows and of columns that are drawn, about one for each pixel of a small figure. By eye."""
LEAST_COLOUR = 0.35
"""A block with any gap has at least this share of its colour, so that a single gap among many rows is seen. By eye."""


def gaps(X: Any, filled: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw which entries of a table are observed, missing or filled in: rows from left to right, columns downwards.

    Large tables are drawn in blocks, whose colour is mixed by the shares of their entries; a block with a single gap
    can still be told from one without.

    Parameters
    ----------
    X : array, table or sparse rows (n_samples, n_features)
        NaN marks a missing entry. A table names its columns, and its time stamps become the axis of the rows.
    filled : array or table like X, default=None
        X after its gaps were filled, by ``impute`` for example; what is still NaN in it is missing.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import numpy as np
    >>> from factorstream import DictionaryFilter, plot
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 2)) @ rng.normal(size=(2, 8))
    >>> X[20:40, :3] = np.nan
    >>> ax = plot.gaps(X)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['observed 92.5%', 'missing 7.5%']
    >>> ax = plot.gaps(X, DictionaryFilter(2, random_state=0).fit(X).impute(X), ax=ax)
    """
    panel = read_table(X)
    gap = np.isnan(panel.values)
    fill = np.zeros_like(gap)
    if filled is not None:
        after = read_table(filled).values
        check_shape(after, panel, "filled")
        fill = gap & ~np.isnan(after)
    missing = gap & ~fill
    ax = one_axes(ax, (8.0, 1.2 + 0.16 * min(max(panel.values.shape[1], 10), 30)))
    n, m = gap.shape
    rows, columns = _starts(n, MOST_CELLS[0]), _starts(m, MOST_CELLS[1])
    image = _mixed(_share(missing, rows, columns), _share(fill, rows, columns))
    across, down = _edges(positions(panel))[[*rows, n]], np.array([*columns, m]) - 0.5
    ax.pcolormesh(across, down, image.transpose(1, 0, 2), rasterized=True)
    ax.set_ylim(m - 0.5, -0.5)
    name_ticks(ax.yaxis, panel.names if panel.named else tuple(map(str, panel.columns)))
    if not panel.named:
        ax.set_ylabel("column")
    label_rows(ax, panel)
    _legend(ax, {"observed": (PALE, ~gap), "missing": (VERMILLION, missing), "filled": (BLUE, fill)})
    return ax


def _legend(ax: Axes, parts: dict[str, tuple[str, Array]]) -> None:
    """The colours, and the share of entries that have each of them."""
    from matplotlib.patches import Patch

    handles = [
        Patch(facecolor=colour, edgecolor="#999999", linewidth=0.5, label=f"{word} {_percent(flags)}")
        for word, (colour, flags) in parts.items()
        if flags.any()
    ]
    legend_above(ax, handles)


def _mixed(missing: Array, filled: Array) -> Array:
    """The colours of blocks (rows, columns, 3) with these shares of missing and of filled entries."""
    from matplotlib.colors import to_rgb

    pale, *colours = (np.asarray(to_rgb(name)) for name in (PALE, VERMILLION, BLUE))
    weights = [np.where(share > 0.0, np.maximum(share, LEAST_COLOUR), 0.0) for share in (missing, filled)]
    over = np.maximum(weights[0] + weights[1], 1.0)
    image = pale + np.zeros((*missing.shape, 3))
    for weight, colour in zip(weights, colours, strict=True):
        image += (weight / over)[..., None] * (colour - pale)
    return np.asarray(np.clip(image, 0.0, 1.0))


def _percent(flags: Array) -> str:
    share = 100.0 * float(flags.mean())
    return f"{share:.1f}%" if share >= 0.05 else "< 0.1%"


def _starts(n: int, most: int) -> Array:
    """Where the blocks of n rows or columns begin, of equal length up to one and at most so many."""
    return np.unique(np.linspace(0, n, min(n, most), endpoint=False).astype(int))


def _share(flags: Array, rows: Array, columns: Array) -> Array:
    """The share of entries that are marked in every block."""
    sums = np.add.reduceat(np.add.reduceat(flags.astype(np.float64), rows, axis=0), columns, axis=1)
    heights, widths = np.diff([*rows, len(flags)]), np.diff([*columns, flags.shape[1]])
    return np.asarray(sums / np.outer(heights, widths))


def _edges(x: Array) -> Array:
    """Edges of cells around increasing positions (n + 1): half-way between them."""
    if len(x) == 1:
        return np.array([x[0] - 0.5, x[0] + 0.5])
    middle = 0.5 * (x[1:] + x[:-1])
    return np.concatenate([[x[0] - (middle[0] - x[0])], middle, [x[-1] + (x[-1] - middle[-1])]])
