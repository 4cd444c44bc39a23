"""Widths of forecasts by feature and steps ahead."""

from __future__ import annotations

import numpy as np

from factorstream.core.dynamics.noise import GaussianSpec
from factorstream.core.dynamics.seasons.ahead import width_at, widths_ahead


def test_widths_are_those_of_the_errors(rng):
    size = np.abs(rng.normal(size=(4000, 7, 2)))
    size[:, 3:, 0] *= 3.0
    widths = widths_ahead(size, GaussianSpec())
    assert widths.shape == (3, 2)
    np.testing.assert_allclose(widths[:, 1], 1.0, atol=0.1)
    np.testing.assert_allclose(widths[:, 0], [1.0, 1.0, 3.0], rtol=0.15)


def test_without_errors_nothing_is_changed():
    np.testing.assert_array_equal(widths_ahead(np.full((3, 5, 1), np.nan), GaussianSpec()), np.ones((3, 1)))


def test_steps_take_the_width_of_their_doubling():
    widths = np.array([[1.0], [2.0], [3.0]])
    np.testing.assert_array_equal(width_at(widths, 9)[:, 0], [1, 2, 2, 3, 3, 3, 3, 3, 3])
