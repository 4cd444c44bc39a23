"""Columns and time stamps as plain data and back: nothing is lost that answers need."""

from __future__ import annotations

import pickle
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta, timezone
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
)
from factorstream.estimators._stored_zones import zone, zone_text
from factorstream.estimators._times import Table, last_rows, split_table
from sequence_problems import check_plain, hours, panel, table

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
    model = SequenceFilter(2).fit(X)

    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(_times, "import_module", missing)
    with pytest.raises(ImportError, match="fitted to tables of pandas, which is not installed; install it with"):
        model.forecast(2)
