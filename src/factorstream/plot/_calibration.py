"""What intervals promise against what they hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ..core.linalg import is_sparse
from ..estimators._times import rebuild_table, split_table
from ..masks import Seed, segment_mask
from ..metrics import interval_coverage
from ._answers import bounds_by, checked_levels, refuse_other_kinds
from ._canvas import CLASSES, one_axes, tidy
from ._panel import read_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[Any]


def calibration(
    model: Any,
    X: Any,
    *,
    levels: Sequence[float] = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95),
    fraction: float = 0.1,
    length: int = 1,
    refit: bool = True,
    label: str | None = None,
    rng: Seed = 0,
    ax: Axes | None = None,
) -> Axes:
    """Hide some observed entries of X, and draw how many of them intervals hold against how many they promise.

    Intervals whose curve lies on the diagonal hold what they promise; below it they are too narrow, above it too wide.
    The grey band is where the curve of perfect intervals lies 95% of the time if the hidden entries are independent
    (errors of one row are not quite, so that curves stray further). A second call with the same ``ax`` adds a curve.

    Parameters
    ----------
    model : fitted estimator with intervals
        It stays as it is: with ``refit`` a copy with the same parameters is fitted to X without the hidden entries.
    X : array or table (n_samples, n_features)
        NaN marks a missing entry.
    levels : sequence of float
        Probabilities that intervals promise.
    fraction : float, default=0.1
        Share of each column's observed entries to hide; a column keeps at least one of them.
    length : int, default=1
        Rows hidden in a run. Where gaps of your data last, such as those of sensors, hide runs of that length: single
        entries are easier.
    refit : bool, default=True
        False asks the model itself. That is quicker, and right only where X are rows that it has not seen: entries that
        it was fitted to are held more often than others.
    label : str, default=None
        Name of the curve in the legend; by default that of the class.
    rng : int, Generator or None, default=0
        Seeds the choice of the hidden entries.
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
    >>> X = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 10)) + 0.1 * rng.normal(size=(200, 10))
    >>> model = DictionaryFilter(2, random_state=0).fit(X)
    >>> ax = plot.calibration(model, X, levels=(0.5, 0.9))
    >>> promised, held = ax.lines[-1].get_data()
    >>> promised.tolist(), bool(abs(held[1] - 0.9) < 0.05)
    ([0.5, 0.9], True)
    """
    promised = checked_levels(levels)
    refuse_other_kinds(model)
    panel = read_table(X)
    hidden = hidden_entries(panel.values, fraction, length, rng)
    asked = _without(X, hidden)
    asked_model = clone(model).fit(asked) if refit else model
    held = []
    for level in promised:
        lower, upper = (bound[hidden] for bound in bounds_by(asked_model, asked, level))
        truth = panel.values[hidden]
        answered = ~np.isnan(lower)  # an imputer drops columns without any value
        held.append(interval_coverage(truth, lower, upper, where=answered))
    return draw_calibration(one_axes(ax, (4.6, 4.4)), promised, held, int(hidden.sum()), label or type(model).__name__)


def draw_calibration(ax: Axes, promised: Sequence[float], held: Sequence[float], n: int, name: str) -> Axes:
    """Add one model's curve: which share of n entries its intervals held, against the share that they promised.

    The first curve on the Axes also draws the diagonal, where both are equal, and how far chance may lead from it.
    """
    drawn = _curves_on(ax)
    if not drawn:
        _promise(ax, n)
    colour = CLASSES[len(drawn) % len(CLASSES)]
    ax.plot(promised, held, "o-", color=colour, markersize=4, linewidth=1.4, label=f"{name}, {n} entries", gid="held")
    ax.legend(loc="lower right", fontsize=8, frameon=False)
    return ax


def hidden_entries(values: Array, fraction: float, length: int, rng: Seed) -> Array:
    """Which observed entries to hide; every column keeps a value."""
    if not 0.0 < fraction < 1.0:
        raise ValueError(f"fraction must lie strictly between 0 and 1; got {fraction!r}.")
    hidden = segment_mask(values.shape, fraction, length, rng=rng, missing=np.isnan(values))
    left = (~np.isnan(values) & ~hidden).any(axis=0)
    hidden[:, ~left] = False
    if not hidden.any():
        raise ValueError("There is no entry to hide: columns need two observed values; pass more rows.")
    return hidden


def _without(X: Any, hidden: Array) -> Any:
    """X with NaN where entries are hidden, as a table where X is one."""
    values = np.where(hidden, np.nan, read_table(X).values)
    return values if is_sparse(X) else rebuild_table(values, split_table(X)[1])


def _curves_on(ax: Axes) -> list[Any]:
    return [line for line in ax.lines if line.get_gid() == "held"]


def _promise(ax: Axes, n: int) -> None:
    """The diagonal, and the share of n independent entries that perfect intervals hold, ± 1.96 standard deviations."""
    p = np.linspace(0.0, 1.0, 101)
    reach = 1.96 * np.sqrt(p * (1.0 - p) / n)
    ax.fill_between(p, p - reach, p + reach, color="#999999", alpha=0.35, linewidth=0)
    ax.plot([0.0, 1.0], [0.0, 1.0], color="#777777", linestyle="--", linewidth=1.0)
    ax.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0), aspect="equal")
    ax.set_xlabel("promised: level of the intervals")
    ax.set_ylabel("held: share of hidden entries inside")
    tidy(ax)
