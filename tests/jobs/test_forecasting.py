"""Forecasts of files are those of `SequenceFilter`, in the file's format and time."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from cli_problems import series, write
from factorstream import SequenceFilter
from factorstream.jobs.forecasting import ForecastSettings, forecast_file, forecast_model
from factorstream.jobs.reading import Reading
from factorstream.sources.table import TableError


def read(content, delimiter=","):
    header, *rows = csv.reader(io.StringIO(content.decode()), delimiter=delimiter)
    return header, rows


def test_a_text_goes_on_in_its_own_way(tmp_path):
    X = series(tmp_path / "x.csv", left_out=(50, 51))
    found = forecast_file(tmp_path / "x.csv", ForecastSettings(3, level=0.9))
    header, rows = read(found.content)
    assert header == ["time", *(f"{name}{end}" for name in "abcd" for end in ("", "_lower", "_upper"))]
    assert [row[0] for row in rows] == ["2024-05-07 16:00", "2024-05-07 17:00", "2024-05-07 18:00"]
    twin = SequenceFilter(10).fit(X)
    numbers = np.array([row[1:] for row in rows], dtype=float).reshape(3, 4, 3)
    expected = np.stack([twin.forecast(3), *twin.forecast_interval(3, level=0.9)], axis=2)
    np.testing.assert_allclose(numbers, expected, rtol=1e-8)
    assert found.given.when.n_left_out == 2


def test_a_model_goes_on_with_more_rows(tmp_path):
    X = series(tmp_path / "x.csv", n=100)
    lines = (tmp_path / "x.csv").read_text().splitlines(keepends=True)
    (tmp_path / "old.csv").write_text("".join(lines[:81]))
    (tmp_path / "new.csv").write_text("".join(lines[:1] + lines[81:]))
    first = forecast_file(tmp_path / "old.csv", ForecastSettings(1))
    alone = forecast_model(first.model, ForecastSettings(1))
    np.testing.assert_array_equal(alone.mean, first.mean)
    later = forecast_file(tmp_path / "new.csv", ForecastSettings(2), model=first.model)
    twin = SequenceFilter(10).fit(X[:80]).partial_fit(X[80:])
    np.testing.assert_allclose(later.mean, twin.forecast(2), rtol=1e-9)
    assert read(later.content)[1][0][0] == "2024-05-05 04:00"


def test_numbers_of_rows_are_continued_and_not_modelled(tmp_path):
    rng = np.random.default_rng(0)
    X = np.cumsum(rng.normal(size=(60, 2)), axis=0)
    rows = [[k, 1960 + k, f"{a:.6g}", f"{b:.6g}"] for k, (a, b) in enumerate(X, 1)]
    write(tmp_path / "x.tsv", ["id", "year", "a", "b"], rows, "\t")
    found = forecast_file(tmp_path / "x.tsv", ForecastSettings(2))
    header, later = read(found.content, "\t")
    assert header == ["id", "year", "a", "a_lower", "a_upper", "b", "b_lower", "b_upper"]
    assert [row[:2] for row in later] == [["61", "2021"], ["62", "2022"]]
    assert found.names == ["a", "b"]


def test_arrays_and_parquet(tmp_path):
    X = series(tmp_path / "x.csv", n=60)
    np.save(tmp_path / "x.npy", X.astype(np.float32))
    found = forecast_file(tmp_path / "x.npy", ForecastSettings(2))
    out = np.load(io.BytesIO(found.content))
    assert (out.shape, out.dtype) == ((2, 12), np.float32)
    np.testing.assert_allclose(out[:, ::3], found.mean, rtol=1e-5)
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    frame.insert(0, "when", pandas.date_range("2024-01-31", periods=60, freq="ME"))
    frame.to_parquet(tmp_path / "x.parquet")
    found = forecast_file(tmp_path / "x.parquet", ForecastSettings(2))
    again = pandas.read_parquet(io.BytesIO(found.content))
    assert again["when"].dt.strftime("%Y-%m-%d").tolist() == ["2029-01-31", "2029-02-28"]
    assert list(again)[:4] == ["when", "a", "a_lower", "a_upper"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("n,x\n1,a\n2,b\n3,c\n", "no column of numbers but those that count its rows"),
        ("x\n1\n", "1 time steps, fewer than"),
        ("a,b\nx,y\nz,w\n", "no column of numbers"),
    ],
)
def test_what_cannot_be_continued_is_refused(tmp_path, text, words):
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(TableError, match=words):
        forecast_file(tmp_path / "x.csv", ForecastSettings(2, components=3, reading=Reading()))


def test_a_model_of_dated_tables_says_when_by_itself(tmp_path):
    pandas = pytest.importorskip("pandas")
    X = series(tmp_path / "x.csv", n=60)
    frame = pandas.DataFrame(X, columns=list("abcd"), index=pandas.date_range("2024-05-01", periods=60, freq="h"))
    found = forecast_model(SequenceFilter(3, calibrate=False).fit(frame), ForecastSettings(2))
    header, rows = read(found.content)
    assert header[::3] == ["time", "a_upper", "b_upper", "c_upper", "d_upper"]
    assert [row[0] for row in rows] == ["2024-05-03 12:00", "2024-05-03 13:00"]
