"""Filled blocks come out in the format that they came in: gaps filled, everything else as it was."""

from __future__ import annotations

import gzip

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from factorstream import open_rows, open_sink
from factorstream.sources.rows.sink import Sink
from factorstream.sources.table import Bounds, TableError
from row_files import NAMES, WRITERS, gathered, numbers

FILL = -7.25
WITHOUT_NAMES = [".npy", ".npy.gz", ".npz", ".h5", ".zarr"]


@pytest.fixture(params=WRITERS)
def ending(request):
    return request.param


@pytest.fixture
def X(rng):
    return numbers(rng)


def fill(source, path, bounds=(), **options):
    with open_sink(path, source, bounds=bounds, **options) as sink:
        assert isinstance(sink, Sink)
        for block in source.blocks(sink.written):
            filled = np.full(block.values.shape, FILL)
            sink.write(block, filled, Bounds(filled - 1, filled + 1) if bounds else None)
            assert sink.written == block.first + block.values.shape[0]
    return path


def left_over(path):
    return sorted(other.name for other in path.parent.iterdir() if other.name.startswith("."))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("block_bytes", [300, 2**20])
def test_gaps_are_filled(rng, ending, dtype, block_bytes, tmp_path):
    X = numbers(rng, dtype=dtype)
    WRITERS[ending](tmp_path / f"x{ending}", X)
    source = open_rows(tmp_path / f"x{ending}", block_bytes=block_bytes)
    again = open_rows(fill(source, tmp_path / f"y{ending}"))
    assert (again.names, again.n_rows, again.dtype) == (source.names, source.n_rows, source.dtype)
    np.testing.assert_array_equal(gathered(again), np.where(np.isnan(X), np.float32(FILL), X))
    assert left_over(tmp_path / "y") == []


def test_nothing_filled_is_the_same_again(X, ending, tmp_path):
    WRITERS[ending](tmp_path / f"x{ending}", X)
    source = open_rows(tmp_path / f"x{ending}", block_bytes=300)
    with open_sink(tmp_path / f"y{ending}", source) as sink:
        for block in source.blocks():
            sink.write(block)
    np.testing.assert_array_equal(gathered(open_rows(sink.path)), X)
    if ending in (".npy", ".csv", ".tsv"):
        assert sink.path.read_bytes() == (tmp_path / f"x{ending}").read_bytes()


@pytest.mark.parametrize("bounds", [(0, 1, 2), (1,)])
def test_bounds_stand_behind_their_columns(X, ending, bounds, tmp_path):
    WRITERS[ending](tmp_path / f"x{ending}", X)
    source = open_rows(tmp_path / f"x{ending}", block_bytes=300)
    again = open_rows(fill(source, tmp_path / f"y{ending}", bounds))
    wanted, names = [], []
    for j in range(3):
        for name, value in (("", FILL), ("_lower", FILL - 1), ("_upper", FILL + 1)) if j in bounds else (("", FILL),):
            wanted.append(np.where(np.isnan(X[:, j]), value, X[:, j]))
            names.append(NAMES[j] + name)
    assert again.names == (None if ending in WITHOUT_NAMES else names)
    np.testing.assert_array_equal(gathered(again), np.column_stack(wanted))


def test_other_columns_stay(X, ending, tmp_path):
    """A column that is not chosen keeps its gaps; towns, which are texts, are as they were."""
    WRITERS[ending](tmp_path / f"x{ending}", X)
    chosen = [2] if ending in WITHOUT_NAMES else ["wind"]
    source = open_rows(tmp_path / f"x{ending}", columns=chosen, block_bytes=300)
    again = open_rows(fill(source, tmp_path / f"y{ending}"))
    wanted = X.copy()
    wanted[np.isnan(X[:, 2]), 2] = FILL
    np.testing.assert_array_equal(gathered(again), wanted)
    if ending == ".csv":
        lines = zip(*((tmp_path / f"{name}.csv").read_text().splitlines() for name in "xy"), strict=True)
        assert all(old.rpartition(",")[0] == new.rpartition(",")[0] for old, new in lines)


