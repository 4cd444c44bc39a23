"""What every format of files promises: the same numbers, names and blocks, from any row on."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from factorstream import open_rows
from factorstream.sources.rows.source import Source
from factorstream.sources.table import TableError
from row_files import NAMES, WRITERS, gathered, numbers

WITHOUT_NAMES = [".npy", ".npy.gz", ".npz", ".h5", ".zarr"]


@pytest.fixture(params=WRITERS)
def ending(request):
    return request.param


@pytest.fixture
def X(rng):
    return numbers(rng)


@pytest.fixture
def path(ending, X, tmp_path):
    path = tmp_path / f"x{ending}"
    WRITERS[ending](path, X)
    return path


def test_numbers_and_names(path, ending, X):
    source = open_rows(path, block_bytes=800)
    assert isinstance(source, Source)
    assert source.names == (None if ending in WITHOUT_NAMES else NAMES)
    assert (source.n_rows, source.n_columns, source.dtype, source.rewinds) == (100, 3, np.float64, True)
    for start in (0, 1, 50, 99):
        np.testing.assert_array_equal(gathered(source, start), X[start:])
    assert list(source.blocks(100)) == []


def test_blocks_are_small_and_end_at_the_same_rows(path):
    source = open_rows(path, block_bytes=800)
    ends = [block.first + len(block.values) for block in source.blocks()]
    assert len(ends) > 2
    assert all(block.values.nbytes <= 800 for block in source.blocks())
    for start in range(0, 100, 9):
        assert [block.first + len(block.values) for block in source.blocks(start)] == [e for e in ends if e > start]


def test_a_file_can_be_sent_to_another_process(path, X):
    np.testing.assert_array_equal(gathered(pickle.loads(pickle.dumps(open_rows(path)))), X)


def test_chosen_columns(path, ending, X):
    source = open_rows(path, columns=[2, 0] if ending in WITHOUT_NAMES else ["wind", "heat"])
    np.testing.assert_array_equal(gathered(source), X[:, [2, 0]])
    with pytest.raises(TableError, match=r"no names|no column dew"):
        open_rows(path, columns=["dew"])
    with pytest.raises(TableError, match="count from 0"):
        open_rows(path, columns=[17])


def test_numbers_that_mark_gaps(ending, X, tmp_path):
    path = tmp_path / f"x{ending}"
    WRITERS[ending](path, np.where(np.isnan(X), -99.0, X))
    source = open_rows(path, missing=["-99", "n.d."])
    np.testing.assert_array_equal(gathered(source), X)


def test_one_row(ending, tmp_path):
    path = tmp_path / f"x{ending}"
    WRITERS[ending](path, np.array([[1.0, 2.5, -3.0]]))
    np.testing.assert_array_equal(gathered(open_rows(path)), [[1, 2.5, -3]])


def test_no_rows(ending, tmp_path):
    path = tmp_path / f"x{ending}"
    WRITERS[ending](path, np.empty((0, 3)))
    with pytest.raises(TableError, match=r"no rows|shape"):
        open_rows(path)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_types(ending, rng, dtype, tmp_path):
    path = tmp_path / f"x{ending}"
    X = numbers(rng, dtype=dtype)
    WRITERS[ending](path, X)
    source = open_rows(path)
    text = "sv" in ending
    assert source.dtype == (np.float64 if text else X.dtype)
    assert all(block.values.dtype == source.dtype for block in source.blocks())
    np.testing.assert_array_equal(gathered(source), X)


def test_a_file_that_is_cut_off(ending, rng, tmp_path):
    if ending in (".csv", ".tsv", ".zarr"):
        pytest.skip("what is left of it is a smaller table")
    path = tmp_path / f"x{ending}"
    WRITERS[ending](path, numbers(rng, 3000))
    whole = path.read_bytes()
    for left in (0, 10, len(whole) // 2, len(whole) - 3):
        path.write_bytes(whole[:left])
        with pytest.raises(TableError) as caught:
            gathered(open_rows(path))
        assert str(caught.value).startswith(str(path))
        assert str(caught.value).endswith(".")


def test_nonsense(ending, tmp_path):
    if "sv" in ending and not ending.endswith("gz"):
        pytest.skip("a text")
    (tmp_path / f"x{ending}").write_bytes(b"nonsense, and more of it\n" * 100)
    with pytest.raises(TableError, match="cannot be used"):
        open_rows(tmp_path / f"x{ending}")
