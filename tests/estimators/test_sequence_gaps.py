"""Steps that time stamps leave out are told of, once per call; calendars whose days are not equally long are not."""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import pytest

from factorstream import SequenceFilter
from sequence_problems import GOOD, hours, panel, quick, table

LEFT_OUT = np.r_[0:10, 13:30, 31:40]
CALENDARS = ["B", "MS", "ME", "BME", "QS", "YS", "W", "2h"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_holes_are_told_of_at_the_callers_line(library):
    X = table(library, GOOD[LEFT_OUT], hours(library, 40)[LEFT_OUT])
    model = SequenceFilter(2)
    message = r"about 4 step\(s\).* from 2024-01-01 09:00:00 to 2024-01-01 13:00:00; .*"
    fill = r"df\.asfreq" if library == "pandas" else r"df\.upsample"
    for ask in (model.fit, model.impute, model.denoise, model.transform, model.score_samples, model.alarms):
        with pytest.warns(UserWarning, match=message + fill) as told:
            ask(X)
        assert len(told) == 1
        assert told[0].filename == __file__


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_hole_between_calls_is_told_of_once(library):
    X = table(library, GOOD, hours(library, 40))
    model = quick(2).partial_fit(X[:10])
    with pytest.warns(UserWarning, match=r"about 2 step\(s\).* from 2024-01-01 09:00:00 to 2024-01-01 12:00:00"):
        model.partial_fit(X[12:13])
    for row in range(13, 20):
        model.partial_fit(X[row : row + 1])
    with pytest.warns(UserWarning, match=r"about 1 step\(s\).* from 2024-01-01 19:00:00 to 2024-01-01 21:00:00"):
        model.partial_fit(X[21:])


def test_a_warning_made_an_error_leaves_the_stream_as_it_was():
    X = table("pandas", GOOD, hours("pandas", 40))
    model = quick(2).partial_fit(X[:10])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="left out"):
            model.partial_fit(X[20:])
    assert model.partial_fit(X[10:]).n_samples_seen_ == 40


@pytest.mark.parametrize(("library", "freq"), [*product(["pandas", "polars"], CALENDARS), ("pandas", "bh")])
def test_calendars_have_no_holes(library, freq):
    pandas = pytest.importorskip("pandas")
    times = pandas.date_range("2024-01-01", periods=40, freq=freq)
    times = pandas.DatetimeIndex(times.to_numpy())  # without the frequency
    if library == "polars":
        times = pytest.importorskip("polars").Series("when", times.to_pydatetime().tolist())
    X = table(library, GOOD, times)
    quick(2).fit(X).impute(X)
    stream = quick(2)
    for start in range(0, 40, 3):
        stream.partial_fit(X[start : start + 3])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_day_off_is_one_working_day(library):
    pandas = pytest.importorskip("pandas")
    times = pandas.bdate_range("2024-01-01", periods=41).delete(25)  # a Monday
    if library == "polars":
        times = pytest.importorskip("polars").Series("when", times.date.tolist())
    with pytest.warns(UserWarning, match=r"about 1 step\(s\).* from 2024-02-02.* to 2024-02-06"):
        quick(2).fit(table(library, GOOD, times))


def test_summer_time_and_a_given_calendar_have_no_holes():
    pandas = pytest.importorskip("pandas")
    summer = pandas.date_range("2024-03-25", periods=40, freq="D", tz="Europe/Berlin")
    quick(2).fit(table("pandas", GOOD, summer))
    holidays = pandas.offsets.CustomBusinessDay(holidays=["2024-01-10", "2024-01-11"])
    days = pandas.date_range("2024-01-01", periods=40, freq=holidays)
    quick(2).partial_fit(table("pandas", GOOD[:20], days[:20])).partial_fit(table("pandas", GOOD[20:], days[20:]))


def test_rows_of_nan_in_the_holes_are_what_the_warning_asks_for():
    X = table("pandas", panel(T=60), hours("pandas", 60))
    filled = SequenceFilter(2).fit(X.drop(X.index[20:25]).asfreq("h")).impute(X.drop(X.index[20:25]).asfreq("h"))
    assert filled.index.equals(X.index)
    assert np.isfinite(filled.to_numpy()).all()


@pytest.mark.parametrize("kind", ["periods", "dates"])
def test_holes_of_other_time_stamps(kind):
    pandas = pytest.importorskip("pandas")
    days = pandas.date_range("2024-01-01", periods=40)
    times = days.to_period("D") if kind == "periods" else pandas.Index(days.date, dtype=object)
    with pytest.warns(UserWarning, match=r"about 4 step\(s\).* from 2024-01-10 to 2024-01-14; .*df\.reindex"):
        quick(2).fit(table("pandas", GOOD[LEFT_OUT], times[LEFT_OUT]))


def test_holes_of_a_column_of_time_stamps():
    X = table("pandas", GOOD[LEFT_OUT], hours("pandas", 40)[LEFT_OUT]).rename_axis("when").reset_index()
    with pytest.warns(UserWarning, match=r"about 4 step\(s\).*df\.set_index\('when'\)\.asfreq"):
        quick(2).fit(X)
