"""Types, neighbours and notes of what is written, format by format."""

from __future__ import annotations

import h5py
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zarr

from factorstream import open_rows, open_sink
from factorstream.sources.table import Bounds, TableError
from row_files import gathered


def fill(source, path, value=0.5, bounds=()):
    with open_sink(path, source, bounds=bounds) as sink:
        for block in source.blocks():
            filled = np.full(block.values.shape, value)
            sink.write(block, filled, Bounds(filled, filled))
    return path


@pytest.mark.parametrize("dtype", ["f2", "f4", ">f8", "i4", "u8"])
def test_arrays_keep_their_types(dtype, tmp_path):
    X = np.array([[1, 2], [3, 4]], dtype=dtype)
    np.save(tmp_path / "x.npy", X)
    out = np.load(fill(open_rows(tmp_path / "x.npy"), tmp_path / "y.npy"))
    assert out.dtype == X.dtype
    np.testing.assert_array_equal(out, X)


def test_whole_numbers_with_a_mark_or_bounds_become_floats(tmp_path):
    np.save(tmp_path / "x.npy", np.array([[1, -1], [2**60 + 1, 4]]))
    out = np.load(fill(open_rows(tmp_path / "x.npy"), tmp_path / "y.npy"))
    assert out[1, 0] == 2**60 + 1
    out = np.load(fill(open_rows(tmp_path / "x.npy", missing=["-1"]), tmp_path / "y.npy"))
    np.testing.assert_array_equal(out, [[1, 0], [2.0**60, 4]])  # a fill of 0.5 is rounded
    out = np.load(fill(open_rows(tmp_path / "x.npy"), tmp_path / "y.npy", bounds=[0]))
    assert (out.dtype, out.shape) == (np.float64, (2, 4))


def test_other_arrays_of_an_archive_stay(tmp_path):
    np.savez_compressed(tmp_path / "x.npz", X=np.array([[1, np.nan]]), label=np.array(["a"]), other=np.arange(3))
    with np.load(fill(open_rows(tmp_path / "x.npz", dataset="X"), tmp_path / "y.npz")) as out:
        assert sorted(out) == ["X", "label", "other"]
        np.testing.assert_array_equal(out["X"], [[1, 0.5]])
        np.testing.assert_array_equal(out["label"], ["a"])


