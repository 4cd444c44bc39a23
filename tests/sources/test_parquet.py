"""Parquet files keep their columns, types and metadata, but for the gaps."""

from __future__ import annotations

import io
import math
import sys
from datetime import date
from decimal import Decimal

import numpy as np
import pytest

from factorstream.sources.table import NewColumn
from factorstream.sources.tables import Bounds, TableError, encode, read_table


def test_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    columns = {
        "id": pa.array([1, 2, 3], pa.int64()),
        "key": pa.array([2**60 + 1, None, 5], pa.int64()),
        "whole": pa.array([1, None, 3], pa.int32()),
        "half": pa.array([1.5, float("nan"), None], pa.float32()),
        "name": pa.array(["x", None, "z"]),
        "yes": pa.array([True, None, False]),
        "empty": pa.array([None, None, None], pa.float64()),
        "endless": pa.array([1.0, float("inf"), None]),
    }
    source = pa.table(columns).replace_schema_metadata({"made": "by hand"})
    pq.write_table(source, tmp_path / "x.parquet")
    table = read_table(tmp_path / "x.parquet")
    assert [table.names[j] for j in table.numeric] == ["id", "whole", "half"]
    assert [table.gaps(j) for j in (1, 4, 5)] == [1, 1, 1]
    filled = np.array([[1.0, 1.0, 1.5], [2.0, 2.0, 0.5], [3.0, 3.0, 0.25]])
    (tmp_path / "y.parquet").write_bytes(encode(table, filled, Bounds(filled - 1, filled + 1)))
    out = pq.read_table(tmp_path / "y.parquet")
    new = ["whole_lower", "whole_upper"], ["half_lower", "half_upper"]
    assert out.column_names == ["id", "key", "whole", *new[0], "half", *new[1], "name", "yes", "empty", "endless"]
    assert out["whole"].to_pylist() == [1, 2, 3]
    assert out["whole_lower"].to_pylist() == [1, 1, 3]
    assert {out.schema.field(name).type for name in ("whole", "whole_lower", "whole_upper")} == {pa.int32()}
    assert (table.whole, table.strays) == ({0, 2}, [])
    assert out["half"].to_pylist() == [1.5, 0.5, 0.25]
    assert out.schema.field("half").type == pa.float32()
    for name in ("id", "key", "name", "yes", "empty", "endless"):
        assert out[name].equals(source[name])
    assert out.schema.metadata[b"made"] == b"by hand"


def test_parquet_that_is_none(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    path = tmp_path / "bad.parquet"
    path.write_bytes(b"PAR1 and nothing else")
    with pytest.raises(TableError, match="not a Parquet file"):
        read_table(path)
    for name in ("pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(
        TableError, match=r"cannot be used: this needs pyarrow; run `pip install .factorstream\[frames\].`\.$"
    ):
        read_table(path)


@pytest.mark.parametrize("notes", [b"{", b"[1]", b'{"columns": 3}', b'{"columns": [3]}', b"\xff"])
def test_notes_of_pandas_that_are_none(notes, tmp_path):
    """They are read where a type will change, as of decimals with gaps: before anything is computed."""
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    for values in ([1, 2, 3], [1, None, 3]):
        source = pa.table(
            {"a": [None if value is None else Decimal(value) for value in values]}
        ).replace_schema_metadata({b"pandas": notes})
        pq.write_table(source, tmp_path / "a.parquet")
        if None in values:
            with pytest.raises(TableError, match="pandas noted in its metadata cannot be read; write the file again"):
                read_table(tmp_path / "a.parquet")
        else:
            assert read_table(tmp_path / "a.parquet").numeric == [0]


def test_new_rows_have_the_types_of_the_columns_they_continue(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {
        "id": pa.array([2**60, None, 2**60 + 2]),
        "year": pa.array([2001, 2002, 2003], pa.int16()),
        "day": pa.array([date(2024, 1, day) for day in (1, 2, 3)]),
        "x": pa.array([1, 5, 2], pa.int32()),
        "y": pa.array([1.5, 2.5, 0.5], pa.float32()),
    }
    pq.write_table(pa.table(columns), tmp_path / "x.parquet")
    table = read_table(tmp_path / "x.parquet")
    new = [
        NewColumn("id", table.cells(0), 0),
        NewColumn("year", [2004.0, 2005.0, 2006.0], 1),
        NewColumn("day", [date(2024, 1, day) for day in (4, 5, 6)], 2),
        NewColumn("x", [1.25, 2.0, 3.0], 3),
        NewColumn("y", [0.25, math.nan, 1.0], 4),
        NewColumn("y_lower", [0.125, math.nan, 1.0]),
        NewColumn("component", ["1", "2", "3"]),
    ]
    again = pq.read_table(io.BytesIO(table.encode_new(new)))
    kinds = [pa.int64(), pa.int16(), pa.date32(), pa.float64(), pa.float32(), pa.float64(), pa.string()]
    assert [field.type for field in again.schema] == kinds
    assert again["id"].to_pylist() == [2**60, None, 2**60 + 2]
    assert again["year"].to_pylist() == [2004, 2005, 2006]
    assert again["y"].null_count == 1
