"""Layers of seasons add up, begin anywhere, and say the same however rows are divided."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream.core.dynamics.noise import GaussianSpec
from factorstream.core.dynamics.seasons.layers import Plan, ahead, learn, long_enough, season_before, season_of, take


@pytest.fixture
def rows(rng):
    """A day of 6 rows and a week of 7 days, in the first two of three features."""
    t = np.arange(6 * 7 * 12)
    day, week = rng.normal(size=6), rng.normal(size=42)
    Y = 0.2 * rng.normal(size=(len(t), 3))
    Y[:, 0] += day[t % 6] + 0.5 * week[t % 42]
    Y[:, 1] += np.repeat(rng.normal(size=len(t) // 6), 6) * day[t % 6]
    return Y


PLAN = Plan((42, 6), np.array([1]))


def test_what_is_left_is_noise(rows):
    layers, season = learn(rows[:-42], PLAN, 3, GaussianSpec(), 10)
    assert [layer.period for layer in layers] == [42, 6, 6]
    assert (np.std(rows[:-42] - season.signal, axis=0) < 0.25).all()
    off = ahead(layers, 3, 42).signal - rows[-42:]
    assert np.std(off[:, 0]) < 0.3
    assert (season.var > 0).all()


def test_a_table_is_read_from_any_place(rows):
    layers, _ = learn(rows, PLAN, 3, GaussianSpec(), 10)
    whole = season_of(layers, rows)
    later = season_of(layers, rows[4:], place=4)
    np.testing.assert_allclose(later.signal[42:-42], whole.signal[46:-42], atol=0.05)
    elsewhere = season_of(layers, rows[4:], place=0)
    assert np.std((elsewhere.signal - rows[4:])[:42, 0]) > np.std((later.signal - rows[4:])[:42, 0])


def test_rows_one_after_another_go_on_where_learning_ended(rows):
    layers, _ = learn(rows[:-50], PLAN, 3, GaussianSpec(), 10)
    before = ahead(layers, 3, 1)
    layers, signal, var = take(layers, rows[-50])
    np.testing.assert_allclose(signal, before.signal[0])
    np.testing.assert_allclose(var, before.var[0])
    said = season_before(layers, rows)
    assert np.std((said.signal - rows)[-42:, 0]) < 0.3
    np.testing.assert_array_equal(season_before(layers, rows[:100]).signal, said.signal[:100])  # nothing from later


def test_periods_that_rows_show_twice():
    assert long_enough((6, 42, 300), 100) == (42, 6)
    assert long_enough((60,), 100) == ()
