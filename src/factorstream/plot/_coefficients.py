"""A map of the rows: their first two coefficients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import to_host
from ..estimators.low_rank_imputer import LowRankImputer
from ..persist import here
from ..rotation import PrincipalAxes, standardised
from ._answers import axes_of
from ._canvas import BLUE, CLASSES, one_axes, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[Any]


def coefficients(
    model: Any,
    X: Any,
    color: ArrayLike | None = None,
    *,
    principal: PrincipalAxes | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw every row of X as a point: its coefficients along the two axes that explain most.

    Coefficients are rotated to the principal axes (:func:`factorstream.principal_axes`), so that the map of two fits of
    the same data looks the same, and in the data's units. Rows that lie close together look alike to the model.

    Parameters
    ----------
    model : fitted estimator with two components or more
    X : array, table or sparse rows (n_samples, n_features)
        NaN marks a missing entry.
    color : array (n_samples,), default=None
        Numbers, which get a colour bar, or words, which get a legend with a colour for each of up to eight.
    principal : PrincipalAxes, default=None
        What :func:`factorstream.principal_axes` gives, where rows or units decide about the axes; the baselines need
        it.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import numpy as np
    >>> from factorstream import BayesianFactorization, plot
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 3)) @ rng.normal(size=(3, 12)) + 0.1 * rng.normal(size=(100, 12))
    >>> model = BayesianFactorization(3).fit(X)
    >>> ax = plot.coefficients(model, X, color=np.where(X[:, 0] > 0, "high", "low"))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['high', 'low']
    """
    axes = axes_of(model, principal, least=2)
    model, X = here(model), to_host(X)
    fitted, rows = model, X
    if isinstance(model, LowRankImputer):
        fitted, rows = model.factorization_, standardised(model, X)
    points = np.asarray(fitted.transform(rows), dtype=np.float64) @ axes.rotation[:, :2]
    colours = None if color is None else np.asarray(to_host(color))
    if colours is not None and colours.shape != (len(points),):
        raise ValueError(f"color must have one entry for each of the {len(points)} rows; got shape {colours.shape}.")
    kinds = _kinds(colours)
    ax = one_axes(ax, (5.4, 4.4))
    _scatter(ax, points, colours, kinds)
    shares = axes.explained_variance / float(axes.explained_variance.sum())
    ax.set_xlabel(f"coefficient 1 ({100 * shares[0]:.3g}% of what is explained)")
    ax.set_ylabel(f"coefficient 2 ({100 * shares[1]:.3g}%)")
    tidy(ax)
    return ax


def _kinds(colours: Array | None) -> Array | None:
    """The different words, in alphabetical order; None where there are numbers or nothing."""
    if colours is None or colours.dtype.kind in "fiu":
        return None
    kinds = np.unique(colours.astype(str))
    if len(kinds) > len(CLASSES):
        raise ValueError(
            f"color has {len(kinds)} words, and more than {len(CLASSES)} colours cannot be told apart; "
            "pass numbers, or put words together."
        )
    return kinds


def _scatter(ax: Axes, points: Array, colours: Array | None, kinds: Array | None) -> None:
    size = 14 if len(points) <= 1000 else 5
    x, y = points.T
    if colours is None:
        ax.scatter(x, y, s=size, color=BLUE, alpha=0.7, linewidths=0)
    elif kinds is None:
        drawn = ax.scatter(x, y, s=size, c=colours, cmap="viridis", linewidths=0)
        ax.figure.colorbar(drawn, ax=ax)
    else:
        for kind, colour in zip(kinds, CLASSES, strict=False):
            at = colours.astype(str) == kind
            ax.scatter(x[at], y[at], s=size, color=colour, alpha=0.8, linewidths=0, label=str(kind))
        ax.legend(fontsize=8, frameon=False, markerscale=1.5, loc="upper left", bbox_to_anchor=(1.0, 1.0))