def test_the_file_may_replace_its_source(X, ending, tmp_path):
    path = tmp_path / f"x{ending}"
    WRITERS[ending](path, X)
    fill(open_rows(path, block_bytes=300), path)
    np.testing.assert_array_equal(gathered(open_rows(path)), np.where(np.isnan(X), FILL, X))
    assert left_over(path) == []


def test_an_error_leaves_the_old_file_and_no_draft(X, ending, tmp_path):
    path = tmp_path / f"x{ending}"
    WRITERS[ending](path, X)
    source = open_rows(path, block_bytes=300)

    def stopped():
        with open_sink(path, source) as sink:
            for block in source.blocks():
                if block.first:
                    raise KeyboardInterrupt
                sink.write(block, np.full(block.values.shape, FILL))

    with pytest.raises(KeyboardInterrupt):
        stopped()
    np.testing.assert_array_equal(gathered(open_rows(path)), X)
    assert left_over(path) == []


@pytest.mark.parametrize("bounds", [(), (0, 2)])
def test_a_run_that_was_stopped_goes_on(X, ending, bounds, tmp_path):
    WRITERS[ending](tmp_path / f"x{ending}", X)
    source = open_rows(tmp_path / f"x{ending}", block_bytes=300)
    wanted = gathered(open_rows(fill(source, tmp_path / f"whole{ending}", bounds)))
    path = tmp_path / f"y{ending}"
    sink = open_sink(path, source, bounds=bounds, resume=True)
    for block in source.blocks():
        if block.first > 40:
            break  # and the sink is left as a killed process leaves it
        filled = np.full(block.values.shape, FILL)
        sink.write(block, filled, Bounds(filled - 1, filled + 1))
    assert not path.exists()
    again = open_sink(path, source, bounds=bounds, resume=True)
    last = 1 if ending in (".csv", ".tsv") else 0  # the last row of a text is written again
    assert again.written == sink.written - last > 40
    fill(source, path, bounds, resume=True)
    np.testing.assert_array_equal(gathered(open_rows(path)), wanted)
    assert left_over(path) == []


def test_a_draft_with_other_columns_is_not_gone_on_with(X, ending, tmp_path):
    WRITERS[ending](tmp_path / f"x{ending}", X)
    source = open_rows(tmp_path / f"x{ending}", block_bytes=300)
    sink = open_sink(tmp_path / f"y{ending}", source, resume=True)
    sink.write(next(source.blocks()))
    assert open_sink(tmp_path / f"y{ending}", source, bounds=[0], resume=True).written == 0


def test_numbers_that_mark_gaps(X, ending, tmp_path):
    WRITERS[ending](tmp_path / f"x{ending}", np.where(np.isnan(X), -99.0, X))
    source = open_rows(tmp_path / f"x{ending}", missing=["-99"], block_bytes=300)
    again = open_rows(fill(source, tmp_path / f"y{ending}"))
    np.testing.assert_array_equal(gathered(again), np.where(np.isnan(X), FILL, X))


def test_other_sources_are_written_as_numbers_and_names(X, ending, tmp_path):
    WRITERS[".parquet"](tmp_path / "x.parquet", X)
    source = open_rows(tmp_path / "x.parquet", columns=NAMES, block_bytes=900)
    again = open_rows(fill(source, tmp_path / f"y{ending}"))
    assert again.names == (None if ending in WITHOUT_NAMES else NAMES)
    np.testing.assert_array_equal(gathered(again), np.where(np.isnan(X), FILL, X))
    made = open_rows(lambda: iter(X), block_bytes=300)
    wide = open_rows(fill(made, tmp_path / f"z{ending}", (2,)), header=False)
    np.testing.assert_array_equal(gathered(wide)[:, :3], np.where(np.isnan(X), FILL, X))
    np.testing.assert_array_equal(gathered(wide)[:, 4], np.where(np.isnan(X[:, 2]), FILL + 1, X[:, 2]))


def test_sparse_blocks_are_filled_where_nothing_is_stored(tmp_path):
    X = sparse.csr_array(np.array([[0.0, 2.0], [3.0, 0.0]]))
    again = open_rows(fill(open_rows(X), tmp_path / "y.npy"))
    np.testing.assert_array_equal(gathered(again), [[FILL, 2], [3, FILL]])


