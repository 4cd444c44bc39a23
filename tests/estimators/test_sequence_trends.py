"""Trends of a sequence: forecasts, gaps, streams, files and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream import SequenceFilter, load

T = 240


@pytest.fixture(scope="module")
def rows():
    """A line with noise, a walk with drift, noise, and a walk."""
    rng = np.random.default_rng(0)
    t = np.arange(T)
    Y = rng.normal(size=(T, 4))
    Y[:, 0] += 0.2 * t
    Y[:, 1] = 50 + 0.5 * t + Y[:, 1].cumsum()
    Y[:, 3] = Y[:, 3].cumsum()
    return Y


@pytest.fixture(scope="module")
def gone():
    rng = np.random.default_rng(1)
    blocks = rng.random((T // 10, 4)) < 0.2
    blocks[[0, -1]] = False  # gaps with data on both sides
    return np.repeat(blocks, 10, axis=0)


@pytest.fixture(scope="module")
def model(rows):
    return SequenceFilter(trend="auto").fit(rows[:-20])


def test_a_trend_goes_on(model, rows):
    plain = SequenceFilter().fit(rows[:-20])
    off, without = (np.sqrt(np.mean((m.forecast(20) - rows[-20:]) ** 2, axis=0)) for m in (model, plain))
    assert off[0] < 1.3  # the noise has a deviation of 1
    assert off[0] < without[0]
    lower, upper = model.forecast_interval(20)
    assert ((lower <= rows[-20:]) & (rows[-20:] <= upper)).mean() > 0.85
    assert (model.forecast(40)[39] - model.forecast(40)[19])[0] > 2.0


@pytest.mark.long
def test_gaps_are_filled_no_worse(rows, gone):
    X = np.where(gone, np.nan, rows)
    filled = [SequenceFilter(trend=trend, calibrate=False).fit(X).impute(X) for trend in (False, True, "auto")]
    plain, forced, auto = (np.sqrt([np.mean((f - rows)[gone[:, j], j] ** 2) for j in range(4)]) for f in filled)
    assert auto.mean() < 1.05 * plain.mean()
    assert forced.mean() < 1.1 * plain.mean()


def test_where_nothing_has_a_trend_all_is_as_without(rows):
    noise = np.random.default_rng(5).normal(size=(120, 2))
    plain, auto = (SequenceFilter(trend=trend).fit(noise) for trend in (False, "auto"))
    np.testing.assert_array_equal(auto.forecast(5), plain.forecast(5))
    np.testing.assert_array_equal(auto.impute(noise), plain.impute(noise))
    assert auto.seasons_ == {}


@pytest.mark.parametrize("smooth", [True, False])
def test_any_split_of_a_stream_is_the_same(rows, gone, smooth):
    X = np.where(gone, np.nan, rows)[:110]
    streams = []
    for cuts in ([], [1, 2, 63, 64, 65, 70, 90]):
        stream = SequenceFilter(2, trend=True, lag=2, max_iter=2, calibrate=False, smooth=smooth)
        for part in np.split(X, cuts):
            stream.partial_fit(part)
        streams.append(stream)
    one, split = streams
    assert one.state_.layers
    np.testing.assert_array_equal(one.forecast(9), split.forecast(9))
    np.testing.assert_array_equal(one.impute(X), split.impute(X))
    np.testing.assert_array_equal(one.recent(), split.recent())


def test_a_stream_without_trends_stays_as_it_is():
    """Where the first features that may have a trend have none, nothing else changes."""
    Y = np.random.default_rng(5).normal(size=(120, 3))
    plain, auto = (SequenceFilter(2, trend=trend, max_iter=4).partial_fit(Y) for trend in (False, "auto"))
    assert not auto.state_.layers
    np.testing.assert_array_equal(auto.forecast(5), plain.forecast(5))


def test_a_stream_finds_which_features_have_a_trend(rows):
    stream = SequenceFilter(2, trend="auto", max_iter=4).partial_fit(rows[:-20])
    off = stream.forecast(20)[:, 0] - rows[-20:, 0]
    assert np.sqrt(np.mean(off**2)) < 1.5
    (layer,) = stream.state_.layers
    assert list(np.isfinite(layer.damping)) == [True, True, False, False]


def test_a_stream_learns_a_trend_and_follows_it(rows):
    stream = SequenceFilter(2, trend=True, calibrate=False, max_iter=5).partial_fit(rows[:60])
    assert not stream.state_.layers
    stream.partial_fit(rows[60:110])
    assert stream.state_.layers
    stream.partial_fit(rows[110:-20])
    off = stream.forecast(20)[:, 0] - rows[-20:, 0]
    assert np.sqrt(np.mean(off**2)) < 1.5


def test_fit_goes_on_as_a_stream(rows):
    late = SequenceFilter(trend=True, max_iter=5).fit(rows[:-60])
    for part in np.split(rows[-60:-20], 4):
        late.partial_fit(part)
    off = late.forecast(20)[:, :2] - rows[-20:, :2]
    assert np.sqrt(np.mean(off[:, 0] ** 2)) < 1.5
    assert late.n_samples_seen_ == T - 20


def test_a_file_answers_as_before(model, rows, gone, tmp_path):
    X = np.where(gone, np.nan, rows)
    path = tmp_path / "model.factorstream"
    model.save(path)
    again = load(path)
    np.testing.assert_array_equal(again.forecast(9), model.forecast(9))
    np.testing.assert_array_equal(again.impute(X), model.impute(X))
    np.testing.assert_array_equal(again.score_samples(X), model.score_samples(X))
    later = load(path)
    for one in (again, later):
        one.partial_fit(rows[-20:-10])
    np.testing.assert_array_equal(again.forecast(9), later.forecast(9))


def test_a_table_at_another_height_is_read(model, rows):
    """A line is at another place in every table: nothing is strange about that."""
    later = rows[100:160] + np.array([500.0, 0.0, 0.0, 0.0])
    X = later.copy()
    X[30:35, 0] = np.nan
    off = model.impute(X)[30:35, 0] - later[30:35, 0]
    assert np.abs(off).max() < 4.0
    assert not model.alarms(later).fired[:5].any()


def test_seasons_and_trends(rows):
    t = np.arange(T)
    Y = np.column_stack([3.0 * (t % 12 > 5) + 0.1 * t + 0.3 * rows[:, 2], rows[:, 2]])
    fit = SequenceFilter(period=12, trend="auto", calibrate=False).fit(Y[:-24])
    assert np.sqrt(np.mean((fit.forecast(24) - Y[-24:])[:, 0] ** 2)) < 0.6
    assert list(fit.seasons_) == [12]


@pytest.mark.parametrize("trend", ["yes", 2, None])
def test_other_words_are_refused(rows, trend):
    with pytest.raises(ValueError, match="The 'trend' parameter"):
        SequenceFilter(trend=trend).fit(rows)
