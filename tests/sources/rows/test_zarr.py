"""Zarr stores: an array, or one of a group's."""

from __future__ import annotations

import numpy as np
import pytest
import zarr

from factorstream import extras, open_rows
from factorstream.extras import MissingExtraError
from factorstream.sources.table import TableError
from row_files import gathered, numbers


def test_one_of_a_group(rng, tmp_path):
    X = numbers(rng)
    group = zarr.create_group(tmp_path / "x.zarr")
    group.create_array("X", data=X, chunks=(9, 2))
    np.testing.assert_array_equal(gathered(open_rows(tmp_path / "x.zarr", block_bytes=500)), X)
    group.create_array("when", data=np.arange(len(X)))  # no rows and columns
    np.testing.assert_array_equal(gathered(open_rows(tmp_path / "x.zarr", block_bytes=500)), X)
    group.create_array("deep/Y", data=X + 1)
    np.testing.assert_array_equal(gathered(open_rows(tmp_path / "x.zarr", dataset="deep/Y", block_bytes=500)), X + 1)
    with pytest.raises(TableError, match="the arrays X, deep/Y; name one"):
        open_rows(tmp_path / "x.zarr")
    with pytest.raises(TableError, match="no array Z with rows and columns; it has X, deep/Y"):
        open_rows(tmp_path / "x.zarr", dataset="Z")


def test_an_open_array(rng, tmp_path):
    X = numbers(rng)
    array = zarr.create_array(tmp_path / "x.zarr", data=X, chunks=(9, 2))
    np.testing.assert_array_equal(gathered(open_rows(array, block_bytes=500)), X)
    with pytest.raises(TableError, match="one array"):
        open_rows(tmp_path / "x.zarr", dataset="X")


def test_an_empty_group_and_a_folder(tmp_path):
    zarr.create_group(tmp_path / "x.zarr")
    with pytest.raises(TableError, match="no arrays"):
        open_rows(tmp_path / "x.zarr")
    (tmp_path / "y.zarr").mkdir()
    with pytest.raises(TableError, match="not a Zarr store"):
        open_rows(tmp_path / "y.zarr")


def test_what_is_missing_is_named(tmp_path, monkeypatch):
    def no_module(name):
        raise ImportError(name)

    from factorstream.sources.rows import zarr as reader

    monkeypatch.setattr(extras.importlib, "import_module", no_module)
    with pytest.raises(MissingExtraError, match=r'This needs zarr; run `pip install "factorstream\[zarr\]"`\.'):
        reader.open_file(tmp_path / "x.zarr", None)
