"""Tables of every kind as pictures read them."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import pytest

from factorstream.plot._panel import chosen_columns, read_table

X = np.array([[1.0, np.nan], [3.0, 4.0], [5.0, 6.0]])


def test_an_array_has_numbers_instead_of_names():
    panel = read_table(X)
    np.testing.assert_array_equal(panel.values, X)
    np.testing.assert_array_equal(panel.x, [0, 1, 2])
    assert panel.columns == (0, 1)
    assert panel.names == ("column 0", "column 1")
    assert not panel.dated


def test_the_index_of_a_table_is_the_axis():
    pandas = pytest.importorskip("pandas")
    hours = pandas.date_range("2024-03-30 22:00", periods=3, freq="h", tz="Europe/Paris")
    for index in (hours, hours.tz_localize(None), hours.tz_localize(None).to_period("h")):
        panel = read_table(pandas.DataFrame(X, index=index, columns=["a", "b"]))
        assert panel.dated
        assert panel.names == ("a", "b")
        utc = index.tz_convert(None) if getattr(index, "tz", None) is not None else hours.tz_localize(None)
        np.testing.assert_array_equal(panel.x, utc.to_numpy())
        assert panel.zone == getattr(index, "tz", None)
    numbers = read_table(pandas.DataFrame(X, index=pandas.Index([2.0, 2.5, 7.0], name="depth"), columns=["a", "b"]))
    np.testing.assert_array_equal(numbers.x, [2.0, 2.5, 7.0])
    assert numbers.row_word == "depth"
    words = read_table(pandas.DataFrame(X, index=["u", "v", "w"], columns=["a", "b"]))
    np.testing.assert_array_equal(words.x, [0, 1, 2])  # neither do words say where a row lies
    backwards = read_table(pandas.DataFrame(X, index=[3, 2, 1], columns=["a", "b"]))
    np.testing.assert_array_equal(backwards.x, [0, 1, 2])  # nor numbers that do not increase


@pytest.mark.parametrize("zone", [None, "Europe/Paris"])
def test_a_column_of_time_stamps_is_the_axis_of_polars(zone):
    polars = pytest.importorskip("polars")
    times = polars.Series("when", [datetime(2024, 6, 1) + timedelta(hours=k) for k in range(3)])
    if zone:
        times = times.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
    panel = read_table(polars.DataFrame(X, schema=["a", "b"], orient="row").insert_column(0, times))
    assert panel.columns == ("a", "b")
    np.testing.assert_array_equal(panel.values, X)
    np.testing.assert_array_equal(panel.x, np.datetime64("2024-06-01") + np.arange(3) * np.timedelta64(1, "h"))
    assert panel.zone == zone
    dates = polars.Series("when", [datetime(2024, 6, 1 + k).date() for k in range(3)])
    days = read_table(polars.DataFrame(X, schema=["a", "b"], orient="row").insert_column(0, dates))
    np.testing.assert_array_equal(days.x, np.datetime64("2024-06-01") + np.arange(3))


def test_what_is_no_table_of_numbers_is_refused():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="Column 'b' of X holds values that are no numbers"):
        read_table(pandas.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}))
    with pytest.raises(ValueError, match="Reshape your data to a 2D array"):
        read_table(np.ones(3))


def test_columns_are_chosen_by_name_or_number():
    pandas = pytest.importorskip("pandas")
    panel = read_table(pandas.DataFrame(X, columns=["a", "b"]))
    assert chosen_columns(panel, None, [1]) == [1]
    assert chosen_columns(panel, "b", []) == [1]
    assert chosen_columns(panel, ["b", 0], []) == [1, 0]
    assert chosen_columns(panel, -1, []) == [1]
    years = read_table(pandas.DataFrame(X, columns=[1, 0]))
    assert chosen_columns(years, [1], []) == [0]  # a name comes before a number
    with pytest.raises(ValueError, match="There is no column 'c'; the columns are a, b"):
        chosen_columns(panel, ["c"], [])
    with pytest.raises(ValueError, match="no column 2"):
        chosen_columns(panel, 2, [])
    with pytest.raises(ValueError, match="columns is empty"):
        chosen_columns(panel, [], [])
