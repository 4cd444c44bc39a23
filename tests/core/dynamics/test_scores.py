"""Columns as normal scores: there and back, and laws of what comes back."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream.core.dynamics.scores import LEAST_VALUES, as_they_are, normal_scores


def skewed(T=400, m=3, seed=0):
    return np.exp(np.random.default_rng(seed).normal(size=(T, m)))


def test_scores_come_back_as_the_values_that_they_are_of():
    Z = skewed()
    Z[5, 1] = np.nan
    scores = normal_scores(Z)
    S = scores.of(Z)
    assert np.isnan(S[5, 1])
    assert np.nanmean(S) == pytest.approx(0.0, abs=1e-12)
    assert abs(float(np.mean(S[:, 0] ** 3))) < 0.02 < float(np.mean(((Z[:, 0] - Z[:, 0].mean()) / Z[:, 0].std()) ** 3))
    column, row = np.nonzero(np.isfinite(Z).T)
    np.testing.assert_allclose(scores.value(column, S[row, column]), Z[row, column], rtol=1e-12)


def test_columns_with_few_values_or_one_value_stay_as_they_are():
    Z = skewed()
    Z[LEAST_VALUES - 1 :, 1] = np.nan
    Z[:, 2] = 4.0
    scores = normal_scores(Z)
    assert scores.columns.tolist() == [0]
    np.testing.assert_array_equal(scores.of(Z)[:, 1:], Z[:, 1:])
    none = as_they_are()
    np.testing.assert_array_equal(none.of(Z), Z)
    column, z = np.array([0, 1, 1]), np.array([0.5, -2.0, 3.0])
    for said in (none.value(column, z), none.mean(column, z, np.ones(3)), scores.value(column[1:], z[1:])):
        np.testing.assert_array_equal(said, z[-len(said) :])


def test_the_law_of_a_value_is_that_of_draws_of_its_score():
    Z = skewed()
    scores = normal_scores(Z)
    rng = np.random.default_rng(1)
    column, z, std = np.array([0, 0, 2]), np.array([-0.8, 0.3, 0.6]), np.array([0.5, 0.3, 0.4])
    draws = np.array([scores.value(column, z + std * rng.standard_normal(3)) for _ in range(20_000)])
    np.testing.assert_allclose(scores.mean(column, z, std), draws.mean(axis=0), rtol=0.02)
    np.testing.assert_allclose(scores.std(column, z, std), draws.std(axis=0), rtol=0.05)
