"""Columns and time stamps as plain data and back: nothing is lost that answers need."""

from __future__ import annotations

import pickle
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from factorstream import SequenceFilter
from factorstream.estimators import _times
from factorstream.estimators._stored_times import (
    restore_index,
    restore_table,
    store_frequency,
    store_index,
    store_label,
    store_table,
    store_times,
)
from factorstream.estimators._stored_zones import zone, zone_text
from factorstream.estimators._times import Table, last_rows, split_table
from sequence_problems import check_plain, hours, panel, quick, table

pandas = pytest.importorskip("pandas")
BERLIN = "Europe/Berlin"


def indexes():
    days = pandas.date_range("2024-03-25", periods=10, name="when")
    yield "datetime", days
    yield "no freq", pandas.DatetimeIndex(days.to_numpy())
    yield "gaps", days[[0, 1, 5, 6]]
    for unit in ("s", "ms", "us", "ns"):
        yield unit, days.as_unit(unit)
    yield "zone", pandas.date_range("2024-03-25", periods=10, freq="D", tz=BERLIN)
    yield "zoneinfo", pandas.date_range("2024-03-25", periods=10, freq="h", tz=ZoneInfo(BERLIN))
    yield "utc", pandas.date_range("2024-03-25", periods=10, freq="h", tz="UTC")
    yield "offset", pandas.date_range("2024-03-25", periods=10, freq="h", tz=timezone(timedelta(hours=5.5)))
    for freq in ("B", "ME", "BME", "QS", "W-TUE", "15min", "2h", "bh"):
        yield freq, pandas.date_range("2024-01-01", periods=10, freq=freq)
    holidays = pandas.offsets.CustomBusinessDay(holidays=["2024-01-10", "2024-01-11"], weekmask="Mon Tue Wed Thu")
    yield "holidays", pandas.date_range("2024-01-01", periods=10, freq=holidays)
    yield "months", pandas.date_range("2024-01-01", periods=10, freq=pandas.DateOffset(months=1, days=1))
    opening = pandas.offsets.BusinessHour(start="10:00", end="12:30")
    yield "opening", pandas.date_range("2024-01-01 10:00", periods=10, freq=opening)
    for freq in ("D", "M", "2M", "W-TUE", "Y", "h"):
        yield f"period {freq}", pandas.period_range("2024-01", periods=10, freq=freq, name="when")
    yield "timedelta", pandas.timedelta_range("1h", periods=5, freq="30min")
    yield "dates", pandas.Index(days.date, dtype=object, name="when")
    yield "datetimes", pandas.Index(days.to_pydatetime(), dtype=object)
    yield "zoned datetimes", pandas.Index([datetime(2024, 1, k, tzinfo=ZoneInfo(BERLIN)) for k in (1, 2)], dtype=object)
    yield "timestamps", pandas.Index(list(days + pandas.Timedelta(1, "ns")), dtype=object)
    yield "range", pandas.RangeIndex(3, 30, 3, name="k")
    yield "integer", pandas.Index([5, 3, 8], dtype="int32")
    yield "float", pandas.Index([0.5, np.nan, 2.0])
    yield "bool", pandas.Index([True, False])
    yield "string", pandas.Index(["a", "ü", ""], name=("two", 2))
    yield "mixed", pandas.Index(["a", 1, 2.5, None, (1, "b")], dtype=object, tupleize_cols=False)
    yield "multi", pandas.MultiIndex.from_product([["a", "b"], days[:2]], names=["x", "y"])


@pytest.mark.parametrize(("name", "index"), list(indexes()), ids=[name for name, _ in indexes()])
def test_an_index_comes_back_as_it_was(name, index):
    stored = store_index(index)
    check_plain(stored)
    found = restore_index(stored)
    pandas.testing.assert_index_equal(found, index, exact=True)
    assert getattr(found, "freq", None) == getattr(index, "freq", None)
    assert [type(k) for k in found] == [type(k) for k in index]
    if len(index) > 3 and hasattr(index, "tz"):
        assert type(found.tz) is type(index.tz)


