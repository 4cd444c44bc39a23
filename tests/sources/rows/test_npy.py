"""NPY files block by block: what NumPy wrote, from any row on, or a sentence."""

from __future__ import annotations

import gzip
import pickle

import numpy as np
import pytest

from factorstream import open_rows
from factorstream.sources.table import TableError


def gathered(source, start=0):
    return np.concatenate([block.values for block in source.blocks(start)])


@pytest.fixture
def X(rng):
    X = rng.normal(size=(100, 7))
    X[rng.random(X.shape) < 0.2] = np.nan
    return X


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f8"])
@pytest.mark.parametrize("ending", [".npy", ".npy.gz"])
def test_files(X, dtype, ending, tmp_path):
    path = tmp_path / f"x{ending}"
    X = X.astype(dtype)
    with (gzip.open if ending.endswith("gz") else open)(path, "wb") as file:
        np.save(file, X)
    source = open_rows(path, block_bytes=500)
    assert (source.n_rows, source.n_columns, source.rewinds) == (100, 7, True)
    for start in (0, 1, 33, 99):
        np.testing.assert_array_equal(gathered(source, start), X[start:])
    assert max(block.values.nbytes for block in source.blocks()) <= 500
    np.testing.assert_array_equal(gathered(pickle.loads(pickle.dumps(source))), X)


def test_integers_with_a_mark(tmp_path):
    np.save(tmp_path / "x.npy", np.array([[1, -1], [-1, 4]], dtype=np.int16))
    source = open_rows(str(tmp_path / "x.npy"), missing=["-1"])
    assert source.dtype == np.float64
    np.testing.assert_array_equal(gathered(source), [[1, np.nan], [np.nan, 4]])


def test_a_single_row(tmp_path):
    np.save(tmp_path / "x.npy", np.asfortranarray([[1.0, 2.0]]))
    np.testing.assert_array_equal(gathered(open_rows(tmp_path / "x.npy")), [[1, 2]])


@pytest.mark.parametrize("ending", [".npy", ".npy.gz", ".npz"])
def test_columns_one_after_another(X, ending, tmp_path):
    path = tmp_path / f"x{ending}"
    if ending == ".npz":
        np.savez(path, X=np.asfortranarray(X))
    else:
        with (gzip.open if ending.endswith("gz") else open)(path, "wb") as file:
            np.save(file, np.asfortranarray(X))
    source = open_rows(path, block_bytes=500)
    for start in (0, 1, 50):
        np.testing.assert_array_equal(gathered(source, start), X[start:])
    assert all(block.values.flags.c_contiguous for block in source.blocks())
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(TableError, match=r"ends before its last row|cut off"):
        gathered(open_rows(path))


@pytest.mark.parametrize("ending", [".npy", ".npy.gz"])
@pytest.mark.parametrize("lost", [1, 8, 7 * 8, 3000])
def test_a_file_that_is_cut_off(X, ending, lost, tmp_path):
    path = tmp_path / f"x{ending}"
    with (gzip.open if ending.endswith("gz") else open)(path, "wb") as file:
        np.save(file, X)
    path.write_bytes(path.read_bytes()[:-lost])
    with pytest.raises(TableError, match="ends before its last row") as caught:
        gathered(open_rows(path, block_bytes=500))
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not an NPY file"),
        (b"nonsense", "not an NPY file"),
        (np.zeros(3), "shape"),
        (np.zeros((0, 2)), "shape"),
        (np.array([["a"]]), "real numbers"),
        (np.array([[None]], dtype=object), "real numbers"),
    ],
)
def test_files_that_are_no_table(content, words, tmp_path):
    path = tmp_path / "bad.npy"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        np.save(path, content, allow_pickle=True)
    with pytest.raises(TableError, match=words):
        open_rows(path)


def test_a_file_that_is_not_packed(tmp_path):
    (tmp_path / "x.npy.gz").write_bytes(b"nonsense")
    with pytest.raises(TableError, match="not packed"):
        open_rows(tmp_path / "x.npy.gz")
