"""Columns that look like dates and do not say when: each is named with its reason."""

from __future__ import annotations

import pytest

from factorstream.sources.date_remarks import date_remarks
from factorstream.sources.delimited import parse_delimited
from factorstream.sources.timeline import timeline


def remarks(cells):
    table = parse_delimited("\n".join(["when;x", *(f"{cell};{k * k}" for k, cell in enumerate(cells))]).encode())
    return " ".join(date_remarks(table, timeline(table)))


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (["2024-01-01", "", "2024-01-03"], "Column when has no date in line 3, so rows were taken as equally spaced."),
        (["2024-01-01", "2024-01-02", "2024-01-02"], "Column when has 2024-01-02 again in line 4, so"),
        (["2024-10-27 01:00", "2024-10-27 02:00", "2024-10-27 02:00"], "when clocks go back, write times in UTC"),
        (["2024-01-02", "2024-01-01", "2024-01-05"], "goes back in line 3 (sort the rows by it if it says when"),
        ([*(f"2024-01-{k:02}" for k in range(1, 20)), "unknown"], "has 'unknown' among dates in line 21, so rows"),
        (["01-02-2024", "02-02-2024", "03-02-2024"], "day-month-year; if 01-02-2024 means 2024-01-02, write it so."),
        (["1800-01-01", "2024-01-01", "2024-01-02"], "goes up by unequal steps"),
        (["07:00", "08:00", "09:00"], "has times without dates (line 2 has 07:00), so rows"),
        (["2024-01-01", "02.01.2024", "2024-01-03"], "may be dates in a form that is not known, or in several"),
        (["1st Dec 2024", "2nd Dec 2024", "3rd Dec 2024"], "line 2 has '1st Dec 2024'"),
        (["01/01/2024", "01/02/2024", "01/03/2024"], "day/month/year; if 01/02/2024 means 2024-01-02, write it so."),
        (["24/05/01", "24/05/02", "24/05/03"], "read as day/month/year; if 24/05/01 means 2024-05-01, write it so."),
    ],
)  # fmt: skip
def test_reasons(cells, words):
    assert words in remarks(cells)


@pytest.mark.parametrize(
    "cells",
    [
        ["2024-01-01", "2024-01-02", "2024-01-03"],
        ["12/30/2024", "12/31/2024", "01/01/2025"],
        ["Mayor 1", "Julia 2", "Mark 3"],
        ["1.2.3", "1.2.4", "1.2.5"],
    ],
)
def test_others_have_none(cells):
    assert "Column when" not in remarks(cells)


def test_without_any_column_of_time():
    assert remarks(["x", "y", "z"]) == "No column goes up by equal steps, so rows were taken as equally spaced."
    assert remarks(["1", "2", "3"]) == ""
