"""The components of a model: as curves, as images, or as a map of loadings."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import to_host
from ..estimators._validation import check_count
from ..rotation import PrincipalAxes
from ._answers import axes_of, feature_names
from ._canvas import BLUE, AxesArray, many_axes, name_ticks, tidy, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[Any]

SHOWN = {"curves": 6, "images": 12, "loadings": 30}
"""Components drawn where their number is not given. By eye."""
FEW_NAMES = 15
"""Most features whose names are written under a curve. By eye."""
NOTHING = "#9C8A5A"
"""The colour of NaN, which no loading has."""


def components(
    model: Any,
    kind: str = "curves",
    *,
    shape: tuple[int, int] | None = None,
    x: ArrayLike | None = None,
    n_shown: int | None = None,
    principal: PrincipalAxes | None = None,
    ax: Any = None,
) -> AxesArray:
    """Draw the components of a model, rotated to their principal axes: the one that explains most comes first.

    What is drawn is what a feature changes by when the component's coefficient is one standard deviation higher, in the
    data's units (of a :class:`factorstream.LowRankImputer`, in standard deviations of the features). The largest
    loading of each is positive; titles give the share of what all components explain.

    Parameters
    ----------
    model : fitted estimator
    kind : {"curves", "images", "loadings"}, default="curves"
        A panel with a line over the features, a panel with an image, or one map of all loadings.
    shape : (int, int), default=None
        Height and width of the images.
    x : array (n_features,), default=None
        Where the features lie along a curve, such as wavelengths or hours; by default 0, 1, …
    n_shown : int, default=None
        How many components at most; by default 6 curves, 12 images or 30 columns of loadings.
    principal : PrincipalAxes, default=None
        What :func:`factorstream.principal_axes` gives, where rows or units decide about the axes; the baselines need
        it.
    ax : Axes or array of Axes, one for each panel, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    array of matplotlib.axes.Axes, one for each panel

    Examples
    --------
    >>> import numpy as np
    >>> from factorstream import DictionaryFilter, plot
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 12)) + 0.1 * rng.normal(size=(200, 12))
    >>> model = DictionaryFilter(3, random_state=0).fit(X)
    >>> plot.components(model).shape
    (3,)
    >>> axes = plot.components(model, "images", shape=(3, 4), n_shown=2)
    >>> axes[0].images[0].get_array().shape
    (3, 4)
    >>> axes = plot.components(model, "loadings")
    """
    if kind not in SHOWN:
        raise ValueError(f"kind must be 'curves', 'images' or 'loadings'; got {kind!r}.")
    most = SHOWN[kind] if n_shown is None else n_shown
    check_count("n_shown", most)
    axes = axes_of(model, principal)
    n = min(len(axes.components), most)
    effects = axes.components[:n] * np.sqrt(axes.explained_variance[:n])[:, None]
    shares = axes.explained_variance / max(float(axes.explained_variance.sum()), np.finfo(np.float64).tiny)
    titles = [f"{j + 1} ({100 * share:.3g}%)" for j, share in enumerate(shares[:n])]
    if kind == "curves":
        return _curves(effects, titles, x, feature_names(model), ax)
    if kind == "images":
        return _images(effects, titles, shape, ax)
    return _loadings(effects, feature_names(model), ax)


def _curves(effects: Array, titles: list[str], x: ArrayLike | None, names: Any, ax: Any) -> AxesArray:
    m = effects.shape[1]
    places = np.arange(m) if x is None else np.asarray(to_host(x))
    if places.shape != (m,):
        raise ValueError(f"x must have one place for each of the {m} features; got the shape {places.shape}.")
    panels = many_axes(ax, len(effects), (7.0, 1.4))
    for panel, effect, text in zip(panels, effects, titles, strict=True):
        panel.axhline(0.0, color="#999999", linewidth=0.8)
        panel.plot(places, effect, color=BLUE, linewidth=1.3, marker="." if m <= 60 else None, label="component")
        title(panel, f"component {text}")
        tidy(panel)
    if x is None and names is not None and m <= FEW_NAMES:
        name_ticks(panels[-1].xaxis, names)
        for text in panels[-1].get_xticklabels():
            text.set(rotation=40, ha="right", rotation_mode="anchor")
    elif x is None:
        panels[-1].set_xlabel("feature")
    panels[len(panels) // 2].set_ylabel("effect of one standard deviation", fontsize=8)
    return panels


def _images(effects: Array, titles: list[str], shape: tuple[int, int] | None, ax: Any) -> AxesArray:
    m = effects.shape[1]
    if shape is None or len(shape) != 2 or shape[0] * shape[1] != m:
        raise ValueError(f"shape must be the height and width of the images, whose product is {m}; got {shape!r}.")
    n = len(effects)
    panels = many_axes(ax, n, (1.7, 1.7 * min(max(shape[0] / shape[1], 0.3), 3.0) + 0.2), columns=_columns(n))
    for panel, effect, text in zip(panels, effects, titles, strict=True):
        _two_sided(panel, effect.reshape(shape), aspect="equal")
        panel.set_xticks([])
        panel.set_yticks([])
        panel.set_title(text, fontsize=9)
    return panels


def _columns(n: int) -> int:
    """Images side by side: about 6 fit on a page, and the last line should be full."""
    lines = ceil(n / 6)
    return ceil(n / lines)


def loadings_height(m: int) -> float:
    """Inches of a map of the loadings of m features, by eye: each has room for its name as long as they fit a page."""
    return 1.4 + 0.17 * min(max(m, 8), 34)


def _loadings(effects: Array, names: Any, ax: Any) -> AxesArray:
    n, m = effects.shape
    panels = many_axes(ax, 1, (3.2 + 0.3 * n, loadings_height(m)))
    image = _two_sided(panels[0], effects.T, aspect="auto")
    name_ticks(panels[0].yaxis, tuple(map(str, range(m))) if names is None else names)
    if names is None:
        panels[0].set_ylabel("feature")
    step = ceil(n / 15)
    panels[0].set_xticks(range(0, n, step), [str(j + 1) for j in range(0, n, step)])
    panels[0].set_xlabel("component")
    bar = panels[0].figure.colorbar(image, ax=panels[0])
    bar.set_label("effect of one standard deviation", fontsize=8)
    return panels


def _two_sided(ax: Axes, values: Array, aspect: Any) -> Any:
    """An image in which zero is white, blue negative and red positive."""
    from matplotlib import colormaps

    size = float(np.nanmax(np.abs(values), initial=0.0)) or 1.0
    colours = colormaps["RdBu_r"].with_extremes(bad=NOTHING)
    return ax.imshow(values, cmap=colours, vmin=-size, vmax=size, aspect=aspect, interpolation="none")
