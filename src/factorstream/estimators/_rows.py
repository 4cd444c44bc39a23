"""Rows of data, dense (NaN = missing) or sparse (stored = observed), behind the same few functions."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..core.linalg import Array, is_sparse
from ..core.state import FilterState, Model, StepInfo
from ..tall.filtering import filter_rows, filter_sparse_rows
from ..tall.local import has_gaps

Rows = Any
"""A dense array or sparse rows."""


def with_data(X: Rows) -> Rows:
    """The rows in which something is observed."""
    if is_sparse(X):
        return X[np.diff(X.indptr) > 0]
    if not has_gaps(X):
        return X
    empty = np.arange(len(X))
    for j in range(min(X.shape[1], 8)):  # a few features tell almost all rows apart, without a mask of all of X
        empty = empty[np.isnan(X[empty, j])]
        if len(empty) == 0:
            return X
    return np.delete(X, [i for i in empty if np.isnan(X[i]).all()], axis=0)


def stack(upper: Rows, lower: Rows) -> Rows:
    """Both sets of rows, one below the other."""
    if is_sparse(upper):
        return sparse.vstack([upper, lower], format="csr")
    return np.concatenate([upper, lower])


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


def observed_by_feature(X: Rows) -> Array:
    """How many entries of each feature are observed."""
    if is_sparse(X):
        return np.bincount(X.indices, minlength=X.shape[1])
    return np.asarray(len(X) - np.isnan(X).sum(axis=0))


def run_filter(state: FilterState, model: Model, X: Rows, block_size: int) -> tuple[FilterState, StepInfo]:
    """Pass the rows through the shared-covariance filter."""
    if is_sparse(X):
        return filter_sparse_rows(state, model, X)
    return filter_rows(state, model, X, block_size)
