"""How noisy each column is beside the others."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.special import polygamma
from scipy.stats import chi2, invgamma

from factorstream.core.filter.column_noise import (
    LOWEST,
    ColumnNoise,
    ResidualSums,
    column_noise,
    inverse_trigamma,
    trigamma,
)


@pytest.mark.parametrize("x", [1e-6, 0.01, 0.5, 1.0, 3.0, 8.0, 100.0, 1e8])
def test_the_trigamma_function_and_its_inverse(x):
    value, slope = trigamma(np.array([x]))
    np.testing.assert_allclose(value, polygamma(1, x), rtol=1e-10)
    np.testing.assert_allclose(slope, polygamma(2, x), rtol=1e-9)
    np.testing.assert_allclose(inverse_trigamma(polygamma(1, np.array([x]))), x, rtol=1e-7)


def alone(squares, freedom):
    """Sums in which no noise of others is."""
    return ResidualSums(np.asarray(squares, float), np.asarray(freedom, float), np.zeros(len(squares)))


def test_columns_that_are_alike_have_the_common_noise(rng):
    freedom = np.full(400, 30.0)
    found = column_noise(alone(0.09 * chi2.rvs(30.0, size=400, random_state=rng), freedom))
    assert np.ptp(found.ratio) < 0.2
    assert found.freedom.min() > 200
    flat = column_noise(alone(np.full(400, 0.09 * 30.0), freedom))  # they vary less than chance
    np.testing.assert_allclose(flat.ratio, 1.0)
    assert flat.freedom.min() > 1000.0


def test_the_mean_over_the_posterior_of_inverse_gamma_variances(rng):
    """Against Bayes' rule on a grid, with the prior that the variances were drawn from."""
    d0, s0, d, m = 8.0, 0.5, 20.0, 20_000
    variances = invgamma.rvs(d0 / 2, scale=d0 * s0 / 2, size=m, random_state=rng)
    squares = variances * chi2.rvs(d, size=m, random_state=rng)
    found = column_noise(alone(squares, np.full(m, d)))
    assert np.median(found.freedom) == pytest.approx(d0 + d, rel=0.05)
    assert (found.freedom < 0.95 * (d0 + d)).mean() < 0.001  # columns that are not believed to be like the others
    assert found.ratio.mean() == pytest.approx(1.0)
    grid, expected = np.geomspace(1e-3, 1e2, 4001), []
    usual = np.flatnonzero(found.freedom > 0.95 * (d0 + d))[:50]
    for i in usual:
        weights = invgamma.pdf(grid, d0 / 2, scale=d0 * s0 / 2) * chi2.pdf(squares[i] / grid, d) / grid
        expected.append(trapezoid(weights, grid) / trapezoid(weights / grid, grid))
    shares = found.ratio[usual] / np.array(expected)
    np.testing.assert_allclose(shares, shares.mean(), rtol=0.02)


def test_what_the_noise_of_others_adds_is_taken_off(rng):
    """Residuals of a regression of ten columns on three known loadings, with very different noises."""
    m, r, n = 10, 3, 400
    C = rng.standard_normal((m, r))
    noises = np.geomspace(0.1, 2.0, m)
    H = C @ np.linalg.solve(C.T @ C, C.T)
    E = (noises * rng.standard_normal((n, m))) @ (np.eye(m) - H)
    h = np.diag(H)
    found = column_noise(ResidualSums(np.sum(E**2, axis=0), n * (1 - h) ** 2, n * h * (1 - h)))
    naive = np.sum(E**2, axis=0) / (n * (1 - h))
    common = np.sum(E**2) / (n * (1 - h)).sum()
    off = np.abs(np.log(found.ratio * common / noises**2))
    assert off.sum() < 0.8 * np.abs(np.log(naive / noises**2)).sum()
    assert off[-3:].max() < 0.4


