"""Columns that say when: which are regular, where their rows lie, and how they go on."""

from __future__ import annotations

from datetime import UTC, date, datetime

import numpy as np
import pytest

from factorstream.sources.delimited import parse_delimited
from factorstream.sources.table import TableError
from factorstream.sources.timeline import (
    counted_on,
    counting_columns,
    followed,
    refuse_newest_first,
    regular_dates,
    timeline,
)


def of(cells):
    """The timeline of a text whose first column says these things, beside one that measures something."""
    lines = [f"{cell},{k * k}" for k, cell in enumerate(cells)]
    return timeline(parse_delimited("\n".join(["when,x", *lines]).encode()))


@pytest.mark.parametrize(
    ("cells", "steps", "after"),
    [
        (["2024-02-27", "2024-02-28", "2024-02-29"], [0, 1, 2], ["2024-03-01", "2024-03-02"]),
        (["2024-02-23", "2024-02-24", "2024-02-27"], [0, 1, 4], ["2024-02-28", "2024-02-29"]),  # a Saturday
        (["2024-01-04", "2024-01-05", "2024-01-08"], [0, 1, 2], ["2024-01-09", "2024-01-10"]),  # no weekends
        (["2024-01-04", "2024-01-05", "2024-01-09"], [0, 1, 3], ["2024-01-10", "2024-01-11"]),
        (["2024-01-31", "2024-02-29", "2024-03-31"], [0, 1, 2], ["2024-04-30", "2024-05-31"]),
        (["2023-10-15", "2023-11-15", "2024-01-15"], [0, 1, 3], ["2024-02-15", "2024-03-15"]),
        (["2024-10", "2024-11", "2024-12"], [0, 1, 2], ["2025-01", "2025-02"]),
        (["2022-01-01", "2023-01-01", "2024-01-01"], [0, 1, 2], ["2025-01-01", "2026-01-01"]),
        (["2024-05-01 22:30", "2024-05-01 23:00", "2024-05-01 23:30"], [0, 1, 2], ["2024-05-02 00:00"] * 1),
        (["2024-05-01T22:00:00Z", "2024-05-01T23:00:00Z", "2024-05-02T00:00:00Z"], [0, 1, 2], ["2024-05-02T01:00:00Z"]),
        (["2024-05-01T22:00:00+02:00", "2024-05-01T23:00:00+02:00", "2024-05-02T00:00:00+02:00"], [0, 1, 2],
         ["2024-05-02T01:00:00+02:00"]),
        (["5/1/2024 9:05", "5/1/2024 10:05", "5/1/2024 11:05"], [0, 1, 2], ["5/1/2024 12:05"]),
        (["30.12.2023", "31.12.2023", "01.01.2024"], [0, 1, 2], ["02.01.2024", "03.01.2024"]),
        (["12/30/2023", "12/31/2023", "01/01/2024"], [0, 1, 2], ["01/02/2024"]),
        (["1999", "2000", "2001"], [0, 1, 2], [2002.0, 2003.0]),
        (["20240129", "20240130", "20240131"], [0, 1, 2], [20240201.0, 20240202.0]),
        (["30 Dec 2023", "31 Dec 2023", "01 Jan 2024"], [0, 1, 2], ["02 Jan 2024"]),
        (["24/05/30", "24/05/31", "24/06/01"], [0, 1, 2], ["24/06/02"]),  # the year first
        (["1/30/05", "1/31/05", "2/1/05"], [0, 1, 2], ["2/2/05"]),
        (["2023Q3", "2023Q4", "2024Q2"], [0, 1, 3], ["2024Q3", "2024Q4"]),
        (["01/01/2024", "01/02/2024", "01/04/2024"], [0, 1, 3], ["01/05/2024"]),
    ],
)  # fmt: skip
def test_regular_columns(cells, steps, after):
    found = of(cells)
    assert found.column == 0
    assert found.steps.tolist() == steps
    assert found.after(len(after)) == after


@pytest.mark.parametrize(
    "cells",
    [
        ["2024-01-01", "2024-01-01", "2024-01-02"],
        ["2024-01-03", "2024-01-02", "2024-01-01"],
        ["2024-01-01", "", "2024-01-03"],
        ["2024-01-01", "2024-01-02", "02.01.2024"],
        ["1800-01-01", "2024-01-01", "2024-01-02"],  # eighty thousand days would be left out
        ["1", "2", "4"],
        ["3", "2", "1"],
        ["a", "b", "c"],
        ["2024-01-01", "2024-01-02"],
    ],
)
def test_others_are_not(cells):
    assert of(cells) is None


def test_rows_are_spread_over_their_steps():
    found = of(["2024-02-23", "2024-02-24", "2024-02-27"])
    X = np.arange(6.0).reshape(3, 2)
    wide = found.spread(X)
    assert found.n_left_out == 2
    np.testing.assert_array_equal(wide[[0, 1, 4]], X)
    assert np.isnan(wide[[2, 3]]).all()


def test_columns_that_count_are_found_and_those_that_measure_are_not():
    table = parse_delimited(
        b"id,year,x,gappy,odd\n10,1949,1,1,1\n20,1949.0833333333,5,,\n30,1949.1666666667,9,3,3\n40,1949.25,2,4,9\n"
    )
    assert [table.names[j] for j in counting_columns(table)] == ["id", "year", "gappy"]


