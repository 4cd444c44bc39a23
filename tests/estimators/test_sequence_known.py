"""Columns that are known in every row: forecasts, gaps, streams, files and what is refused."""

from __future__ import annotations

import re

import numpy as np
import pytest

from factorstream import SequenceFilter, load

T, FIRST = 220, 200


@pytest.fixture(scope="module")
def rows():
    """Two features that a temperature and a holiday move, and one that they do not."""
    rng = np.random.default_rng(0)
    K = np.column_stack([rng.normal(size=T) * 4 + 15, rng.random(T) < 0.15])
    Y = rng.normal(size=(T, 3)).cumsum(0) * 0.05 + 0.3 * rng.normal(size=(T, 3)) + 100
    return Y + K @ np.array([[1.0, -0.5, 0.0], [-8.0, 4.0, 0.0]]), K


@pytest.fixture(scope="module")
def gone():
    return np.random.default_rng(1).random((FIRST, 3)) < 0.3


@pytest.fixture(scope="module")
def model(rows, gone):
    Y, K = rows
    return SequenceFilter(2).fit(np.where(gone, np.nan, Y[:FIRST]), known=K[:FIRST])


def test_forecasts_and_gaps_use_them(model, rows, gone):
    Y, K = rows
    X, future = np.where(gone, np.nan, Y[:FIRST]), Y[FIRST:]
    plain = SequenceFilter(2).fit(X)
    comes = model.forecast(20, known=K[FIRST:]), plain.forecast(20)
    off = [np.sqrt(np.mean((f - future) ** 2, axis=0)) for f in comes]
    assert (off[0][:2] < 0.5 * off[1][:2]).all()
    assert off[0][2] < 1.3 * off[1][2]
    lower, upper = model.forecast_interval(20, known=K[FIRST:])
    assert ((lower <= future) & (future <= upper)).mean() > 0.85
    fills = [
        np.sqrt([np.mean((f - Y[:FIRST])[gone[:, j], j] ** 2) for j in range(3)])
        for f in (model.impute(X, known=K[:FIRST]), plain.impute(X))
    ]
    assert (fills[0][:2] < 0.5 * fills[1][:2]).all()
    lower, upper = model.predict_interval(X, known=K[:FIRST])
    assert 0.9 < ((lower <= Y[:FIRST]) & (Y[:FIRST] <= upper))[gone].mean() < 0.985


def test_every_question_takes_them(model, rows):
    Y, K = (part[:30] for part in rows)
    assert model.transform(Y, known=K).shape == (30, model.n_components_)
    np.testing.assert_allclose(model.score(Y, known=K), model.score_samples(Y, known=K).mean())
    assert model.denoise(Y, known=K).shape == Y.shape
    assert model.deviations(Y, known=K).shape == Y.shape
    strange = K.copy()
    strange[15, 1] = 1.0 - strange[15, 1]  # a holiday that was none
    score = model.alarms(Y, known=strange).score
    assert np.argmax(np.abs(score[5:])) == 10


@pytest.mark.parametrize("smooth", [True, False])
def test_any_split_of_a_stream_is_the_same(rows, smooth):
    Y, K = (part[:110] for part in rows)
    streams = []
    for cuts in ([], [1, 63, 64, 65, 70, 90]):
        stream = SequenceFilter(2, lag=2, max_iter=2, calibrate=False, smooth=smooth)
        for y, k in zip(np.split(Y, cuts), np.split(K, cuts), strict=True):
            stream.partial_fit(y, known=k)
        streams.append(stream)
    one, split = streams
    np.testing.assert_array_equal(one.forecast(9, known=K[:9]), split.forecast(9, known=K[:9]))
    np.testing.assert_array_equal(one.impute(Y, known=K), split.impute(Y, known=K))
    np.testing.assert_array_equal(one.recent(), split.recent())
    assert np.abs(np.diff(one.forecast(2, known=[[15, 0], [15, 1]]), axis=0))[0, 0] > 6.0  # the holiday


def test_coefficients_go_on_learning(rows):
    """After the fit the rows of a stream count as those of the fit did."""
    Y, K = rows
    short = SequenceFilter(2, calibrate=False).fit(Y[:40], known=K[:40])
    jump = [[15.0, 0.0], [15.0, 1.0]]
    before = np.diff(short.forecast(2, known=jump), axis=0)[0]
    std = short.forecast(2, return_std=True, known=jump)[1]
    short.partial_fit(Y[40:60], known=K[40:60])
    after = np.diff(short.forecast(2, known=jump), axis=0)[0]
    assert np.abs(after - before)[:2].max() > 0
    assert (short.forecast(2, return_std=True, known=jump)[1][1, :2] < 1.2 * std[1, :2]).all()
    np.testing.assert_allclose(after[:2], [-8.0, 4.0], atol=1.0)


