"""Cycles in the spectrum of rows, and where EM begins with them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import reference_sequences as ref
from dynamics_problems import standardised
from factorstream.core.dynamics.cycles import beside_cycles, cycles_in, spectrum
from factorstream.core.dynamics.em import LEARNED
from factorstream.core.dynamics.filter import forecast
from factorstream.core.dynamics.fit import LEVELS, STATES, first_model, fit
from factorstream.core.dynamics.noise import GaussianSpec


def turning(period, T=300, m=3, noise=0.5, seed=0, gaps=0.0):
    """Features with the same cycle, each with its own size and phase, and noise."""
    rng = np.random.default_rng(seed)
    t = np.arange(T)[:, None]
    Y = rng.uniform(0.5, 1.5, m) * np.cos(2 * np.pi * t / period + rng.uniform(0, 6, m)) + noise * rng.normal(
        size=(T, m)
    )
    return standardised(np.where(rng.random((T, m)) < gaps, np.nan, Y))


@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_the_spectrum_equals_a_plain_sum_of_waves(gaps):
    Y = turning(13.7, T=60, gaps=gaps)
    np.testing.assert_allclose(spectrum(Y).power, ref.tapered_spectrum(Y), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize("period", [5.3, 52.18, 100.0])
def test_a_cycle_of_any_length_is_found(period, gaps):
    """Its frequency is that with which least squares leave least, by another minimiser."""
    Y = turning(period, gaps=gaps)
    found = cycles_in(Y)
    assert len(found) == 1
    assert abs(found[0] - 1 / period) < 0.1 / len(Y)
    least = minimize_scalar(
        lambda f: ref.left_beside_wave(Y, f), bounds=(found[0] - 1e-3, found[0] + 1e-3), method="bounded"
    )
    assert abs(found[0] - least.x) < 2e-3 / len(Y)


def test_several_cycles_are_found_and_no_more_than_asked_for():
    Y = standardised(turning(24.0, T=500) + turning(9.1, T=500, seed=1))
    np.testing.assert_allclose(np.sort(1 / cycles_in(Y)), [9.1, 24.0], rtol=0.01)
    assert len(cycles_in(Y, 1)) == 1
    assert len(cycles_in(Y, 0)) == 0


@pytest.mark.parametrize("walks", [False, True])
def test_noise_and_walks_have_none(walks):
    rng = np.random.default_rng(0)
    for _ in range(20):
        Y = rng.normal(size=(200, 3))
        assert not len(cycles_in(standardised(Y.cumsum(axis=0) if walks else Y)))


def test_nothing_is_found_in_next_to_no_rows_or_values():
    for Y in (np.zeros((1, 2)), np.zeros((3, 2)), np.full((50, 2), np.nan), np.zeros((50, 2))):
        assert not len(cycles_in(Y))


@pytest.mark.parametrize("kind", [LEVELS, STATES])
def test_the_first_states_turn_on_for_ever(kind):
    """Without noise the first model already goes on as the cycle does, whatever else it has."""
    Y = turning(17.3, T=300, noise=1e-3)
    past, future = Y[:200], Y[200:]
    model = beside_cycles(past, np.array([1 / 17.0]), lambda rest: first_model(rest, 1, kind, GaussianSpec()))
    found = fit(past, 3, kind, dynamics=LEARNED._replace(cycles=np.array([1 / 17.0])), sweeps=1)
    assert model.dynamics.A.shape == found.model.dynamics.A.shape
    np.testing.assert_allclose(np.abs(np.linalg.eigvals(model.dynamics.A[:2, :2])), 1.0)
    ahead, _ = forecast(found.model, found.smoothed.end, 100)
    assert np.sqrt(np.mean((ahead - future) ** 2)) < 0.05


def test_a_cycle_that_was_damped_without_its_start_goes_on_with_it():
    """Noisy rows: EM from decaying states stops with a cycle that is gone after two turns."""
    Y = turning(52.18, T=330, noise=1.0)
    plain = fit(Y, 3, LEVELS)
    with_cycle = fit(Y, 3, LEVELS, dynamics=LEARNED._replace(cycles=np.array([1 / 50.0])))
    ahead, _ = forecast(with_cycle.model, with_cycle.smoothed.end, 104)
    faded, _ = forecast(plain.model, plain.smoothed.end, 104)
    assert np.abs(ahead[-52:]).max(axis=0).min() > 0.5
    assert np.abs(faded[-52:]).max() < 0.5 * np.abs(ahead[-52:]).max()
    assert with_cycle.history[-1] > plain.history[-1]