def test_labels_that_are_no_plain_data_are_dropped():
    intervals = pandas.interval_range(0, 5)
    assert store_index(intervals) is None
    with pytest.raises(TypeError, match="Interval cannot be stored"):
        store_label(intervals[0])
    X = pandas.DataFrame(panel(T=5), index=intervals, columns=pandas.interval_range(0, 6))
    found = restore_table(store_table(split_table(X)[1]))
    assert found.labels is None
    assert list(found.columns) == list(map(str, X.columns))


@pytest.mark.parametrize("tz", [None, ZoneInfo(BERLIN), ZoneInfo("UTC"), UTC, timezone(timedelta(hours=-3))])
def test_time_zones_come_back(tz):
    found = zone(zone_text(tz))
    assert found == tz
    assert type(found) is type(tz)


@pytest.mark.parametrize("library", ["pytz", "dateutil.tz"])
def test_time_zones_of_other_libraries_come_back(library):
    module = pytest.importorskip(library)
    tz = module.timezone(BERLIN) if library == "pytz" else module.gettz(BERLIN)
    assert zone(zone_text(tz)) == tz


class Fixed(tzinfo):
    """A time zone of the user's at a fixed offset."""

    def utcoffset(self, dt):
        return timedelta(hours=2)

    def dst(self, dt):
        return timedelta(0)

    def tzname(self, dt):
        return "mine"


