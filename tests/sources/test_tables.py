"""One interface over all formats."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from factorstream.sources import tables
from factorstream.sources.table import Format
from factorstream.sources.tables import Bounds, TableError, encode, format_of, read_table


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(TableError, match="does not exist"):
        read_table(tmp_path / "nowhere.csv")
    with pytest.raises(TableError, match="is a folder"):
        read_table(tmp_path)
    for name in ("x.xlsx", "x.json.gz"):
        with pytest.raises(TableError, match="which is not read; save the table as CSV"):
            read_table(tmp_path / name)


def test_bytes_of_a_file_that_is_empty_are_no_table_in_any_format(tmp_path):
    for name in ("x.csv", "x.npy", "x.parquet"):
        (tmp_path / name).write_bytes(b"")
        with pytest.raises(TableError, match="it is empty"):
            read_table(tmp_path / name)


class Remembered:
    """A table of another format that remembers the columns it was asked to write."""

    raw, first_line = b"x", ""
    names, numeric = ["a", "word", "b"], [0, 2]
    numbers = np.array([[1.0, 2.0], [np.nan, 4.0]])

    def gaps(self, column):
        return int(column == 0)

    def encode(self, columns):
        self.columns = columns
        return [b"writ", b"ten"]


def test_a_new_format_is_one_line_and_is_told_where_the_bounds_go(tmp_path, monkeypatch):
    table = Remembered()
    monkeypatch.setattr(tables, "FORMATS", (*tables.FORMATS, Format("new", (".new",), lambda raw, options: table)))
    (tmp_path / "x.new").write_bytes(b"x")
    assert read_table(tmp_path / "x.new") is table
    assert format_of(Path("x.NEW")).name == "new"
    filled = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert encode(table, filled, Bounds(filled - 1, filled + 1)) == b"written"
    assert [(c.position, c.name, c.fill is None) for c in table.columns] == [
        (0, "a", False),
        (0, "a_lower", False),
        (0, "a_upper", False),
        (1, "word", True),
        (2, "b", True),
    ]
    np.testing.assert_array_equal(table.columns[1].fill.values, [0.0, 2.0])
    np.testing.assert_array_equal(table.columns[1].fill.gaps, [False, True])
