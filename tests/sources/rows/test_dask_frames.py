"""Frames of Dask are read partition by partition."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream import DictionaryFilter, LowRankImputer, SequenceFilter, fill, open_rows
from row_files import NAMES, gathered, numbers, towns

pandas = pytest.importorskip("pandas")
dd = pytest.importorskip("dask.dataframe")
pytest.importorskip("pyarrow")


@pytest.fixture
def X(rng):
    return numbers(rng)


@pytest.fixture
def frame(X):
    return pandas.DataFrame(X, columns=NAMES).assign(town=towns(len(X)))


def test_numbers_and_names(X, frame):
    source = open_rows(dd.from_pandas(frame, npartitions=4), block_bytes=600)
    assert (source.names, source.rewinds) == (NAMES, True)
    for start in (0, 24, 25, 60):
        np.testing.assert_array_equal(gathered(source, start), X[start:])
    np.testing.assert_array_equal(
        gathered(open_rows(dd.from_pandas(frame, npartitions=4), columns=["wind", "heat"])), X[:, [2, 0]]
    )


def test_numbers_that_may_be_missing(X):
    columns = {
        "whole": pandas.array([1, None, 3, 5], dtype="Int64"),
        "short": np.array([1, 2, 4, np.nan], dtype="f4"),
        "arrow": pandas.array([1.5, None, 2.5, 3.5], dtype="double[pyarrow]"),
    }
    source = open_rows(dd.from_pandas(pandas.DataFrame(columns), npartitions=2))
    expected = [[1, 1, 1.5], [np.nan, 2, np.nan], [3, 4, 2.5], [5, np.nan, 3.5]]
    np.testing.assert_array_equal(gathered(source), expected)


@pytest.mark.parametrize("restarts", [False, True])
def test_an_index_that_only_counts_is_left_out(frame, restarts):
    """Partitions have parts of it, which are no range from 0 any more, or every one has its own, as files have."""
    rows = dd.from_pandas(frame, npartitions=3)
    if restarts:
        rows = rows.map_partitions(lambda part: part.reset_index(drop=True), meta=rows._meta)
    source = open_rows(rows)
    assert not any("index" in name for name in (*source.names, *source.others.names))


@pytest.mark.parametrize("numbers", [[1017, 1018, 2300], [0, 2, 3], [4, 3, 2]])
def test_an_index_of_other_whole_numbers_is_carried_along(frame, tmp_path, numbers):
    """Numbers of stations, or of the rows that a query has left."""
    frame = frame.iloc[:3].set_axis(numbers)
    for rows in (frame, dd.from_pandas(frame, npartitions=1, sort=False)):
        fill(DictionaryFilter(1).fit(frame[NAMES]), rows, tmp_path / "filled.parquet")
        assert pandas.read_parquet(tmp_path / "filled.parquet").index.tolist() == numbers


@pytest.mark.parametrize("estimator", [DictionaryFilter, LowRankImputer])
def test_fit_and_fill(X, frame, tmp_path, estimator):
    frame.index = pandas.date_range("2024-05-01", periods=len(frame), name="day")
    rows = dd.from_pandas(frame, npartitions=4)
    with pytest.warns(UserWarning, match="Columns without numbers were left out: town"):
        model = estimator(2, random_state=0).fit(rows)
    assert model.feature_names_in_.tolist() == NAMES
    expected = estimator(2, random_state=0).fit(open_rows(frame, columns=NAMES)).impute(frame[NAMES])
    fill(model, rows, tmp_path / "filled.parquet")  # all else is carried along
    filled = pandas.read_parquet(tmp_path / "filled.parquet")
    np.testing.assert_allclose(filled[NAMES], expected, rtol=1e-12)
    assert filled.town.tolist() == frame.town.tolist()
    assert filled.index.equals(frame.index)


@pytest.mark.parametrize("estimator", [DictionaryFilter, LowRankImputer, SequenceFilter])
def test_questions_say_what_to_pass(X, frame, estimator):
    rows = dd.from_pandas(frame[NAMES], npartitions=4)
    model = estimator(2).fit(X)
    for ask in (model.impute, model.transform, model.predict_interval):
        with pytest.raises(
            TypeError, match=r"table of Dask, .*; pass X\.compute\(\), or X\.to_dask_array\(lengths=True\)"
        ):
            ask(rows)
    np.testing.assert_array_equal(model.impute(rows.to_dask_array(lengths=True)), model.impute(X))
