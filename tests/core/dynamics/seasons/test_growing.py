"""Which features are read in logarithms: the look at the rows, and the forecasts of the last third."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream import SequenceFilter
from factorstream.core.dynamics.seasons.growing import Way, better_in_logarithms, grows
from factorstream.core.dynamics.seasons.layers import Plan
from factorstream.estimators._sequence import options, plain_parameters

T, P = 144, 12


@pytest.fixture(scope="module")
def rows():
    """A season that multiplies a level which grows; one that is added to such a level; the first with a sign."""
    rng = np.random.default_rng(0)
    t = np.arange(T)
    wave = np.sin(2 * np.pi * t / P)
    grown = 100 * np.exp(0.012 * t + 0.3 * wave + 0.05 * rng.normal(size=T))
    added = 100 + 2.5 * t + 30 * wave + 8 * rng.normal(size=T)
    return np.column_stack([grown, added, grown - 250.0])


def test_only_what_is_positive_and_grows_is_tried(rows):
    np.testing.assert_array_equal(grows(rows, P), [True, False, False])


def test_gaps_do_not_hide_growth(rows):
    gone = np.random.default_rng(1).random(rows.shape) < 0.2
    np.testing.assert_array_equal(grows(np.where(gone, np.nan, rows), P), [True, False, False])


@pytest.mark.parametrize("Y", [np.ones((T, 1)), np.full((T, 1), np.nan), np.arange(1.0, 31.0)[:, None]])
def test_what_says_nothing_is_not_tried(Y):
    assert not grows(Y, P).any()


def test_chance_seldom_asks_for_a_trial():
    rng = np.random.default_rng(2)
    Y = 100 + rng.normal(size=(T, 400))
    assert grows(Y, P).mean() < 0.12


def test_forecasts_tell_products_from_sums(rows):
    """Both are given as if they were to be tried."""
    Y = rows[:, :2]
    opt = options(plain_parameters(SequenceFilter(2)), 2)
    plan = Plan((P,), np.arange(0), np.ones(2))
    found = better_in_logarithms(Way(Y, plan), Way(np.log(Y), plan), opt, before=False)
    np.testing.assert_array_equal(found, [True, False])


def test_few_rows_say_nothing(rows):
    Y = rows[:26, :1]
    opt = options(plain_parameters(SequenceFilter(1)), 1)
    plan = Plan((P,), np.arange(0))
    found = better_in_logarithms(Way(Y, plan), Way(np.log(Y), plan), opt, before=False)
    assert not found.any()
