"""Frames of pandas and polars, lazy ones too, in blocks."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from factorstream import LowRankImputer, extras, fill, open_rows
from factorstream.extras import MissingExtraError
from factorstream.sources.table import TableError
from row_files import NAMES, arrow_table, gathered, numbers


@pytest.fixture
def X(rng):
    return numbers(rng)


@pytest.mark.parametrize("index", [None, "dates", "numbers"])
def test_pandas(X, index):
    frame = arrow_table(X).to_pandas()
    if index == "dates":
        frame.index = pd.date_range("2020-01-01", periods=100, name="day")
    elif index == "numbers":
        frame.index = pd.Index(np.arange(100)[::-1])
    source = open_rows(frame, block_bytes=900)
    assert (source.names, source.n_rows) == (NAMES, 100)
    assert source.whole == {"town", "id"}
    for start in (0, 33):
        np.testing.assert_array_equal(gathered(source, start)[:, :3], X[start:])


def test_columns_of_pandas_that_are_numbered(X, tmp_path):
    """As those of every frame that is made without names."""
    dd = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(X)
    for rows in (frame, [frame[:20], frame[20:]], dd.from_pandas(frame, npartitions=3)):
        source = open_rows(rows)
        assert source.names == [str(j) for j in range(X.shape[1])]
        np.testing.assert_array_equal(gathered(source), X)
    assert frame.columns.tolist() == list(range(X.shape[1]))
    fill(LowRankImputer(1).fit(X), frame, tmp_path / "filled.parquet")
    assert pd.read_parquet(tmp_path / "filled.parquet").columns.tolist() == source.names


def test_kinds_of_numbers_of_pandas():
    frame = pd.DataFrame(
        {"a": pd.array([1, None, 3], dtype="Int64"), "b": np.float32([1, 2, np.nan]), "c": list("xyz")}
    )
    source = open_rows(frame)
    assert source.names == ["a", "b"]
    np.testing.assert_array_equal(gathered(source), [[1, 1], [np.nan, 2], [3, np.nan]])


@pytest.mark.parametrize("lazy", [False, True])
def test_polars(X, lazy):
    frame = pl.from_arrow(arrow_table(X))
    source = open_rows(frame.lazy() if lazy else frame, block_bytes=900)
    assert (source.names, source.n_rows, source.rewinds) == (NAMES, None if lazy else 100, True)
    for start in (0, 33):
        np.testing.assert_array_equal(gathered(source, start)[:, :3], X[start:])


def test_a_query_over_a_file(X, tmp_path):
    pl.from_arrow(arrow_table(X)).write_parquet(tmp_path / "x.parquet")
    query = pl.scan_parquet(tmp_path / "x.parquet").filter(pl.col("id") >= 10).select(*NAMES)
    np.testing.assert_array_equal(gathered(open_rows(query, block_bytes=900)), X[10:])


def test_what_is_missing_is_named(X, monkeypatch):
    frame = arrow_table(X).to_pandas()

    def no_module(name):
        raise ImportError(name)

    monkeypatch.setattr(extras.importlib, "import_module", no_module)
    with pytest.raises(MissingExtraError, match=r'This needs pyarrow; run `pip install "factorstream\[frames\]"`\.'):
        open_rows(frame)


def test_a_polars_without_batches_is_named(X, monkeypatch):
    monkeypatch.delattr(pl.LazyFrame, "collect_batches")
    with pytest.raises(TableError, match="newer polars"):
        open_rows(pl.from_arrow(arrow_table(X)).lazy())


def test_two_columns_of_one_name_are_refused():
    frames = pytest.importorskip("pandas")
    with pytest.raises(TableError, match="two of its columns are called heat; rename one"):
        open_rows(frames.DataFrame([[1.5, 2.5], [0.5, 4.5]], columns=["heat", "heat"]))


def test_a_lazy_frame_of_a_file_that_is_not_there_names_it(tmp_path):
    frames = pytest.importorskip("polars")
    with pytest.raises(FileNotFoundError, match=r"nothing\.parquet"):
        open_rows(frames.scan_parquet(tmp_path / "nothing.parquet"))
