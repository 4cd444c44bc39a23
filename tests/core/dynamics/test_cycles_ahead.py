"""Cycles are kept for what they forecast, and not for what they explain."""

from __future__ import annotations

import numpy as np
import pytest

from dynamics_problems import standardised
from factorstream.core.dynamics import choose as choose_module
from factorstream.core.dynamics.choose import Choice, choose
from factorstream.core.dynamics.cycles import cycles_in
from factorstream.core.dynamics.cycles_ahead import better_ahead
from factorstream.core.dynamics.few import choose_few
from factorstream.core.dynamics.fit import ALL_LEVELS, LEVELS, STATES, WALKS, smoothed
from factorstream.core.dynamics.noise import LearnedStudentSpec


def rows(T=330, period=52.18, ends=None, m=3, seed=0):
    rng = np.random.default_rng(seed)
    t = np.arange(T)[:, None]
    cycle = np.cos(2 * np.pi * t / period + np.arange(m))
    if ends is not None:
        cycle = np.where(t < ends, cycle, 0.0)
    return standardised(1.4 * cycle + 0.7 * rng.normal(size=(T, m)))


@pytest.mark.parametrize("noise", [None, LearnedStudentSpec()])
def test_cycles_that_go_on_are_better_ahead(noise):
    Y = rows()
    how = {} if noise is None else {"noise": noise}
    assert better_ahead(Y, cycles_in(Y), 10, LEVELS, **how)


def test_cycles_that_have_ended_are_not():
    """They are in the spectrum of all rows, and forecast what does not come."""
    Y = rows(period=20.0, ends=220)
    found = cycles_in(Y)
    assert len(found)
    assert not better_ahead(Y, found, 10, LEVELS)


def test_missing_features_say_nothing():
    Y = rows(m=2)
    found = cycles_in(Y)
    assert better_ahead(np.column_stack([Y, np.full(len(Y), np.nan)]), found, 10, LEVELS)
    Y[len(Y) // 2 :] = np.nan
    assert not better_ahead(Y, found, 10, LEVELS)


def test_hidden_runs_have_a_say_too():
    """Beside cycles gaps may be filled a little worse, as chance has it, but not clearly so."""
    Y = rows(period=12.0)
    assert choose(Y, 10, (LEVELS, STATES, WALKS), cycles=np.array([1 / 12.0])).turns
    assert not choose(Y, 10, (LEVELS, STATES, WALKS)).turns
    plain = choose_module._Candidate(Choice(STATES), None, np.ones(50))
    for errors, turns in ((1.0 + 0.1 * (-1.0) ** np.arange(50), True), (1.1 + 0.1 * (-1.0) ** np.arange(50), False)):
        turning = choose_module._Candidate(Choice(LEVELS, turns=True), None, errors)
        assert choose_module._best([plain, turning], Y).turns == turns


def test_few_rows_compare_the_same():
    Y = rows(T=90, period=12.0)
    choice, hidden = choose_few(Y, 10, (LEVELS, ALL_LEVELS, STATES), cycles=np.array([1 / 12.0]), answers=smoothed)
    assert choice.turns
    assert hidden.loss < choose_few(Y, 10, (LEVELS, ALL_LEVELS, STATES), answers=smoothed)[1].loss
    assert choose_few(Y, 10, (STATES,), cycles=np.array([1 / 12.0]), answers=smoothed)[0].kind == STATES
