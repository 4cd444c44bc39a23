"""Events of sequences in words: tables and streams, time stamps, names, files; and noise that asks for heavy tails."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pandas as pd
import pytest

from factorstream import SequenceFilter, load
from factorstream.estimators._absurd import AbsurdValueWarning
from factorstream.estimators._sequence_events import Event


def moving(T=520, m=4, seed=0):
    """Feature 1 moves by 2 at row 400, feature 2 has an outlier of 3 at row 450; the noise has deviation 0.3."""
    rng = np.random.default_rng(seed)
    Y = np.sin(np.arange(T)[:, None] / 9 + np.arange(m)) + 0.3 * rng.normal(size=(T, m))
    Y[400:, 1] += 2.0
    Y[450, 2] += 3.0
    return Y


@pytest.fixture(scope="module")
def model():
    return SequenceFilter(3, max_iter=10).fit(moving()[:300])


def check(shift, outlier, first, second):
    assert (shift.kind, outlier.kind) == ("shift", "outlier")
    assert (shift.features, outlier.features) == ((first,), (second,))
    assert shift.sizes[0] == pytest.approx(2.0, abs=0.5)
    assert outlier.sizes[0] == pytest.approx(3.0, abs=0.7)
    assert shift.since == 400 < shift.row < 408
    assert (outlier.since, outlier.row) == (450, 453)


def test_a_table_is_told_with_names_and_time_stamps(model):
    Y = moving()
    days = pd.date_range("2024-01-01", periods=len(Y), freq="D")
    frame = pd.DataFrame(Y, columns=list("abcd"), index=days)
    found = SequenceFilter(3, max_iter=10).fit(frame[:300]).alarms(frame)
    shift, outlier = [one for one in found.events if one.since in (400, 450)]
    check(shift, outlier, "b", "c")
    assert isinstance(shift.when, pd.Timestamp)
    assert (shift.since_when, shift.when) == (days[400], days[shift.row])
    assert f"since {days[400]}, found at {days[shift.row]}" in repr(shift)
    assert found.fired[shift.row]
    assert not found.fired[450:454].any()  # an outlier is no alarm
    plain = [one for one in model.alarms(Y).events if one.since in (400, 450)]
    check(*plain, 1, 2)
    assert plain[0].when is None


def test_a_stream_tells_the_same_in_any_division_and_from_a_file(model, tmp_path):
    Y = moving()
    days = pd.date_range("2024-01-01", periods=len(Y), freq="D")
    frame = pd.DataFrame(Y, columns=list("abcd"), index=days)
    whole = SequenceFilter(3, max_iter=10).fit(frame[:300]).partial_fit(frame[300:])
    split = SequenceFilter(3, max_iter=10).fit(frame[:300])
    for k in range(300, 402):
        split.partial_fit(frame.iloc[[k]])
    split.save(tmp_path / "model")
    split = load(tmp_path / "model").partial_fit(frame[402:])
    assert whole.events_ == split.events_
    assert whole.alarms_ == split.alarms_
    shift, outlier = [one for one in whole.events_ if one.since in (400, 450)]
    check(shift, outlier, "b", "c")
    assert isinstance(shift.since_when, pd.Timestamp)
    assert (shift.since_when, outlier.when) == (days[400], days[453])
    assert shift.row in whole.alarms_


def test_the_nile_has_fallen_in_1899():
    nile = pytest.importorskip("statsmodels.datasets").nile
    flow = nile.load_pandas().data["volume"].to_numpy()[:, None]
    model = SequenceFilter().fit(flow[:25])
    for first, X in ((1871, flow), (1896, flow[25:])):
        event = model.alarms(X).events[0]
        assert (event.kind, first + event.since) == ("shift", 1899)
        assert 1899 < first + event.row <= 1905
        assert -350 < event.sizes[0] < -200
    model.partial_fit(flow[25:])
    assert (model.events_[0].kind, 1871 + model.events_[0].since) == ("shift", 1899)
    assert model.alarms_[0] == model.events_[0].row <= 1905 - 1871


def test_a_value_out_of_all_proportion_is_an_outlier_and_an_alarm(model):
    Y = moving()[:380]
    Y[350, 3] = 1e30
    found = model.alarms(Y)
    event = next(one for one in found.events if one.since == 350)
    assert (event.kind, event.features) == ("outlier", (3,))
    assert found.fired[350]


@pytest.mark.long
def test_noise_with_heavy_tails_is_seen_by_itself():
    rng = np.random.default_rng(0)
    signal = 3 * np.sin(np.arange(500)[:, None] / 9 + np.arange(4))
    heavy, light = signal + rng.standard_t(1.5, size=signal.shape), signal + rng.normal(size=signal.shape)
    auto, given = (SequenceFilter(2, max_iter=8, robust=robust).fit(heavy) for robust in ("auto", True))
    assert np.array_equal(auto.components_, given.components_)
    assert auto.degrees_of_freedom_ == given.degrees_of_freedom_ < 10
    auto, given = (SequenceFilter(2, max_iter=8, robust=robust).fit(light) for robust in ("auto", False))
    assert np.array_equal(auto.components_, given.components_)
    assert np.array_equal(auto.impute(light[:50]), given.impute(light[:50]))
    assert np.isinf(auto.degrees_of_freedom_)


@pytest.mark.long
def test_a_stream_sees_by_itself_that_its_noise_has_heavy_tails():
    rng = np.random.default_rng(0)
    signal = 3 * np.sin(np.arange(330)[:, None] / 9 + np.arange(3))
    heavy, light = signal + rng.standard_t(1.5, size=signal.shape), signal + rng.normal(size=signal.shape)
    whole, split = SequenceFilter(2).partial_fit(heavy), SequenceFilter(2)
    for part in np.array_split(heavy, 7):
        split.partial_fit(part)
    assert whole.degrees_of_freedom_ < 10
    assert np.array_equal(whole.forecast(3), split.forecast(3))
    auto, given = (SequenceFilter(2, robust=robust).partial_fit(light) for robust in ("auto", False))
    assert np.array_equal(auto.forecast(3), given.forecast(3))


def test_a_state_of_before_there_were_events_goes_on(model):
    """Fields that came later have defaults; what they stand for is found when it is asked for."""
    later = ("limits", "lookout", "events", "tails")
    defaults = type(model.state_)._field_defaults
    old = SequenceFilter(3, max_iter=10).fit(moving()[:300])
    old.state_ = old.state_._replace(**{name: defaults[name] for name in later})
    assert old.alarms(moving()).events == model.alarms(moving()).events
    old.partial_fit(moving()[300:])
    assert [one for one in old.events_ if one.since == 400]


@pytest.mark.parametrize("zone", [None, "UTC"])
def test_time_stamps_of_polars_are_datetimes_and_periods_are_texts(model, zone):
    polars = pytest.importorskip("polars")
    days = pd.date_range("2024-01-01", periods=520, freq="D", tz=zone)
    frame = polars.DataFrame({"day": list(days), **dict(zip("abcd", moving().T, strict=True))})
    stream = SequenceFilter(3, max_iter=10).fit(frame[:300]).partial_fit(frame[300:420])
    for events in (stream.events_, stream.alarms(frame).events):
        shift = next(one for one in events if one.since == 400)
        assert shift.since_when == days[400].to_pydatetime()
        assert type(shift.since_when) is datetime
    months = pd.DataFrame(moving(), index=pd.period_range("1980-01", periods=520, freq="M"))
    stream = SequenceFilter(3, max_iter=10).fit(months[:300]).partial_fit(months[300:420])
    assert next(one for one in stream.events_ if one.since == 400).since_when == "2013-05"


def test_events_of_a_state_whose_time_stamps_were_texts_are_told_as_they_are():
    stream = SequenceFilter(2).partial_fit(moving()[:30])
    old = Event("shift", 9, 5, (1,), (1.0,), "2024-01-10", "")  # type: ignore[arg-type]
    stream.state_ = stream.state_._replace(events=(old,))
    assert (stream.events_[0].when, stream.events_[0].since_when) == ("2024-01-10", None)


def exact(T=420):
    """A constant, a sine and a line, and three noisy features."""
    t = np.arange(T)
    noisy = np.sin(t[:, None] / 9 + np.arange(3)) + 0.3 * np.random.default_rng(0).normal(size=(T, 3))
    return np.full(T, 5.0), np.sin(t * 2 * np.pi / 24), noisy


@pytest.mark.parametrize("part", [0, 1])
def test_what_is_foretold_exactly_is_neither_noisier_nor_quieter(part):
    X = exact()[part][:, None]
    model = SequenceFilter(2, max_iter=15).fit(X[:300])
    found = model.alarms(X)
    assert found.events == ()
    assert np.isfinite(found.score).all()
    assert model.partial_fit(X[300:]).events_ == []
    assert SequenceFilter(2).partial_fit(X).events_ == []


def test_what_was_foretold_exactly_is_told_when_it_no_longer_is():
    """And of features beside it, what is told is the same as without it."""
    constant, _, noisy = exact()
    X = np.column_stack([constant, noisy])
    X[380:, 0] += 0.5 * np.random.default_rng(1).normal(size=40)
    X[360:, 2] *= 4.0
    model = SequenceFilter(2, max_iter=15).fit(X[:300])
    told = [one for one in model.alarms(X).events if one.row >= 380]
    assert any(0 in one.features for one in told)
    told = [one for one in model.alarms(X[:380]).events if one.row >= 360]
    assert told
    assert all(one.features == (2,) for one in told)


def test_events_print_in_one_line():
    event = Event("spread", 9, 5, ("a", "b", "c", "d", "e"), (1.0, 2.0, 3.0, 4.0, 5.0))
    assert repr(event) == "spread of a by 1, b by 2, c by 3, d by 4 and 1 more since row 5, found at row 9"


@pytest.mark.parametrize("seed", [100, 103, 107])
def test_a_stream_that_learns_a_shift_tells_no_move_back(seed):
    """The window of a stream is learned anew about 140 rows after feature 1 has moved."""
    rng = np.random.default_rng(seed)
    X = 2 * np.sin(np.arange(560) / 9)[:, None] * [1, 0.5, 0.3, 0.7] + rng.normal(size=(560, 4))
    X[300:, 1] += 4.0
    told = SequenceFilter(2).fit(X[:300]).partial_fit(X[300:]).events_
    assert [one.features for one in told if one.kind == "shift"] == [(1,)]


def check_told_once(events, at):
    found = [one for one in events if one.kind == "shift" and one.since > 100 and 1 in one.features]
    assert [(one.features[0], abs(one.since - at) <= 1, one.row <= at + 10) for one in found] == [(1, True, True)]


@pytest.mark.parametrize("at", [110, 135])
def test_alarms_go_on_when_a_stream_learns_a_season(at):
    """Fitted to too few rows for a season, the stream adopts one at row 117."""
    rng = np.random.default_rng(4)
    X = 5 * np.sin(2 * np.pi * np.arange(200) / 24)[:, None] * [1, 0.5, 0.3] + 0.3 * rng.normal(size=(200, 3))
    X[at:, 1] += 3.0
    model = SequenceFilter(2, period=24).fit(X[:60]).partial_fit(X[60:])
    assert model.state_.layers
    check_told_once(model.events_, at)


@pytest.mark.parametrize("at", [140, 170])
def test_alarms_go_on_when_a_stream_learns_what_known_columns_say(at):
    rng = np.random.default_rng(4)
    known = rng.normal(size=(250, 1))
    X = known * [1, 2, 3] + 0.3 * rng.normal(size=(250, 3))
    X[at:, 1] += 3.0
    model = SequenceFilter(2).fit(X[:100], known=known[:100]).partial_fit(X[100:], known=known[100:])
    check_told_once(model.events_, at)


@pytest.mark.parametrize("at", [74, 77])
def test_an_outlier_has_the_same_size_when_the_scale_of_a_stream_changes(at):
    """Feature 0 moves by 10 at row 60, so that what a stream learns then has another scale. Until it is clear whether
    the model follows, up to 10 count as usual."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(110, 3))
    X[60:, 0] += 10.0
    X[at, 0] += 30.0
    model = SequenceFilter(1, drift="none", robust=False).fit(X[:60]).partial_fit(X[60:])
    (outlier,) = [one for one in model.events_ if one.kind == "outlier"]
    assert outlier.since == at
    assert 20.0 - 3.0 < outlier.sizes[0] < 30.0 + 3.0


