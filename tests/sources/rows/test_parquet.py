"""Parquet in blocks: which columns are numbers, and what row groups are read."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from factorstream import open_rows, open_sink
from factorstream.sources.rows import parquet
from factorstream.sources.table import TableError
from row_files import gathered


def test_columns_of_numbers(tmp_path):
    table = pa.table(
        {
            "whole": pa.array([1, None, 3], pa.int32()),
            "short": pa.array([1.5, 2.5, None], pa.float32()),
            "money": pa.array([Decimal("1.25"), None, Decimal("3")], pa.decimal128(9, 2)),
            "long": pa.array([Decimal("1.25"), None, Decimal("3")], pa.decimal128(30, 2)),
            "yes": [True, False, None],
            "word": ["a", None, "c"],
            "when": pa.array([1, 2, 3], pa.timestamp("ms")),
        }
    )
    pq.write_table(table, tmp_path / "x.parquet")
    source = open_rows(tmp_path / "x.parquet")
    assert source.names == ["whole", "short", "money"]
    assert source.dtype == np.float64
    np.testing.assert_array_equal(gathered(source), [[1, 1.5, 1.25], [np.nan, 2.5, np.nan], [3, np.nan, 3]])
    (block,) = source.blocks()
    assert block.kept.equals(table)
    with pytest.raises(TableError, match="its column word does not hold numbers"):
        open_rows(tmp_path / "x.parquet", columns=["word"])


def test_columns_without_gaps_are_known(tmp_path):
    pq.write_table(pa.table({"a": [1, 2, 3, 5], "b": [1, 2, None, 5]}), tmp_path / "x.parquet", row_group_size=2)
    assert open_rows(tmp_path / "x.parquet").whole == {"a"}
    assert open_rows(tmp_path / "x.parquet", missing=["4"]).whole == set()
    pq.write_table(pa.table({"a": [1, 2]}), tmp_path / "y.parquet", write_statistics=False)
    assert open_rows(tmp_path / "y.parquet").whole == set()


def test_row_groups_before_the_start_are_not_read(tmp_path, monkeypatch):
    pq.write_table(pa.table({"a": np.arange(100.0)}), tmp_path / "x.parquet", row_group_size=10)
    source = open_rows(tmp_path / "x.parquet", columns=["a"])
    read = []
    original = pq.ParquetFile.iter_batches

    def spying(self, *args, **kwargs):
        read.extend(kwargs["row_groups"])
        return original(self, *args, **kwargs)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", spying)
    np.testing.assert_array_equal(gathered(source, 73)[:, 0], np.arange(73, 100))
    assert read == [7, 8, 9]


def test_nothing_but_words(tmp_path):
    pq.write_table(pa.table({"a": ["x"]}), tmp_path / "x.parquet")
    with pytest.raises(TableError, match="no columns of numbers"):
        open_rows(tmp_path / "x.parquet")


def test_blocks_are_gathered_into_row_groups(tmp_path, monkeypatch):
    X = np.random.default_rng(0).normal(size=(1000, 3))
    source = open_rows(X, block_bytes=240)
    for most, groups in ((parquet.ROW_GROUP_BYTES, 1), (8000, 3)):
        monkeypatch.setattr(parquet, "ROW_GROUP_BYTES", most)
        with open_sink(tmp_path / "x.parquet", source) as sink:
            for block in source.blocks():
                sink.write(block)
        assert pq.read_metadata(sink.path).num_row_groups == groups
        np.testing.assert_array_equal(gathered(open_rows(sink.path)), X)


def test_a_lack_of_memory_is_no_damage(tmp_path, monkeypatch):
    pq.write_table(pa.table({"a": [1.0, 5.0, 2.0]}), tmp_path / "x.parquet")
    source = open_rows(tmp_path / "x.parquet")

    def full(self, *args, **kwargs):
        raise pa.ArrowMemoryError("malloc of size 64 failed")

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", full)
    with pytest.raises(MemoryError):
        gathered(source)
    with pytest.raises(MemoryError):
        open_rows(tmp_path / "x.parquet")
