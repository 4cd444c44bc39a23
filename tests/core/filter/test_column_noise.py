"""How noisy each column is beside the others."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import polygamma
from scipy.stats import chi2, invgamma

from factorstream.core.filter.column_noise import column_noise, inverse_trigamma


@pytest.mark.parametrize("x", [1e-6, 0.01, 0.5, 1.0, 3.0, 100.0, 1e8])
def test_the_inverse_of_the_trigamma_function(x):
    assert inverse_trigamma(float(polygamma(1, x))) == pytest.approx(x, rel=1e-7)


def test_columns_that_are_alike_have_the_common_noise(rng):
    freedom = np.full(400, 30.0)
    found = column_noise(0.09 * chi2.rvs(30.0, size=400, random_state=rng), freedom)
    assert np.ptp(found.ratio) < 0.2
    np.testing.assert_allclose(found.ratio.mean(), 1.0, atol=0.05)
    assert found.freedom.min() > 200
    flat = column_noise(np.full(400, 0.09 * 30.0), freedom)  # they vary less than chance
    np.testing.assert_array_equal(flat.ratio, 1.0)
    assert np.isinf(flat.freedom).all()


def test_the_mean_over_the_posterior_of_inverse_gamma_variances(rng):
    """Against Bayes' rule on a grid, with the prior that the variances were drawn from."""
    d0, s0, d, m = 8.0, 0.5, 20.0, 20_000
    variances = invgamma.rvs(d0 / 2, scale=d0 * s0 / 2, size=m, random_state=rng)
    squares = variances * chi2.rvs(d, size=m, random_state=rng)
    found = column_noise(squares, np.full(m, d))
    np.testing.assert_allclose(found.freedom, d0 + d, rtol=0.05)
    common = squares.sum() / (m * d)
    grid = np.geomspace(1e-3, 1e2, 4001)
    for i in range(5):
        weights = invgamma.pdf(grid, d0 / 2, scale=d0 * s0 / 2) * chi2.pdf(squares[i] / grid, d) / grid
        precision = np.trapezoid(weights / grid, grid) / np.trapezoid(weights, grid)
        assert found.ratio[i] * common == pytest.approx(1.0 / precision, rel=0.05)


def test_a_column_with_few_residuals_is_drawn_to_the_others(rng):
    freedom = np.where(np.arange(50) == 0, 1.5, 40.0)
    variances = np.exp(0.5 * rng.standard_normal(50))
    squares = variances * chi2.rvs(40.0, size=50, random_state=rng)
    squares[0] = 100.0 * 1.5
    found = column_noise(squares, freedom)
    assert found.ratio[0] < 40.0
    np.testing.assert_allclose(found.ratio[1:] * squares.sum() / freedom.sum(), squares[1:] / 40.0, rtol=0.5)
    squares[0], freedom[0] = 0.0, 0.0
    unseen = column_noise(squares, freedom)
    assert 0.3 < unseen.ratio[0] < 3.0
    assert unseen.freedom[0] < 30.0


@pytest.mark.parametrize("squares", [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
def test_nothing_is_said_from_fewer_than_two_columns(squares):
    assert column_noise(np.array(squares), np.full(3, 10.0)) is None
    assert column_noise(np.ones(3), np.full(3, 0.5)) is None
