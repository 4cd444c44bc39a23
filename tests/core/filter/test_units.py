"""Units of columns against a loop that has the laws of log-variances from integrals."""

from __future__ import annotations

from math import exp, lgamma, log
from statistics import NormalDist, median

import numpy as np
import pytest
from scipy.integrate import quad

from factorstream.core.filter.units import OTHER_UNIT, noise_left_by, units


def law_of_log_variance(d):
    """Mean and variance of log(χ²_d / d), by integrals over the logarithm."""

    def density(u):
        return exp(0.5 * d * (u + log(d)) - 0.5 * d * exp(u) - 0.5 * d * log(2.0) - lgamma(0.5 * d))

    def moment(f):
        return quad(lambda u: f(u) * density(u), -80.0, 6.0, points=[-10.0, -1.0, 0.0, 1.0], limit=500)[0]

    mean = moment(lambda u: u)
    return mean, moment(lambda u: (u - mean) ** 2)


def naive_units(variances, freedom):
    """The same column by column."""
    known = [i for i in range(len(variances)) if freedom[i] >= 1 and variances[i] > 0]
    laws = {i: law_of_log_variance(freedom[i]) for i in known}
    logs = {i: log(variances[i]) - laws[i][0] for i in known}
    middle = median(logs.values())
    usual = median(abs(logs[i] - middle) for i in known) / NormalDist().inv_cdf(0.75)
    spread = usual**2 - sum(laws[i][1] for i in known) / len(known)
    out = []
    for i in range(len(variances)):
        if i not in known:
            out.append(1.0)
            continue
        own = max((logs[i] - middle) ** 2 - laws[i][1], 0.0)
        shrunk = own / (own + laws[i][1]) * (logs[i] - middle)
        out.append(exp(shrunk * shrunk**2 / (shrunk**2 + OTHER_UNIT**2 / max(spread, 1.0)) / 2))
    return np.array(out)


@pytest.mark.parametrize("spread", [0.5, 3.0, 20.0])
def test_units_are_those_of_the_loop(rng, spread):
    freedom = np.array([1.0, 2.0, 3.0, 9.0, 40.0, 200.0, 5.0, 0.0, 12.0])
    variances = np.exp(spread * rng.standard_normal(9)) * rng.chisquare(np.maximum(freedom, 1.0)) / 5.0
    variances[8] = 0.0
    expected = naive_units(variances, freedom)
    np.testing.assert_allclose(units(variances, freedom), expected, rtol=1e-6)
    assert expected[7] == expected[8] == 1.0


def test_columns_that_differ_by_chance_only_have_no_units(rng):
    np.testing.assert_array_equal(units(np.full(20, 3.7), np.full(20, 50.0)), 1.0)
    for _ in range(20):
        assert np.abs(np.log(units(rng.chisquare(200, 30) / 200, np.full(30, 200.0)))).max() < 0.01
        assert np.abs(np.log(units(rng.chisquare(9, 30) / 9, np.full(30, 9.0)))).max() < 0.3


def test_one_column_in_another_unit_gets_one_and_the_others_stay(rng):
    variances, freedom = np.exp(0.5 * rng.standard_normal(20)), np.full(20, 500.0)
    before = units(variances, freedom)
    variances[7] = 1e6
    after = units(variances, freedom)
    assert 300 < after[7] < 1000
    np.testing.assert_allclose(np.delete(after, 7), np.delete(before, 7), rtol=0.05)


@pytest.mark.parametrize("factor", [1e-12, 1e12])
def test_a_constant_changes_nothing(rng, factor):
    variances, freedom = np.exp(3 * rng.standard_normal(12)), np.full(12, 30.0)
    np.testing.assert_allclose(units(factor * variances, freedom), units(variances, freedom), rtol=1e-10)


def test_very_different_columns_get_their_deviations():
    deviations = np.geomspace(1e-6, 1e6, 13)
    np.testing.assert_allclose(units(deviations**2, np.full(13, 1e6)), deviations, rtol=0.05)


@pytest.mark.parametrize(
    ("variances", "freedom"),
    [([1.0, 5.0, 9.0], [0.0, 0.0, 0.0]), ([0.0, 0.0, 0.0], [9.0, 9.0, 9.0]), ([1.0, 1e6, 0.0], [9.0, 0.0, 9.0])],
    ids=["one row", "constant", "one that varies"],
)
def test_fewer_than_two_variances_say_nothing(variances, freedom):
    np.testing.assert_array_equal(units(np.array(variances), np.array(freedom)), 1.0)


@pytest.mark.parametrize("spread", [0.3, 3.0])
def test_what_units_leave_to_the_noise_is_that_of_the_loop(rng, spread):
    """Moments of a variable that is ρ with the probability κ and zero otherwise, written out for each column."""
    variances = np.exp(spread * rng.standard_normal(9))
    variances[2] *= 1e4
    unit = units(variances, np.full(9, 200.0))
    logs, left = [log(v) for v in variances], [log(v / u**2) for v, u in zip(variances, unit, strict=True)]
    usual = median(abs(value - median(logs)) for value in logs) / NormalDist().inv_cdf(0.75)
    means, squares = [], []
    for value, rest in zip(logs, left, strict=True):
        far = (value - median(logs)) ** 2
        chance, rho = far / (far + OTHER_UNIT**2 / max(usual**2, 1.0)), max(rest - median(left), 0.0)
        means.append(chance * rho)
        squares.append(chance * rho**2)
    found, unsure = noise_left_by(unit, variances)
    np.testing.assert_allclose(found, means, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(unsure, np.array(squares) - np.array(means) ** 2, rtol=1e-9, atol=1e-12)
    assert found[2] > 0.05
