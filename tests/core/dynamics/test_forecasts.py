"""Widths of forecasts by those of the last third: never narrower, and each feature by its own errors."""

from __future__ import annotations

import numpy as np
import pytest

from dynamics_problems import draw, make, standardised
from factorstream.core.dynamics.choose import stretch
from factorstream.core.dynamics.em import LEARNED
from factorstream.core.dynamics.few import ranked_stretch
from factorstream.core.dynamics.fit import STATES
from factorstream.core.dynamics.forecasts import by_feature, forecast_sizes, forecast_stretch
from factorstream.core.dynamics.noise import GaussianSpec, GivenStudentSpec

NOISE = GaussianSpec()


@pytest.mark.parametrize("drift", [None, 1e-3])
def test_forecasts_are_never_made_narrower(drift, monkeypatch):
    Y = standardised(draw(make(1, m=6, r=2), 150, 1)[3])
    factors = []

    def noted(size, noise):
        factors.append(stretch(0.1 * size, noise))
        return factors[-1]

    monkeypatch.setattr("factorstream.core.dynamics.forecasts.stretch", noted)
    assert forecast_stretch(Y, 2, STATES, drift=drift).min() == 1.0
    assert factors[0] < 1.0


def test_forecasts_are_made_wider_where_their_errors_are():
    """The last third moves ten times as far as what was learned."""
    Y = standardised(draw(make(1, m=6, r=2), 150, 1)[3])
    Y[100:] *= 10.0
    assert forecast_stretch(Y, 2, STATES).min() > 3.0


@pytest.mark.parametrize("of_all", [stretch, ranked_stretch])
def test_a_feature_that_is_further_off_does_not_widen_the_others(of_all):
    size = np.abs(np.random.default_rng(0).standard_normal((340, 5)))
    even, off = (by_feature(size * wide, NOISE, of_all) for wide in (np.ones(5), np.array([1.0, 1.0, 8.0, 1.0, 1.0])))
    assert of_all((size * [1.0, 1.0, 8.0, 1.0, 1.0]).ravel(), NOISE) > 3.0  # one factor of all
    assert even.min() > 0.85
    assert even.max() < 1.2
    assert off[2] > 5.0
    assert off[[0, 1, 3, 4]].max() < 1.4


def test_one_run_of_large_errors_widens_its_feature_little():
    size = np.abs(np.random.default_rng(0).standard_normal((340, 5)))
    size[100:110, 2] = 20.0
    found = by_feature(size, NOISE, stretch)
    assert found[2] < 1.6
    assert np.delete(found, 2).max() < 1.15


def test_few_errors_are_judged_together():
    """Ten rows say next to nothing of single features; what they say of all is said of each."""
    size = np.abs(np.random.default_rng(0).standard_normal((10, 5))) * [1.5, 1.0, 1.0, 1.0, 0.7]
    found = by_feature(3.0 * size, NOISE, ranked_stretch)
    assert found.max() < 1.7 * found.min()
    assert np.exp(np.log(found).mean()) == pytest.approx(ranked_stretch(3.0 * size.ravel(), NOISE), rel=0.15)


def test_one_feature_alone_and_features_without_errors_have_the_common_factor():
    size = 2.0 * np.abs(np.random.default_rng(0).standard_normal((100, 1)))
    assert by_feature(size, NOISE, stretch) == stretch(size.ravel(), NOISE)
    found = by_feature(np.hstack([size, np.full((100, 1), np.nan)]), NOISE, stretch)
    np.testing.assert_allclose(found, stretch(size.ravel(), NOISE))
    np.testing.assert_array_equal(by_feature(np.zeros((0, 3)), NOISE, stretch), 1.0)


def test_outliers_of_a_feature_do_not_widen_it_under_student_noise():
    rng = np.random.default_rng(0)
    size = np.abs(rng.standard_normal((340, 5)))
    size[rng.random(340) < 0.1, 1] = 50.0
    plain, heavy = (by_feature(size, noise, stretch)[1] for noise in (NOISE, GivenStudentSpec(4.0)))
    assert heavy < 1.6
    assert plain > 1.5 * heavy


def test_errors_are_those_of_each_feature():
    """As many rows as are forecast in the last third, and NaN where nothing is known."""
    Y = standardised(draw(make(1, m=3, r=1), 150, 1, gaps="none")[3])
    Y[:100, 1] = np.nan
    Y[120:125, 2] = np.nan
    size = forecast_sizes(Y, 1, STATES, dynamics=LEARNED, noise=NOISE, drift=None, sweeps=3)
    assert size.shape == (50, 3)
    assert np.isnan(size[:, 1]).all()
    np.testing.assert_array_equal(np.isnan(size[:, 2]), (np.arange(50) >= 20) & (np.arange(50) < 25))
    assert np.isfinite(size[:, 0]).all()
