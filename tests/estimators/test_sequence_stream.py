"""Rows that arrive one after another: splits, bounds, fixed lags and the alarms of a stream."""

from __future__ import annotations

import copy
import pickle
from functools import cache

import numpy as np
import pytest

from factorstream import SequenceFilter
from factorstream.core.dynamics.filter import entry
from factorstream.core.dynamics.lookout import limits_of
from factorstream.metrics import coverage, rmse
from sequence_problems import gappy, panel

pytestmark = pytest.mark.long  # streams, each several times


@pytest.mark.parametrize("settings", [{}, {"drift": "none", "lag": 5, "robust": True}, {"drift": 1e-3}])
def test_a_stream_does_not_depend_on_its_split(settings):
    X, _ = gappy(panel(T=420))
    X[50:53] = np.nan
    whole = SequenceFilter(2, **settings).partial_fit(X)
    split = SequenceFilter(2, **settings)
    for rows in np.split(X, [1, 2, 40, 41, 256, 300, 385]):
        before = rows.copy()
        split.partial_fit(rows)
        np.testing.assert_array_equal(rows, before)
        rows[:] = 7.0  # nothing keeps hold of what was passed
    X, _ = gappy(panel(T=420))
    for name in ("components_", "mean_", "noise_variance_", "dynamics_"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(split, name))
    np.testing.assert_array_equal(whole.forecast(3), split.forecast(3))
    np.testing.assert_array_equal(whole.recent(), split.recent())
    assert whole.alarms_ == split.alarms_
    assert whole.n_samples_seen_ == split.n_samples_seen_ == 420


def test_a_stream_stays_bounded():
    """Also while something is being learned."""
    X = panel(T=900, m=4)
    model, sizes = SequenceFilter(1, lag=3), []
    for rows in np.split(X, range(50, 900, 50)):
        sizes.append(len(pickle.dumps(model.partial_fit(rows))))
    assert max(sizes[9:]) < 1.2 * max(sizes[:9])
    assert model.recent().shape == (4, 4)


def test_looking_back_helps_and_ends_with_the_filter():
    Y = panel(T=500)
    X, removed = gappy(Y, 0.3)
    model, lag = SequenceFilter(2, drift="none", lag=8), 8
    now, later, std = Y.copy(), Y.copy(), np.zeros_like(Y)
    for t, row in enumerate(X):
        recent, recent_std = model.partial_fit(row[None]).recent(return_std=True)
        now[t] = recent[-1]
        if len(recent) > lag:
            later[t - lag], std[t - lag] = recent[0], recent_std[0]
    removed[:50] = removed[-lag:] = False
    assert rmse(Y, later, where=removed) < rmse(Y, now, where=removed)
    assert 0.9 < coverage(Y, later, std, where=removed) < 0.99
    np.testing.assert_array_equal(recent[~np.isnan(X[-lag - 1 :])], X[-lag - 1 :][~np.isnan(X[-lag - 1 :])])


@pytest.mark.parametrize("n", [1, 2, 3, 20])
def test_a_stream_answers_from_its_first_row(n):
    X, _ = gappy(panel(T=30), 0.3)
    X[0, 0] = np.nan
    model = SequenceFilter(2).partial_fit(X[:n])
    filled, std = model.impute(X, return_std=True)
    assert np.isfinite(filled).all()
    assert (std[np.isnan(X)] > 0).all()
    assert np.isfinite(model.forecast(2)).all()


def test_a_stream_may_begin_without_data():
    model = SequenceFilter(2).partial_fit(np.full((3, 6), np.nan)).partial_fit(panel(T=40))
    assert np.isfinite(model.forecast(2)).all()


def test_a_stream_goes_on_after_a_fit():
    Y = panel(T=600)
    model = SequenceFilter(2, drift="none").fit(Y[:300])
    first = model.forecast(1)
    model.partial_fit(Y[300:])
    assert model.n_samples_seen_ == 600
    assert model.state_.stream.refreshes == 2
    assert np.abs(model.forecast(1) - first).max() > 0
    assert rmse(Y[300:], model.impute(Y[300:])) == 0.0


def test_alarms_of_a_stream():
    Y = panel(1, T=900, m=8)
    Y[600:] += 0.8 * (-1.0) ** np.arange(8)
    model = SequenceFilter(2, drift="none").partial_fit(Y)
    assert [t for t in model.alarms_ if t < 600] == []
    assert any(600 <= t < 630 for t in model.alarms_)


