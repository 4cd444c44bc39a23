"""From values to scores and back."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from factorstream.core.tables.marginals import MOST_KNOTS, normal_marginals, straight_marginals


def test_scores_are_those_of_the_ranks():
    x = np.array([3.0, 1.0, 1.0, 7.0, np.nan, 5.0])
    found = normal_marginals(x[:, None])
    value, score = found.knots(0)
    raw = norm.ppf(np.array([1.0, 2.5, 3.5, 4.5]) / 5)  # two equal values share the middle of their ranks
    mean = (2 * raw[0] + raw[1:].sum()) / 5
    spread = np.sqrt((2 * (raw[0] - mean) ** 2 + ((raw[1:] - mean) ** 2).sum()) / 5)
    assert_array_equal(value, [1.0, 3.0, 5.0, 7.0])
    assert_allclose(score, (raw - mean) / spread)


def test_there_and_back(rng):
    X = np.exp(rng.standard_normal((200, 3)))
    X[rng.random(X.shape) < 0.2] = np.nan
    found = normal_marginals(X)
    for j in range(3):
        scores = found.score(j, X[:, j])
        assert_allclose(found.value(j, scores), X[:, j])
        assert abs(np.nanmean(scores)) < 1e-12
        assert np.nanstd(scores) == pytest.approx(1.0)


def test_maps_go_on_beyond_what_was_seen(rng):
    x = rng.gamma(1.0, size=300)
    found = normal_marginals(x[:, None])
    lower, upper = found.value(0, np.array([-50.0, 50.0]))
    assert lower < x.min()
    assert upper > x.max()
    assert np.all(np.diff(found.value(0, np.linspace(-9, 9, 500))) > 0)


def test_mean_and_deviation_beside_draws(rng):
    x = np.exp(rng.standard_normal(2000))
    found = normal_marginals(x[:, None])
    z, std = np.array([-1.0, 0.0, 0.8]), np.array([0.5, 0.2, 0.6])
    draws = z + std * rng.standard_normal((100_000, 3))
    assert_allclose(found.mean(0, z, std), found.value(0, draws).mean(axis=0), rtol=0.02)
    assert_allclose(found.std(0, z, std), found.value(0, draws).std(axis=0), rtol=0.05)


def test_a_long_column_has_not_more_knots_than_it_needs(rng):
    x = rng.standard_normal(20_000)
    found = normal_marginals(x[:, None])
    assert len(found.values) <= MOST_KNOTS
    assert_allclose(found.value(0, found.score(0, x)), x, atol=1e-12)
    ranks = norm.ppf((np.argsort(np.argsort(x)) + 0.5) / len(x))
    assert np.abs(found.score(0, x) - ranks).max() < 0.02


def test_columns_as_they_are(rng):
    found, x = straight_marginals(2), rng.standard_normal(5)
    for same in (found.score(1, x), found.value(1, x), found.mean(1, x, np.ones(5))):
        assert_array_equal(same, x)
    assert_allclose(found.std(1, x, np.full(5, 0.3)), 0.3)