def test_what_does_not_fit_is_refused_and_changes_nothing(X, tmp_path):
    np.save(tmp_path / "x.npy", X)
    source = open_rows(tmp_path / "x.npy", block_bytes=300)
    with open_sink(tmp_path / "y.npy", source) as sink:
        first, second, *others = source.blocks()
        with pytest.raises(TableError, match="must begin at row 0, and this one begins at 12"):
            sink.write(second)
        with pytest.raises(TableError, match=r"shape \(12, 3\) cannot be filled from an array of shape \(3, 2\)"):
            sink.write(first, np.zeros((3, 2)))
        for block in (first, second, *others):
            sink.write(block)
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), X)
    with pytest.raises(TableError, match="gets bounds"):
        open_sink(tmp_path / "z.npy", source, bounds=[0]).write(first, first.values)
    with pytest.raises(TableError, match="3 columns of numbers; bounds count them from 0"):
        open_sink(tmp_path / "y.npy", source, bounds=[3])
    with pytest.raises(TableError, match=r"ending \.xls"):
        open_sink(tmp_path / "y.xls", source)
    with pytest.raises(FileNotFoundError, match="make it first"):
        open_sink(tmp_path / "no" / "y.npy", source)


def test_packed_text_is_one_text(X, tmp_path):
    WRITERS[".csv"](tmp_path / "x.csv", X)
    source = open_rows(tmp_path / "x.csv", block_bytes=300)
    fill(source, tmp_path / "y.csv")
    fill(source, tmp_path / "y.csv.gz")
    assert gzip.decompress((tmp_path / "y.csv.gz").read_bytes()) == (tmp_path / "y.csv").read_bytes()


@pytest.mark.parametrize("resume", [False, True])
def test_a_sink_that_is_left_early_leaves_no_file(X, ending, resume, tmp_path):
    WRITERS[ending](tmp_path / f"x{ending}", X)
    source = open_rows(tmp_path / f"x{ending}", block_bytes=300)
    path = tmp_path / f"y{ending}"

    def left_early():
        with open_sink(path, source, resume=resume) as sink:
            for block in source.blocks():
                if block.first > 40:
                    break
                sink.write(block, np.full(block.values.shape, FILL))

    with pytest.raises(TableError, match=r"y\S+ was not written, because only \d+ rows of the source came"):
        left_early()
    assert not path.exists()
    assert left_over(path) == ([f".y{ending}.draft"] if resume else [])
    if resume:
        fill(source, path, resume=True)
        np.testing.assert_array_equal(gathered(open_rows(path)), np.where(np.isnan(X), FILL, X))


def made(X, kind, tmp_path):
    """The same rows as sources whose length is not known before they were read."""
    if kind == "chosen columns of a text":
        WRITERS[".csv"](tmp_path / "x.csv", X)
        return open_rows(tmp_path / "x.csv", columns=NAMES, block_bytes=300)
    if kind == "lazy frame":
        return open_rows(pl.LazyFrame(X, schema=NAMES), block_bytes=300)
    return open_rows((lambda: iter(X)) if kind == "function" else iter(X), block_bytes=300)


@pytest.mark.parametrize("kind", ["chosen columns of a text", "lazy frame", "function", "iterator"])
def test_rows_of_unknown_number_are_all_written_or_none(X, kind, tmp_path):
    source = made(X, kind, tmp_path)
    assert source.n_rows is None
    with open_sink(tmp_path / "all.csv", source) as sink:
        for block in source.blocks():
            sink.write(block)
    assert sink.written == 100

    def left_early(source):
        with open_sink(tmp_path / "some.csv", source) as sink:
            sink.write(next(source.blocks()))

    for again in (made(X, kind, tmp_path), *([source] if source.rewinds else [])):
        with pytest.raises(TableError, match=r"only \d+ rows of the source came"):
            left_early(again)
    assert not (tmp_path / "some.csv").exists()


def test_a_sink_that_is_not_complete_may_go_on(X, tmp_path):
    source = open_rows(X, block_bytes=300)
    sink, blocks = open_sink(tmp_path / "y.npy", source), source.blocks()
    sink.write(next(blocks))
    with pytest.raises(TableError, match="only 12 rows"):
        sink.close()
    for block in blocks:
        sink.write(block)
    np.testing.assert_array_equal(np.load(sink.close()), X)