def one_step_ahead(model, X, first):
    """Every row from ``first`` on as forecast by a model that has seen those before it, with standard deviations."""
    ahead, std = np.full(X.shape, np.nan), np.full(X.shape, np.nan)
    for k in range(first, len(X)):
        ahead[k], std[k] = (part[0] for part in model.forecast(1, return_std=True))
        model.partial_fit(X[k : k + 1])
    return ahead, std


def with_a_large_feature(size, level):
    Y = panel(T=700, level=level)
    Y[:, 0] = size * (Y[:, 0] + 50.0)
    return Y


@cache
def rows_known_from_the_first(size, level):
    """Forecasts of rows that are all observed, from row 255 on."""
    Y = with_a_large_feature(size, level)
    ahead = one_step_ahead(SequenceFilter(2, calibrate=False).partial_fit(Y[:255]), Y, 255)[0]
    ahead.flags.writeable = False
    return ahead


@cache
def before_the_sensor(start, level):
    """A stream until the large feature starts; how large it is does not show yet. Tests copy it before they go on."""
    X = with_a_large_feature(1.0, level)[:start]
    X[:, 0] = np.nan
    return SequenceFilter(2, lag=4, calibrate=False).partial_fit(X)


@pytest.mark.parametrize(("start", "level"), [(400, 0.0), (400, 0.05), (255, 0.05), (382, 0.05)])
@pytest.mark.parametrize("size", [1.0, 1e4])
def test_a_sensor_that_starts_late_is_soon_known_as_well_as_the_others(size, start, level):
    """Whether the warm-up or a window of rows ends just after its first value or long after it.

    Rows are judged after the warm-up, where no stream is calibrated.
    """
    Y = with_a_large_feature(size, level)
    X = Y.copy()
    X[:start, 0] = np.nan
    late, std = one_step_ahead(copy.deepcopy(before_the_sensor(start, level)), X, start)
    early = rows_known_from_the_first(size, level)
    after = np.zeros(Y.shape, dtype=bool)
    after[start + 12 :, 0] = True
    assert rmse(Y, late, where=after) < 1.1 * rmse(Y, early, where=after)
    assert 0.9 < coverage(Y, late, std, n_std=1.959964, where=after) < 0.99


@pytest.mark.parametrize("n", [100, 300])
def test_widths_that_a_fit_found_are_not_learned_once_more(n):
    """What errors teach is how wide intervals must be, whatever they began with; and a new fit does not forget it."""
    Y = panel(T=900)
    ends = []
    for wide in (1.0, 2.0):
        model = SequenceFilter(2, drift="none").fit(Y[:n])
        model.state_ = model.state_._replace(interval_scale=wide, forecast_scale=wide)
        model.partial_fit(Y[n : n + 5])
        early = model.forecast_scale_
        model.partial_fit(Y[n + 5 :])
        ends.append((early, model.interval_scale_, model.forecast_scale_))
    assert ends[1][0] > 1.3 * ends[0][0]
    np.testing.assert_allclose(ends[1][1:], ends[0][1:], rtol=0.25)  # twice as wide if they were


def test_a_sensor_that_hardly_ever_reports_does_not_hold_up_the_stream():
    Y = panel(T=1200, m=4)
    Y[:300, 0] = np.nan
    Y[300:, 0][np.arange(900) % 200 != 7] = np.nan
    model = SequenceFilter(2).partial_fit(Y)
    assert len(model.state_.stream.window) < 256
    assert model.state_.stream.refreshes >= 4
    assert np.isfinite(model.forecast(2)).all()


def test_a_sensor_that_starts_late_raises_no_alarm_and_does_not_depend_on_the_split():
    Y = panel(T=500)
    Y[:, 0] = 1e4 * (Y[:, 0] + 50.0)
    Y[:300, 0] = np.nan
    whole = SequenceFilter(2, lag=4).partial_fit(Y)
    parts = SequenceFilter(2, lag=4)
    for rows in np.split(Y, [100, 301, 305, 309]):
        parts.partial_fit(rows)
        assert np.isfinite(parts.recent()).all()
    assert whole.alarms_ == []
    np.testing.assert_array_equal(whole.components_, parts.components_)
    np.testing.assert_array_equal(whole.recent(), parts.recent())


def test_rows_before_the_first_value_do_not_count_as_warm_up():
    Y = panel(T=400)
    empty = np.full((300, 6), np.nan)
    late, early = SequenceFilter(2).partial_fit(empty).partial_fit(Y), SequenceFilter(2).partial_fit(Y)
    np.testing.assert_array_equal(late.components_, early.components_)
    np.testing.assert_array_equal(late.forecast(3), early.forecast(3))
    assert late.n_samples_seen_ == 700


