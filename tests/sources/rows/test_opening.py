"""Files are opened by their endings; what cannot be opened is refused in one sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from factorstream import open_rows, open_sink
from factorstream.sources.table import TableError


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(TableError, match=r"x\.npy does not exist\.$"):
        open_rows(tmp_path / "x.npy")


def test_an_unknown_ending(tmp_path):
    with pytest.raises(TableError, match=r"ending \.xlsx, which is not read block by block; those are .*\.npy"):
        open_rows(tmp_path / "x.xlsx")


def test_a_folder_of_something_else(tmp_path):
    (tmp_path / "x.npy").mkdir()
    with pytest.raises(TableError, match=r"x\.npy is a folder without .*; pass a file, a list of files, or a pattern"):
        open_rows(tmp_path / "x.npy")
    source = open_rows(np.ones((3, 2)))
    with pytest.raises(TableError, match=r"x\.npy is a folder; name a file"):
        open_sink(tmp_path / "x.npy", source)


@pytest.mark.parametrize("as_path", [str, Path])
@pytest.mark.parametrize("address", ["https://example.org/x.csv", "s3://bucket/x.parquet", "file:///x.npy"])
def test_an_address(address, as_path):
    with pytest.raises(TableError, match=r"is an address, and .*; download it first, or pass"):
        open_rows(as_path(address))


def test_no_ending(tmp_path):
    (tmp_path / "x").write_text("1,2")
    with pytest.raises(TableError, match=r"has no ending, which is not read block by block; those are \.npy"):
        open_rows(tmp_path / "x")


def test_a_dataset_of_a_file_that_has_none(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    with pytest.raises(TableError, match="it is one table, and has none named X"):
        open_rows(tmp_path / "x.csv", dataset="X")


@pytest.mark.parametrize("options", [{"columns": "heat"}, {"missing": "-99"}])
def test_a_text_is_no_list(options):
    with pytest.raises(TableError, match="as a list, and not as"):
        open_rows([[1.0, 2.0]], **options)


@pytest.mark.parametrize("library", ["h5py", "zarr"])
def test_a_file_of_arrays_is_no_array(tmp_path, library):
    pytest.importorskip(library)
    if library == "h5py":
        import h5py

        group = h5py.File(tmp_path / "x.h5", "w")
        group["heat"] = np.zeros((3, 2))
    else:
        import zarr

        group = zarr.open_group(tmp_path / "x.zarr", mode="w")
        group.create_array("heat", shape=(3, 2), dtype="f8")
    with pytest.raises(TableError, match=r"which has heat; give one of them, as X\['heat'\]"):
        open_rows(group)
    assert open_rows(group["heat"]).n_rows == 3


def test_problems_of_code_that_makes_rows_are_its_own():
    def blocks():
        raise FileNotFoundError(2, "No such file", "part 7")

    with pytest.raises(FileNotFoundError, match="part 7"):
        open_rows(blocks)
