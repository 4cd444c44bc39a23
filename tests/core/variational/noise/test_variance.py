"""Where the noise variance comes from."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

from factorstream.core.place import HERE
from factorstream.core.variational.noise.variance import GivenVariance, PerFeatureVariance, PooledVariance

SQUARE, COUNT, S2 = np.array([2.0, 9.0, 0.0, -1e-12]), np.array([2.0, 3.0, 0.0, 5.0]), np.full(4, 7.0)


def test_rules():
    pooled, own, given = PooledVariance(), PerFeatureVariance(), GivenVariance(0.5)
    assert_allclose(pooled.learn(S2, SQUARE, COUNT, 0.0, HERE), 1.1)
    assert_allclose(pooled.learn(S2, 1e-3 * SQUARE, 1e-3 * COUNT, 0.0, HERE), 1.1)
    assert_allclose(pooled.learn(S2, SQUARE, COUNT, 3.0, HERE), 3.0)
    assert_allclose(own.learn(S2, SQUARE, COUNT, 1e-3, HERE), [1.0, 3.0, 1.1, 1e-3])
    assert_allclose(own.learn(S2, SQUARE, COUNT, np.array([2.0, 0.0, 0.0, 0.5]), HERE), [2.0, 3.0, 1.1, 0.5])
    assert_allclose(given.learn(S2, SQUARE, COUNT, 0.0, HERE), S2)
    assert (pooled.first(0.3, 2.0), own.first(0.3, 2.0), given.first(0.3, 2.0)) == (0.3, 0.3, 0.125)


def test_degrees_of_freedom_are_entries_less_parameters():
    count, spent = np.array([10.0, 4.0, 1.0]), np.array([3.0, 3.5, 1.0])
    assert_allclose(PooledVariance().freedom(count, spent, HERE), 7.5)
    assert_allclose(PooledVariance().freedom(count, 10.0 * spent, HERE), 1.0)
    assert_allclose(PerFeatureVariance().freedom(count, spent, HERE), [7.0, 1.0, 1.0])
    assert np.isinf(GivenVariance(2.0).freedom(count, spent, HERE)).all()


def test_a_number_is_reported_as_a_number_and_an_array_as_an_array():
    assert PooledVariance().reported(S2) == 7.0
    assert GivenVariance(7.0).reported(S2) == 7.0
    assert_allclose(PerFeatureVariance().reported(S2), S2)  # although all of them coincide
