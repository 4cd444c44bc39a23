"""Widths that errors teach, beside a naive twin; and that they hold what they should, whatever the errors' law."""

from __future__ import annotations

import numpy as np
import pytest

import reference_sequences as ref
from factorstream.core.dynamics.noise import GaussianNoise, GaussianSpec, LearnedStudentSpec, StudentNoise
from factorstream.core.dynamics.widths import (
    CLAIM_ROWS,
    DRAWN,
    MEMORY_ROWS,
    begin_width,
    compared,
    faded,
    held_by,
    own_factors,
)


@pytest.mark.parametrize("held", [0.8, 0.95])
def test_widths_follow_errors_as_their_twin_does(held):
    rng = np.random.default_rng(0)
    size, seen = np.abs(rng.standard_t(4, (900, 3))) * [1.0, 2.0, 0.5], rng.random((900, 3)) < [0.9, 0.2, 0.5]
    width = begin_width(3)
    for z, here in zip(size, seen, strict=True):
        width = compared(width, z, here, held)
    factors = ref.widths(size, seen, held, CLAIM_ROWS, MEMORY_ROWS, DRAWN)
    np.testing.assert_allclose(width.factors, factors, rtol=1e-10)


@pytest.mark.parametrize("law", ["normal", "t", "uniform"])
def test_widths_hold_what_they_should_in_every_feature(law):
    rng = np.random.default_rng(1)
    draws = {"normal": rng.standard_normal, "t": lambda n: rng.standard_t(3, n), "uniform": rng.random}
    size = np.abs(draws[law]((4000, 4))) * [0.8, 1.0, 1.2, 1.5]
    width, held = begin_width(4), []
    for z in size:
        held.append(z <= 1.959964 * width.factors)
        width = compared(width, z, np.ones(4, dtype=bool), 0.95)
    np.testing.assert_allclose(np.mean(held[1000:], axis=0), 0.95, atol=0.015)
    assert abs(np.mean(held[1000:]) - 0.95) < 0.006


def test_nothing_seen_changes_nothing_and_one_feature_does_not_move_another_alone():
    width = compared(begin_width(2), np.ones(2), np.zeros(2, dtype=bool), 0.95)
    np.testing.assert_array_equal(width.factors, 1.0)
    for _ in range(50):
        width = compared(width, np.array([9.0, 0.0]), np.ones(2, dtype=bool), 0.95)
    assert width.factors[0] > 2.0 * width.factors[1]
    half = faded(width, 0.5)
    np.testing.assert_allclose(half.factors, np.sqrt(width.factors))
    assert half.rows == 25.0


def test_outliers_are_not_for_intervals_to_hold():
    assert held_by(GaussianNoise(np.ones(1))) == 0.95
    assert held_by(StudentNoise(np.ones(1), 4.0)) == 0.8
    assert held_by(GaussianSpec()) == 0.95
    assert held_by(LearnedStudentSpec()) == 0.8


def test_single_features_of_a_fit_are_those_of_a_stream_drawn_to_the_others():
    """An unseen feature has no factor of its own, and one seen in CLAIM_ROWS rows half of the stream's."""
    size = np.abs(np.random.default_rng(0).standard_normal((300, 4))) * [1.0, 3.0, 1.0, 1.0]
    size[:, 2], size[int(CLAIM_ROWS) :, 3] = np.nan, np.nan
    width = begin_width(4)
    for z in size:
        width = compared(width, np.nan_to_num(z), np.isfinite(z), 0.95)
    share = [300 / (300 + CLAIM_ROWS), 300 / (300 + CLAIM_ROWS), 0.0, 0.5]
    np.testing.assert_allclose(own_factors(size, 0.95), np.exp(share * width.own))
    np.testing.assert_array_equal(own_factors(size[:, :1], 0.95), 1.0)
