"""Time stamps that are not equally spaced."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from factorstream import SequenceFilter, load
from factorstream.estimators._sequence_steps import as_given, held, on_common_steps
from factorstream.estimators._times import split_table

T = 120
LEFT_OUT = np.sort(np.random.default_rng(0).choice(np.arange(1, T - 1), 40, replace=False))


@pytest.fixture(scope="module")
def rows():
    """Two noisy waves."""
    t = np.arange(T)[:, None]
    return 10 + 3 * np.sin(t / [3.0, 5.0]) + 0.2 * np.random.default_rng(1).normal(size=(T, 2))


def tabled(library, rows, keep, unit="ns", tz=None):
    """A table with a time stamp every half hour, of which some rows are kept."""
    pandas = pytest.importorskip("pandas")
    times = pandas.date_range("2024-03-30", periods=T, freq="30min", tz=tz).as_unit(unit)
    if library == "pandas":
        return pandas.DataFrame(rows, times, ["a", "b"]).iloc[keep]
    polars = pytest.importorskip("polars")
    table = polars.DataFrame({"when": times.to_pydatetime().tolist(), "a": rows[:, 0], "b": rows[:, 1]})
    return table[keep.tolist()]


KEEP = np.setdiff1d(np.arange(T), LEFT_OUT)


def numbers(table):
    return np.asarray(table[["a", "b"]].to_numpy())


@pytest.mark.parametrize(
    ("library", "unit", "tz"),
    [("pandas", "ns", None), ("pandas", "s", None), ("pandas", "us", "Europe/Berlin"), ("polars", "us", None)],
)
def test_answers_are_those_of_rows_of_nan(rows, library, unit, tz):
    """Over the change to summer time too."""
    uneven, whole = tabled(library, rows, KEEP, unit, tz), rows.copy()
    whole[LEFT_OUT] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SequenceFilter(2, spacing="time").fit(uneven)
        plain = SequenceFilter(2).fit(whole)
        asked = uneven[::2] if library == "polars" else uneven.iloc[::2]
        signal = model.denoise(asked)
        assert model.alarms(asked).fired.shape == (len(asked),)
    assert type(signal) is type(uneven)
    even = np.full((KEEP[::2][-1] + 1, 2), np.nan)
    even[KEEP[::2]] = rows[KEEP[::2]]
    np.testing.assert_array_equal(numbers(signal), plain.denoise(even)[KEEP[::2]])
    np.testing.assert_array_equal(model.score_samples(asked), plain.score_samples(even)[KEEP[::2]])
    np.testing.assert_array_equal(model.transform(asked), plain.transform(even)[KEEP[::2]])
    ahead = model.forecast(3)
    np.testing.assert_array_equal(numbers(ahead), plain.forecast(3))
    first = ahead["when"][0] if library == "polars" else ahead.index[0]
    last = uneven["when"][-1] if library == "polars" else uneven.index[-1]
    assert (first - last).total_seconds() == 1800


def test_a_stream_goes_on_at_these_steps(rows, tmp_path):
    uneven = tabled("pandas", rows, KEEP)
    whole = rows.copy()
    whole[LEFT_OUT] = np.nan
    model = SequenceFilter(2, spacing="time", calibrate=False).fit(uneven.iloc[:50])
    model.save(tmp_path / "model.factorstream")
    plain = SequenceFilter(2, calibrate=False).fit(whole[: KEEP[49] + 1]).partial_fit(whole[KEEP[49] + 1 :])
    once = load(tmp_path / "model.factorstream").partial_fit(uneven.iloc[50:])
    for k in range(50, len(uneven)):
        model.partial_fit(uneven.iloc[[k]])
    for one in (once, model):
        np.testing.assert_array_equal(one.forecast(4).to_numpy(), plain.forecast(4))
        assert one.n_samples_seen_ == T
    off = uneven.iloc[:2].copy()
    off.index = [model.forecast(2).index[0], model.forecast(2).index[1] + np.timedelta64(7, "m")]
    with pytest.raises(ValueError, match=r"Row 1 of X \(2024-.*\) lies between the steps"):
        model.partial_fit(off)


def test_known_columns_keep_their_value_between_rows(rows):
    uneven = tabled("pandas", rows, KEEP)
    known = uneven[["a"]].rename(columns={"a": "warm"}) * 0 + np.arange(len(uneven))[:, None] % 3
    model = SequenceFilter(2, spacing="time", calibrate=False).fit(uneven, known=known)
    spread = on_common_steps(uneven.to_numpy(), split_table(uneven)[1])
    K = held(known.to_numpy(), spread)
    plain = SequenceFilter(2, calibrate=False).fit(spread.values, known=K)
    np.testing.assert_array_equal(model.forecast(2, known=[[1], [2]]).to_numpy(), plain.forecast(2, known=[[1], [2]]))
    np.testing.assert_array_equal(
        model.denoise(uneven, known=known).to_numpy(), plain.denoise(spread.values, known=K)[spread.rows]
    )
    np.testing.assert_array_equal(K[spread.rows], known.to_numpy())
    assert (np.diff(K[:, 0])[np.setdiff1d(np.arange(len(K) - 1), spread.rows - 1)] == 0).all()


def test_known_columns_keep_their_value_however_rows_are_divided(rows, tmp_path):
    uneven = tabled("pandas", rows, KEEP)
    known = uneven[["a"]] * 0 + np.random.default_rng(0).normal(size=(len(uneven), 1))
    uneven = uneven + 5.0 * known.to_numpy()
    model = SequenceFilter(2, spacing="time", calibrate=False, lag=30).fit(uneven[:50], known=known[:50])
    model.save(tmp_path / "model.factorstream")
    once = load(tmp_path / "model.factorstream").partial_fit(uneven[50:], known=known[50:])
    for k in range(50, len(uneven)):
        model.partial_fit(uneven.iloc[[k]], known=known.iloc[[k]])
    np.testing.assert_array_equal(model.recent().to_numpy(), once.recent().to_numpy())


@pytest.mark.parametrize("freq", ["D", "B", "MS", "QS", "30min"])
def test_calendars_stay_as_they_are(rows, freq):
    pandas = pytest.importorskip("pandas")
    times = pandas.date_range("2024-03-01", periods=T, freq=freq, tz="Europe/Berlin" if freq == "D" else None)
    table = pandas.DataFrame(rows, times, ["a", "b"])
    spread = on_common_steps(rows, split_table(table)[1])
    assert spread.values is as_given(rows, split_table(table)[1]).values


def test_steps_with_next_to_nothing_in_common_are_refused(rows):
    pandas = pytest.importorskip("pandas")
    seconds = np.random.default_rng(0).integers(30, 3600, T).cumsum()
    table = pandas.DataFrame(rows, pandas.Timestamp("2024-01-01") + pandas.to_timedelta(seconds, "s"), ["a", "b"])
    with pytest.raises(ValueError, match="more than 10 times as many; round the time stamps"):
        SequenceFilter(2, spacing="time").fit(table)


def test_months_that_are_left_out_are_to_be_passed(rows):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(rows, pandas.date_range("2004-03-01", periods=T, freq="MS"), ["a", "b"]).iloc[KEEP]
    with pytest.raises(ValueError, match=r"Months .* where some are left out, pass rows of NaN"):
        SequenceFilter(2, spacing="time").fit(table)


def test_a_stream_without_a_fit_is_refused(rows):
    with pytest.raises(ValueError, match="goes on at the steps of a fit"):
        SequenceFilter(2, spacing="time").partial_fit(tabled("pandas", rows, KEEP))


def test_dates_and_periods_come_back_as_they_are(rows):
    pandas = pytest.importorskip("pandas")
    days = pandas.date_range("2024-01-01", periods=T, freq="D")
    noons = pandas.Index((days + pandas.Timedelta("12h")).to_pydatetime(), dtype=object)
    for times in (days.to_period("D"), pandas.Index(days.date), noons, days):
        table = pandas.DataFrame(rows, times, ["a", "b"]).iloc[KEEP]
        model = SequenceFilter(2, spacing="time", calibrate=False, max_iter=2).fit(table)
        ahead = model.forecast(2)
        assert type(ahead.index[0]) is type(table.index[0])
        assert str(ahead.index[0])[:10] == "2024-04-30"
        assert str(ahead.index[0])[10:] == str(table.index[0])[10:]
        assert model.n_samples_seen_ == T
