"""Streams in which one feature moves for good: what is known of the others stays."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream import SequenceFilter, load

AT, NOISE = 300, 0.2


def cycles(size, T=330, m=4, seed=0):
    """Cycles of 24 rows with noise, of which feature 0 moves at row AT by so many deviations; and without noise."""
    rng = np.random.default_rng(seed)
    signal = np.sin(2 * np.pi * np.arange(T + 24)[:, None] / 24 + rng.uniform(0, 2 * np.pi, m))
    signal[AT:, 0] += size * NOISE
    return signal + NOISE * rng.standard_normal(signal.shape), signal


@pytest.mark.parametrize("size", [10.0, 20.0, 50.0])
def test_the_cycles_of_all_features_are_still_known(size):
    X, signal = cycles(size)
    model = SequenceFilter().partial_fit(X[:AT])
    kind = model.state_.stream.bank[model.state_.stream.leader].kind
    model.partial_fit(X[AT:-24])
    assert model.state_.stream.bank[model.state_.stream.leader].kind == kind == "states"
    off = np.sqrt(((model.forecast(24) - signal[-24:]) ** 2).mean(0))
    assert off[1:].max() < 0.75 * NOISE
    assert off[0] < 1.5 * NOISE
    (shift,) = model.events_
    assert (shift.kind, shift.features, shift.since) == ("shift", (0,), AT)
    assert shift.sizes[0] == pytest.approx(size * NOISE, abs=NOISE)


@pytest.mark.parametrize("period", [12, 24])
def test_a_season_that_was_asked_for_is_still_known(period):
    """A season of 12 rows leaves a cycle of 24 to the states."""
    X, signal = cycles(10.0, T=345)
    model = SequenceFilter(period=period).partial_fit(X[:-24])
    off = np.sqrt(((model.forecast(24) - signal[-24:]) ** 2).mean(0))
    assert off.max() < 2.0 * NOISE
    assert [(one.features, one.since) for one in model.events_ if one.row >= AT] == [((0,), AT)]


def test_walks_are_forecast_as_if_nothing_had_been_told():
    """What moves a walk is a step like others, only larger: a forecast is its last value."""
    X = np.random.default_rng(0).standard_normal((330, 4)).cumsum(axis=0)
    X[AT:, 0] += 20.0
    model = SequenceFilter().partial_fit(X)
    assert [one.since for one in model.events_ if 0 in one.features] == [AT]
    np.testing.assert_allclose(model.forecast(3), np.tile(X[-1], (3, 1)), atol=0.5)


def test_rows_before_a_shift_are_filled_where_they_were():
    X, signal = cycles(20.0)
    X[AT - 3 : AT - 1, 0] = np.nan
    model = SequenceFilter(lag=9).partial_fit(X[: AT + 5])
    assert model.events_
    np.testing.assert_allclose(model.recent()[:, 0], signal[AT - 5 : AT + 5, 0], atol=4 * NOISE)
    model.partial_fit(X[AT + 5 : AT + 15])
    assert model.state_.moved is None  # of the rows before the shift none is kept


def test_a_stream_does_not_depend_on_its_split_where_features_move(tmp_path):
    X = cycles(10.0)[0]
    whole, split = SequenceFilter(lag=6).partial_fit(X), SequenceFilter(lag=6)
    for rows in np.split(X, [AT - 5, AT, AT + 1, AT + 3, AT + 4, AT + 5]):
        split.partial_fit(rows)
        split.save(tmp_path / "model")
        split = load(tmp_path / "model")
    assert whole.events_ == split.events_
    np.testing.assert_array_equal(whole.forecast(30), split.forecast(30))
    np.testing.assert_array_equal(whole.recent(), split.recent())


@pytest.mark.parametrize("size", [10.0, 20.0])
def test_features_that_move_one_after_another_are_told_and_taken_out(size):
    """The second one is under suspicion when the first is told, and has a verdict of its own."""
    X, signal = cycles(size)
    X[AT + 1 :, 1] += size * NOISE
    signal[AT + 1 :, 1] += size * NOISE
    model = SequenceFilter().partial_fit(X[:-24])
    assert [one.features[0] for one in model.events_] == [0, 1]
    assert np.sqrt(((model.forecast(24) - signal[-24:]) ** 2).mean(0)).max() < 1.5 * NOISE


def test_a_shift_that_others_seem_to_follow_is_told_once():
    """Feature 0 is seen in every other row alone, and the filter takes part of its shift for one of the others."""
    X, _ = cycles(20.0, T=345, seed=1)
    X[AT + 1 :: 2, 0] = np.nan
    shifts = [one for one in SequenceFilter().partial_fit(X[:-24]).events_ if one.kind == "shift" and one.row >= AT]
    assert [one.features[0] for one in shifts].count(0) == 1


def test_widths_of_forecasts_do_not_learn_from_those_made_before_a_shift():
    X, _ = cycles(10.0, T=394)
    plain, _ = cycles(0.0, T=394)
    widths = []
    for rows in (X, plain):
        lower, upper = SequenceFilter(period=48).partial_fit(rows[: AT + 70]).forecast_interval(48)
        widths.append(float((upper - lower)[38:, 0].mean()))
    assert widths[0] < 1.6 * widths[1]
