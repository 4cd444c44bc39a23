"""Shares of predictions, and bounds, by entries left out."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from factorstream.core.tables.combining import (
    LeftOut,
    check_enough,
    factors,
    log_sizes,
    share_of_second,
    share_of_sizes,
    shares,
    tails,
)
from factorstream.core.variational.conformal import CalibrationError


def test_what_helps_is_used_and_what_does_not_is_left_out(rng):
    signal, noise, other = rng.standard_normal((3, 500))
    error = signal + 0.1 * rng.standard_normal(500)
    assert_array_equal(shares(error, LeftOut(signal, noise, 0.0)), [1.0, 0.0])
    assert_array_equal(shares(error, LeftOut(noise, signal, 0.0)), [0.0, 1.0])
    assert_array_equal(shares(error, LeftOut(noise, other, 0.0)), [0.0, 0.0])
    assert_array_equal(shares(error, LeftOut(signal, signal, 0.0)), [0.5, 0.5])


def test_noise_that_goes_away_does_not_count(rng):
    """Of a correction whose noise is known to average out, more is used than of one whose noise stays."""
    signal = rng.standard_normal(2000)
    seen = signal + rng.standard_normal(2000)
    nothing = np.zeros(2000)
    assert shares(signal, LeftOut(nothing, seen, 0.0))[1] == 0.5
    assert shares(signal, LeftOut(nothing, seen, 1.0))[1] == 1.0


def test_two_predictions_are_mixed_by_their_errors(rng):
    truth, error = rng.standard_normal(500), rng.standard_normal((2, 500))
    assert share_of_second(truth, truth + error[0], truth) == 1.0
    assert share_of_second(truth, truth, truth + error[0]) == 0.0
    assert share_of_second(truth, truth + error[0], truth + error[1]) == 0.5


@pytest.mark.parametrize("n", [40, 200, 2000])
def test_bounds_hold_what_they_promise(rng, n):
    """New entries of the same skewed law are within bounds from others, whether these are many or few."""
    held = []
    for _ in range(200):
        away, everything = np.sort(rng.gamma(2.0, size=n) - 2.0), np.sort((rng.gamma(2.0, size=3000) - 2.0) / 1.41)
        low, high = tails(away, everything, 0.9)
        new = rng.gamma(2.0, size=200) - 2.0
        held.append(np.mean((low <= new) & (new <= high)))
    assert np.mean(held) == pytest.approx(0.9, abs=0.015)


def test_a_level_that_cannot_be_told_is_refused():
    check_enough(19, 0.95)
    with pytest.raises(CalibrationError, match="18 observed entries are too few"):
        check_enough(18, 0.95)


def test_entries_that_are_farther_off_have_wider_bounds(rng):
    """What was predicted of their sizes is used where it tells something, and nothing of it where it is noise."""
    z, known, noise = rng.standard_normal((3, 4000))
    away, std = z * np.exp(0.5 * known), np.ones(4000)
    share = share_of_sizes(away, std, known)
    assert share >= 0.75
    for some in (known > 1.0, known < -1.0):
        held = [
            np.mean((low <= away[some] / factor[some]) & (away[some] / factor[some] <= high))
            for factor in (std, factors(known, share))
            for low, high in [np.quantile(away / factor, [0.025, 0.975])]
        ]
        assert abs(held[1] - 0.95) < 0.7 * abs(held[0] - 0.95)  # nearer to the level than without
    assert share_of_sizes(z, std, noise) == 0.0


def test_sizes_have_the_mean_zero_and_no_infinity():
    sizes = log_sizes(np.array([0.0, 1.0, -1.0, 10.0]))
    assert abs(sizes.mean()) < 1e-12
    assert np.isfinite(sizes).all()
    assert sizes[1] == sizes[2]
    assert_array_equal(factors(np.array([100.0, -100.0]), 1.0), np.exp([1.5, -1.5]))
