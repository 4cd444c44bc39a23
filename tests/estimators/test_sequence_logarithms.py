"""Features that are modelled in logarithms: everything comes in and goes out in the data's units."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from factorstream import SequenceFilter, load
from factorstream.core.dynamics.seasons.trends import TrendLayer
from factorstream.estimators._absurd import AbsurdValueWarning

T, P = 132, 12
ALONE = {"n_components": 1, "period": P, "trend": True}


def series(n=T + 24, seed=0):
    """A season that multiplies a level which grows, and one that is added to such a level."""
    rng = np.random.default_rng(seed)
    t = np.arange(n)
    wave = np.sin(2 * np.pi * t / P) + 0.5 * (t % P == 3)
    grown = 100 * np.exp(0.01 * t + 0.25 * wave + 0.04 * rng.normal(size=n))
    added = 300 + 2.5 * t + 40 * wave + 10 * rng.normal(size=n)
    return np.column_stack([grown, added])


@pytest.fixture(scope="module")
def rows():
    return series()


@pytest.fixture(scope="module")
def gappy(rows):
    X = rows[:T, :1].copy()
    X[[20, 21, 22, 70, 71, 90]] = np.nan
    return X


@pytest.fixture(scope="module")
def logs(gappy):
    return SequenceFilter(marginals="log", **ALONE).fit(gappy)


@pytest.fixture(scope="module")
def by_hand(gappy):
    """A fit of the logarithms that somebody has taken."""
    return SequenceFilter(marginals="linear", **ALONE).fit(np.log(gappy))


@pytest.fixture(scope="module")
def auto(rows):
    return SequenceFilter(period=P, trend=True, n_components=2).fit(rows[:T])


# ---------------------------------------------------------------- as by hand


def test_bounds_are_those_of_the_logarithms(logs, by_hand, gappy):
    for level in (0.5, 0.95):
        for ours, theirs in (
            (logs.forecast_interval(24, level), by_hand.forecast_interval(24, level)),
            (logs.predict_interval(gappy, level), by_hand.predict_interval(np.log(gappy), level)),
        ):
            np.testing.assert_allclose(ours, np.exp(theirs), rtol=1e-12)


def test_points_are_means_and_deviations_tell_bounds(logs, by_hand, gappy):
    plain = SequenceFilter(marginals="linear", calibrate=False, **ALONE).fit(np.log(gappy))
    known = np.isfinite(gappy).sum()
    few = stats.t.ppf(0.975, known - 1) / stats.norm.ppf(0.975)
    bare = SequenceFilter(marginals="log", calibrate=False, **ALONE).fit(gappy)
    for ours, theirs, (lower, upper) in (
        (bare.forecast(24, return_std=True), plain.forecast(24, return_std=True), bare.forecast_interval(24)),
        (
            bare.impute(gappy, return_std=True),
            plain.impute(np.log(gappy), return_std=True),
            bare.predict_interval(gappy),
        ),
    ):
        np.testing.assert_allclose(ours[0], np.exp(theirs[0] + 0.5 * (theirs[1] / few) ** 2), rtol=1e-10)
        np.testing.assert_allclose(ours[1], (upper - lower) / (2 * stats.norm.ppf(0.975)), atol=1e-10)
    gone = np.isnan(gappy)
    np.testing.assert_allclose(bare.denoise(gappy)[gone], bare.impute(gappy)[gone], rtol=1e-12)
    lower, upper = (np.exp(end) for end in _about(*plain.denoise(np.log(gappy), return_std=True)))
    np.testing.assert_allclose(
        bare.denoise(gappy, return_std=True)[1], (upper - lower) / (2 * stats.norm.ppf(0.975)), rtol=1e-9
    )


def _about(mean, std):
    width = stats.norm.ppf(0.975) * std
    return mean - width, mean + width


def test_densities_have_the_jacobian_and_the_rest_is_the_same(logs, by_hand, gappy):
    seen = np.log(np.where(np.isnan(gappy), 1.0, gappy)).sum(1)
    np.testing.assert_allclose(logs.score_samples(gappy), by_hand.score_samples(np.log(gappy)) - seen, atol=1e-9)
    np.testing.assert_allclose(logs.deviations(gappy), by_hand.deviations(np.log(gappy)), atol=1e-9)
    np.testing.assert_allclose(logs.transform(gappy), by_hand.transform(np.log(gappy)), atol=1e-9)
    np.testing.assert_allclose(logs.seasons_[P], by_hand.seasons_[P], rtol=1e-12)
    np.testing.assert_allclose(logs.mean_, by_hand.mean_, rtol=1e-12)
    states = by_hand.transform(np.log(gappy))
    np.testing.assert_allclose(logs.inverse_transform(states), np.exp(by_hand.inverse_transform(states)), rtol=1e-9)


def test_a_stream_goes_on_in_the_same_units(logs, by_hand, rows, gappy, tmp_path):
    more = rows[T:, :1]
    ours, theirs = (SequenceFilter(marginals=name, lag=3, **ALONE) for name in ("log", "linear"))
    ours.fit(gappy), theirs.fit(np.log(gappy))
    for k, row in enumerate(more):
        row = row if k != 5 else np.array([np.nan])
        ours.partial_fit(row[None]), theirs.partial_fit(np.log(row)[None])
    bounds = ours.forecast_interval(12), theirs.forecast_interval(12)
    np.testing.assert_allclose(bounds[0], np.exp(bounds[1]), rtol=1e-9)
    np.testing.assert_array_equal(ours.recent()[-3:], more[-3:])
    at_once = SequenceFilter(marginals="log", lag=3, **ALONE).fit(gappy)
    given = more.copy()
    given[5] = np.nan
    at_once.partial_fit(given[:10]).save(tmp_path / "model")
    again = load(tmp_path / "model").partial_fit(given[10:])
    np.testing.assert_array_equal(again.forecast(12), ours.forecast(12))
    np.testing.assert_array_equal(again.in_logarithms_, [True])


def test_gaps_of_recent_rows_are_in_the_units_of_the_data(rows):
    ours, theirs = (SequenceFilter(marginals=name, lag=3, calibrate=False, **ALONE) for name in ("log", "linear"))
    X = rows[:T, :1].copy()
    ours.fit(X), theirs.fit(np.log(X))
    more = np.array([[rows[T, 0]], [np.nan], [rows[T + 2, 0]]])
    ours.partial_fit(more), theirs.partial_fit(np.log(more))
    fill, std = ours.recent(return_std=True)
    mean, own = theirs.recent(return_std=True)
    assert np.exp(mean[-2, 0]) < fill[-2, 0] < 1.05 * np.exp(mean[-2, 0])
    lower, upper = (np.exp(end[-2, 0]) for end in _about(mean, own))
    np.testing.assert_allclose(std[-2, 0], (upper - lower) / (2 * stats.norm.ppf(0.975)), rtol=1e-9)
    np.testing.assert_array_equal(fill[[-3, -1]], more[[0, 2]])


def test_a_stream_without_fit_has_logarithms_only_if_asked(rows):
    X = rows[:80, :1]
    plain = SequenceFilter(1, period=P).partial_fit(X)
    assert not plain.in_logarithms_.any()
    ours, theirs = SequenceFilter(1, period=P, marginals="log"), SequenceFilter(1, period=P, marginals="linear")
    ours.partial_fit(X[:50]).partial_fit(X[50:]), theirs.partial_fit(np.log(X))
    assert ours.in_logarithms_.all()
    bounds = ours.forecast_interval(12), theirs.forecast_interval(12)
    np.testing.assert_allclose(bounds[0], np.exp(bounds[1]), rtol=1e-9)


def test_known_columns_go_beside_logarithms(rows):
    X, K = rows[:, :1], np.sin(np.arange(len(rows)))[:, None]
    X = X * np.exp(0.2 * K)
    model = SequenceFilter(1, period=P, marginals="log", calibrate=False).fit(X[:T], known=K[:T])
    hand = SequenceFilter(1, period=P, marginals="linear", calibrate=False).fit(np.log(X[:T]), known=K[:T])
    bounds = model.forecast_interval(12, known=K[T : T + 12]), hand.forecast_interval(12, known=K[T : T + 12])
    np.testing.assert_allclose(bounds[0], np.exp(bounds[1]), rtol=1e-12)


def test_it_goes_without_seasons_too(rows):
    X = rows[:T, :1]
    model, hand = SequenceFilter(1, marginals="log").fit(X), SequenceFilter(1, marginals="linear").fit(np.log(X))
    np.testing.assert_allclose(model.forecast_interval(5), np.exp(hand.forecast_interval(5)), rtol=1e-12)


# ---------------------------------------------------------------- the choice


def test_forecasts_choose_for_every_feature(auto, rows):
    np.testing.assert_array_equal(auto.in_logarithms_, [True, False])
    plain = SequenceFilter(period=P, trend=True, n_components=2, marginals="linear").fit(rows[:T])
    assert not plain.in_logarithms_.any()
    off, without = (np.sqrt(np.mean((m.forecast(24) - rows[T:]) ** 2, axis=0)) for m in (auto, plain))
    assert off[0] < 0.7 * without[0]
    assert off[1] < 1.1 * without[1]
    lower, upper = auto.forecast_interval(24)
    assert ((lower <= rows[T:]) & (rows[T:] <= upper)).mean() > 0.85


def test_what_is_read_in_logarithms_has_a_rate_of_growth(rows):
    model = SequenceFilter(2, period=P, trend="auto").fit(rows[:T])
    np.testing.assert_array_equal(model.in_logarithms_, [True, False])
    (slopes,) = (layer.damping for layer in model.state_.layers if isinstance(layer, TrendLayer))
    assert np.isfinite(slopes[0])
    plain = SequenceFilter(2, period=P, trend="auto", marginals="linear").fit(rows[:T])
    trends = [layer.damping[1] for layer in plain.state_.layers if isinstance(layer, TrendLayer)]
    np.testing.assert_array_equal(slopes[1], trends[0] if trends else np.nan)


def test_where_nothing_grows_all_is_as_without(rows):
    X = rows[:T, 1:]
    auto, plain = (SequenceFilter(period=P, trend="auto", marginals=name).fit(X) for name in ("auto", "linear"))
    np.testing.assert_array_equal(auto.forecast(5), plain.forecast(5))
    assert auto.state_.logs is None


def test_what_is_not_positive_or_not_asked_for_is_not_tried(rows):
    X = rows[:T, :1]
    assert not SequenceFilter(period=P, trend=True).fit(X - 150.0).in_logarithms_.any()
    assert not SequenceFilter(1).fit(X).in_logarithms_.any()


def test_a_period_is_found_in_logarithms(rows):
    model = SequenceFilter(period="auto", trend=True).fit(rows[:T, :1])
    assert list(model.seasons_) == [P]
    assert model.in_logarithms_.all()


# ---------------------------------------------------------------- what has no logarithm


@pytest.mark.parametrize("bad", [0.0, -3.0])
def test_all_values_must_be_positive_where_logarithms_are_asked_for(rows, bad):
    X = rows[:T, :1].copy()
    X[7, 0] = bad
    with pytest.raises(ValueError, match=r"marginals='log' all values must be positive; X has .* at row 7, column 0\."):
        SequenceFilter(marginals="log", **ALONE).fit(X)


@pytest.mark.parametrize("bad", [0.0, -3.0])
def test_a_stream_takes_them_as_missing(logs, rows, gappy, bad):
    more = rows[T : T + 6, :1].copy()
    gone = more.copy()
    more[2], gone[2] = bad, np.nan
    model, other = (SequenceFilter(marginals="log", **ALONE).fit(gappy) for _ in range(2))
    with pytest.warns(AbsurdValueWarning, match="not positive at row 2, column 0") as told:
        model.partial_fit(more)
    assert len(told) == 1
    other.partial_fit(gone)
    np.testing.assert_array_equal(model.forecast(5), other.forecast(5))
    assert T + 2 in model.alarms_
    event = next(one for one in model.events_ if one.row == T + 2)
    assert event.kind == "outlier"
    np.testing.assert_allclose(event.sizes[0], bad - rows[T + 2, 0], rtol=0.3)


def test_questions_take_them_as_missing(logs, rows):
    X, gone = rows[:T, :1].copy(), rows[:T, :1].copy()
    X[50], gone[50] = -1.0, np.nan
    with pytest.warns(AbsurdValueWarning, match="not positive at row 50"):
        filled = logs.impute(X)
    np.testing.assert_array_equal(filled, logs.impute(gone))
    with pytest.warns(AbsurdValueWarning, match="not positive"):
        scores = logs.score_samples(X)
    np.testing.assert_array_equal(scores, logs.score_samples(gone))
    assert logs.deviations(X)[50, 0] == -np.inf
    alarms = logs.alarms(X)
    assert alarms.fired[50]
    assert np.isinf(alarms.score[50])
    assert any(one.row == 50 and one.kind == "outlier" for one in alarms.events)


# ---------------------------------------------------------------- events


@pytest.mark.parametrize("how", ["table", "stream"])
def test_sizes_of_events_are_in_the_units_of_the_data(rows, how):
    X = series(T + 60)[:, :1]
    X[T + 20 :] *= 1.6
    X[T + 5] *= 1.8
    model = SequenceFilter(1, period=P, trend=True, marginals="log", robust=False).fit(X[:T])
    events = model.partial_fit(X[T:]).events_ if how == "stream" else model.alarms(X).events
    outlier = next(one for one in events if one.kind == "outlier" and one.since == T + 5)
    np.testing.assert_allclose(outlier.sizes[0], X[T + 5, 0] * (1 - 1 / 1.8), rtol=0.25)
    shift = next(one for one in events if one.kind == "shift" and abs(one.since - T - 20) < 3)
    np.testing.assert_allclose(shift.sizes[0], X[shift.since, 0] * (1 - 1 / 1.6), rtol=0.4)


# ---------------------------------------------------------------- tables and pages


def test_tables_and_single_precision_come_back_as_they_were(rows, gappy):
    pandas = pytest.importorskip("pandas")
    when = pandas.period_range("2010-01", periods=T, freq="M")
    table = pandas.DataFrame(gappy.astype(np.float32), when, ["sales"])
    model = SequenceFilter(period="auto", trend=True, marginals="log").fit(table)
    assert list(model.seasons_) == [P]
    filled = model.impute(table)
    assert filled["sales"].dtype == np.float32
    assert filled.index.equals(table.index)
    seen = np.isfinite(gappy)
    np.testing.assert_array_equal(filled.to_numpy()[seen], gappy.astype(np.float32)[seen])
    assert model.forecast(12).index[0] == when[-1] + 1
    assert "in logarithms" in model._repr_html_()


def test_a_failed_call_changes_nothing(logs, rows):
    before = logs.forecast(3)
    with pytest.raises(ValueError, match="infinity"):
        logs.partial_fit(np.array([[np.inf]]))
    np.testing.assert_array_equal(logs.forecast(3), before)
