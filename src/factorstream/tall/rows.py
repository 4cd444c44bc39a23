"""Rows of data, dense (NaN = missing; of any library) or sparse (stored = observed), behind the same few functions."""

from __future__ import annotations

from math import isnan

import numpy as np
from scipy import sparse

from ..arrays import as_type, beside, counted, dtype_of, is_here, namespace, positions, taken, to_host
from ..core.linalg import Array, Rows, is_sparse, over_rows
from ..cores import PASS, TINY, Tile, each_tile, limited
from .placed_rows import PlacedRows
from .products import square_sum

__all__ = [
    "Rows", "dense", "divided", "ever_observed", "few_columns", "few_rows", "observed_by_feature", "rows_with_data",
    "stack", "with_data", "without_columns",
]  # fmt: skip

FEW_FEATURES = 8
"""Features that tell rows without data from others; not tuned, it decides about speed only."""


def rows_with_data(X: Rows) -> Array:
    """The numbers of the rows in which something is observed, found without a copy of X."""
    if isinstance(X, PlacedRows):
        return np.flatnonzero(X.n_observed())
    if is_sparse(X):
        return np.flatnonzero(np.diff(X.indptr))
    everything = np.arange(X.shape[0])
    with limited(X.shape[0] * X.shape[1]):
        if not isnan(square_sum(X)):
            return everything
    if not is_here(X):
        xp = namespace(X)
        return positions(xp.any(~xp.isnan(X), axis=1))
    empty = everything
    for j in range(min(X.shape[1], FEW_FEATURES)):  # they tell almost all rows apart, without a mask of all of X
        empty = empty[np.isnan(X[empty, j])]
        if len(empty) == 0:
            return everything
    return np.delete(everything, [i for i in empty if np.isnan(X[i]).all()])


def with_data(X: Rows) -> Rows:
    """The rows in which something is observed; X itself where that is all of them."""
    rows = rows_with_data(X)
    if len(rows) == X.shape[0]:
        return X
    return X.chosen(rows) if isinstance(X, PlacedRows) else taken(X, rows)


def few_rows(X: Rows, numbers: Array) -> Rows:
    """Some rows by their numbers; those of another place come to this process."""
    return X.rows_here(numbers) if isinstance(X, PlacedRows) else taken(X, numbers)


def few_columns(X: Rows, numbers: Array) -> Array:
    """Some columns of dense rows by their numbers, which are in order, as an array of this process."""
    out: Array = X.columns_here(numbers) if isinstance(X, PlacedRows) else to_host(taken(X, numbers, axis=1))
    return out


def stack(upper: Rows, lower: Rows) -> Rows:
    """Both sets of rows, one below the other; if only one of them is sparse, the upper one decides what both become."""
    if is_sparse(upper):
        return sparse.vstack([upper, lower if is_sparse(lower) else _stored(lower, type(upper))], format="csr")
    return namespace(upper).concat([upper, beside(dense(lower), upper)])


def _stored(X: Array, kind: type) -> Rows:
    """Dense rows as sparse ones of a kind, which store what is observed, zeros too."""
    seen = ~np.isnan(X)
    ends = np.concatenate([[0], np.cumsum(seen.sum(axis=1))])
    return kind((X[seen], np.nonzero(seen)[1], ends), shape=X.shape)


def without_columns(X: Rows, columns: Array) -> Rows:
    """X with nothing observed in some columns (m, boolean); X itself where that is so already."""
    if is_sparse(X):
        stays = ~columns[X.indices]
        if stays.all():
            return X
        ends = np.concatenate([[0], np.cumsum(stays)])[X.indptr]
        return type(X)((X.data[stays], X.indices[stays], ends), shape=X.shape)
    xp, which = namespace(X), positions(columns)
    if not counted(~xp.isnan(taken(X, which, axis=1))):
        return X
    return as_type(xp.where(beside(columns, X), np.nan, X), dtype_of(X))


def divided(X: Rows, unit: Array | None) -> Rows:
    """A copy of X in which every column is divided by its unit (m); X itself where there are no units.

    X is first converted to the dtype of the units.
    """
    if unit is None:
        return X
    if not is_here(X):
        return as_type(X, dtype_of(unit)) / beside(unit, X)
    unit = to_host(unit)
    if is_sparse(X):
        out = X.astype(unit.dtype)
        out.data /= unit[out.indices]
        return out
    if X.size < TINY:
        out = X.astype(unit.dtype, "C")
        out /= unit
        return out
    out = np.empty(X.shape, unit.dtype)

    def fill(some: Tile) -> None:
        out[some] = X[some]
        out[some] /= unit[some[1]]

    with limited(X.size):
        each_tile(fill, X.shape, PASS * X.size)
    return out


def dense(X: Rows) -> Array:
    """The rows with NaN where nothing is observed; meant for a few rows at a time."""
    out: Array
    if not is_sparse(X):
        out = X
        return out
    out = np.full(X.shape, np.nan, dtype=X.dtype)
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    out[rows, X.indices] = X.data
    return out


def ever_observed(X: Rows) -> Array:
    """Which features have a value (boolean), found without a mask of all of X."""
    if is_sparse(X) or not is_here(X):
        return observed_by_feature(X) > 0
    return over_rows(np.fmin, X, np.inf) < np.inf


def observed_by_feature(X: Rows) -> Array:
    """How many entries of each feature are observed."""
    if is_sparse(X):
        return np.bincount(X.indices, minlength=X.shape[1])
    return np.asarray(to_host(counted(~namespace(X).isnan(X), axis=0)))
