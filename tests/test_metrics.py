import math

import numpy as np
import pytest

from factorstream import DictionaryFilter
from factorstream.masks import random_mask
from factorstream.metrics import coverage, interval_coverage, rmse, snr

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


def test_bounds_are_counted_and_not_taken_as_standard_deviations(rng):
    """``coverage(truth, *predict_interval(X))`` was 1.0, whatever the bounds."""
    truth = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 8)) + 0.3 * rng.normal(size=(200, 8))
    gap = random_mask(truth.shape, 0.3, rng=1)
    X = np.where(gap, np.nan, truth)
    lower, upper = DictionaryFilter(2, random_state=0).fit(X).predict_interval(X)
    held = interval_coverage(truth, lower, upper, where=gap)
    assert held == np.mean((lower[gap] <= truth[gap]) & (truth[gap] <= upper[gap]))
    assert 0.9 < held < 1.0
    with pytest.raises(ValueError, match="take interval_coverage"):
        coverage(truth, lower, upper, where=gap)
    filled, std = DictionaryFilter(2, random_state=0).fit(X).impute(X, return_std=True)
    with pytest.raises(ValueError, match="take coverage"):
        interval_coverage(truth, filled, std, where=gap)


def test_bounds_at_their_edges():
    assert interval_coverage(Y, Y, Y) == 1.0  # of the three that have a truth
    assert interval_coverage([1.0, 2.0], -math.inf, [0.5, math.inf]) == 0.5
    assert math.isnan(interval_coverage([1.0], [math.nan], [2.0]))


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
