"""HDF5 files: one dataset is chosen, and read in whole chunks."""

from __future__ import annotations

import h5py
import numpy as np
import pytest

from factorstream import extras, open_rows
from factorstream.extras import MissingExtraError
from factorstream.sources.table import TableError
from row_files import gathered, numbers


def test_one_of_several_datasets(rng, tmp_path):
    X = numbers(rng)
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file["a/X"], file["Y"], file["t"], file["word"] = X, X + 1, np.arange(3.0), [["x"]]
    np.testing.assert_array_equal(gathered(open_rows(path, dataset="Y", block_bytes=500)), X + 1)
    np.testing.assert_array_equal(gathered(open_rows(path, dataset="/a/X")), X)
    with pytest.raises(TableError, match="the datasets Y, a/X, word; name one"):
        open_rows(path)
    with pytest.raises(TableError, match="no dataset t with rows and columns; it has Y, a/X"):
        open_rows(path, dataset="t")
    with pytest.raises(TableError, match="real numbers"):
        open_rows(path, dataset="word")


def test_an_open_dataset(rng, tmp_path):
    X = numbers(rng)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["X"] = X
        np.testing.assert_array_equal(gathered(open_rows(file["X"], block_bytes=500)), X)


def test_blocks_are_whole_chunks(rng, tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("X", data=rng.normal(size=(100, 2)), chunks=(8, 2))
    assert [block.first for block in open_rows(tmp_path / "x.h5", block_bytes=16 * 20).blocks()] == [*range(0, 100, 16)]


def test_no_dataset(tmp_path):
    h5py.File(tmp_path / "x.h5", "w").close()
    with pytest.raises(TableError, match="no dataset"):
        open_rows(tmp_path / "x.h5")


def test_what_is_missing_is_named(tmp_path, monkeypatch):
    def no_module(name):
        raise ImportError(name)

    from factorstream.sources.rows import hdf5

    monkeypatch.setattr(extras.importlib, "import_module", no_module)
    with pytest.raises(MissingExtraError, match=r'This needs h5py; run `pip install "factorstream\[hdf5\]"`\.'):
        hdf5.open_file(tmp_path / "x.h5", None)
