"""The same questions to dense and to sparse rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from factorstream.tall.rows import dense, observed_by_feature, rows_with_data, stack, with_data


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
