"""What a model says, as pictures need it: fills and bounds in the shape of a table, axes, and names of features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import to_host
from ..estimators._columns import means_nan
from ..estimators._mixed.encoding import refuse_other_model
from ..estimators.low_rank_imputer import LowRankImputer
from ..rotation import PrincipalAxes, principal_axes
from ._panel import Panel, read_table

Array = NDArray[Any]


class Fills(NamedTuple):
    """A table with its gaps filled, and the bounds of every entry; all (n, m). Without bounds these are None."""

    filled: Array
    lower: Array | None = None
    upper: Array | None = None


def filled_by(model: Any, X: Any) -> Array:
    """X with its gaps filled; NaN in columns that an imputer drops."""
    if isinstance(model, LowRankImputer):
        return in_all_columns(read_table(model.impute(X)).values, _kept(model))
    return read_table(model.impute(X)).values


def bounds_by(model: Any, X: Any, level: float) -> tuple[Array, Array]:
    """The bounds of every entry of X; where X is observed both are X, and NaN in columns that an imputer drops."""
    if not hasattr(model, "predict_interval"):
        raise TypeError(f"{type(model).__name__} gives no intervals; fill X with it, and pass (filled,) instead of it.")
    lower, upper = (read_table(bound).values for bound in model.predict_interval(X, level=level))
    if isinstance(model, LowRankImputer):
        return in_all_columns(lower, _kept(model)), in_all_columns(upper, _kept(model))
    return lower, upper


def refuse_other_kinds(model: Any) -> None:
    """Refuse a model of a table with other columns than numbers."""
    refuse_other_model(model, "Pictures of models are")


def _kept(model: LowRankImputer) -> Array:
    if not means_nan(model.state_.parameters["missing_values"]):
        raise ValueError("Pictures take NaN as missing; fit an imputer whose missing_values is NaN.")
    return np.asarray(~np.isnan(to_host(model.statistics_)))


def in_all_columns(values: Array, kept: Array) -> Array:
    """Values of the columns ``kept`` (m) in a table of all m; NaN in the others."""
    out = np.full((len(values), len(kept)), np.nan)
    out[:, kept] = values
    return out


def fills_of(model: Any, X: Any, panel: Panel, level: float) -> Fills:
    """The fills by a model; or those that a caller has computed, as a tuple of tables: filled, or with its bounds."""
    if not isinstance(model, tuple):
        return Fills(filled_by(model, X), *bounds_by(model, X, level))
    if len(model) not in (1, 3):
        raise ValueError(f"Pass (filled,) or (filled, lower, upper); got a tuple of {len(model)}.")
    parts = [read_table(part).values for part in model]
    for part in parts:
        check_shape(part, panel, "what fills it")
    return Fills(*parts)


def check_shape(values: Array, panel: Panel, what: str) -> None:
    """Refuse a table that is not of the same shape as X."""
    if values.shape != panel.values.shape:
        raise ValueError(f"X has the shape {panel.values.shape}, and {what} {values.shape}; pass tables of one shape.")


def feature_names(model: Any) -> tuple[str, ...] | None:
    """Names of the features of the model's components, where it was fitted to a table; else None."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return None
    if isinstance(model, LowRankImputer):  # features that do not vary have no loadings
        names = names[to_host(model.scale_) > 0]
    return tuple(map(str, names))


def axes_of(model: Any, principal: PrincipalAxes | None, least: int = 1) -> PrincipalAxes:
    """The axes that were given, or those of the model; refused where there are fewer than the picture needs."""
    refuse_other_kinds(model)
    found = _learned_axes(model) if principal is None else principal
    if len(found.components) < least:
        few = "no components" if not len(found.components) else f"{len(found.components)} component(s)"
        raise ValueError(f"The model has {few}, and this picture needs {least}; fit a model with more.")
    return found


def _learned_axes(model: Any) -> PrincipalAxes:
    try:
        return principal_axes(model)
    except TypeError as problem:  # a baseline
        raise TypeError(
            f"{type(model).__name__} does not learn how its coefficients vary; pass "
            "principal=principal_axes(model, X) with rows X that say it."
        ) from problem


def checked_levels(levels: float | Sequence[float]) -> list[float]:
    """The levels in rising order; each lies strictly between 0 and 1.

    >>> checked_levels((0.9, 0.5))
    [0.5, 0.9]
    """
    found = sorted({float(level) for level in np.atleast_1d(levels)})
    if not found or not all(0.0 < level < 1.0 for level in found):
        raise ValueError(f"levels must be one or more numbers strictly between 0 and 1; got {levels!r}.")
    return found
