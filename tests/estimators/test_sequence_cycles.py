"""A cycle that nobody has named, in a few noisy series, goes on in forecasts."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream import SequenceFilter, load


def temperatures(T=417, seed=0, m=3, period=52.18):
    """Weeks of noisy temperatures with a yearly cycle, and weather that they share."""
    rng = np.random.default_rng(seed)
    t = np.arange(T)[:, None]
    weather = rng.normal(size=(T, m + 1))
    for k in range(1, T):
        weather[k] = 0.5 * weather[k - 1] + 0.87 * weather[k]
    year = 10 + rng.uniform(6, 11, m) * np.cos(2 * np.pi * t / period + rng.normal(0, 0.3, m))
    return year + 2.5 * weather[:, :1] + weather[:, 1:] + 0.5 * rng.normal(size=(T, m))


def regression(past, steps, period=52.18):
    t = np.arange(len(past) + steps)
    D = np.stack([np.ones(len(t)), np.cos(2 * np.pi * t / period), np.sin(2 * np.pi * t / period)], axis=1)
    return D[len(past) :] @ np.linalg.lstsq(D[: len(past)], past, rcond=None)[0]


def error(ahead, future, past):
    return float(np.sqrt((((ahead - future) / past.std(0)) ** 2).mean()))


@pytest.mark.long
@pytest.mark.parametrize("m", [1, 3])
def test_the_forecast_is_as_good_as_a_regression_that_knows_the_period(m):
    errors, known, held = [], [], []
    for seed in range(4):
        Y = temperatures(seed=seed, m=m)
        past, future = Y[:-87], Y[-87:]
        model = SequenceFilter().fit(past)
        errors.append(error(model.forecast(87), future, past))
        known.append(error(regression(past, 87), future, past))
        lower, upper = model.forecast_interval(87)
        held.append(((lower <= future) & (future <= upper)).mean())
    assert np.mean(errors) < 1.15 * np.mean(known)
    assert 0.88 < np.mean(held) < 0.995


def test_without_a_cycle_nothing_changes():
    """Noise and walks get the kinds of models that they got before there were cycles."""
    rng = np.random.default_rng(0)
    for Y in (rng.normal(size=(150, 3)), rng.normal(size=(150, 3)).cumsum(axis=0)):
        assert SequenceFilter().fit(Y).state_.options.dynamics.cycles is None


@pytest.mark.parametrize(
    "settings", [{"n_components": 1}, {"dynamics": "diagonal"}, {"process_noise": 0.1}, {"drift": 1e-4}]
)
def test_no_cycle_where_it_was_not_to_be_learned(settings):
    model = SequenceFilter(**{"n_components": 3, **settings}).fit(temperatures(T=220))
    assert model.state_.options.dynamics.cycles is None


@pytest.mark.parametrize("settings", [{"drift": "none"}, {"drift": "level"}, {"robust": True}, {"n_components": 3}])
def test_a_cycle_is_found_whatever_else_is_asked_for(settings):
    Y = temperatures(T=330)
    if settings.get("robust"):
        Y[::37] += 80.0
    model = SequenceFilter(**settings).fit(Y[:243])
    assert len(model.state_.options.dynamics.cycles) == 1
    assert model.n_components_ <= settings.get("n_components", 10)
    turned = np.angle(np.linalg.eigvals(model.dynamics_))
    assert np.abs(turned - 2 * np.pi / 52.18).min() < 0.01


def test_a_stream_goes_on_with_it(tmp_path):
    """Bit for bit after `save`, whether rows come one by one or at once; and a new fit looks anew."""
    Y = temperatures(T=330, m=2)
    model = SequenceFilter().fit(Y[:220])  # so few that it is learned anew in the stream
    assert len(model.state_.options.dynamics.cycles) == 1
    model.save(tmp_path / "model")
    other = load(tmp_path / "model")
    model.partial_fit(Y[220:300])
    for row in Y[220:300]:
        other.partial_fit(row[None])
    np.testing.assert_array_equal(model.forecast(30), other.forecast(30))
    assert error(model.forecast(30), Y[300:], Y[:300]) < 0.75
    noise = np.random.default_rng(0).normal(size=(120, 2))
    assert model.fit(noise).state_.options.dynamics.cycles is None
