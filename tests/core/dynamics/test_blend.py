"""Weights of several models, and the sizes of errors under their mixed quantiles."""

from __future__ import annotations

import numpy as np
import pytest

import reference_blend as ref
from factorstream.core.dynamics.blend import (
    COMMON_COUNT,
    EQUAL_COUNT,
    LEAST_SHARE,
    Told,
    kept,
    weights_of,
    worth_it,
)
from factorstream.core.dynamics.scores import as_they_are, normal_scores


def errors_of(seed, K=3, n=900, m=4, alike=0.5):
    """Errors of readings that have a part in common; the first column's are of another size for each reading."""
    rng = np.random.default_rng(seed)
    column = np.sort(rng.integers(0, m - 1, n))  # the last column has none
    errors = alike * rng.normal(size=n) + rng.normal(size=(K, n)) * (1.0 + np.arange(K)[:, None] * (column == 0))
    return errors, column


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("K", [1, 2, 4])
def test_weights_are_those_of_a_general_optimiser(seed, K):
    errors, column = errors_of(seed, K)
    weights = weights_of(errors, column, 4)
    np.testing.assert_allclose(weights, ref.weights(errors, column, 4, EQUAL_COUNT, COMMON_COUNT), atol=1e-5)
    assert (weights >= 0.0).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)


def test_a_reading_that_is_worse_wherever_it_differs_gets_nothing():
    rng = np.random.default_rng(0)
    good = rng.normal(size=20_000)
    errors = np.array([good, good + rng.normal(size=20_000) + 0.3 * good])
    weights = weights_of(errors, np.repeat([0, 1], 10_000), 2)
    np.testing.assert_array_equal(weights, [[1.0, 0.0], [1.0, 0.0]])
    assert list(kept(weights)) == [0]
    assert list(kept(np.array([[0.9, LEAST_SHARE / 2, 0.1]]))) == [0, 2]


def test_errors_that_are_all_zero_are_weighed_equally():
    np.testing.assert_array_equal(weights_of(np.zeros((2, 5)), np.zeros(5, dtype=int), 3), np.full((3, 2), 0.5))


def test_a_column_without_errors_has_the_weights_of_all():
    errors, column = errors_of(1)
    errors[:, column == 1] = 0.0
    weights = weights_of(errors, column, 4)
    np.testing.assert_array_equal(weights[1], weights[3])  # column 3 has no entries


def test_a_column_has_weights_of_its_own_as_far_as_it_has_entries():
    errors, column = errors_of(0, K=2, n=30_000, alike=0.0)
    weights = weights_of(errors, column, 4)
    assert weights[0, 0] > weights[1, 0] + 0.1  # in column 0 the second reading errs twice as much
    few = weights_of(errors[:, ::300], column[::300], 4)
    assert abs(few[0, 0] - few[1, 0]) < 0.05


@pytest.mark.parametrize("seed", range(3))
def test_readings_that_err_apart_are_worth_it_and_one_beside_its_copy_is_not(seed):
    rng = np.random.default_rng(seed)
    m, column, run = 4, np.repeat(np.arange(4), 500), np.empty(2000, dtype=int)
    run[:] = np.tile(np.arange(500) // 10, 4) * m + column
    one, other = rng.normal(size=(2, 2000))
    assert worth_it(np.array([one, other]), column, run, m)
    assert not worth_it(np.array([one, one]), column, run, m)
    assert not worth_it(np.array([one, 3.0 * one]), column, run, m)
    assert not worth_it(np.array([one, other])[:, :10], column[:10], run[:10], m)  # one run


def test_sizes_are_roots_of_the_mixed_quantiles():
    rng = np.random.default_rng(0)
    Z = np.exp(rng.normal(size=(300, 2)))
    scores = normal_scores(Z)
    column = np.repeat([0, 1], 20)
    z, std = rng.normal(size=(2, 40)), 0.3 + rng.random((2, 40))
    told = Told(column, (as_they_are(), scores), z, std)
    weights = np.array([[0.7, 0.3], [0.2, 0.8]])
    truth = np.exp(rng.normal(size=40))
    knots = [scores.marginals.knots(j) for j in (0, 1)]
    want = [
        ref.size(truth[i], [(None, z[0, i], std[0, i]), (knots[j], z[1, i], std[1, i])], weights[j])
        for i, j in enumerate(column)
    ]
    np.testing.assert_allclose(told.sizes(truth, weights), want, atol=1e-6)


def test_sizes_and_spreads_of_values_as_they_are_are_those_of_a_normal_law():
    rng = np.random.default_rng(0)
    z, std, truth = rng.normal(size=50), 0.5 + rng.random(50), rng.normal(size=50)
    told = Told(np.zeros(50, dtype=int), (as_they_are(),), z[None], std[None])
    alone = np.ones((1, 1))
    np.testing.assert_allclose(told.sizes(truth, alone), np.abs(truth - z) / std, atol=1e-6)
    np.testing.assert_array_equal(told.mixed(told.means(), alone), z)
    np.testing.assert_array_equal(told.mixed(told.spreads(), alone), std)
