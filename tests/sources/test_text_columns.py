"""Labels, true and false, and dates of a text as columns for models, and written again."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import pytest

from factorstream.sources.tables import read_table
from factorstream.sources.text_columns import DAYS, LABELS, TIMES, TRUTH, TextColumns, number_column, text_column


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["2024-05-01", None, "2023-12-31"], DAYS),
        (["1/5/2024", "31/12/2023"], DAYS),
        (["12/31/24 11:00 PM", "01/02/24 01:30 AM"], TIMES),
        (["2024-05-01T23:00:00Z", None], TIMES),
        (["2024-05-01 10:00:00+02:00", "2024-05-01 09:00:00+02:00"], TIMES),
        (["31 Dec 2024", "01 Jan 1950"], DAYS),
        (["2024-05", "2024-06"], LABELS),
        (["2024Q1", "2024Q3"], LABELS),
        (["2024-05-01", "soon"], LABELS),
        (["True", "False", None], TRUTH),
        (["yes", "no"], LABELS),
        ([None, None], LABELS),
    ],
)
def test_cells_come_back_as_they_were(cells, kind):
    found = text_column(cells)
    assert found.kind == kind
    assert found.texts().tolist() == ["" if cell is None else cell for cell in cells]
    assert found.missing.tolist() == [cell is None for cell in cells]


def test_dates_are_seconds():
    found = text_column(["01.03.2024 10:00", None, "29.02.2024 09:30"])
    beginning = datetime(1970, 1, 1)
    expected = [
        (one - beginning) / timedelta(seconds=1) for one in (datetime(2024, 3, 1, 10), datetime(2024, 2, 29, 9, 30))
    ]
    assert found.values[[0, 2]].tolist() == expected
    zoned = text_column(["2024-03-01 10:00:00+02:00"])
    assert zoned.values[0] == expected[0] - 2 * 3600
    later = zoned._replace(values=zoned.values + 86400)
    assert later.texts().tolist() == ["2024-03-02 10:00:00+02:00"]


def test_dates_beyond_the_years_of_python_are_written_too():
    found = text_column(["2024-03-01"])._replace(values=np.array([1e15, -1e15, np.nan]))
    assert found.texts()[0] == "9998-12-31"
    assert found.texts()[1].endswith("1-12-31")
    assert found.texts()[2] == ""


@pytest.mark.parametrize(("cell", "other"), [("TRUE", "FALSE"), ("true", "false"), ("False", "True")])
def test_what_is_not_there_is_spelled_like_the_other(cell, other):
    found = text_column([cell, None])
    assert sorted(found.spelled.values()) == sorted([cell, other])


@pytest.mark.parametrize(
    ("cells", "form", "expected"),
    [
        (["1/2/2024", "3/4/2024"], "%m/%d/%Y %H:%M", "~%m/%d/%Y"),
        (["13/2/2024", "3/4/2024"], "%m/%d/%Y", "~%d/%m/%Y"),
        (["2024-05-01"], "%m/%d/%Y", "%Y-%m-%d"),
        (["01/02/2024"], "", "%d/%m/%Y"),
        (["true"], "%m/%d/%Y", "true"),
        ([None, None], "~%m/%d/%Y %H:%M", "~%m/%d/%Y %H:%M"),
        ([None], "TRUE", "TRUE"),
        (["x"], "%m/%d/%Y", ""),
    ],
)
def test_the_form_of_another_file_decides_what_is_left_open(cells, form, expected):
    found = text_column(cells, form)
    assert found.form == expected
    assert found.texts().tolist() == ["" if cell is None else cell for cell in cells]


def test_a_column_without_any_value_is_written_in_the_form_of_another_file():
    found = text_column([None], "%Y-%m-%d %H:%M:%S%z")
    assert found.kind == TIMES
    assert found._replace(values=np.zeros(1)).texts().tolist() == ["1970-01-01 00:00:00+00:00"]
    found = text_column([None], "True")
    assert found._replace(values=np.zeros(1, dtype=int)).texts().tolist() == ["False"]


def test_parts_of_a_table():
    whole = TextColumns(["a", "b"], [number_column(np.arange(4.0)), text_column(["x", "y", "x", None])])
    part = whole.slice(1, 2).select([1])
    assert part.shape == (2, 1)
    assert part.column_names == ["b"]
    assert part.column(0).texts().tolist() == ["y", "x"]


def test_words_that_count_as_gaps_are_told(tmp_path):
    (tmp_path / "x.csv").write_text("a,b,c\n1,None,NA\n2,gravel,x\n3,-,y\n")
    columns = read_table(tmp_path / "x.csv").as_columns([1, 2], {})
    assert columns.column(0).marks == ("-", "None")
    assert columns.column(1).marks == ()