class Moving(Fixed):
    """One whose offset depends on the date."""

    def utcoffset(self, dt):
        return None if dt is None else timedelta(hours=dt.month // 6)


def zones():
    yield "named", timezone(timedelta(hours=1), "CET")
    yield "offset", timezone(timedelta(hours=5.5))
    yield "own", Fixed()
    dateutil = pytest.importorskip("dateutil.tz")
    yield "tzoffset", dateutil.tzoffset("CET", 3600)
    yield "unnamed tzoffset", dateutil.tzoffset(None, -7200)
    yield "tzlocal", dateutil.tzlocal()
    yield "tzutc", dateutil.tzutc()
    yield "gettz", dateutil.gettz(BERLIN)


@pytest.mark.parametrize(("name", "tz"), list(zones()), ids=[name for name, _ in zones()])
@pytest.mark.parametrize("column", [False, True])
def test_a_stream_goes_on_in_any_time_zone(name, tz, column):
    X = pandas.DataFrame(panel(T=40), columns=list("abcdef"), index=pandas.date_range("2024-01-05", periods=40, tz=tz))
    end = X.index[-1]
    X = X.rename_axis("when").reset_index() if column else X
    model = quick(2, lag=3).fit(X[:30]).partial_fit(X[30:35])
    model = pickle.loads(pickle.dumps(model)).partial_fit(X[35:])
    check_plain(model.state_)
    recent, ahead = model.recent(), model.forecast(2)
    for found in (recent, ahead):
        times = pandas.DatetimeIndex(found["when"]) if column else found.index
        assert isinstance(times, pandas.DatetimeIndex)
        assert times[0].utcoffset() == end.utcoffset()
    assert times[0] == end + pandas.Timedelta("1D")


def test_a_zone_keeps_its_name():
    assert zone(zone_text(timezone(timedelta(hours=1), "CET"))).tzname(None) == "CET"
    assert zone(zone_text(timezone(timedelta(hours=1)))).tzname(None) == "UTC+01:00"
    assert zone(zone_text(timezone(timedelta(hours=1), "a:b"))).tzname(None) == "a:b"


def test_a_stream_does_not_go_on_in_a_zone_that_shows_other_times():
    times = pandas.date_range("2024-01-05", periods=40, tz=BERLIN)
    X = pandas.DataFrame(panel(T=40), index=times)
    model = quick(2).fit(X[:30])
    with pytest.raises(ValueError, match="of another kind than those before; go on as it began"):
        model.partial_fit(X[30:].tz_convert("Asia/Tokyo"))


def test_a_zone_of_dateutil_is_stored_by_its_name():
    dateutil = pytest.importorskip("dateutil.tz")
    assert zone_text(dateutil.gettz(BERLIN)) == f"dateutil:{BERLIN}"


@pytest.mark.parametrize("origin", ["zoneinfo", "pytz", "dateutil"])
def test_a_zone_that_is_not_known_here_is_refused(origin):
    pytest.importorskip(origin)
    with pytest.raises(
        ValueError, match=r"The time zone Atlantis/Capital is not known on this machine; install tzdata"
    ):
        zone(f"{origin}:Atlantis/Capital")


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_time_stamps_that_cannot_be_kept_are_refused(method):
    X = pandas.DataFrame(panel(T=40), index=pandas.date_range("2024-01-05", periods=40, name=frozenset("a")))
    model = quick(2)
    with pytest.raises(ValueError, match="time stamps of X cannot be kept for the rows to come"):
        getattr(model, method)(X)
    assert not hasattr(model, "state_")


@pytest.mark.parametrize("tz", [Moving(), tzinfo()])
def test_a_zone_without_a_name_or_an_offset_cannot_be_stored(tz):
    with pytest.raises(TypeError, match="cannot be stored"):
        zone_text(tz)
    with pytest.raises(ValueError, match="because their time zone or name is not plain data"):
        store_times(pandas.Index([datetime(2024, 1, 1, tzinfo=tz)], dtype=object))


def test_a_frequency_that_cannot_be_written_down_is_inferred_again():
    class Odd(pandas.offsets.DateOffset):
        pass

    assert store_frequency(Odd(days=2)) is None
    assert store_frequency(None) is None


@pytest.mark.parametrize("kind", ["Date", "ms", "us", "ns", "zone"])
def test_series_of_polars_come_back(kind):
    polars = pytest.importorskip("polars")
    values = [datetime(2024, 3, k, 5) for k in (1, 2, 4)]
    times = polars.Series("when", [v.date() for v in values] if kind == "Date" else values)
    if kind != "Date":
        times = times.cast(polars.Datetime("us" if kind == "zone" else kind, BERLIN if kind == "zone" else None))
    X = polars.DataFrame(panel(T=3), schema=list("abcdef"), orient="row").insert_column(2, times)
    kept = split_table(X)[1]
    stored = store_table(kept)
    check_plain(stored)
    found = restore_table(stored)
    assert found.times.equals(kept.times, check_names=True)
    assert found.times.dtype == kept.times.dtype
    assert found._replace(times=None) == kept._replace(times=None)


def test_a_column_of_time_stamps_and_odd_names_come_back():
    X = pandas.DataFrame(panel(T=3), columns=pandas.Index(["a", 1, ("b", 2), 2.5, "e", "f"], tupleize_cols=False))
    X.insert(3, date(2024, 1, 1), pandas.date_range("2024-01-01", periods=3))
    kept = split_table(X)[1]
    found = restore_table(store_table(kept))
    assert found.column == date(2024, 1, 1)
    assert found.place == 3
    assert list(found.columns) == list(kept.columns)
    pandas.testing.assert_index_equal(found.times, kept.times)
    pandas.testing.assert_index_equal(found.labels, kept.labels)


def test_arrays_have_nothing_to_store():
    assert restore_table(store_table(Table())) == Table()
    assert last_rows(Table(), 3) == Table()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_model_that_comes_back_imports_its_library(library, tmp_path):
    """As after a file was read in a process that has not imported it (pandas, scikit-learn may import itself)."""
    X = table(library, panel(T=40), hours(library, 40))
    path = tmp_path / "state"
    path.write_bytes(pickle.dumps(SequenceFilter(2).fit(X).state_))
    program = (
        "import pickle, sys\n"
        "from factorstream import SequenceFilter\n"
        f"state = pickle.load(open({str(path)!r}, 'rb'))\n"
        "assert 'polars' not in sys.modules\n"
        "model = SequenceFilter(2)\n"
        "model.state_, model.n_features_in_ = state, 6\n"
        "print(type(model.forecast(2)).__module__.partition('.')[0])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == library, done.stderr


def test_a_library_that_is_not_there_is_named(monkeypatch):
    X = table("pandas", panel(T=40), hours("pandas", 40))
    model = quick(2).fit(X)

    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(_times, "import_module", missing)
    with pytest.raises(ImportError, match="fitted to tables of pandas, which is not installed; install it with"):
        model.forecast(2)
