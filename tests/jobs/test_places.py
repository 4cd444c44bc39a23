"""Where rows are, as people find them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import numpy as np
import pytest

from factorstream.jobs.places import along_axis, places_of, time_texts, where_next_rows_are, where_rows_are
from factorstream.jobs.reading import Reading, read_given


def test_lines_of_texts_and_rows_of_arrays(tmp_path):
    (tmp_path / "x.csv").write_text('a,t\n1,"two\nlines"\n\n5,x\n2,y\n')
    given = read_given(tmp_path / "x.csv", Reading())
    assert places_of(given.table) == ("line", [2, 5, 6])  # as an editor counts
    assert where_rows_are(given.table, None, spread=False).x.tolist() == [2.0, 5.0, 6.0]
    assert where_next_rows_are(given.table, None, 2, 3)[:2] == (pytest.approx([7.0, 8.0]), "line")
    np.save(tmp_path / "x.npy", np.array([[3.0], [1.0]]))
    assert places_of(read_given(tmp_path / "x.npy", Reading()).table) == ("row", [1, 2])


def test_time_where_a_column_says_it(tmp_path):
    (tmp_path / "x.csv").write_text("year,a\n1990,3\n1991,1\n1992,2\n")
    given = read_given(tmp_path / "x.csv", Reading())
    where = where_next_rows_are(given.table, given.when, 2, 3)
    assert (where.x.tolist(), where.word) == ([1993.0, 1994.0], "year")
    (tmp_path / "x.csv").write_text("day,a\n2024-05-01,3\n2024-05-02,1\n2024-05-04,2\n")
    given = read_given(tmp_path / "x.csv", Reading())
    days = [where_rows_are(given.table, given.when, spread=spread).x.astype("M8[D]") for spread in (False, True)]
    assert [[day.item().day for day in row] for row in days] == [[1, 2, 4], [1, 2, 3, 4]]


def test_time_zones_are_kept_for_the_axis():
    zone = timezone(timedelta(hours=2))
    where = along_axis([datetime(2024, 5, 1, 2, tzinfo=zone)], "time")
    assert (where.x.astype("M8[h]").astype(str).tolist(), where.zone) == (["2024-05-01T00"], zone)


@pytest.mark.parametrize(("hours", "text"), [(-5, "-05:00"), (2, "+02:00"), (0, "+00:00")])
def test_times_as_texts_keep_their_zone(hours, text):
    zone = timezone(timedelta(hours=hours))
    assert time_texts([datetime(2024, 5, 1, tzinfo=zone)]) == [f"2024-05-01 00:00{text}"]
    assert time_texts([datetime(2024, 5, 1, 0, 0, 7, tzinfo=zone)]) == [f"2024-05-01 00:00:07{text}"]
