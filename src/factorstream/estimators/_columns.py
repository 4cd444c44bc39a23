"""The columns of a table: what they hold, and how messages name them."""

from __future__ import annotations

import sys
from numbers import Real
from typing import Any

import numpy as np

from ..core.linalg import Array
from ..core.robust_scale import median_and_scale
from ..text import listed


def moments(X: Array) -> tuple[Array, Array, Array]:
    """Number, mean and deviation of each column's observed values; mean and deviation 0 where there are none.

    Taken in units of a power of two, so that neither squares nor sums overflow; a column of equal values has
    exactly that mean and the deviation 0, whatever the rounding.
    """
    seen = ~np.isnan(X)
    count = np.count_nonzero(seen, axis=0)
    values = np.where(seen, X, 0.0).astype(np.float64)
    unit = np.frexp(np.abs(values).max(axis=0))[1]
    values = np.ldexp(values, -unit)
    share = 1.0 / np.maximum(count, 1)
    mean = values.sum(axis=0) * share
    mean += np.where(seen, values - mean, 0.0).sum(axis=0) * share  # what rounding left of a large offset
    scale = np.sqrt(np.square(np.where(seen, values - mean, 0.0)).sum(axis=0) * share)
    least = np.where(seen, values, np.inf).min(axis=0)
    constant = least >= np.where(seen, values, -np.inf).max(axis=0)  # also where nothing is observed
    mean = np.where(constant & (count > 0), least, mean)
    scale = np.ldexp(np.where(constant, 0.0, scale), unit)
    return count, np.ldexp(mean, unit), np.where(scale < np.finfo(np.float64).tiny, 0.0, scale)


def robust_moments(X: Array, mean: Array, scale: Array) -> tuple[Array, Array]:
    """Median and scaled median absolute deviation of each column, or what is given where that deviation is zero."""
    mean, scale = mean.copy(), scale.copy()
    for j in np.flatnonzero(scale > 0):
        middle, spread = median_and_scale(X[~np.isnan(X[:, j]), j].astype(np.float64))
        if spread > 0:
            mean[j], scale[j] = middle, spread
    return mean, scale


def means_nan(value: Any) -> bool:
    """Whether a marker of missing values is NaN, or pandas.NA, which becomes NaN in an array of floats."""
    pandas = sys.modules.get("pandas")
    return value != value if isinstance(value, Real) else pandas is not None and value is pandas.NA


def like_table(values: Array, X: Any, kept: Array | None = None) -> Any:
    """The values as a table with the rows and columns of X, where X is a table of pandas or polars; else as they are.

    ``kept``: which columns of X they are, where some were dropped (boolean).
    """
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if pandas is not None and isinstance(X, pandas.DataFrame):
        return pandas.DataFrame(values, index=X.index, columns=X.columns if kept is None else X.columns[kept])
    if polars is not None and isinstance(X, polars.DataFrame):
        names = [name for k, name in enumerate(X.columns) if kept is None or kept[k]]
        return polars.DataFrame(values, schema=names, orient="row")
    return values


def marked(which: Array, names: Array | None = None) -> str:
    """The first few of the features marked, by name where there are names, for a message."""
    columns = np.flatnonzero(which)
    return listed(columns if names is None else names[columns])