def test_a_file_answers_as_before(model, rows, tmp_path):
    Y, K = rows
    path = tmp_path / "model.factorstream"
    model.save(path)
    again = load(path)
    np.testing.assert_array_equal(again.forecast(9, known=K[:9]), model.forecast(9, known=K[:9]))
    np.testing.assert_array_equal(again.impute(Y, known=K), model.impute(Y, known=K))
    again.partial_fit(Y[FIRST:], known=K[FIRST:])
    assert np.isfinite(again.forecast(3, known=K[:3])).all()


def test_seasons_and_trends_beside_them(rows):
    Y, K = rows
    t = np.arange(T)
    X = Y + 3.0 * (t % 12 > 5)[:, None] + 0.1 * t[:, None]
    fit = SequenceFilter(2, period=12, trend=True).fit(X[:FIRST], known=K[:FIRST])
    off = np.sqrt(np.mean((fit.forecast(20, known=K[FIRST:]) - X[FIRST:]) ** 2, axis=0))
    assert off.mean() < 1.5


def test_tables_with_time_stamps(rows):
    pandas = pytest.importorskip("pandas")
    index = pandas.date_range("2024-01-01", periods=T, freq="D")
    Y, K = (pandas.DataFrame(part, index) for part in rows)
    Y.columns, K.columns = list("abc"), ["temperature", "holiday"]
    fit = SequenceFilter(2, calibrate=False).fit(Y[:FIRST], known=K[:FIRST])
    array = SequenceFilter(2, calibrate=False).fit(rows[0][:FIRST], known=rows[1][:FIRST])
    ahead = fit.forecast(20, known=K[FIRST:])
    assert list(ahead.index) == list(index[FIRST:])
    np.testing.assert_array_equal(ahead, array.forecast(20, known=rows[1][FIRST:]))
    np.testing.assert_array_equal(ahead, fit.forecast(20, known=rows[1][FIRST:]))
    with pytest.raises(ValueError, match="The time stamps of known are not those of the rows"):
        fit.forecast(20, known=K[FIRST - 1 : -1])
    with pytest.raises(ValueError, match="temperature, holiday, in this order"):
        fit.forecast(20, known=K[FIRST:][["holiday", "temperature"]])


def with_nan(K):
    K = K.copy()
    K[3, 1] = np.nan
    return K


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (with_nan, "known has no number in row 3, column 1: a known column needs one in every row; fill it first"),
        (lambda K: K[:-1], "known has 199 rows for 200 time steps; pass one row for each."),
        (lambda K: K[:, 0], "known must be a table with a column at least; it has shape (200,)."),
        (lambda K: K[:, :0], "known must be a table with a column at least"),
        (lambda K: K.astype(str) + "x", "known must be a table of numbers"),
    ],
)
def test_what_is_refused(model, rows, change, message):
    Y, K = (part[:FIRST] for part in rows)
    for ask in (SequenceFilter(2).fit, SequenceFilter(2).partial_fit, model.impute):
        with pytest.raises(ValueError, match=re.escape(message)):
            ask(Y, known=change(K))


def test_they_are_asked_for_always_or_never(model, rows):
    Y, K = rows
    for ask in (model.impute, model.alarms, model.partial_fit):
        with pytest.raises(ValueError, match="fitted with known columns"):
            ask(Y[:20])
    with pytest.raises(ValueError, match="fitted with known columns"):
        model.forecast(3)
    with pytest.raises(ValueError, match=re.escape("known must have the columns that the model was fitted with, 0, 1")):
        model.forecast(20, known=K[:20, :1])
    plain = SequenceFilter(2, calibrate=False, max_iter=2).fit(Y)
    with pytest.raises(ValueError, match="fitted without known columns"):
        plain.forecast(20, known=K[:20])


@pytest.mark.parametrize("period", [None, 7])
def test_what_a_rare_holiday_does_is_no_outlier(period):
    rng = np.random.default_rng(0)
    holiday = (rng.random((294, 1)) < 0.03) * 1.0
    Y = 200.0 - 50.0 * holiday[:280] + rng.normal(size=(280, 2))
    Y[rng.random(Y.shape) < 0.03] += 400.0
    model = SequenceFilter(robust=True, period=period).fit(Y, known=holiday[:280])
    off, on = (model.forecast(14, known=np.full((14, 1), value)) for value in (0.0, 1.0))
    np.testing.assert_allclose(on - off, -50.0, atol=2.0)
    np.testing.assert_allclose(off, 200.0, atol=2.0)
