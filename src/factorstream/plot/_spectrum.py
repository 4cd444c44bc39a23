"""How much of the variance each component explains, and how many components there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..arrays import to_host
from ..estimators.low_rank_imputer import LowRankImputer
from ..rotation import PrincipalAxes
from ._answers import axes_of
from ._canvas import BLUE, INK, PALE, VERMILLION, legend_above, one_axes, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_UNUSED = 20
"""Most places that are kept free for components that a model did not need. By eye."""


def spectrum(model: Any, *, principal: PrincipalAxes | None = None, ax: Axes | None = None) -> Axes:
    """Draw the share of the variance that each component explains, largest first, and mark how many there are.

    Components are rotated to their principal axes (:func:`factorstream.principal_axes`). Shares are of the variance
    that components and noise have together; what the slow levels of a sequence do is left out. The dashed line is the
    noise in any one direction: a component far below it is hardly told from noise. Where
    ``n_components`` was an upper bound, places right of the last component are those that were not needed.

    Parameters
    ----------
    model : fitted estimator with a noise variance
    principal : PrincipalAxes, default=None
        What :func:`factorstream.principal_axes` gives, where rows or units decide about the axes.
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
    >>> X = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 30)) + 0.1 * rng.normal(size=(200, 30))
    >>> X[rng.random(X.shape) < 0.5] = np.nan
    >>> ax = plot.spectrum(BayesianFactorization(random_state=0).fit(X))
    >>> [text.get_text() for text in ax.get_legend().get_texts()][-1]
    '3 chosen'
    """
    check_is_fitted(model)
    fitted: Any = model.factorization_ if isinstance(model, LowRankImputer) else model
    if fitted is not None and not hasattr(fitted, "noise_variance_"):
        raise TypeError(
            f"{type(model).__name__} learns no noise variance, so that there is no spectrum of it; "
            "principal_axes(model, X).explained_variance has what its components explain."
        )
    axes = axes_of(model, principal)
    m = axes.components.shape[1]
    noise = float(np.sum(to_host(fitted.noise_variance_) / axes.unit**2))
    explained = axes.explained_variance
    total = float(explained.sum()) + noise
    n, unused = len(explained), min(_unused(fitted, m), MOST_UNUSED)
    ax = one_axes(ax, (min(max(5.0, 2.5 + 0.22 * (n + unused)), 10.0), 3.2))
    bars = ax.bar(np.arange(1, n + 1), explained / total, width=0.8, color=BLUE)
    bars.set_label(f"components ({_percent(1 - noise / total)})")
    floor = ax.axhline(noise / m / total, color=VERMILLION, linestyle="--", linewidth=1.2)
    floor.set_label(f"noise in one direction ({_percent(noise / total)} in all)")
    word = "chosen" if fitted.state_.parameters["n_components"] == "auto" else "in use"
    rank = ax.axvline(n + 0.5, color=INK, linestyle=":", linewidth=1.5, label=f"{n} {word}")
    handles: list[Any] = [bars, floor, rank]
    if unused:
        handles.append(ax.axvspan(n + 0.5, n + unused + 0.5, color=PALE, alpha=0.7, linewidth=0, zorder=0))
        handles[-1].set_label("not needed")
    ax.set_xlim(0.4, n + unused + 0.8)
    ax.set_xlabel("component")
    ax.set_ylabel("share of the variance")
    ax.locator_params(axis="x", integer=True)
    tidy(ax)
    legend_above(ax, handles, columns=2)
    return ax


def _unused(model: Any, m: int) -> int:
    """How many more components the model could have had, where its number of components is an upper bound."""
    bound = model.state_.parameters["n_components"]
    return 0 if bound == "auto" else max(min(int(bound), m) - int(model.n_components_), 0)


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"