def test_recent_is_whole_when_a_sensor_starts_late():
    """Also across the rows at which the stream learns: the last row is the filtered one."""
    Y = panel(T=460, level=0.05)
    Y[:300, 0] = np.nan
    Y[::3, 3] = np.nan
    model = SequenceFilter(2, lag=20).partial_fit(Y[:300])
    for row in Y[300:]:
        recent = model.partial_fit(row[None]).recent()
        assert len(recent) == 21
        stream = model.state_.stream
        filtered = stream.shift + stream.scale * entry(stream.fitted.now, stream.fitted.belief)[0]
        np.testing.assert_allclose(recent[-1], np.where(np.isnan(row), filtered, row))


@pytest.mark.parametrize("robust", [False, True])
def test_recent_ends_with_the_belief_that_the_stream_goes_on_from(robust):
    """Also at the rows at which a model that was fitted anew takes the place of the old one."""
    X, _ = gappy(panel(T=300), 0.2)
    X[::7, 0] += 30.0
    model = SequenceFilter(2, lag=4, robust=robust)
    for row in X:
        model.partial_fit(row[None])
        assert model.state_.beliefs[-1] is model.state_.fitted.belief
        assert len(model.state_.beliefs) == min(5, model.n_samples_seen_)


def test_the_threshold_of_the_alarms_is_found_once(monkeypatch):
    model = SequenceFilter(2, alarm_rate=1e-3).partial_fit(panel(T=20))
    assert model.state_.limits == limits_of(1e-3, 6)
    for rule in ("alarm", "shifts"):
        monkeypatch.setattr(f"factorstream.core.dynamics.{rule}.brentq", None)
    model.partial_fit(panel(1, T=20)).alarms(panel(2, T=20))


def test_one_outlier_raises_no_alarm_in_its_own_row_and_none_at_all_where_outliers_do_not_count():
    Y = panel(1, T=700, m=8)
    Y[500, 0] += 20.0 * Y[:, 0].std()
    plain, robust = (SequenceFilter(2, drift="none", robust=robust).partial_fit(Y) for robust in (False, True))
    clean = SequenceFilter(2, drift="none", robust=True).partial_fit(panel(1, T=700, m=8))
    assert not {500, 501, 502, 503} & {*plain.alarms_, *robust.alarms_}
    assert robust.alarms_ == clean.alarms_  # the outlier adds none
    first = robust.events_[0]
    assert (first.kind, first.features, first.since) == ("outlier", (0,), 500)


def test_an_absurd_value_in_a_stream_is_one_alarm():
    Y = panel(1, T=420)
    Y[200, 2] = Y[400, 1] = np.nan
    clean = SequenceFilter(2, drift="none", calibrate=False).partial_fit(Y)
    Y[200, 2] = Y[400, 1] = 1e9
    model = SequenceFilter(2, drift="none", calibrate=False)
    with pytest.warns(UserWarning, match="absurd value at row 200, column 2.*, like 1 more"):
        model.partial_fit(Y)
    assert model.alarms_ == sorted([*clean.alarms_, 400])  # row 200 belongs to the warm-up
    assert model.state_.alarm == clean.state_.alarm


def test_a_stream_raises_no_alarms_while_it_warms_up():
    Y = panel(1, T=256, m=8)
    Y[200:] *= 100.0
    assert SequenceFilter(2, drift="none", alarm_rate=0.1).partial_fit(Y).alarms_ == []


def test_a_short_fit_goes_on_warming_up():
    """The number of states that few rows show must not stay for ever."""
    Y = panel(4, T=600, m=8, r=2)
    model = SequenceFilter(2).fit(Y[:20]).partial_fit(Y[20:500])
    whole = SequenceFilter(2).partial_fit(Y[:500])
    assert model.n_components_ == whole.n_components_
    np.testing.assert_array_equal(model.components_, whole.components_)
    assert model.n_samples_seen_ == 500


@pytest.mark.parametrize("settings", [{}, {"drift": "none"}, {"robust": True}, {"drift": 1e-3}])
def test_a_long_pause_widens_bounds_as_a_forecast_over_it_does(settings):
    rng = np.random.default_rng(0)
    X = 5 * np.sin(np.arange(300)[:, None] / 15 + np.arange(4)) + 0.3 * rng.normal(size=(300, 4)).cumsum(0)
    model = SequenceFilter(3, calibrate=False, max_iter=3, **settings).fit(X)
    over = np.array(model.forecast_interval(4001))[:, -1]
    model.partial_fit(np.full((4000, 4), np.nan))
    np.testing.assert_allclose(np.array(model.forecast_interval(1))[:, 0], over, rtol=1e-12)
