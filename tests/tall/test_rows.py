"""The same questions to dense and to sparse rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from factorstream.arrays import device_of, to_host
from factorstream.tall.rows import (
    dense,
    divided,
    ever_observed,
    observed_by_feature,
    rows_with_data,
    stack,
    with_data,
    without_columns,
)
from strict_place import DEVICE, STRICT


@pytest.mark.parametrize("n_features", [3, 20])
def test_dense_and_sparse_rows_answer_alike(rng, n_features):
    X = rng.standard_normal((30, n_features))
    X[rng.random(X.shape) < 0.5] = np.nan
    X[[4, 29]] = np.nan
    row, column = np.nonzero(~np.isnan(X))
    stored = sparse.csr_array((X[row, column], (row, column)), shape=X.shape)
    kept = np.flatnonzero(~np.isnan(X).all(axis=1))
    for rows in (X, stored):
        np.testing.assert_array_equal(rows_with_data(rows), kept)
        np.testing.assert_array_equal(dense(with_data(rows)), X[kept])
        np.testing.assert_array_equal(observed_by_feature(rows), (~np.isnan(X)).sum(axis=0))
        np.testing.assert_array_equal(dense(stack(rows[:7], rows[7:])), X)
    complete = np.ones((3, n_features))
    assert with_data(complete) is complete


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_are_divided_by_the_units_as_if_converted_before(rng, kind, dtype):
    X, unit = rng.standard_normal((20, 5)), np.geomspace(1e-3, 1e4, 5).astype(dtype)
    given = sparse.csr_array(X) if kind == "sparse" else X.copy()
    found = divided(given, unit)
    assert found.dtype == dtype
    np.testing.assert_array_equal(dense(found), X.astype(dtype) / unit)
    np.testing.assert_array_equal(dense(given), X)
    assert divided(given, None) is given


def test_rows_on_a_device_answer_as_rows_here(rng):
    X = rng.standard_normal((30, 6))
    X[rng.random(X.shape) < 0.4] = np.nan
    X[[4, 29]], X[:, 3] = np.nan, np.nan
    there, unit = STRICT.put(X, 1), np.geomspace(0.1, 10.0, 6)
    np.testing.assert_array_equal(rows_with_data(there), rows_with_data(X))
    np.testing.assert_array_equal(rows_with_data(STRICT.put(np.ones((3, 2)), 1)), [0, 1, 2])
    np.testing.assert_array_equal(ever_observed(there), ever_observed(X))
    np.testing.assert_array_equal(observed_by_feature(there), observed_by_feature(X))
    for found, expected in (
        (with_data(there), with_data(X)),
        (stack(there, X), stack(X, X)),
        (stack(there, there), stack(X, X)),
        (without_columns(there, np.arange(6) < 2), without_columns(X, np.arange(6) < 2)),
        (divided(there, unit), divided(X, unit)),
        (divided(there, STRICT.put(unit, 0)), divided(X, unit)),
    ):
        assert device_of(found) == DEVICE
        np.testing.assert_array_equal(to_host(found), expected)
    assert without_columns(there, np.arange(6) == 3) is there
    assert dense(there) is there
