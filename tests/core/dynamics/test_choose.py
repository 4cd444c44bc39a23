"""Hidden runs: nothing random, the right kind of model, and honest widths."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtri

from dynamics_problems import draw, make, standardised
from factorstream.core.dynamics import choose as choose_module
from factorstream.core.dynamics import fit
from factorstream.core.dynamics.choose import (
    HIDDEN_PERIOD,
    HIDDEN_RUN,
    MIN_STRETCH,
    PRIOR_COUNT,
    choose,
    held_out,
    stretch,
)
from factorstream.core.dynamics.fit import ALL_LEVELS, LEVELS, STATES, WALKS
from factorstream.core.dynamics.noise import GaussianSpec, GivenStudentSpec


def test_hidden_runs_are_observed_entries_shifted_from_feature_to_feature():
    Y = np.zeros((200, 3))
    Y[4, 0] = np.nan
    hide, run = held_out(Y)
    assert not hide[4, 0]
    assert hide.sum() == 3 * 200 * HIDDEN_RUN // HIDDEN_PERIOD - 1
    assert len(np.unique(run)) >= 3 * 200 // HIDDEN_PERIOD
    assert (hide[:, 0] != hide[:, 1]).any()


def test_each_kind_of_sequence_gets_its_kind_of_model():
    rng = np.random.default_rng(0)
    walks = standardised(np.cumsum(rng.normal(size=(400, 6)), axis=0))
    states = standardised(draw(make(1, m=8, r=2), 400, 1)[3])
    kinds = (LEVELS, ALL_LEVELS, STATES, WALKS)
    assert choose(walks, 4, kinds).kind == WALKS
    assert choose(states, 2, kinds).kind == STATES


@pytest.mark.parametrize(("r", "n_fits"), [(2, 1), (5, 2)])
def test_the_same_model_is_not_fitted_twice(monkeypatch, r, n_fits):
    """Where changes show as many components as there may be, a model is not held to fewer."""
    rng = np.random.default_rng(0)
    Y = standardised(
        rng.normal(size=(300, 2)).cumsum(axis=0) @ rng.normal(size=(2, 8)) + 0.1 * rng.normal(size=(300, 8))
    )
    kinds = []

    def noted(Y, r, kind, **how):
        kinds.append(kind)
        return fit.fit(Y, r, kind, **how)

    monkeypatch.setattr(choose_module, "fit", noted)
    assert choose(Y, r, (LEVELS, ALL_LEVELS)).kind in (LEVELS, ALL_LEVELS)
    assert kinds == [LEVELS, ALL_LEVELS][:n_fits]


def test_widths_follow_the_errors_but_not_those_of_a_few():
    noise = GaussianSpec()
    right = ndtri((1 + np.linspace(0, 1, 20_001)[:-1]) / 2)
    assert stretch(right, noise) == pytest.approx(1.0, abs=0.01)
    assert stretch(2 * right, noise) == pytest.approx(2.0, rel=0.01)
    assert stretch(0.1 * right, noise) == pytest.approx(MIN_STRETCH, rel=0.01)
    assert stretch(4 * right[:: len(right) // int(PRIOR_COUNT)], noise) == pytest.approx(2.0, rel=0.1)


def test_errors_count_by_the_noise_that_was_asked_for():
    """Random walks have Gaussian noise whatever was asked for; one hidden outlier must not decide against them."""
    rng = np.random.default_rng(0)
    Y = standardised(np.cumsum(rng.normal(size=(200, 4)), axis=0))
    hide, _ = held_out(Y)
    Y[tuple(np.argwhere(hide)[7])] += 1e3
    plain, heavy = (choose(Y, 2, [WALKS], noise=noise).stretch for noise in (GaussianSpec(), GivenStudentSpec(4.0)))
    assert plain == pytest.approx(heavy)
    Y[hide] += np.where(np.arange(hide.sum()) % 10 == 0, 50.0, 0.0)
    plain, heavy = (choose(Y, 2, [WALKS], noise=noise).stretch for noise in (GaussianSpec(), GivenStudentSpec(4.0)))
    assert heavy < 0.5 * plain
