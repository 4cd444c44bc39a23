"""Single and double precision, sparse and dense rows: the same data give the same answers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from factorstream import BayesianFactorization


def gappy(seed, shape, missing):
    rng = np.random.default_rng(seed)
    n, m = shape
    X = rng.normal(size=(n, 3)) @ rng.normal(size=(3, m)) + rng.normal(size=m) + 0.3 * rng.normal(size=shape)
    X[rng.random(shape) < missing] = np.nan
    return X[:, ~np.isnan(X).all(axis=0)]


@pytest.mark.parametrize("seed", [2, 3])
@pytest.mark.parametrize("noise_variance", [1e-4, 0.09])
@pytest.mark.parametrize("settings", [{"n_components": 1}, {"n_components": 3}, {"n_components": 1, "calibrate": True}])
def test_rounding_does_not_choose_the_sign_of_a_loading(seed, noise_variance, settings):
    """A feature that shares no row with the others: in single precision it went the other way, up to 2000 sd off."""
    X = gappy(seed, (12, 5), 0.8)
    model = BayesianFactorization(noise_variance=noise_variance, random_state=0, **settings)
    filled, std = model.fit(X).impute(X, return_std=True)
    single = X.astype(np.float32)
    again = model.fit(single).impute(single)
    gaps = np.isnan(X)
    assert np.abs((again - filled)[gaps] / std[gaps]).max() < 1e-2


@pytest.mark.parametrize("shape", [(60, 20), (300, 40)])
@pytest.mark.parametrize("missing", [0.3, 0.7])
def test_sparse_and_dense_rows_agree_to_rounding(shape, missing):
    X = gappy(0, shape, missing)
    row, column = np.nonzero(~np.isnan(X))
    stored = sparse.csr_array((X[row, column], (row, column)), shape=X.shape)
    one, two = BayesianFactorization(3).fit(X), BayesianFactorization(3).fit(stored)
    assert one.n_iter_ == two.n_iter_
    for found, wanted in zip(two.impute(X, return_std=True), one.impute(X, return_std=True), strict=True):
        assert_allclose(found, wanted, rtol=1e-7, atol=1e-7)
    assert_allclose(two.predict_interval(X), one.predict_interval(X), rtol=1e-7, atol=1e-7)
