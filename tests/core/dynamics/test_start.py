"""Starting values: what variograms know of a feature, and how many changes features have in common."""

from __future__ import annotations

import numpy as np

from factorstream.core.dynamics.noise import GaussianNoise, GaussianSpec
from factorstream.core.dynamics.start import (
    common_changes,
    measure,
    scalar_fit,
    start_levels,
    start_states,
    variograms,
)


def test_variograms_equal_plain_loops():
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(30, 3))
    Y[rng.random(Y.shape) < 0.3] = np.nan
    gamma, count = variograms(Y, (1, 4))
    for k, h in enumerate((1, 4)):
        for i in range(3):
            for j in range(3):
                pairs = [(Y[t + h, i] - Y[t, i]) * (Y[t + h, j] - Y[t, j]) for t in range(30 - h)]
                pairs = [p for p in pairs if np.isfinite(p)]
                assert count[k, i, j] == len(pairs)
                np.testing.assert_allclose(gamma[k, i, j], 0.5 * np.mean(pairs))


def test_a_variogram_of_the_right_shape_is_found_exactly():
    lags, phi = np.array([1.0, 2.0, 4.0, 8.0, 16.0]), np.exp(-1 / 8)
    gamma = 0.3 + 0.7 * (1.0 - phi**lags)[:, None]
    R, s, found = scalar_fit(gamma, lags, np.ones_like(gamma), np.ones(1))
    np.testing.assert_allclose([R[0], s[0], found[0]], [0.3, 0.7, phi])


def test_independent_walks_have_no_common_changes_and_factors_do():
    rng = np.random.default_rng(0)
    walks = np.cumsum(rng.normal(size=(500, 8)), axis=0)
    shared = np.cumsum(rng.normal(size=(500, 2)), axis=0) @ rng.normal(size=(2, 8))
    for Y, number in ((walks, 0), (shared + 0.1 * walks, 2)):
        v = measure(Y / Y.std(axis=0))
        assert common_changes(v)[0] == number
        assert start_levels(Y / Y.std(axis=0), 5, GaussianSpec()).emission.C.shape == (8, number)
        assert start_levels(Y / Y.std(axis=0), 5, GaussianSpec(), select=False).emission.C.shape == (8, 5)


def test_a_start_without_levels_has_none():
    model = start_states(np.random.default_rng(0).normal(size=(50, 4)), 2, GaussianSpec())
    assert model.levels is None
    assert type(model.noise) is GaussianNoise
    assert (model.noise.R > 0).all()