def test_a_column_with_few_residuals_is_drawn_to_the_others(rng):
    freedom = np.where(np.arange(50) == 0, 1.5, 40.0)
    variances = np.exp(0.5 * rng.standard_normal(50))
    squares = variances * chi2.rvs(40.0, size=50, random_state=rng)
    squares[0] = 5.0 * 1.5
    found = column_noise(alone(squares, freedom))
    assert found.ratio[0] < 2.5
    np.testing.assert_allclose(found.ratio[1:] * squares.sum() / freedom.sum(), squares[1:] / 40.0, rtol=0.6)
    squares[0], freedom[0] = 0.0, 0.0
    unseen = column_noise(alone(squares, freedom))
    assert 0.3 < unseen.ratio[0] < 3.0
    assert unseen.freedom[0] < 30.0


def test_a_column_without_noise_says_nothing_of_others(rng):
    """It alone would make the prior so wide that a column with hardly any residuals had no noise at all."""
    freedom = np.full(12, 60.0)
    squares = 0.09 * chi2.rvs(60.0, size=12, random_state=rng)
    squares[0], freedom[1], squares[1] = 1e-9, 0.5, 0.05
    found = column_noise(alone(squares, freedom))
    assert 0.5 < found.ratio[1] < 2.0


def test_a_column_that_is_far_from_the_others_is_believed(rng):
    """The others are alike, and say that all are: nothing of that is left where a column shows otherwise."""
    freedom = np.full(20, 60.0)
    squares = 0.09 * chi2.rvs(60.0, size=20, random_state=rng)
    squares[0] *= 0.1
    squares[1] *= 10.0
    found = column_noise(alone(squares, freedom))
    np.testing.assert_allclose(found.ratio[:2] / found.ratio[2:].mean(), [0.1, 10.0], rtol=0.5)


def test_what_is_expected_of_a_column_counts_where_its_residuals_say_little(rng):
    freedom = np.full(30, 80.0)
    squares = chi2.rvs(80.0, size=30, random_state=rng)
    squares[:2], freedom[:2] = [4.0, 400.0], [2.0, 200.0]
    expected, unsure = np.zeros(30), np.zeros(30)
    expected[:2] = np.log(8.0)
    sure = column_noise(alone(squares, freedom), expected, unsure)
    np.testing.assert_allclose(sure.ratio[0] / sure.ratio[2:].mean(), 8.0, rtol=0.2)
    np.testing.assert_allclose(sure.ratio[1] / sure.ratio[2:].mean(), 2.0, rtol=0.2)  # 200 residuals say otherwise
    unsure[:2] = 1.0
    found = column_noise(alone(squares, freedom), expected, unsure)
    assert found.freedom[0] < 8.0 < 100.0 < sure.freedom[0]
    assert 2.0 < found.ratio[0] / found.ratio[2:].mean() < 7.0


def test_a_column_that_never_moves_has_the_least_noise(rng):
    squares = chi2.rvs(80.0, size=30, random_state=rng)
    squares[3] = 0.0
    assert column_noise(alone(squares, np.full(30, 80.0))).ratio[3] == LOWEST


def test_draws_have_the_freedom_of_the_estimate(rng):
    noise = ColumnNoise(np.array([2.0, 3.0]), np.array([10.0, 1e9]))
    drawn = noise.drawn(20_000, rng)
    assert (1.0 / drawn[:, 0]).mean() == pytest.approx(0.5, rel=0.02)
    assert (1.0 / drawn[:, 0]).var() == pytest.approx(0.25 * 2.0 / 10.0, rel=0.05)
    np.testing.assert_allclose(drawn[:, 1], 3.0, rtol=1e-3)


@pytest.mark.parametrize("squares", [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
def test_nothing_is_said_from_fewer_than_two_columns(squares):
    assert column_noise(alone(squares, np.full(3, 10.0))) is None
    assert column_noise(alone(np.ones(3), np.full(3, 0.5))) is None
    assert column_noise(alone(np.zeros(3), np.zeros(3))) is None
