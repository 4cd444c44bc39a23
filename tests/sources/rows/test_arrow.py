"""Files, tables and data sets of Arrow in blocks."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from factorstream import open_rows
from factorstream.sources.table import TableError
from row_files import NAMES, arrow_table, gathered, numbers


@pytest.fixture
def X(rng):
    return numbers(rng)


def test_a_stream_in_a_file(X, tmp_path):
    table = arrow_table(X)
    with pa.OSFile(str(tmp_path / "x.arrow"), "wb") as file, pa.ipc.new_stream(file, table.schema) as out:
        out.write_table(table, max_chunksize=9)
    source = open_rows(tmp_path / "x.arrow", block_bytes=900)
    assert source.names == NAMES
    assert source.others.counting == ("id",)
    assert source.whole == {"town", "id"}
    for start in (0, 31):
        np.testing.assert_array_equal(gathered(source, start)[:, :3], X[start:])


def test_a_table(X):
    source = open_rows(arrow_table(X), block_bytes=900)
    assert (source.names, source.n_rows, source.whole) == (NAMES, 100, {"town", "id"})
    np.testing.assert_array_equal(gathered(source, 5)[:, :3], X[5:])


def test_a_data_set_of_several_files(X, tmp_path):
    for part in range(4):
        pq.write_table(arrow_table(X[25 * part : 25 * part + 25]), tmp_path / f"{part}.parquet", row_group_size=7)
    source = open_rows(ds.dataset(tmp_path), block_bytes=900)
    assert (source.n_rows, source.rewinds) == (100, True)
    for start in (0, 40):
        np.testing.assert_array_equal(gathered(source, start)[:, :3], X[start:])


def test_a_table_without_rows(X):
    with pytest.raises(TableError, match="it has no rows"):
        open_rows(arrow_table(X[:0]))
