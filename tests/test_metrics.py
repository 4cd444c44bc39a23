import math

import numpy as np
import pytest

from factorstream.metrics import coverage, rmse, snr

Y = np.array([[1.0, -2.0], [3.0, np.nan]])
P = np.array([[1.5, -2.0], [1.0, 7.0]])


def test_definitions_by_hand():
    assert snr(Y, P) == pytest.approx(10 * math.log10((1 + 4 + 9) / (0.25 + 4)))
    assert rmse(Y, P) == pytest.approx(math.sqrt(4.25 / 3))
    where = np.array([[True, False], [True, True]])
    assert snr(Y, P, where=where) == pytest.approx(10 * math.log10(10 / 4.25))
    assert rmse(Y, P, where=where) == pytest.approx(math.sqrt(4.25 / 2))
    assert coverage(Y, P, 1.0, n_std=1, where=where) == 0.5


def test_snr_extremes():
    assert snr([1.0], [1.0]) == math.inf
    assert snr([0.0], [1.0]) == -math.inf
    assert math.isnan(snr([1.0], [math.nan]))
    assert math.isnan(rmse([1.0], [math.nan]))
    assert math.isnan(coverage([1.0], [math.nan], [1.0]))


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_coverage_of_gaussian_noise_is_nominal(level):
    rng = np.random.default_rng(0)
    std = rng.uniform(0.5, 3, 100_000)
    assert coverage(std * rng.standard_normal(100_000), np.zeros(100_000), std, level=level) == pytest.approx(
        level, abs=0.005
    )


def test_float32_is_summed_in_double():
    y = np.full(10_000_000, 0.1, dtype=np.float32)
    assert rmse(y, np.zeros_like(y)) == pytest.approx(0.1, rel=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: snr([1.0, 2.0], [1.0]), "Shapes differ"),
        (lambda: rmse([1.0], [1.0], where=[False]), "No entry to score"),
        (lambda: rmse([1.0], [1.0], where=[1]), "Boolean"),
        (lambda: coverage([1.0], [1.0], [1.0], level=95), "between 0 and 1"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()