def test_an_event_of_the_last_row_is_an_alarm_there(model):
    found = model.alarms(moving()[:402])
    assert [(one.kind, one.row, one.since) for one in found.events if one.since >= 400] == [("shift", 401, 400)]
    assert found.fired[401]


def test_an_event_between_rows_is_an_alarm_in_the_next_one():
    """Feature 1 moves two days before 30 days without rows, and is judged within these."""
    frame = pd.DataFrame(moving(), index=pd.date_range("2024-01-01", periods=520, freq="D"))
    model = SequenceFilter(3, max_iter=10, spacing="time").fit(frame[:300])
    found = model.alarms(pd.concat([frame[:402], frame[432:440]]))
    (shift,) = [one for one in found.events if one.kind == "shift" and one.since == 400]
    assert shift.row == 402
    assert found.fired[402]


def test_an_absurd_value_is_told_with_the_season_that_was_expected():
    rng = np.random.default_rng(0)
    X = 1e3 * np.sin(2 * np.pi * np.arange(260) / 24)[:, None] * [1, 0.5, 0.3] + rng.normal(size=(260, 3))
    model = SequenceFilter(2, period=24).fit(X[:246])
    X[246, 1] = 1e9
    with pytest.warns(AbsurdValueWarning):
        model.partial_fit(X[246:])
    (event,) = [one for one in model.events_ if one.since == 246]
    assert event.sizes[0] == pytest.approx(1e9 - 500.0, abs=20.0)  # a quarter of a period after zero
