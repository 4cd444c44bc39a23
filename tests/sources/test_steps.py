"""Steps there and back."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from factorstream.sources.steps import Duration, Months, Number, WorkingDays, plain


@pytest.mark.parametrize(
    ("step", "first"),
    [
        (Number(0.25), 1949.0),
        (Duration(timedelta(hours=7)), datetime(2024, 2, 27, 5)),
        (Duration(timedelta(days=2)), date(2024, 2, 27)),
        (Duration(timedelta(hours=1)), datetime(2024, 2, 27, 5, tzinfo=timezone(timedelta(hours=-5)))),
        (Months(1, ends=True), datetime(2024, 2, 29)),
        (Months(3, ends=False), date(2024, 2, 15)),
        (WorkingDays(1), datetime(2024, 2, 29, 8)),
        (WorkingDays(2), date(2024, 2, 29)),
    ],
)
def test_steps_there_and_back(step, first):
    for k in (-9, -1, 0, 1, 2, 5, 40):
        assert step.steps_to(first, step.moved(first, k)) == k


def test_dates_with_and_without_a_zone_as_times():
    zone = timezone(timedelta(hours=-5))
    assert plain(date(2024, 5, 1)) == datetime(2024, 5, 1)
    assert plain(datetime(2024, 5, 1, tzinfo=zone)) == datetime(2024, 5, 1, 5, tzinfo=UTC)
