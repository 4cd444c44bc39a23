"""Blocks that code makes: cut anew, read once or as often as a function makes them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse

from factorstream import open_rows
from factorstream.sources.rows.source import RewindError
from factorstream.sources.table import TableError


def gathered(source, start=0):
    return np.concatenate([block.values for block in source.blocks(start)])


def test_a_generator_is_read_once(rng):
    X = rng.normal(size=(20, 3))
    source = open_rows((X[k : k + 4] for k in range(0, 20, 4)), block_bytes=3 * 8 * 6)
    assert (source.n_rows, source.n_columns, source.rewinds) == (None, 3, False)
    blocks = list(source.blocks())
    assert [block.first for block in blocks] == [0, 6, 12, 18]
    np.testing.assert_array_equal(np.concatenate([block.values for block in blocks]), X)
    with pytest.raises(RewindError, match="read once"):
        source.blocks()


def test_a_generator_can_begin_later(rng):
    X = rng.normal(size=(20, 3))
    np.testing.assert_array_equal(gathered(open_rows(iter(X), block_bytes=100), start=7), X[7:])


def test_nothing_is_read_ahead_of_its_block(rng):
    read = []

    def blocks():
        for k in range(10):
            read.append(k)
            yield np.full((2, 2), float(k))

    coming = open_rows(blocks(), block_bytes=64).blocks()
    next(coming)
    assert len(read) == 2


@pytest.mark.parametrize("of", [list, tuple, lambda blocks: lambda: iter(blocks)])
def test_lists_and_functions_begin_again(rng, of):
    X = rng.normal(size=(9, 2))
    source = open_rows(of([X[:5], X[5:5], X[5], X[6:].tolist()]))
    assert source.rewinds
    for start in (0, 5, 8):
        np.testing.assert_array_equal(gathered(source, start), X[start:])


def test_sparse_blocks(rng):
    X = sparse.random_array((12, 5), density=0.4, rng=rng, format="csr")
    (block,) = open_rows([X[:7], X[7:]]).blocks()
    assert block.values.format == "csr"
    np.testing.assert_array_equal(block.values.toarray(), X.toarray())


@pytest.mark.parametrize(
    ("blocks", "words"),
    [
        ([], "no rows"),
        ([np.zeros((0, 3))], "no rows"),
        ([np.zeros((2, 2, 2))], "shape"),
        ([np.array([["a", "b"]])], "real numbers"),
    ],
)
def test_blocks_that_are_none(blocks, words):
    with pytest.raises(TableError, match=words):
        open_rows(blocks)


def test_a_later_block_of_another_width():
    source = open_rows([np.zeros((2, 3)), np.zeros((2, 4))], block_bytes=1)
    with pytest.raises(TableError, match="A block has 4 columns where the first had 3 columns"):
        list(source.blocks())


def test_what_has_no_rows_at_all():
    with pytest.raises(TableError, match="Rows cannot be read from int"):
        open_rows(3)


@pytest.mark.parametrize("kind", ["pandas.DataFrame", "polars.DataFrame", "pyarrow.table", "pyarrow.record_batch"])
@pytest.mark.parametrize("made", [iter, lambda blocks: lambda: iter(blocks)])
def test_columns_of_frames_are_found_by_their_names(kind, made):
    library, _, name = kind.partition(".")
    frame = getattr(pytest.importorskip(library), name)
    first = frame({"a": [1.0, 2.0], "b": [3.0, 4.0], "c": [5.0, 6.0]})
    other = frame({"c": [50.0], "a": [10.0], "b": [30.0]})
    source = open_rows(made([first, other]))
    assert list(source.names) == ["a", "b", "c"]
    np.testing.assert_array_equal(
        np.concatenate([block.values for block in source.blocks()]),
        [[1, 3, 5], [2, 4, 6], [10, 30, 50]],
    )
    some = open_rows(made([first, other]), columns=["c", "a"])
    assert list(some.names) == ["c", "a"]
    np.testing.assert_array_equal(np.concatenate([block.values for block in some.blocks()]), [[5, 1], [6, 2], [50, 10]])


def test_frames_with_other_names_are_refused():
    frames = pytest.importorskip("pandas")
    blocks = [frames.DataFrame({"a": [1.0], "b": [2.0]}), frames.DataFrame({"a": [1.0], "x": [2.0]})]
    with pytest.raises(ValueError, match=r"other names of columns \(a, x\)"):
        list(open_rows(iter(blocks)).blocks())
    with pytest.raises(ValueError, match="it has no column x; it has a, b"):
        open_rows(iter(blocks[:1]), columns=["x"])
    twice = frames.DataFrame([[3.0, 4.0]], columns=["a", "a"])
    with pytest.raises(ValueError, match=r"other names of columns \(a, a\)"):
        list(open_rows(iter([blocks[0], twice])).blocks())


def test_columns_of_frames_that_are_numbered_are_found_by_their_numbers():
    frames = pytest.importorskip("pandas")
    first, other = frames.DataFrame([[1.0, 2.0]]), frames.DataFrame([[20.0, 10.0]], columns=[1, 0])
    source = open_rows(iter([first, other]))
    assert source.names is None
    np.testing.assert_array_equal(gathered(source), [[1, 2], [10, 20]])


@pytest.mark.parametrize("frame_first", [True, False])
def test_arrays_among_frames_have_the_same_columns_in_the_same_order(frame_first):
    frame = pytest.importorskip("pandas").DataFrame({"a": [1.0], "b": [2.0]})
    blocks = [frame, np.array([[3.0, 4.0]])]
    source = open_rows(iter(blocks if frame_first else blocks[::-1]))
    assert source.names == (["a", "b"] if frame_first else None)
    assert sorted(gathered(source).tolist()) == [[1, 2], [3, 4]]


def some_blocks():
    yield np.zeros((2, 3))
    yield np.ones((2, 3))


def test_a_function_that_returns_one_iterator_again_and_again_is_refused():
    same = some_blocks()
    source = open_rows(lambda: same)
    with pytest.raises(RewindError, match="one iterator twice"):
        source.blocks()


@pytest.mark.parametrize("same", [np.ones((4, 3)), [np.ones((4, 3))]], ids=["array", "list"])
def test_a_function_may_return_one_array_or_list_again(same):
    source = open_rows(lambda: same)
    for _ in range(2):
        np.testing.assert_array_equal(gathered(source), np.ones((4, 3)))


def test_passes_with_other_numbers_of_rows_are_refused(rng):
    X, left = rng.normal(size=(9, 2)), [9, 9, 7]
    source = open_rows(lambda: iter([X[: left.pop(0)]]))
    assert len(gathered(source, start=4)) == 5
    with pytest.raises(TableError, match="had 9 rows in one pass and 7 in the next"):
        list(source.blocks())


def test_a_source_is_sent_before_it_is_read():
    source = open_rows(some_blocks)
    np.testing.assert_array_equal(gathered(pickle.loads(pickle.dumps(source))), gathered(source))


def test_frames_with_columns_of_types_of_their_own():
    frames = pytest.importorskip("pandas")
    block = frames.DataFrame({"a": frames.array([3, None], dtype="Int64"), "b": [0.5, np.nan]})
    np.testing.assert_array_equal(gathered(open_rows(iter([block]))), [[3.0, 0.5], [np.nan, np.nan]])


@pytest.mark.parametrize("kind", ["pandas.DataFrame", "polars.DataFrame", "pyarrow.table"])
def test_columns_of_frames_that_are_no_numbers_are_named(kind):
    library, _, name = kind.partition(".")
    frame = getattr(pytest.importorskip(library), name)
    with pytest.raises(TableError, match="hold no real numbers: town, open; leave them out"):
        open_rows(iter([frame({"town": ["Ulm", "Hof"], "heat": [1.5, 2.5], "open": [True, False]})]))
