"""Models that know when their rows were."""

from __future__ import annotations

import copy
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from factorstream import SequenceFilter, load
from factorstream.jobs.clock import keep_times, rows_between, take_times
from factorstream.sources.table import TableError
from factorstream.sources.timeline import regular_dates


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)).cumsum(axis=0)
    return SequenceFilter(1, drift="none", calibrate=False, max_iter=2).fit(X), X


def days(first, n, step=1):
    return regular_dates([datetime(2024, 1, first) + timedelta(days=step * k) for k in range(n)])


def test_times_are_kept_in_the_file_and_read_by_python(fitted, tmp_path):
    pytest.importorskip("pandas")
    model = copy.deepcopy(fitted[0])
    keep_times(model, days(1, 40), list("abc"))
    model.save(tmp_path / "m")
    ahead = load(tmp_path / "m").forecast(2)
    assert ahead.index.strftime("%m-%d").tolist() == ["02-10", "02-11"]
    again = load(tmp_path / "m")
    assert take_times(again).later(1) == [datetime(2024, 2, 10)]
    assert take_times(again) is None
    np.testing.assert_array_equal(again.forecast(2), ahead)


def test_rows_must_come_after_those_of_the_model(fitted):
    model, X = fitted
    known = days(1, 31)
    assert rows_between(model, X, known, regular_dates([datetime(2024, 2, k) for k in (1, 2, 3)])) == 0
    assert rows_between(model, X, known, regular_dates([datetime(2024, 2, k) for k in (4, 5, 6)])) == 3
    other = [datetime(2024, 2, k, 7) for k in (4, 5, 6)]
    assert rows_between(model, X, known, regular_dates(other)) is None  # they do not go on in these steps
    assert rows_between(model, X, known, regular_dates([one.replace(tzinfo=UTC) for one in other])) is None
    fridays = regular_dates([datetime(2024, 1, k) for k in (4, 5, 8, 9, 10, 11, 12)])  # no weekends
    assert rows_between(model, X, fridays, regular_dates([datetime(2024, 1, k) for k in (15, 16, 17)])) == 0
    with pytest.raises(TableError, match=r"begins at 2024-01-31, which is not after .* \(2024-01-31\); pass the rows"):
        rows_between(model, X, known, regular_dates([datetime(2024, 1, 31) + timedelta(days=k) for k in range(3)]))
    with pytest.raises(TableError, match=r"begins at 2424-02-01, 146,098 steps after .* \(2024-01-31\); fit a new"):
        rows_between(model, X, known, regular_dates([datetime(2424, 2, k) for k in (1, 2, 3)]))


def test_the_form_and_the_name_of_the_dates_are_kept(fitted, tmp_path):
    pytest.importorskip("pandas")
    model = copy.deepcopy(fitted[0])
    when = regular_dates([datetime(2016, 1 + 3 * k, 1) for k in range(4)], "%YQ%q", "t")
    keep_times(model, when, list("abc"))
    model.save(tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.forecast(1).index.name == "t"
    known = take_times(again)
    assert (known.name, known.after(1), len(known.steps)) == ("t", ["2017Q1"], 40)  # of all rows that it has seen


def test_without_dates_the_same_rows_are_known_again(fitted):
    model, X = fitted
    with pytest.raises(TableError, match="its rows are those that the model has seen last"):
        rows_between(model, X, None, None)
    assert rows_between(model, X + 1.0, None, None) is None
    assert rows_between(model, X[-1:], None, None) is None  # one row may be the same by accident


def test_without_pandas_a_model_forgets_the_time(fitted, monkeypatch):
    monkeypatch.setattr("factorstream.jobs.clock.find_spec", lambda name: None)
    model = copy.deepcopy(fitted[0])
    keep_times(model, days(1, 40), list("abc"))
    assert take_times(model) is None
