"""Seasons of a sequence: gaps, forecasts, streams, tables and what is refused."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest

from factorstream import SequenceFilter, load
from factorstream.core.dynamics.seasons import following, relearning
from factorstream.core.dynamics.seasons.anew import Anew
from factorstream.core.dynamics.seasons.shapes import ShapeLayer
from factorstream.estimators._sequence_places import calendar_periods
from factorstream.estimators._sequence_stream import _adopted, learning_rows
from factorstream.estimators._times import split_table

P, WEEK = 8, 56


@pytest.fixture(scope="module")
def rows():
    """A season of two periods, days of two kinds, and a random walk."""
    rng = np.random.default_rng(0)
    t = np.arange(WEEK * 8)
    day, week, other = rng.normal(size=P), rng.normal(size=WEEK), rng.normal(size=P)
    kinds = np.repeat(rng.integers(0, 2, len(t) // P), P)
    Y = np.stack([2 * day[t % P] + week[t % WEEK], np.where(kinds, day[t % P], other[t % P]), np.zeros(len(t))], axis=1)
    Y += 0.2 * rng.normal(size=Y.shape)
    Y[:, 2] += 0.3 * rng.normal(size=len(t)).cumsum()
    return 10.0 + Y


@pytest.fixture(scope="module")
def gone():
    """Runs of half a day."""
    rng = np.random.default_rng(1)
    return np.repeat(rng.random((WEEK * 8 // 4, 3)) < 0.2, 4, axis=0)


@pytest.fixture(scope="module")
def model(rows, gone):
    return SequenceFilter(period=(P, WEEK)).fit(np.where(gone, np.nan, rows))


def error(filled, rows, gone):
    return np.sqrt([np.mean((filled - rows)[gone[:, j], j] ** 2) for j in range(rows.shape[1])])


def test_gaps_are_filled_by_the_season(model, rows, gone):
    X = np.where(gone, np.nan, rows)
    filled, std = model.impute(X, return_std=True)
    with_seasons = error(filled, rows, gone)
    without = error(SequenceFilter().fit(X).impute(X), rows, gone)
    assert with_seasons[0] < 0.3 * without[0]
    assert with_seasons[1] < 0.6 * without[1]
    assert with_seasons[2] < 1.15 * without[2]
    lower, upper = model.predict_interval(X)
    assert 0.9 < ((lower <= rows) & (rows <= upper))[gone].mean() < 0.985
    np.testing.assert_array_equal(std[~gone], 0.0)
    np.testing.assert_allclose(model.denoise(X)[gone], filled[gone])


def test_the_season_is_forecast(model, rows):
    past, future = rows[:-WEEK], rows[-WEEK:]
    ahead = SequenceFilter(period=(P, WEEK)).fit(past)
    off = np.sqrt(np.mean((ahead.forecast(WEEK) - future) ** 2, axis=0))
    assert off[0] < 0.4  # two deviations of the noise; those of the season itself are two units
    lower, upper = ahead.forecast_interval(WEEK)
    assert ((lower <= future) & (future <= upper))[:, :2].mean() > 0.85
    assert list(ahead.seasons_) == [WEEK, P]
    assert ahead.seasons_[P].shape == (P, 3)


def test_one_period_or_several_in_any_order(rows):
    fits = [SequenceFilter(period=p, calibrate=False).fit(rows) for p in ((WEEK, P), [P, WEEK], np.array([P, WEEK, P]))]
    answers = [fit.forecast(5) for fit in fits]
    np.testing.assert_array_equal(answers[0], answers[1])
    np.testing.assert_array_equal(answers[0], answers[2])
    assert list(SequenceFilter(period=P, calibrate=False).fit(rows).seasons_) == [P]


@pytest.mark.long
@pytest.mark.parametrize("smooth", [True, False])
def test_any_split_of_a_stream_is_the_same(rows, gone, smooth):
    X = np.where(gone, np.nan, rows)[:300]
    settings = {"period": (P, WEEK), "lag": 3, "max_iter": 4, "calibrate": False, "smooth": smooth}
    streams = []
    for cuts in ([], [1, 2, 17, 112, 113, 250]):
        stream = SequenceFilter(**settings)
        for part in np.split(X, cuts):
            stream.partial_fit(part)
        streams.append(stream)
    one, split = streams
    for ask in ("forecast", "recent"):
        argument = (20,) if ask == "forecast" else ()
        for a, b in zip(
            getattr(one, ask)(*argument, return_std=True), getattr(split, ask)(*argument, return_std=True), strict=True
        ):
            np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(one.impute(X), split.impute(X))
    np.testing.assert_array_equal(one.score_samples(X), split.score_samples(X))
    assert one.alarms_ == split.alarms_


def test_a_stream_learns_seasons_and_goes_on(rows):
    stream = SequenceFilter(period=P, calibrate=False)
    stream.partial_fit(rows[:15])
    assert learning_rows(stream.state_) == (16, 32, 64)
    assert stream.state_.anew is None
    stream.partial_fit(rows[15:16])
    assert stream.state_.anew is not None
    assert stream.seasons_ == {}
    stream.partial_fit(rows[16:60])
    assert list(stream.seasons_) == [P]
    assert stream.state_.before is not None
    stream.partial_fit(rows[60:-P])
    assert stream.state_.before is None
    off = stream.forecast(P)[:, 0] - rows[-P:, 0]
    assert np.std(off) < 0.8 * np.std(rows[:, 0])


@pytest.mark.long
@pytest.mark.parametrize("robust", [False, True])
def test_a_stream_that_is_saved_while_it_learns_goes_on_from_there(rows, robust, tmp_path):
    t = np.arange(140)
    X, K = rows[:140, :2] + 0.05 * t[:, None], (t % 9 == 0)[:, None] * 1.0
    settings = {"period": P, "trend": "auto", "robust": robust, "max_iter": 4, "lag": 2}
    through, resumed = SequenceFilter(2, **settings), SequenceFilter(2, **settings)
    stages = set()
    for y, k in zip(X, K, strict=True):
        through.partial_fit(y[None], known=k[None])
        resumed.partial_fit(y[None], known=k[None])
        anew = resumed.state_.anew
        stage = None if anew is None else (len(anew.layers), anew.lines.at > 0, anew.learned, anew.stream is not None)
        if stage not in stages:
            stages.add(stage)
            resumed.save(tmp_path / "model.factorstream")
            resumed = load(tmp_path / "model.factorstream")
    assert len(stages) > 4
    assert through.state_.layers
    answers = [model.forecast(9, return_std=True, known=K[:9]) for model in (through, resumed)]
    np.testing.assert_array_equal(*answers)
    np.testing.assert_array_equal(through.recent(), resumed.recent())


def test_a_stream_keeps_what_a_fit_knew(rows):
    """A stream learns no shapes of whole periods, and one model for forecasts."""
    for settings in ({"period": "auto"}, {"trend": True}):
        model = SequenceFilter(2, max_iter=3, calibrate=False, **settings).fit(rows[:120, :2])
        known = [type(layer) for layer in model.state_.layers], len(model.state_.others)
        assert ShapeLayer in known[0] or known[1]
        model.partial_fit(rows[120:190, :2])
        assert known == ([type(layer) for layer in model.state_.layers], len(model.state_.others))
        assert model.state_.before is None


def test_no_row_does_much(rows, monkeypatch):
    """Of what a row does more than once, there is a bound that does not depend on how many rows there have been."""
    passed, learned = [], []
    take, learn = following.take, relearning.learn_phases
    monkeypatch.setattr(following, "take", lambda *rest: passed.append(1) or take(*rest))
    monkeypatch.setattr(relearning, "learn_phases", lambda Y, *rest: learned.append(Y.size) or learn(Y, *rest))
    X = np.tile(rows, (4, 1))
    stream, most = SequenceFilter(2, period=(P, WEEK), calibrate=False), [0, 0]
    for x in X[: 9 * WEEK]:
        passed.clear(), learned.clear()
        stream.partial_fit(x[None])
        most = [max(most[0], len(passed)), max(most[1], sum(learned))]
    assert 0 < most[0] <= following.FOLLOWED_AT_ONCE
    assert 0 < most[1] <= relearning.VALUES_AT_ONCE


def test_a_stream_follows_the_season_over_gaps_of_whole_periods(rows):
    X = rows[:, :1].copy()
    X[200 : 200 + 3 * P] = np.nan
    stream = SequenceFilter(period=(P, WEEK), lag=0).partial_fit(X[:200])
    filled = []
    for x in X[200 : 200 + 3 * P]:
        filled.append(stream.partial_fit(x[None]).recent()[0, 0])
    off = np.array(filled) - rows[200 : 200 + 3 * P, 0]
    assert np.sqrt(np.mean(off**2)) < 0.6 * np.std(rows[:, 0])


@pytest.mark.long
def test_what_a_stream_foretells_is_held_as_often_as_it_says():
    rng = np.random.default_rng(3)
    t = np.arange(900)
    Y = np.sin(t / 12 * 2 * np.pi)[:, None] * [2.0, 1.0, 0.5] + rng.normal(size=(900, 3))
    stream, held = SequenceFilter(2, period=12), []
    for k, y in enumerate(Y):
        if k > 200:
            mean, std = stream.forecast(1, return_std=True)
            held.append(np.abs(mean[0] - y) < 1.96 * std[0])
        stream.partial_fit(y[None])
    assert 0.93 < np.mean(held) < 0.97


def test_fit_goes_on_as_a_stream(model, rows):
    late = SequenceFilter(period=P).fit(rows[: -3 * P])
    for row in rows[-3 * P : -P]:
        late.partial_fit(row[None])
    batch = SequenceFilter(period=P).fit(rows[:-P])
    future = rows[-P:, 0]
    assert np.std(late.forecast(P)[:, 0] - future) < 1.3 * np.std(batch.forecast(P)[:, 0] - future)
    assert late.n_samples_seen_ == len(rows) - P


def test_a_file_answers_as_before(model, rows, gone, tmp_path):
    model = deepcopy(model).partial_fit(rows[:3])
    model.save(tmp_path / "model.factorstream")
    again = load(tmp_path / "model.factorstream")
    X = np.where(gone, np.nan, rows)
    np.testing.assert_array_equal(again.impute(X), model.impute(X))
    np.testing.assert_array_equal(again.forecast(9), model.forecast(9))
    again.partial_fit(rows[3:20])
    model.partial_fit(rows[3:20])
    np.testing.assert_array_equal(again.forecast(9), model.forecast(9))


def test_a_table_is_placed_by_its_time_stamps(rows):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(rows, pandas.date_range("2024-01-01", periods=len(rows), freq="3h"), list("abc"))
    fit = SequenceFilter(period=(P, WEEK), calibrate=False).fit(table)
    part = table.iloc[3 : 3 + 2 * P].copy()
    part.iloc[5:10, 0] = np.nan
    truth = table.iloc[8:13, 0].to_numpy()
    placed = fit.impute(part).iloc[5:10, 0].to_numpy()
    unplaced = SequenceFilter(period=(P, WEEK), calibrate=False).fit(rows).impute(part.to_numpy())[5:10, 0]
    assert np.abs(placed - truth).mean() < 0.5 * np.abs(unplaced - truth).mean()
    assert fit.forecast(2).index[0] == table.index[-1] + pandas.Timedelta("3h")


@pytest.mark.parametrize("period", [[], [[2, 3]], [2.5], [1], [np.nan], ["a"]])
def test_a_period_is_whole_rows(rows, period):
    with pytest.raises(ValueError, match=r"period must be"):
        SequenceFilter(period=period).fit(rows)


def test_too_few_rows_are_refused(rows):
    with pytest.raises(ValueError, match="fewer than 2 periods of 60; pass more rows"):
        SequenceFilter(period=60).fit(rows[:100])


def test_periods_are_found(rows):
    assert list(SequenceFilter(period="auto", calibrate=False).fit(rows).seasons_) == [WEEK, P]
    walk = np.random.default_rng(0).normal(size=(300, 2)).cumsum(0)
    plain, auto = (SequenceFilter(period=period).fit(walk) for period in (None, "auto"))
    assert auto.seasons_ == {}
    np.testing.assert_array_equal(auto.forecast(3), plain.forecast(3))
    np.testing.assert_array_equal(auto.partial_fit(walk[:5]).forecast(3), plain.partial_fit(walk[:5]).forecast(3))


def test_time_stamps_say_which_periods_are_tried(rows):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(rows, pandas.date_range("2024-01-01", periods=len(rows), freq="3h"), list("abc"))
    assert list(SequenceFilter(period="auto", calibrate=False).fit(table).seasons_) == [WEEK, P]
    for freq, periods in {
        "h": (24, 168),
        "D": (7, 365),
        "W": (52,),
        "MS": (12,),
        "QS": (4,),
        "B": (5,),
        "7h": (),
    }.items():
        table = pandas.DataFrame(rows, pandas.date_range("2024-01-01", periods=len(rows), freq=freq), list("abc"))
        assert calendar_periods(split_table(table)[1]) == periods
    assert calendar_periods(split_table(rows)[1]) == ()


@pytest.mark.long
def test_a_stream_finds_periods(rows):
    stream = SequenceFilter(period="auto", calibrate=False, max_iter=4)
    for part in np.split(rows, [10, 64, 200]):
        stream.partial_fit(part)
    whole = SequenceFilter(period="auto", calibrate=False, max_iter=4).partial_fit(rows)
    assert P in stream.seasons_
    np.testing.assert_array_equal(stream.forecast(9), whole.forecast(9))


@pytest.mark.parametrize("period", [P, (P, WEEK)])
def test_constant_empty_and_exact_columns(rows, period):
    t = np.arange(len(rows))
    X = np.stack([rows[:, 0], np.full(len(t), 7.0), np.full(len(t), np.nan), t % P], axis=1)
    X[50:60] = np.nan
    with pytest.warns(UserWarning, match="one value of a feature is known, or none"):
        fit = SequenceFilter(period=period, calibrate=False).fit(X)
    filled = fit.impute(X)
    np.testing.assert_allclose(filled[50:60, 1], 7.0, atol=1e-6)
    np.testing.assert_allclose(filled[50:60, 3], t[50:60] % P, atol=0.05)
    assert np.isfinite(fit.forecast(20)).all()


def test_periods_that_do_not_help_are_not_taken(monkeypatch):
    Y = np.random.default_rng(0).normal(size=(400, 2))
    monkeypatch.setattr("factorstream.estimators._sequence_stream.candidates_in", lambda Y: (12,))
    model, tried = SequenceFilter(2, period="auto"), 0
    for y in Y:
        model.partial_fit(y[None])
        tried += model.state_.anew is not None
    assert tried > 40
    assert not model.seasons_


def test_without_layers_nothing_of_seasons_is_left(rows):
    model = SequenceFilter(2, period=P).partial_fit(rows[:63])
    assert model.seasons_
    plain = SequenceFilter(2).partial_fit(rows[:63]).state_.stream
    anew = Anew((), "none", 63, rows[:0], learned=True, stream=plain, counts=np.full(3, np.inf))
    model.state_ = _adopted(model.state_, anew)
    assert not model.seasons_
    assert not model.state_.forecasts
    assert model.forecast(3).shape == (3, 3)
    assert np.isfinite(model.partial_fit(rows[63:70]).recent()).all()
