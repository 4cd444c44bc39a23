"""Archives of arrays: one is chosen by name, and streams out of the archive packed or not."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream import DictionaryFilter, open_rows
from factorstream.sources.table import TableError
from row_files import gathered, numbers


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_one_of_several_arrays(rng, save, tmp_path):
    X = numbers(rng)
    save(tmp_path / "x.npz", X=X, Y=X + 1, label=np.array([["a"]]))
    np.testing.assert_array_equal(gathered(open_rows(tmp_path / "x.npz", dataset="Y", block_bytes=500)), X + 1)
    with pytest.raises(TableError, match="the arrays X, Y, label; name one"):
        open_rows(tmp_path / "x.npz")
    with pytest.raises(
        TableError, match=r'x\.npz cannot be used: .*; name one of them, as open_rows\(path, dataset="X"\)'
    ):
        DictionaryFilter(1).fit(tmp_path / "x.npz")
    with pytest.raises(TableError, match="no array Z with rows and columns; it has X, Y, label"):
        open_rows(tmp_path / "x.npz", dataset="Z")
    with pytest.raises(TableError, match="real numbers"):
        open_rows(tmp_path / "x.npz", dataset="label")


def test_the_only_array_with_rows_and_columns_needs_no_name(rng, tmp_path):
    X = numbers(rng)
    np.savez(tmp_path / "x.npz", names=np.array(["a", "b", "c"]), X=X, when=np.arange(len(X)))
    np.testing.assert_array_equal(gathered(open_rows(tmp_path / "x.npz")), X)
    with pytest.raises(TableError, match="no array when with rows and columns; it has X"):
        open_rows(tmp_path / "x.npz", dataset="when")


def test_an_empty_archive(tmp_path):
    np.savez(tmp_path / "x.npz")
    with pytest.raises(TableError, match="no arrays"):
        open_rows(tmp_path / "x.npz")


def test_a_flipped_bit_is_found(rng, tmp_path):
    np.savez(tmp_path / "x.npz", X=rng.normal(size=(100, 3)))
    content = bytearray((tmp_path / "x.npz").read_bytes())
    content[1000] ^= 1
    (tmp_path / "x.npz").write_bytes(content)
    with pytest.raises(TableError, match="ends before"):
        gathered(open_rows(tmp_path / "x.npz"))
