"""Arrays in slices: the values as they are, in floats, with gaps where a number marks one."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse

import factorstream
from factorstream import open_rows
from factorstream.sources.rows.source import Source
from factorstream.sources.table import TableError


def gathered(source, start=0):
    return np.concatenate([block.values for block in source.blocks(start)])


class Slices:
    """The least that an array can have."""

    def __init__(self, values):
        self.shape, self.dtype, self._values, self.asked = values.shape, values.dtype, values, []

    def __getitem__(self, rows):
        self.asked.append(rows.stop - rows.start)
        return self._values[rows]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f4", ">f8", "i2", "u8"])
def test_values_and_types(rng, dtype):
    X = (10 * rng.normal(size=(50, 3)) ** 2).astype(dtype)
    if X.dtype.kind == "f":
        X[rng.random(X.shape) < 0.3] = np.nan
    source = open_rows(X, block_bytes=200)
    assert isinstance(source, Source)
    assert source.dtype == (np.float32 if X.dtype.kind == "f" and X.dtype.itemsize < 8 else np.float64)
    assert (source.n_rows, source.n_columns, source.names, source.rewinds) == (50, 3, None, True)
    for start in (0, 1, 17, 49, 50):
        blocks = list(source.blocks(start))
        assert all(block.values.dtype == source.dtype and block.values.nbytes <= 200 for block in blocks)
        if blocks:
            np.testing.assert_array_equal(np.concatenate([block.values for block in blocks]), X[start:].astype("f8"))
            assert blocks[0].first == start


def test_no_more_than_a_block_is_asked_of_anything_with_slices(rng):
    X = rng.normal(size=(100, 4))
    array = Slices(X)
    np.testing.assert_array_equal(gathered(open_rows(array, block_bytes=320)), X)
    assert array.asked == [10] * 10


def test_a_memory_map(rng, tmp_path):
    X = rng.normal(size=(40, 3))
    np.save(tmp_path / "x.npy", np.asfortranarray(X))
    source = open_rows(np.load(tmp_path / "x.npy", mmap_mode="r"), block_bytes=100)
    np.testing.assert_array_equal(gathered(source), X)


def test_sparse_rows_stay_sparse(rng):
    X = sparse.random_array((30, 8), density=0.3, rng=rng, format="csc")
    blocks = list(open_rows(X, block_bytes=640).blocks())
    assert [block.values.shape for block in blocks] == [(10, 8)] * 3
    assert all(block.values.format == "csr" for block in blocks)
    np.testing.assert_array_equal(np.concatenate([block.values.toarray() for block in blocks]), X.toarray())


def test_numbers_that_mark_gaps():
    X = np.array([[1, -9999], [3, 4]])
    (block,) = open_rows(X, missing=["-9999", "n.a."]).blocks()
    np.testing.assert_array_equal(block.values, [[1, np.nan], [3, 4]])
    np.testing.assert_array_equal(block.kept, X)
    short = np.array([[0.1, 2]], dtype=np.float32)
    (block,) = open_rows(short, missing=["0.1"]).blocks()
    np.testing.assert_array_equal(block.values, np.array([[np.nan, 2]]))


def test_chosen_columns_come_in_their_order():
    X = np.arange(6.0).reshape(2, 3)
    source = open_rows(X, columns=[2, 0])
    (block,) = source.blocks()
    assert source.n_columns == 2
    np.testing.assert_array_equal(block.values, X[:, [2, 0]])
    np.testing.assert_array_equal(block.kept, X)


@pytest.mark.parametrize(
    ("array", "options", "words"),
    [
        (np.zeros(3), {}, "shape"),
        (np.zeros((0, 2)), {}, "shape"),
        (np.zeros((2, 0)), {}, "shape"),
        (np.array([["a"]]), {}, "real numbers"),
        (np.array([[1j]]), {}, "real numbers"),
        (np.zeros((2, 2)), {"columns": ["a"]}, "no names"),
        (np.zeros((2, 2)), {"columns": [2]}, "count from 0 to 1"),
    ],
)
def test_what_is_no_table_is_refused_in_one_sentence(array, options, words):
    with pytest.raises(TableError, match=words) as caught:
        open_rows(array, **options)
    assert str(caught.value).startswith("What was given cannot be used: it")
    assert str(caught.value).endswith(".")


def test_a_source_is_opened_as_itself_and_can_be_sent(rng):
    source = open_rows(rng.normal(size=(5, 2)))
    assert open_rows(source) is source
    np.testing.assert_array_equal(gathered(pickle.loads(pickle.dumps(source))), gathered(source))


def test_masked_entries_are_gaps():
    X = np.ma.array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]])
    np.testing.assert_array_equal(gathered(factorstream.open_rows(X)), [[1, np.nan], [3, 4]])


@pytest.mark.parametrize("form", ["coo", "csc", "bsr", "dia", "lil", "dok"])
def test_sparse_matrices_of_every_form(rng, form):
    X = sparse.random_array((12, 6), density=0.4, rng=rng, format="csr")
    (block,) = open_rows(X.asformat(form)).blocks()
    np.testing.assert_array_equal(block.values.toarray(), X.toarray())
