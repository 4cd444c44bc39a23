"""Files, frames and blocks that follow each other."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from factorstream import DictionaryFilter, LowRankImputer, SequenceFilter, fill, open_rows, open_sink
from factorstream.sources.table import TableError
from row_files import NAMES, WRITERS, gathered, in_parts, numbers


@pytest.mark.parametrize("ending", WRITERS)
def test_files_follow_each_other_in_every_format(rng, tmp_path, ending):
    X = numbers(rng)
    paths = in_parts(X, tmp_path, ending)
    for what in (paths, tuple(map(str, paths)), str(tmp_path / f"part*{ending}")):
        source = open_rows(what, block_bytes=400)
        np.testing.assert_array_equal(gathered(source), X)
        assert (source.n_rows, source.n_columns, source.rewinds) == (len(X), 3, True)
        ends = [block.first + len(block.values) for block in source.blocks()]
        for start in (0, 29, 30, 31, 77, len(X)):  # blocks end at the same rows wherever reading began
            np.testing.assert_array_equal(np.concatenate([X[:start], *(b.values for b in source.blocks(start))]), X)
            assert [b.first + len(b.values) for b in source.blocks(start)] == [end for end in ends if end > start]


def test_the_order_of_a_list_is_kept(rng, tmp_path):
    X = numbers(rng)
    first, second, third = in_parts(X, tmp_path, ".npy")
    np.testing.assert_array_equal(gathered(open_rows([third, first, second])), np.vstack([X[31:], X[:31]]))


def test_columns_are_found_by_their_names(tmp_path):
    (tmp_path / "a.csv").write_text("town,heat,rain\nUlm,1,2\n")
    (tmp_path / "b.csv").write_text("rain,heat,town\n4,3,Bonn\n")
    source = open_rows(tmp_path / "?.csv")
    assert source.names == ["heat", "rain"]
    np.testing.assert_array_equal(gathered(source), [[1, 2], [3, 4]])
    np.testing.assert_array_equal(gathered(open_rows(tmp_path / "?.csv", columns=["rain"])), [[2], [4]])


@pytest.mark.parametrize("empty", ["ab", "ba"])
def test_a_column_may_be_all_gaps_in_one_file(tmp_path, empty):
    without, other = empty
    (tmp_path / f"{without}.csv").write_text("heat,rain\n1,\n2,\n")
    (tmp_path / f"{other}.csv").write_text("heat,rain\n3,4\n")
    source = open_rows([tmp_path / f"{without}.csv", tmp_path / f"{other}.csv"])
    expected = [[1, np.nan], [2, np.nan], [3, 4]]
    for start in range(4):
        found = [block.values for block in source.blocks(start)]
        np.testing.assert_array_equal(np.vstack([np.empty((0, 2)), *found]), np.array(expected)[start:])


def test_other_columns_are_refused(tmp_path):
    np.save(tmp_path / "a.npy", np.ones((2, 3)))
    np.save(tmp_path / "b.npy", np.ones((2, 4)))
    with pytest.raises(TableError, match=r"b\.npy has 4 columns of numbers where .*a\.npy has 3 columns; give files"):
        open_rows(tmp_path / "*.npy")
    (tmp_path / "a.csv").write_text("heat,rain\n1,2\n")
    (tmp_path / "b.csv").write_text("heat,wind\n1,2\n")
    with pytest.raises(TableError, match=r"csv cannot be used: it has no column wind; it has heat, rain"):
        open_rows(tmp_path / "*.csv")
    with pytest.raises(TableError, match=r"a\.npy has no names of columns, and the others have other columns"):
        open_rows([tmp_path / "a.npy", tmp_path / "a.csv"])
    with pytest.raises(TableError, match=r"^No file matches .*\*\.tsv\.$"):
        open_rows(tmp_path / "*.tsv")
    with pytest.raises(TableError, match="paths or blocks of rows, not both"):
        open_rows([tmp_path / "a.npy", np.ones((2, 3))])


def test_a_name_with_brackets_is_a_file_where_there_is_one(rng, tmp_path):
    X = numbers(rng)
    np.save(tmp_path / "x[1].npy", X)
    np.testing.assert_array_equal(gathered(open_rows(tmp_path / "x[1].npy")), X)


def test_types_are_joined(tmp_path):
    np.save(tmp_path / "a.npy", np.ones((2, 3), dtype="f4"))
    assert open_rows([tmp_path / "a.npy", tmp_path / "a.npy"]).dtype == np.float32
    np.save(tmp_path / "b.npy", np.ones((2, 3), dtype="i8"))
    source = open_rows([tmp_path / "a.npy", tmp_path / "b.npy"])
    assert source.dtype == np.float64
    assert {block.values.dtype for block in source.blocks()} == {np.dtype("f8")}
    np.testing.assert_array_equal(gathered(pickle.loads(pickle.dumps(source))), np.ones((4, 3)))


def test_several_files_are_filled_into_one(rng, tmp_path):
    X = numbers(rng)
    paths = in_parts(X, tmp_path, ".npy")
    model = DictionaryFilter(2, random_state=0).fit(paths)
    written = fill(model, paths, tmp_path / "filled.npy")
    assert written.n_rows == len(X)
    np.testing.assert_allclose(np.load(tmp_path / "filled.npy"), model.impute(X), rtol=1e-12)
    one = fill(model, [tmp_path / "part0.npy"], tmp_path / "one.npy")
    assert one.n_rows == 30


def test_a_file_for_all_that_would_lose_columns_is_refused(rng, tmp_path):
    paths = in_parts(numbers(rng), tmp_path, ".csv")  # they have towns
    with pytest.raises(TableError, match=r"more columns than those of numbers, .*; fill each of them on its own"):
        open_sink(tmp_path / "filled.csv", open_rows(paths))
    assert sorted(path.name for path in tmp_path.iterdir()) == [path.name for path in paths]
    with open_sink(tmp_path / "filled.csv", open_rows(paths[:1])) as sink:  # one alone has its towns
        for block in open_rows(paths[:1]).blocks():
            sink.write(block)
    assert (tmp_path / "filled.csv").read_bytes() == paths[0].read_bytes()


@pytest.mark.parametrize("estimator", [DictionaryFilter, LowRankImputer])
def test_a_list_of_blocks_is_fitted_as_what_they_hold(rng, tmp_path, estimator):
    X = numbers(rng)
    whole = estimator(2, random_state=0).fit(open_rows(X))
    parts = np.split(X, [40, 41])
    for what in (parts, tuple(parts), in_parts(X, tmp_path, ".npy"), str(tmp_path / "*.npy")):
        model = estimator(2, random_state=0).fit(what)
        np.testing.assert_allclose(model.impute(X), whole.impute(X), rtol=1e-12)


def test_rows_as_lists_are_a_table_as_before(rng):
    X = numbers(rng)
    expected = DictionaryFilter(2, random_state=0).fit(X).impute(X)
    for what in (X.tolist(), list(X)):
        np.testing.assert_array_equal(DictionaryFilter(2, random_state=0).fit(what).impute(X), expected)


def test_what_takes_no_list_says_so(rng):
    X = numbers(rng)
    model = DictionaryFilter(2, random_state=0).fit(X)
    for ask in (model.impute, model.transform, model.partial_fit, SequenceFilter(1).fit):
        with pytest.raises(ValueError, match=r"^X is a list of tables; join them first, as numpy\.vstack does"):
            ask([X[:50], X[50:]])


def test_frames_that_follow_each_other(rng):
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    X = numbers(rng)
    frame = pandas.DataFrame(X, columns=NAMES)
    source = open_rows([frame.iloc[:20], frame.iloc[20:, ::-1]])
    assert source.names == NAMES
    np.testing.assert_array_equal(gathered(source), X)
    model = DictionaryFilter(2, random_state=0).fit([frame.iloc[:20], frame.iloc[20:]])
    assert model.feature_names_in_.tolist() == NAMES


def test_the_frame_that_lacks_a_column_is_named():
    frames = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    one, other = (
        frames.DataFrame({"a": [1.5, 4.0], "b": [2.0, 7.5]}),
        frames.DataFrame({"a": [3.0, 1.5], "x": [4.0, 0.5]}),
    )
    with pytest.raises(TableError, match="Frame 1 cannot be used: it has no column x; it has a, b"):
        open_rows([one, other])
