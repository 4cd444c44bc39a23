"""Intervals of small tables: the laws that small samples ask for, and what is said where nothing can be promised."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.stats import t as student

from factorstream import BayesianFactorization, LowRankImputer
from split_place import fetched


def drawn(seed, n, m, r, missing):
    """Well-specified data with noise 0.3, and the same with gaps; every feature keeps a value."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, r)) @ rng.normal(size=(r, m)) + 0.3 * rng.normal(size=(n, m))
    gaps = rng.random(X.shape) < missing
    gaps[rng.integers(n, size=m), np.arange(m)] &= ~gaps.all(axis=0)
    return X, np.where(gaps, np.nan, X)


@pytest.mark.parametrize("size", [(15, 40, 1, 0.7), (15, 40, 3, 0.3), (50, 40, 1, 0.9)])
@pytest.mark.parametrize(
    "model",
    [
        BayesianFactorization(3, noise_variance="per_feature"),
        LowRankImputer(calibrate=False, random_state=0),
    ],
    ids=["BayesianFactorization", "LowRankImputer"],
)
def test_intervals_hold_with_about_five_values_per_column(model, size):
    """Under a normal law they held 0.75 to 0.91 here."""
    held = []
    for seed in range(8):
        X, gappy = drawn(seed, *size)
        lower, upper = model.fit(gappy).predict_interval(gappy, level=0.95)
        gaps = np.isnan(gappy)
        held.append((lower <= X)[gaps] & (upper >= X)[gaps])
    assert np.mean(np.concatenate(held)) > 0.92


def test_the_law_is_students_with_the_entries_that_are_left():
    _, gappy = drawn(0, 40, 8, 2, 0.3)
    model = BayesianFactorization(2).fit(gappy)
    filled, std = model.impute(gappy, return_std=True)
    state, gaps = model.state_.current, np.isnan(gappy)
    freedom = np.sum(~gaps) - fetched(state.spent).sum()
    assert 40 < freedom < np.sum(~gaps) - 16
    for level in (0.5, 0.95):
        _, upper = model.predict_interval(gappy, level=level)
        np.testing.assert_allclose(
            (upper - filled)[gaps] / std[gaps], student.ppf(0.5 + 0.5 * level, freedom), rtol=1e-6
        )
    given = BayesianFactorization(2, noise_variance=0.09).fit(gappy)
    filled, std = given.impute(gappy, return_std=True)
    _, upper = given.predict_interval(gappy)
    np.testing.assert_allclose((upper - filled)[gaps] / std[gaps], 1.959964, rtol=1e-6)


def _left(state):
    """Entries beyond those that were spent on parameters."""
    return fetched(state.n_observed).sum() - fetched(state.spent).sum()


def test_the_noise_of_a_stream_becomes_better_known():
    _, X = drawn(1, 400, 8, 2, 0.3)
    model, left = BayesianFactorization(2), []
    for part in np.split(X, 4):
        state = model.partial_fit(part).state_.current
        left.append(_left(state))
    whole = BayesianFactorization(2).fit(X).state_.current
    assert left == sorted(left)
    assert left[-1] == pytest.approx(_left(whole), rel=0.1)


def test_a_feature_with_one_value_and_a_noise_of_its_own_has_infinite_bounds():
    _, X = drawn(2, 60, 6, 1, 0.2)
    X[1:, 0], X[0, 0] = np.nan, 3.0
    gaps = np.isnan(X)
    own = BayesianFactorization(1, noise_variance="per_feature").fit(X)
    filled, std = own.impute(X, return_std=True)
    lower, upper = own.predict_interval(X)
    assert np.isfinite(filled).all()
    assert (std[1:, 0] == np.inf).all()
    assert (lower[1:, 0] == -np.inf).all()
    assert (upper[1:, 0] == np.inf).all()
    assert lower[0, 0] == upper[0, 0] == 3.0
    assert np.isfinite(lower[:, 1:]).all()
    assert np.isfinite(own.sample_imputations(X, 2)).all()
    pooled = BayesianFactorization(1).fit(X)
    assert np.isfinite(pooled.predict_interval(X)).all()
    assert (pooled.impute(X, return_std=True)[1][gaps] > 0.3).all()


def test_too_few_entries_for_the_dictionary_are_warned_of():
    _, few = drawn(3, 20, 6, 1, 0.8)
    _, enough = drawn(3, 100, 6, 1, 0.5)
    with pytest.warns(UserWarning, match=r"12 numbers, were learned from \d\d observed entries.*; lower n_components"):
        BayesianFactorization(1).fit(few).predict_interval(few)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BayesianFactorization(1, noise_variance="per_feature").fit(few).predict_interval(few)
        BayesianFactorization(1).fit(enough).predict_interval(enough)


@pytest.mark.parametrize("robust", [False, True, 3.0])
@pytest.mark.parametrize("calibrate", [False, True])
@pytest.mark.parametrize(
    "X",
    [
        np.array([[7e-160, -32768.0], [8e-160, np.nan]]),
        np.array([[6e-80, 5e-80, 3e-80, np.nan, 1e77], [0.0, 4e-80, 2e-80, 3e-80, np.nan]]),
        np.column_stack([1e-160 * np.arange(12.0) ** 2, 1e-20 * np.arange(12.0), [1e76] + [np.nan] * 11]),
        np.column_stack([1e-160 * np.arange(12.0) ** 2, np.arange(12.0) == 0]),
    ],
)
def test_one_value_may_be_of_any_size_beside_the_spread_of_the_others(X, robust, calibrate):
    """Its feature has no spread of its own, and that of the others is nothing to it."""
    for settings in ({}, {"prior_covariance": 1.0}):
        model = BayesianFactorization(
            2, noise_variance="per_feature", robust=robust, calibrate=calibrate, random_state=0, **settings
        ).fit(X)
        filled, std = model.impute(X, return_std=True)
        assert np.isfinite(filled).all()
        known = np.count_nonzero(~np.isnan(X), axis=0) > 1
        assert np.isfinite(std[:, known]).all()
        assert (std[np.isnan(X) & ~known] == np.inf).all()
        assert np.isfinite(model.score_samples(X)).all()
