"""Logarithms at the edge of a model: the moments, bounds and densities of lognormal laws, by draws and by SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from factorstream.core.dynamics.logarithms import (
    deviations,
    into_model,
    log_slope,
    means,
    moved,
    not_positive,
    out_of_model,
)

L = np.array([True, False])


def test_values_go_in_and_come_out():
    Y = np.array([[1.0, -2.0], [np.nan, 3.0], [7.5, np.nan]])
    Z = into_model(Y, L)
    np.testing.assert_array_equal(Z[:, 1], Y[:, 1])
    np.testing.assert_array_equal(Z[:, 0], np.log(Y[:, 0]))
    np.testing.assert_allclose(out_of_model(Z, L), Y, rtol=1e-15)
    assert Y[0, 0] == 1.0  # what was given is left as it is


def test_without_logarithms_everything_is_what_was_given():
    Y = np.array([[1.0, -2.0]])
    assert into_model(Y, None) is Y
    assert out_of_model(Y, None) is Y
    assert means(Y, Y, None) is Y
    assert deviations(Y, Y, None) is Y
    assert not len(not_positive(Y, None).row)
    np.testing.assert_array_equal(log_slope(Y, None), [0.0])
    np.testing.assert_array_equal(moved(Y[0], np.array([0.1, 0.2]), None), [0.1, 0.2])


def test_values_without_a_logarithm_are_found_where_one_is_needed():
    Y = np.array([[1.0, -2.0], [0.0, 0.0], [np.nan, 1.0], [-3.0, -3.0]])
    found = not_positive(Y, L)
    np.testing.assert_array_equal(found.row, [1, 3])
    np.testing.assert_array_equal(found.column, [0, 0])
    np.testing.assert_array_equal(found.value, [0.0, -3.0])


@pytest.mark.parametrize("s", [0.01, 0.3, 1.0])
def test_moments_are_those_of_the_lognormal_law(s):
    mean, std = np.array([[0.7, 0.7]]), np.array([[s, s]])
    law = stats.lognorm(s, scale=np.exp(0.7))
    np.testing.assert_allclose(means(mean, std, L), [[law.mean(), 0.7]], rtol=1e-12)
    lower, upper = law.ppf([0.025, 0.975])
    np.testing.assert_allclose(
        deviations(mean, std, L), [[(upper - lower) / (2 * stats.norm.ppf(0.975)), s]], rtol=1e-9
    )


def test_small_deviations_are_relative_ones():
    np.testing.assert_allclose(deviations(np.array([[np.log(50.0), 0.0]]), np.full((1, 2), 1e-5), L), [[5e-4, 1e-5]])


def test_a_mean_stays_within_its_bounds_however_little_is_known():
    mean = np.zeros((1, 2))
    far = means(mean, np.full((1, 2), 30.0), L)
    np.testing.assert_allclose(far, [[np.exp(30.0 * stats.norm.ppf(0.975)), 0.0]])
    unknown = np.full((1, 2), np.inf)
    np.testing.assert_array_equal(means(mean, unknown, L), [[1.0, 0.0]])
    np.testing.assert_array_equal(deviations(mean, unknown, L), unknown)


def test_a_density_is_that_of_the_logarithm_over_the_value():
    Y = np.array([[2.5, 4.0], [0.1, np.nan], [np.nan, 1.0]])
    plain = stats.norm(0.3, 0.4).logpdf(np.log(Y[:, 0]))
    law = stats.lognorm(0.4, scale=np.exp(0.3)).logpdf(Y[:, 0])
    np.testing.assert_allclose((plain + log_slope(Y, L))[:2], law[:2])
    assert log_slope(Y, L)[2] == 0.0


def test_moves_are_told_in_the_units_of_the_data():
    mean, size = np.array([np.log(100.0), 5.0]), np.array([np.log(1.2), 0.3])
    np.testing.assert_allclose(moved(mean, size, L), [20.0, 0.3])
