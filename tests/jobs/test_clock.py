"""Models that know when their rows were."""

from __future__ import annotations

import copy
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from cli_problems import write
from factorstream import SequenceFilter, load
from factorstream.cli._files import read_model, save_model
from factorstream.jobs.clock import keep_times, rows_between, take_times
from factorstream.jobs.forecasting import ForecastSettings, forecast_file, forecast_model
from factorstream.sources.columns import take_names
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


def dated(path, dates, X):
    write(path, ["t", "a", "b"], [[date, f"{a:.6g}", f"{b:.6g}"] for date, (a, b) in zip(dates, X, strict=True)])
    return path


@pytest.fixture(scope="module")
def wandering():
    return np.random.default_rng(1).normal(size=(60, 2)).cumsum(axis=0)


def saved(folder, dates, X):
    """A model of these rows, in a file as `forecast --save` writes it."""
    found = forecast_file(dated(folder / "old.csv", dates, X), ForecastSettings(1, components=1))
    save_model(folder / "m", found.model, found.names, found.when)
    return folder / "m"


def each_day(form, first, n, step=1):
    return [(first + timedelta(days=step * k)).strftime(form) for k in range(n)]


def gone_on(folder, dates, X):
    """The forecast after these rows by the model in the folder, which takes them in and is saved again."""
    found = forecast_file(
        dated(folder / "new.csv", dates, X), ForecastSettings(1), model=read_model(folder / "m", "SequenceFilter")
    )
    save_model(folder / "m", found.model, found.names, found.when)
    return found


def test_a_row_is_the_next_one_where_its_date_can_be_read_so(wandering, tmp_path):
    pytest.importorskip("pandas")
    saved(tmp_path, each_day("%m/%d/%Y", datetime(2024, 1, 1), 36), wandering[:36])
    for k in range(36, 39):  # one by one
        found = gone_on(tmp_path, [f"02/0{k - 30}/2024"], wandering[k : k + 1])
        assert (found.between, found.columns[0].values) == (0, [f"02/0{k - 29}/2024"])
        assert "was read as month/day/year; if" in found.given.date_remarks[0]
    assert found.model.n_samples_seen_ == 39
    with pytest.raises(TableError, match=r"begins at 2024-02-08, which is not after .* \(2024-02-08\)"):
        gone_on(tmp_path, ["02/08/2024"], wandering[40:41])


def test_rows_on_every_second_step_of_a_model_are_not_adjacent(wandering, tmp_path):
    pytest.importorskip("pandas")
    saved(tmp_path, each_day("%Y-%m-%d", datetime(2024, 1, 1), 40), wandering[:40])
    model = read_model(tmp_path / "m", "SequenceFilter")
    found = gone_on(tmp_path, each_day("%Y-%m-%d", datetime(2024, 2, 12), 3, step=2), wandering[42:47:2])
    assert (found.between, found.given.when.n_left_out, found.columns[0].values) == (2, 2, ["2024-02-17"])
    X = np.full((7, 2), np.nan)
    X[2::2] = [[float(f"{value:.6g}") for value in row] for row in wandering[42:47:2]]
    take_times(model), take_names(model)
    np.testing.assert_allclose(found.mean, model.partial_fit(X).forecast(1), rtol=1e-12)


def test_days_as_numbers_go_on_as_other_dates_do(wandering, tmp_path):
    pytest.importorskip("pandas")
    saved(tmp_path, each_day("%Y%m%d", datetime(2024, 1, 22), 40), wandering[:40])
    found = gone_on(tmp_path, ["20240303"], wandering[42:43])
    assert (found.between, found.columns[0].name, found.columns[0].values) == (1, "t", [20240304.0])
    assert (found.given.unknown, found.given.date_remarks) == ([], [])
    alone = forecast_model(read_model(tmp_path / "m"), ForecastSettings(1))
    assert alone.content == found.content
    with pytest.raises(TableError, match="column t goes down"):
        gone_on(tmp_path, ["20240306", "20240305", "20240304"], wandering[43:46])


def test_a_model_alone_writes_dates_as_its_file_did(wandering, tmp_path):
    pytest.importorskip("pandas")
    quarters = [f"{2001 + k // 4}Q{k % 4 + 1}" for k in range(60)]
    saved(tmp_path, quarters, wandering)
    alone = forecast_model(read_model(tmp_path / "m"), ForecastSettings(1))
    assert (alone.columns[0].name, alone.columns[0].values) == ("t", ["2016Q1"])
