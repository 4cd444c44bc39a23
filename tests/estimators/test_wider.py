"""New features in the middle of a stream: the others go on as if they were not there, and they are learned."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from factorstream import DictionaryFilter
from factorstream.estimators._wider import widened


def low_rank(n, m, seed, noise=0.1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) @ rng.normal(size=(3, m)) + rng.normal(size=m)
    return X + noise * rng.normal(size=X.shape)


def with_more(model, n_new):
    wider = copy.copy(model)
    wider.state_ = widened(model.state_, n_new)
    wider.n_features_in_ = model.n_features_in_ + n_new
    return wider


def padded(X, n_new):
    return np.hstack([X, np.full((len(X), n_new), np.nan)])


@pytest.mark.parametrize("covariance", ["counted", "shared"])
@pytest.mark.parametrize("drift", [0.0, 1e-4])
@pytest.mark.parametrize("began", [3, 40, 300])  # while the first rows are kept, soon after, and later
def test_the_others_go_on_as_if_new_features_were_not_there(covariance, drift, began):
    X = low_rank(500, 12, seed=0)
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    narrow = DictionaryFilter(3, covariance=covariance, drift=drift, random_state=0).partial_fit(X[:began])
    wide = with_more(narrow, 2)
    if began > 10:  # before, the whole start follows from the rows that are kept, whose width has a part in it
        np.testing.assert_allclose(
            wide.impute(padded(X, 2))[:, :12], narrow.impute(X), rtol=1e-9, atol=1e-9
        )  # rounding
    narrow.partial_fit(X[began:])
    wide.partial_fit(padded(X[began:], 2))
    difference = wide.impute(padded(X, 2))[:, :12] - narrow.impute(X)
    assert np.abs(difference).max() < (1e-8 if began > 10 else 0.05)
    assert np.isinf(wide.predict_interval(padded(X[:1], 2))[1][0, 12:]).all()  # nothing is known of them


@pytest.mark.parametrize("n_new", [2, 30])
def test_new_features_do_not_change_the_bounds_of_others(n_new):
    X = low_rank(400, 12, seed=0)
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    X[:, ::2] *= 1000.0
    narrow = DictionaryFilter(3, random_state=0).partial_fit(X[:200])
    wide = with_more(narrow, n_new)
    narrow.partial_fit(X[200:])
    wide.partial_fit(padded(X[200:], n_new))
    (low, high), (lower, upper) = wide.predict_interval(padded(X, n_new)), narrow.predict_interval(X)
    gone = np.isnan(X)
    np.testing.assert_allclose((high - low)[:, :12][gone], (upper - lower)[gone], rtol=1e-3)


def test_a_new_feature_is_learned_like_one_that_starts_late():
    X = low_rank(700, 13, seed=2)
    late = X.copy()
    late[:400, 12] = np.nan
    always_there = DictionaryFilter(3, random_state=0).partial_fit(late)
    added = with_more(DictionaryFilter(3, random_state=0).partial_fit(late[:400, :12]), 1).partial_fit(late[400:])
    truth, hidden = X[:, 12], X.copy()
    hidden[:, 12] = np.nan
    errors = [np.sqrt(np.mean((m.impute(hidden)[:, 12] - truth) ** 2)) for m in (always_there, added)]
    assert errors[1] < 1.05 * errors[0]
    assert errors[1] < 0.15  # the noise has 0.1, the column itself varies by far more
    lower, upper = added.predict_interval(hidden)
    assert 0.9 < np.mean((lower[:, 12] <= truth) & (truth <= upper[:, 12])) <= 1.0


def test_the_model_that_was_made_wider_is_left_as_it_was():
    X = low_rank(100, 6, seed=3)
    model = DictionaryFilter(2, random_state=0).partial_fit(X)
    before = model.impute(padded(X[:, :5], 1))
    with_more(model, 4).partial_fit(low_rank(50, 10, seed=4))
    np.testing.assert_array_equal(model.impute(padded(X[:, :5], 1)), before)


def test_a_wider_model_can_be_saved(tmp_path):
    import factorstream

    X = low_rank(100, 6, seed=3)
    model = with_more(DictionaryFilter(2, random_state=0).partial_fit(X), 2).partial_fit(low_rank(50, 8, seed=4))
    model.save(tmp_path / "model")
    loaded = factorstream.load(tmp_path / "model")
    rows = padded(X, 2)
    np.testing.assert_array_equal(loaded.impute(rows), model.impute(rows))
