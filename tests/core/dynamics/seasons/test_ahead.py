"""Widths of forecasts by feature and steps ahead."""

from __future__ import annotations

import numpy as np

from factorstream.core.dynamics.noise import GaussianNoise, GaussianSpec
from factorstream.core.dynamics.seasons.ahead import Tried, mixed, sizes_of, weights_ahead, width_at, widths_ahead


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


def _tried(off, var):
    one = np.ones(off.shape[2])
    return Tried(GaussianNoise(one), off, var, one, off, one)


def test_better_forecasts_count_more(rng):
    truth = rng.normal(size=(400, 3, 2))
    good, bad = 1.0 * rng.normal(size=truth.shape), 3.0 * rng.normal(size=truth.shape)
    bad[..., 1] = rng.normal(size=(400, 3))
    tried = [_tried(off, np.zeros_like(off)) for off in (good, bad)]
    weights = weights_ahead(tried, GaussianSpec())
    np.testing.assert_allclose(weights.sum(0), 1.0)
    np.testing.assert_allclose(weights[:, 0], [0.9, 0.1], atol=0.02)  # 1 and 1/9
    np.testing.assert_allclose(weights[:, 1], 0.5, atol=0.03)


def test_a_mixture_has_the_moments_of_draws_from_it(rng):
    weights = np.array([[0.3], [0.7]])
    means, variances = [np.array([[1.0]]), np.array([[4.0]])], [np.array([[2.0]]), np.array([[0.5]])]
    which = rng.random(200_000) < 0.3
    draws = np.where(which, 1.0, 4.0) + np.where(which, 2.0, 0.5) ** 0.5 * rng.normal(size=len(which))
    mean, var = mixed(means, variances, weights)
    np.testing.assert_allclose(mean, draws.mean(), rtol=0.01)
    np.testing.assert_allclose(var, draws.var(), rtol=0.02)
    alone = mixed(means[:1], variances[:1], np.ones((1, 1)))
    assert alone[0] is means[0]
    tried = [_tried(m[None], v[None]) for m, v in zip(means, variances, strict=True)]
    np.testing.assert_allclose(sizes_of(tried, weights), (mean / np.sqrt(var + 1.0))[None])
