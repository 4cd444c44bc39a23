"""Rows as the variational fit has them: values and weights."""

from __future__ import annotations

import numpy as np

from ..arrays import Array, at_least, dtype_of, is_here, least_and_greatest, namespace, to_host
from ..core.linalg import is_sparse, over_rows, with_values
from ..core.place import HERE, Place, Tall
from ..core.variational.observed import Observations, stays_sparse
from ..core.variational.sparse_products import less_means
from ..cores import PASS, TINY, Tile, each_tile
from ..tall.rows import Rows
from ..tall.starting import check_range


def observe(X: Rows, place: Place = HERE, origin: Tall | None = None) -> Observations:
    """Rows with gaps, or sparse rows, as values and weights at the place; values less the origin, if it is given."""
    n, m = X.shape
    X_there = place.put(X, 1)
    largest = place.get(place.each(_largest_of_all, X_there), 0)  # of each piece, since a maximum is no sum
    check_range(float(largest.max(initial=0.0)), dtype_of(X))
    Y, W = place.each(_values_and_weights, X_there)
    if origin is not None:
        Y = place.each(less_origin, Y, W, origin)
    return Observations(Y, W, n, m, stays_sparse(X, X_there))


def check_values(X: Rows) -> None:
    """Refuse values that cannot be squared."""
    check_range(float(to_host(_largest(X)).max(initial=0.0)), dtype_of(X))


def _largest_of_all(X: Rows) -> Array:
    """The largest size of an observed value, as an array of one."""
    sizes = _largest(X)
    return namespace(sizes).max(sizes)[None] if sizes.shape[0] else sizes


def _largest(X: Rows) -> Array:
    """The largest size of an observed value of each feature."""
    if not is_here(X):
        low, high = least_and_greatest(X)
        return at_least(namespace(X).maximum(-low, high), 0.0)
    if not is_sparse(X):
        if X.size < TINY:
            return np.fmax.reduce(np.abs(X), axis=0, initial=0.0)
        return np.maximum(over_rows(np.fmax, X, 0.0), -over_rows(np.fmin, X, 0.0))
    largest = np.zeros(X.shape[1])
    np.fmax.at(largest, X.indices, np.abs(X.data))
    return largest


def _values_and_weights(X: Rows) -> tuple[Rows, Rows]:
    """Values, zero where missing, and weights, 1 where observed."""
    if is_sparse(X):
        values = X.data.astype(np.float64, copy=False)
        return with_values(X, values), with_values(X, np.broadcast_to(1.0, values.shape))  # which takes no memory
    if not is_here(X):
        xp = namespace(X)
        seen = ~xp.isnan(X)
        return xp.astype(xp.where(seen, X, 0.0), xp.float64, copy=False), xp.astype(seen, xp.float64)
    if X.size < TINY:
        seen = ~np.isnan(X)
        return np.where(seen, X, 0.0).astype(np.float64, "C", copy=False), seen.astype(np.float64, "C")
    Y, W = np.empty(X.shape), np.empty(X.shape)

    def fill(some: Tile) -> None:
        seen = ~np.isnan(X[some])
        Y[some], W[some] = np.where(seen, X[some], 0.0), seen

    each_tile(fill, X.shape, 4 * PASS * X.size)
    return Y, W


def less_origin(Y: Rows, W: Rows, origin: Array) -> Rows:
    """Values less the origin (m), zero where missing."""
    if is_sparse(Y):
        return less_means(Y, origin)
    if not is_here(Y) or Y.size < TINY:
        return W * (Y - origin)
    out = np.empty_like(Y)

    def fill(some: Tile) -> None:
        np.subtract(Y[some], origin[some[1]], out=out[some])
        out[some] *= W[some]

    each_tile(fill, Y.shape, 2 * PASS * Y.size)
    return out
