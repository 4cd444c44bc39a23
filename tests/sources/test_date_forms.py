"""Forms of dates: read, and written again."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pytest

from factorstream.sources.date_forms import is_date, other_order, read_dates, rendered

FORMS = [
    "2024-12-31",
    "12/31/2024",
    "31/12/2024 07:05",
    "31 Dec 2024",
    "1 May 2024",
    "Dec 31, 2024",
    "31-Dec-24",
    "2024Q4",
]
FORMS += [
    "2024-Q1",
    "Q3 2024",
    "12/31/24",
    "31.12.24",
    "2024-12-31T23:00:00Z",
    "2024-12-31T23:00:00.250Z",
    "12/31/2024 07:05 PM",
    "Dec 2024",
]


@pytest.mark.parametrize("text", FORMS)
def test_every_form_comes_back_as_it_was(text):
    ((form, (time,)), *_) = read_dates([text])
    assert rendered(time, form) == text
    assert time.year == 2024


def test_texts_that_are_no_dates():
    assert not any(map(is_date, ["2024-13-01", "Q5 2024", "07:00", "20.5", "31st of May", ""]))


def test_the_day_comes_first_where_both_can():
    ((form, times), *_) = read_dates(["01/02/2024", "01/03/2024"])
    assert [time.month for time in times] == [2, 3]
    order, cell, time = other_order(["01/01/2024", "01/03/2024"], form)
    assert (order, cell, time.month) == ("day/month/year", "01/03/2024", 1)
    assert other_order(["01/03/2024"], "%m/%d/%Y")[0] == "month/day/year"
    assert other_order(["13/02/2024"], form) is None


@pytest.mark.parametrize("text", ["5/1/05", "1-Jan-05", "01-Jan-05", "05/01/05 07:05", "1/5/00 9:05"])
def test_years_from_00_to_09_keep_their_zero(text):
    ((form, (time,)), *_) = read_dates([text])
    assert rendered(time, form) == text
    assert 2000 <= time.year <= 2005


def test_two_digits_of_a_year_may_come_first():
    ((form, times), *_) = read_dates(["24/05/01", "24/05/02"])
    assert [time.year for time in times] == [2001, 2002]
    assert other_order(["24/05/01", "24/05/02"], form) == ("day/month/year", "24/05/01", datetime(2024, 5, 1))
    assert other_order(["24/05/01", "25/05/01"], form) is None  # days that would be years
    assert [form for form, _ in read_dates(["24/05/31", "24/06/01"])] == ["%d/%m/%y", "%y/%m/%d"]


def test_days_as_whole_numbers_are_dates_however_they_come():
    for cells in (["20241231", "20250101"], [20241231, 20250101.0], np.array([20241231.0, 20250101.0])):
        assert list(read_dates(cells)) == [("%Y%m%d", [datetime(2024, 12, 31), datetime(2025, 1, 1)])]
    for cells in (
        ["20241331"],
        [20241231, 3],
        [20241231.5],
        ["20241231", "x"],
        [20241231, None],
        [float("nan")],
        [True],
    ):
        assert list(read_dates(cells)) == []
    assert list(read_dates([])) == list(read_dates([None])) == list(read_dates([20241231, float("nan")])) == []