def test_dates_as_parquet_has_them(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    from factorstream.sources.tables import read_table

    for kind, days in (
        (pa.date32(), [date(2024, 2, 27), date(2024, 2, 28), date(2024, 2, 29)]),
        (pa.timestamp("us"), [datetime(2024, 2, 27, 5), datetime(2024, 2, 28, 5), datetime(2024, 2, 29, 5)]),
        (pa.timestamp("us", tz="UTC"), [datetime(2024, 2, day, 5, tzinfo=UTC) for day in (27, 28, 29)]),
    ):
        path = tmp_path / "x.parquet"
        pq.write_table(pa.table({"when": pa.array(days, type=kind), "x": [1.0, 5.0, 2.0]}), path)
        (after,) = timeline(read_table(path)).after(1)
        assert after == days[-1].replace(month=3, day=1)


def test_hours_go_on_across_the_end_of_summer_time(tmp_path):
    zone = pytest.importorskip("zoneinfo").ZoneInfo("Europe/Berlin")
    from factorstream.sources.timeline import _dates

    before = [datetime(2024, 10, 26, hour, tzinfo=UTC).astimezone(zone) for hour in (21, 22, 23)]
    later = _dates(0, before).after(4)
    assert [one.astimezone(UTC).hour for one in later] == [0, 1, 2, 3]
    assert [one.hour for one in later] == [2, 2, 3, 4]


@pytest.mark.parametrize(
    "dates",
    [
        ["2024-01-03", "2024-01-02", "2024-01-01"],
        ["01.03.2024", "01.02.2024", "01.01.2024"],
        ["20240201", "20240131", "20240130"],
    ],
)
def test_dates_from_the_newest_to_the_oldest_are_refused(dates):
    rows = "".join(f"{day};{k}\n" for k, day in enumerate(dates))
    with pytest.raises(TableError, match=r"x\.csv cannot be used: column when goes down; sort"):
        refuse_newest_first(parse_delimited(("when;a\n" + rows).encode()), "x.csv")
    forward = "".join(f"{day};{k}\n" for k, day in enumerate(reversed(dates)))
    refuse_newest_first(parse_delimited(("when;a\n" + forward).encode()), "x.csv")


def test_one_row_and_rows_without_dates_go_neither_up_nor_down():
    for text in (b"when;a\n20240301;1\n", b"when;a\n2024-03-01;1\n", b"when;a\n;1\n;2\n;3\n"):
        refuse_newest_first(parse_delimited(text), "x.csv")
    with pytest.raises(TableError, match="column when goes down"):
        refuse_newest_first(parse_delimited(b"when;a\n2024-03-02;1\n2024-03-01;2\n"), "x.csv")


def after(before, *cells, most=1000):
    """How a column of such cells was read in the steps of a timeline: its form, its dates and their steps."""
    table = parse_delimited("\n".join(["x,t", *(f"1.5,{cell}" for cell in cells)]).encode())
    table.numbers, table.numeric = table.numbers[:, :1], [0]  # the columns of a model
    found = followed(table, before, most)
    if found is None:
        return None
    dates = [found.step.moved(found.first, k) for k in found.steps.tolist()]
    assert (found.column, found.name) == (1, "t")
    return found.form, [(one.month, one.day) for one in dates], (before.steps_of(dates) - before.steps[-1]).tolist()


def test_rows_are_put_on_the_steps_of_a_timeline():
    daily = regular_dates([datetime(2024, 2, day) for day in (3, 4, 5)])
    assert after(daily, "02/06/2024") == ("%m/%d/%Y", [(2, 6)], [1])  # and not in June
    assert after(daily, "02/06/2024", "02/07/2024", "02/09/2024")[2] == [1, 2, 4]
    assert after(daily, "2024-02-06", "2024-02-08", "2024-02-10")[2] == [1, 3, 5]
    assert after(daily, "20240207")[1:] == ([(2, 7)], [2])
    assert after(daily, "02/04/2024")[2] == [-1]  # nearer than 2 April
    for cells in (["2024-02-06 07:00"], ["2024-02-06T00:00:00+00:00"], ["2024-02-08", "2024-02-07"], ["x"], [""]):
        assert after(daily, *cells) is None
    assert after(daily, "2024-02-06", "2024-03-06", most=28) is None
    assert after(daily._replace(form="%d/%m/%Y"), "02/06/2024") == ("%d/%m/%Y", [(6, 2)], [118])  # as it is written


def test_rows_on_months_and_working_days():
    ends = regular_dates([datetime(2024, month, day) for month, day in ((1, 31), (2, 29), (3, 31))])
    assert after(ends, "2024-04-30", "2024-06-30")[2] == [1, 3]
    assert after(ends, "2024-04-29") is None
    working = regular_dates([datetime(2024, 1, day) for day in (4, 5, 8, 9, 10, 11, 12)])
    assert after(working, "2024-01-15", "2024-01-17", "2024-01-22")[2] == [1, 3, 6]
    assert after(working, "2024-01-13") is None  # a Saturday


def test_columns_that_count_go_on_after_gaps():
    assert counted_on(["1950", None, "1952", "1953", None], 2) == [1955.0, 1956.0]
    assert counted_on([None, "9", "7", "5"], 2) == [3.0, 1.0]
    assert counted_on(["1", None, None, None, "5"], 2) == []
