"""A mean for every row, and features without any value, as users see them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from factorstream import BayesianFactorization, DictionaryFilter, load


def table(n=300, m=40, seed=0, share=0.3, rank=2, means=1.0):
    rng = np.random.default_rng(seed)
    b = means * rng.normal(size=n)
    X = 3.0 + 0.5 * rng.normal(size=(n, rank)) @ rng.normal(size=(rank, m)) + b[:, None] + 0.5 * rng.normal(size=m)
    X += 0.4 * rng.normal(size=(n, m))
    return X, np.where(rng.random((n, m)) < share, X, np.nan), b


def test_the_last_component_is_one_and_its_coefficient_the_mean_of_the_row():
    _, gappy, b = table()
    model = BayesianFactorization(2, fit_row_mean=True).fit(gappy)
    x = model.transform(gappy)
    assert model.components_.shape == (3, 40)
    assert (model.components_[-1] == 1.0).all()
    assert np.corrcoef(x[:, -1], b)[0, 1] > 0.9
    assert not model.covariance_[:, -1].any()
    assert model.coefficient_covariance_[-1, -1] == pytest.approx(b.var(), rel=0.25)
    gaps = np.isnan(gappy)
    assert_allclose(model.inverse_transform(x)[gaps], model.impute(gappy)[gaps], rtol=1e-9)


def test_it_makes_the_orientation_matter_less_and_the_error_smaller():
    X, gappy, _ = table(n=200, m=150, share=0.15)
    gaps = np.isnan(gappy)

    def error(given, truth, **how):
        return float(
            np.sqrt(np.mean((BayesianFactorization(3, **how).fit(given).impute(given) - truth)[np.isnan(given)] ** 2))
        )

    with_means = [error(gappy, X, fit_row_mean=True), error(gappy.T, X.T, fit_row_mean=True)]
    without = [error(gappy, X), error(gappy.T, X.T)]
    assert max(with_means) < 0.97 * max(without)
    assert with_means[0] == pytest.approx(with_means[1], rel=0.02)
    lower, upper = BayesianFactorization(3, fit_row_mean=True).fit(gappy).predict_interval(gappy)
    assert 0.93 < np.mean((lower <= X)[gaps] & (upper >= X)[gaps]) < 0.97


def test_units_change_nothing_but_units():
    _, gappy, _ = table()
    one, other = (BayesianFactorization(2, fit_row_mean=True).fit(gappy * by) for by in (1.0, 1e6))
    assert_allclose(other.impute(gappy * 1e6), 1e6 * one.impute(gappy), rtol=1e-6)


def test_a_stream_goes_on_where_a_fit_has_ended_and_is_saved(tmp_path):
    X, gappy, _ = table()
    model = BayesianFactorization(2, fit_row_mean=True).fit(gappy[:200]).partial_fit(gappy[200:])
    gaps = np.isnan(gappy)
    assert np.sqrt(np.mean((model.impute(gappy) - X)[gaps] ** 2)) < 0.62
    model.save(tmp_path / "model.fs")
    again = load(tmp_path / "model.fs")
    assert (again.impute(gappy) == model.impute(gappy)).all()
    assert (again.partial_fit(gappy).impute(gappy) == model.partial_fit(gappy).impute(gappy)).all()


def test_draws_vary_as_the_standard_deviations_say():
    _, gappy, _ = table(n=30, m=12)
    model = BayesianFactorization(1, fit_row_mean=True).fit(gappy)
    gaps = np.isnan(gappy)
    draws = model.sample_imputations(gappy, 400, random_state=0)
    _, std = model.impute(gappy, return_std=True)
    assert_allclose(np.median(draws.std(axis=0)[gaps] / std[gaps]), 1.0, atol=0.05)


@pytest.mark.parametrize(
    ("model", "finite"),
    [
        (BayesianFactorization(2), False),
        (BayesianFactorization(2, fit_row_mean=True), True),
        (DictionaryFilter(2, random_state=0), False),
    ],
    ids=repr,
)
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_a_feature_without_any_value_does_not_stop_a_fit(model, finite, kind):
    X, gappy, _ = table(n=120, m=20)
    gappy[:, 7] = np.nan
    row, column = np.nonzero(~np.isnan(gappy))
    given = gappy if kind == "dense" else sparse.csr_array((gappy[row, column], (row, column)), shape=gappy.shape)
    with pytest.warns(UserWarning, match=r"1 feature\(s\) without any observed value \(column 7\); they are filled"):
        model.fit(given)
    others = np.delete(np.arange(20), 7)
    filled, std = model.impute(gappy, return_std=True)
    assert np.isfinite(filled).all()
    assert abs(filled[:, 7].mean() - np.nanmean(gappy)) < 1.0
    assert np.isfinite(std[:, others]).all()
    assert np.isfinite(std[:, 7]).all() == finite
    lower, upper = model.predict_interval(gappy)
    held = (lower[:, 7] <= X[:, 7]) & (X[:, 7] <= upper[:, 7])
    assert held.mean() > 0.8


def test_a_table_without_any_value_is_refused():
    with pytest.raises(ValueError, match="no observed entry"):
        BayesianFactorization(2, fit_row_mean=True).fit(np.full((5, 3), np.nan))