def test_everything_else_in_an_hdf5_file_stays(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.attrs["made by"] = "us"
        file["a/other"], file["words"] = np.arange(3), "some"
        X = file.create_dataset(
            "a/X", data=np.array([[1, np.nan]] * 9), chunks=(4, 2), compression="gzip", shuffle=True
        )
        X.attrs["unit"] = "m"
    source = open_rows(tmp_path / "x.h5", dataset="a/X")
    with h5py.File(fill(source, tmp_path / "y.h5", bounds=[1]), "r") as out:
        assert out.attrs["made by"] == "us"
        np.testing.assert_array_equal(out["a/other"], np.arange(3))
        assert out["words"][()] == b"some"
        X = out["a/X"]
        assert (X.chunks, X.compression, X.shuffle, X.attrs["unit"]) == ((4, 4), "gzip", True, "m")
        np.testing.assert_array_equal(X, [[1, 0.5, 0.5, 0.5]] * 9)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_everything_else_in_a_zarr_group_stays(zarr_format, tmp_path):
    group = zarr.create_group(tmp_path / "x.zarr", zarr_format=zarr_format, attributes={"made by": "us"})
    group.create_array("deep/other", data=np.arange(3))
    group.create_array("deep/X", data=np.array([[1, np.nan]] * 9), chunks=(4, 2), attributes={"unit": "m"})
    source = open_rows(tmp_path / "x.zarr", dataset="deep/X")
    out = zarr.open(fill(source, tmp_path / "y.zarr"), mode="r")
    assert out.attrs["made by"] == "us"
    np.testing.assert_array_equal(out["deep/other"], np.arange(3))
    assert (out["deep/X"].chunks, out["deep/X"].attrs["unit"]) == ((4, 2), "m")
    assert out["deep/X"].metadata.zarr_format == zarr_format
    np.testing.assert_array_equal(out["deep/X"], [[1, 0.5]] * 9)


def test_chunks_of_a_new_zarr_array_have_whole_rows(tmp_path):
    X = np.random.default_rng(0).random((5000, 300))
    out = zarr.open(fill(open_rows(lambda: iter([X])), tmp_path / "y.zarr"), mode="r")
    assert out.chunks == (436, 300)  # a mebibyte
    np.testing.assert_array_equal(out, X)


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
def test_columns_of_a_table_keep_their_types(ending, tmp_path):
    table = pa.table(
        {
            "whole": pa.array([1, 2, 2**60 + 1], pa.int64()),
            "gappy": pa.array([1, None, 3], pa.int16()),
            "short": pa.array([1.5, None, 2.5], pa.float32()),
            "word": pa.array(["a", None, "b"]).dictionary_encode(),
            "when": pa.array([1, 2, None], pa.timestamp("ms")),
        }
    )
    if ending == ".parquet":
        pq.write_table(table, tmp_path / "x.parquet")
    else:
        with pa.OSFile(str(tmp_path / "x.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as out:
            out.write_table(table)
    fill(open_rows(tmp_path / f"x{ending}", block_bytes=1), tmp_path / f"y{ending}")
    out = (
        pq.read_table(tmp_path / "y.parquet")
        if ending == ".parquet"
        else pa.ipc.open_file(tmp_path / "y.arrow").read_all()
    )
    assert out.schema.types == [
        pa.int64(),
        pa.int16(),
        pa.float32(),
        table.schema.field("word").type,
        pa.timestamp("ms"),
    ]
    assert out.to_pydict() == {**table.to_pydict(), "gappy": [1, 0, 3], "short": [1.5, 0.5, 2.5]}


def test_names_of_things_are_not_rounded(tmp_path):
    pq.write_table(pa.table({"id": [1, None, 2**60 + 1]}), tmp_path / "x.parquet")
    with pytest.raises(TableError, match="Column id has gaps, and whole numbers that floats cannot hold"):
        fill(open_rows(tmp_path / "x.parquet"), tmp_path / "y.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["x.parquet"]


def test_pandas_finds_its_index_again(tmp_path):
    frame = pd.DataFrame({"a": [1.0, np.nan, 3.0], "b": list("xyz")}, index=pd.date_range("2020-01-01", periods=3))
    out = pd.read_parquet(fill(open_rows(frame, block_bytes=1), tmp_path / "y.parquet"))
    pd.testing.assert_frame_equal(out, frame.fillna({"a": 0.5}), check_freq=False)


def test_polars_frames_and_queries(tmp_path):
    frame = pl.DataFrame({"a": [1.0, None, float("nan")], "b": ["x", None, "z"]})
    for what in (frame, frame.lazy()):
        out = pl.read_parquet(fill(open_rows(what), tmp_path / "y.parquet"))
        assert out.to_dict(as_series=False) == {"a": [1.0, 0.5, 0.5], "b": ["x", None, "z"]}


def test_texts_to_the_character(tmp_path):
    text = '\ufeff"na me";x;y\r\n"a;b";1.50;\r\n\r\n"c\r\nd";NA;007\r\nlast;2;-'
    (tmp_path / "x.csv").write_bytes(text.encode())
    source = open_rows(tmp_path / "x.csv", delimiter=";")
    assert source.names == ["x"]
    out = fill(source, tmp_path / "y.csv").read_bytes().decode()
    assert out == text.replace("NA", "0.5")
    out = fill(source, tmp_path / "y.csv", bounds=[0]).read_bytes().decode()
    assert out == (
        '\ufeff"na me";x;x_lower;x_upper;y\r\n"a;b";1.50;1.50;1.50;\r\n\r\n"c\r\nd";0.5;0.5;0.5;007\r\nlast;2;2;2;-'
    )


def test_numbers_of_other_sources_keep_their_digits(tmp_path):
    X = np.array([[0.1, np.nan], [1 / 3, 1e-300]])
    fill(open_rows(X), tmp_path / "y.csv", 1 / 3)
    assert (tmp_path / "y.csv").read_text() == "0.1,0.3333333333\n0.3333333333333333,1e-300\n"
    fill(open_rows(X[:, :1].astype("f4")), tmp_path / "y.csv")
    np.testing.assert_array_equal(
        gathered(open_rows(tmp_path / "y.csv", header=False)).astype("f4"), X[:, :1].astype("f4")
    )


def test_a_column_of_a_text_that_counts_with_gaps_and_marks_is_one_of_whole_numbers(tmp_path):
    (tmp_path / "x.csv").write_text("n;a\n97;1,5\nNA;2,5\n99;\n100;3,5\n101;4\n")
    source = open_rows(tmp_path / "x.csv", missing=["99"])
    assert source.others.counting == ("n",)
    out = pq.read_table(fill(source, tmp_path / "y.parquet"))
    assert out.schema.types == [pa.int64(), pa.float64()]
    assert out["n"].to_pylist() == [97, None, 99, 100, 101]
