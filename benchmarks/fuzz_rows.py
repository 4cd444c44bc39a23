"""Random rows for ``fuzz``: reasonable ones and others, in every container that an estimator may be given."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[Any]
Rng = np.random.Generator


def one_of(rng: Rng, *values: Any) -> Any:
    """One of some values."""
    return values[int(rng.integers(len(values)))]


ODD = (
    np.inf, -np.inf, 9.96921e36, -9.96921e36, 1e20, 3.4028235e38, 1.7e308, 1e160, 1e77, 1e75, 1e30, 1e12, 1e6, -9999.0,
    2147483647.0, -32768.0, 1e-300, 5e-324, 0.0, -0.0,
)  # fmt: skip
"""Values that are put in a few places."""

SCALES = (1.0, 1.0, 1.0, 1e-300, 1e-160, 1e-80, 1e-30, 1e-6, 1e6, 1e12, 1e30, 1e75, 1e100, 1e160, 1e300)


def random_values(rng: Rng, m: int) -> Array:
    """Rows of some kind, as an array of floats; scaled as they are, some values become infinite or zero."""
    n = int(one_of(rng, 1, 2, 3, 12, 30, int(rng.integers(1, 40))))
    X = rng.standard_normal((n, 2)) @ rng.standard_normal((2, m)) + 0.1 * rng.standard_normal((n, m))
    kind = int(rng.integers(9))
    if kind == 0:
        X = np.full((n, m), one_of(rng, 0.0, 1.0, -7.5, 1e-12))
    if kind == 1:
        X[:, int(rng.integers(m))] = one_of(rng, 0.0, 5.0)
    if kind == 2:
        X *= 10.0 ** rng.integers(-12, 13, size=m)
    if kind == 3:
        X = np.rint(3.0 * X)
    if rng.random() < 0.3:
        X += one_of(rng, 8.0, -3.0, 1e6)
    if rng.random() < 0.3:
        X = np.abs(X)
    if rng.random() < 0.25:
        with np.errstate(over="ignore"):
            X = X * one_of(rng, *SCALES)
    if rng.random() < 0.7:
        X[rng.random(X.shape) < one_of(rng, 0.1, 0.3, 0.8, 1.0)] = np.nan
    if rng.random() < 0.35:
        for _ in range(int(rng.integers(1, 4))):
            X[int(rng.integers(n)), int(rng.integers(m))] = one_of(rng, *ODD)
    return X[:0] if rng.random() < 0.02 else X


def contained(rng: Rng, X: Array) -> Any:
    """The same rows in some container, type and layout."""
    with np.errstate(over="ignore", invalid="ignore"):
        kind = int(rng.integers(14))
        if kind == 0:
            return np.asfortranarray(X)
        if kind == 1:
            return X.tolist()
        if kind == 2:
            return np.repeat(X, 2, axis=1)[:, ::2]
        if kind in (3, 4):
            return X.astype(np.float32)
        if kind == 5:
            return np.ma.masked_array(np.nan_to_num(X, nan=1e5, posinf=np.inf, neginf=-np.inf), np.isnan(X))
        if kind in (6, 7):
            row, column = np.nonzero(~np.isnan(X))
            stored = sparse.coo_array((X[row, column], (row, column)), shape=X.shape)
            return one_of(rng, stored.tocsr(), stored.tocsc(), stored, stored.astype(np.float32).tocsr())
        if kind == 8:
            return np.nan_to_num(X, posinf=0, neginf=0).clip(-1e9, 1e9).astype(int)
        if kind == 9:
            return X.astype(object)
        if kind == 10:
            return X.astype(one_of(rng, np.float16, ">f8", np.longdouble))
        if kind == 11:
            return _frame(rng, X)
    return X


def _frame(rng: Rng, X: Array) -> Any:
    names = [f"sensor {j}" for j in range(X.shape[1])]
    try:
        if rng.random() < 0.5:
            import polars

            return polars.DataFrame(X, schema=names)
        import pandas

        index = pandas.date_range("2024-01-01", periods=len(X), freq="h") if rng.random() < 0.5 else None
        return pandas.DataFrame(X, columns=names, index=index)
    except ImportError:
        return X
