"""Single entries: as ``impute`` has them, whatever kind of rows is given, and nothing dense on the way."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from factorstream import BayesianFactorization, DictionaryFilter
from factorstream.estimators._pairs import by_row, observed_at


def ratings(n=80, m=30, seed=0, share=0.4):
    rng = np.random.default_rng(seed)
    X = (
        3.0
        + rng.normal(size=(n, 2)) @ rng.normal(size=(2, m))
        + rng.normal(size=(n, 1))
        + 0.3 * rng.normal(size=(n, m))
    )
    return np.where(rng.random((n, m)) < share, X, np.nan)


def as_sparse(X):
    row, column = np.nonzero(~np.isnan(X))
    return sparse.csr_array((X[row, column], (row, column)), shape=X.shape)


MODELS = [
    BayesianFactorization(2),
    BayesianFactorization(2, fit_row_mean=True),
    BayesianFactorization(2, noise_variance="per_feature"),
    BayesianFactorization(2, robust=True, calibrate=True, random_state=0),
    DictionaryFilter(2, random_state=0),
    DictionaryFilter(2, fit_row_mean=True, random_state=0),
    DictionaryFilter(2, covariance="shared", scale=False, random_state=0),
]


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_entries_are_those_of_impute(model):
    X = ratings()
    model.fit(X)
    rng = np.random.default_rng(1)
    rows, columns = rng.integers(len(X), size=500), rng.integers(X.shape[1], size=500)
    filled, std = model.impute(X, return_std=True)
    assert np.isnan(X[rows, columns]).any()
    assert not np.isnan(X[rows, columns]).all()
    for given in (X, as_sparse(X)):
        values, spread = model.predict_entries(given, rows, columns, return_std=True)
        assert_allclose(values, filled[rows, columns], rtol=1e-9)
        assert_allclose(spread, std[rows, columns], rtol=1e-7, atol=1e-12)
        assert_allclose(model.predict_entries(given, rows, columns), values, rtol=1e-12)


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.filterwarnings("ignore:The dictionary and mean")
def test_bounds_are_those_of_predict_interval(model):
    X = ratings()
    X[:, 7] = np.nan  # of a column that nobody has rated there are bounds too, though perhaps infinite ones
    with pytest.warns(UserWarning, match="without any observed value"):
        model.fit(X)
    rng = np.random.default_rng(1)
    rows, columns = rng.integers(len(X), size=500), rng.integers(X.shape[1], size=500)
    lower, upper = model.predict_interval(X, level=0.8)
    for given in (X, as_sparse(X)):
        values, low, high = model.predict_entries(given, rows, columns, level=0.8)
        assert_allclose(values, model.predict_entries(given, rows, columns), rtol=1e-12)
        assert_allclose(low, lower[rows, columns], rtol=1e-7, atol=1e-9)
        assert_allclose(high, upper[rows, columns], rtol=1e-7, atol=1e-9)
        four = model.predict_entries(given, rows, columns, return_std=True, level=0.8)
        assert len(four) == 4
        assert_allclose(four[1], model.predict_entries(given, rows, columns, return_std=True)[1], rtol=1e-12)
    with pytest.raises(ValueError, match="level"):
        model.predict_entries(X, rows, columns, level=1.5)


@pytest.mark.parametrize("row_mean", [False, True])
@pytest.mark.parametrize("kind", [BayesianFactorization, DictionaryFilter])
def test_a_sparse_column_without_any_value_does_not_stop_a_fit(kind, row_mean):
    X = ratings()
    X[:, [0, 11]] = np.nan
    with pytest.warns(UserWarning, match="without any observed value"):
        model = kind(2, fit_row_mean=row_mean).fit(as_sparse(X))
    rows = np.arange(len(X))
    for column in (0, 11):
        values, std = model.predict_entries(as_sparse(X), rows, np.full(len(X), column), return_std=True)
        assert np.isfinite(values).all()
        assert (std > 0.5).all()
        if row_mean:  # which says where the values of a row are, whatever the column
            assert np.isfinite(std).all()
            assert np.corrcoef(values, np.nanmean(X, axis=1))[0, 1] > 0.8
        else:
            assert_allclose(values, np.nanmean(X), atol=0.7)


def test_types_and_no_entries_at_all():
    X = ratings().astype(np.float32)
    model = BayesianFactorization(2).fit(X)
    values, std = model.predict_entries(X, [0, 1], [1, 2], return_std=True)
    assert values.dtype == std.dtype == np.float32
    assert {bound.dtype for bound in model.predict_entries(X, [0], [1], level=0.9)} == {np.dtype(np.float32)}
    assert model.predict_entries(X, [], []).shape == (0,)


@pytest.mark.parametrize(
    ("rows", "columns", "message"),
    [
        ([0, 80], [0, 0], "rows must lie between 0 and 79"),
        ([0, 1], [-1, 0], "columns must lie between 0 and 29"),
        ([0.5], [0], "rows must be a list of whole numbers"),
        ([[0]], [0], "rows must be a list of whole numbers"),
        ([0], [0, 1], "as many; got 1 and 2"),
    ],
)
def test_numbers_that_are_not_in_the_table_are_refused(rows, columns, message):
    model = BayesianFactorization(2).fit(ratings())
    with pytest.raises(ValueError, match=message):
        model.predict_entries(ratings(), rows, columns)


def test_rows_are_asked_for_in_lots_and_only_where_needed():
    X, lots = np.arange(12.0).reshape(6, 2), []

    def ask(some, at, columns):
        lots.append(len(some))
        return some[at, columns], some[at, columns]

    rows, columns = np.array([5, 0, 5, 3, 0]), np.array([0, 1, 1, 0, 0])
    values, _ = by_row(ask, X, rows, columns, 2)
    assert values.tolist() == X[rows, columns].tolist()
    assert lots == [2, 1]


def test_a_stored_zero_is_observed():
    X = sparse.csr_array((np.array([0.0, 2.0]), (np.array([0, 1]), np.array([1, 0]))), shape=(2, 2))
    seen, values = observed_at(X, np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))
    assert seen.tolist() == [False, True, True, False]
    assert values.tolist() == [0.0, 0.0, 2.0, 0.0]
    seen, _ = observed_at(X[:0], np.array([], dtype=int), np.array([], dtype=int))
    assert seen.shape == (0,)


def test_nothing_dense_is_made_of_a_large_sparse_table(monkeypatch):
    rng = np.random.default_rng(0)
    n, m, N = 3000, 2000, 40_000
    X = sparse.csr_array((rng.normal(size=N), (rng.integers(n, size=N), rng.integers(m, size=N))), shape=(n, m))
    model = BayesianFactorization(2, fit_row_mean=True, max_iter=2).fit(X)
    monkeypatch.setattr("factorstream.estimators._factorizer.dense", None)
    rows, columns = rng.integers(n, size=1000), rng.integers(m, size=1000)
    values, std = model.predict_entries(X, rows, columns, return_std=True)
    assert np.isfinite(values).all()
    assert np.isfinite(std).all()
