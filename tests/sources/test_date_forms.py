"""Forms of dates: read, and written again."""

from __future__ import annotations

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
    cell, time = other_order(["01/01/2024", "01/03/2024"], form)
    assert (cell, time.month) == ("01/03/2024", 1)
    assert other_order(["13/02/2024"], form) is None
