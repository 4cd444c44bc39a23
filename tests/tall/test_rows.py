"""The same questions to dense and to sparse rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from factorstream.tall.rows import dense, divided, observed_by_feature, rows_with_data, stack, with_data


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
