"""Columns that are no features: every one is named by the fit, and comes out of a fill as it went in."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from factorstream import (
    BayesianFactorization,
    DictionaryFilter,
    LowRankImputer,
    SGDFactorization,
    fill,
    open_rows,
    open_sink,
)
from factorstream.jobs.reading import Reading, read_given
from factorstream.sources.table import TableError

MODELS = [LowRankImputer(2, random_state=0), BayesianFactorization(2), DictionaryFilter(2, random_state=0)]
NAMES = ["a", "b", "c", "d", "e"]
FEATURES = ["a", "b", "d", "e"]


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 5)) + 5.0
    X[rng.random(X.shape) < 0.2] = np.nan
    return X


@pytest.fixture
def frame(X):
    return pd.DataFrame(X, columns=NAMES)


def said(call, *arguments):
    """What a call returns, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = call(*arguments)
    return found, [str(one.message) for one in caught]


# ------------------------------------------------------------------ cells that are no numbers


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_one_bad_cell_is_named_in_the_words_of_the_command_line(model, frame, tmp_path):
    cells = frame.round(6).astype(object)
    cells.loc[40, "c"] = "oops"
    cells.to_csv(tmp_path / "x.csv", index=False)
    found, warned = said(model.fit, tmp_path / "x.csv")
    assert found.feature_names_in_.tolist() == FEATURES
    (of_command,) = read_given(tmp_path / "x.csv", Reading()).remarks
    assert "Column c was taken as text" in of_command
    assert "line 42 has 'oops'" in of_command
    assert warned == [of_command.replace("--na oops", "missing=['oops'] to open_rows")]
    found, warned = said(model.fit, open_rows(tmp_path / "x.csv", missing=["oops"]))
    assert (found.feature_names_in_.tolist(), warned) == (NAMES, [])
    assert said(model.fit, open_rows(tmp_path / "x.csv", columns=FEATURES))[1] == []  # they were chosen


def test_numbers_that_are_written_otherwise_are_named(frame, tmp_path):
    cells = frame.round(2).astype(object)
    cells["c"] = [f"{value:.1f} %" if value == value else "" for value in frame["c"]]
    cells.to_csv(tmp_path / "x.csv", index=False)
    _, (warned,) = said(MODELS[0].fit, tmp_path / "x.csv")
    assert [warned] == read_given(tmp_path / "x.csv", Reading()).remarks
    assert "Column c was taken as text, because its numbers are written with commas or signs: line 2" in warned


def test_decimal_commas_that_would_be_misread_are_refused(tmp_path):
    (tmp_path / "x.csv").write_text("a;b\n3,14;1.200\n2,5;2.400\n1,75;7.100\n")
    with pytest.raises(TableError) as of_command:
        read_given(tmp_path / "x.csv", Reading())
    with pytest.raises(TableError) as problem:
        open_rows(tmp_path / "x.csv")
    assert str(problem.value) == str(of_command.value)


# ------------------------------------------------------------------ columns without values


@pytest.mark.parametrize("model", [*MODELS, SGDFactorization(2)], ids=lambda model: type(model).__name__)
def test_a_column_without_values_is_the_same_in_every_format(model, X, tmp_path):
    X[:, 2] = np.nan
    frame = pd.DataFrame(X, columns=NAMES)
    np.save(tmp_path / "x.npy", X)
    frame.to_csv(tmp_path / "x.csv", index=False)
    frame.to_parquet(tmp_path / "x.parquet")
    frame.assign(c=None).to_parquet(tmp_path / "no type.parquet")
    known, of_array = said(model.fit, X)
    assert len(of_array) == 1
    for name in ("x.npy", "x.csv", "x.parquet", "no type.parquet"):
        path = tmp_path / name
        found, warned = said(model.fit, path)
        assert found.n_features_in_ == known.n_features_in_ == 5
        has_names = path.suffix != ".npy"
        named = [of_array[0].replace("value: 2.", "value: c.").replace("column 2", "column c")]
        assert warned == (named if has_names else of_array)
        out = path.with_name(f"filled{path.suffix}")
        written = fill(found, path, out)
        gaps = np.isnan(X).sum(axis=0)
        assert (written.n_gaps, written.n_left) == (gaps.sum() - 200, 200)
        assert written.left == (("c",) if has_names else (2,))
        values = np.concatenate([block.values for block in open_rows(out).blocks()])
        assert_array_equal(np.isnan(values).sum(axis=0), [0, 0, 200, 0, 0])


def test_ratings_without_a_value_are_filled_from_their_rows(X, tmp_path):
    X[:, 2] = np.nan
    model, (warned,) = said(BayesianFactorization(2, fit_row_mean=True).fit, X)
    assert "left empty" not in warned
    assert fill(model, X, tmp_path / "y.npy").n_left == 0


# ------------------------------------------------------------------ columns that count, texts


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".feather"])
def test_a_counter_is_left_out_as_commands_do(ending, frame, tmp_path):
    frame.insert(0, "n", range(1, 201))
    frame["day"] = [f"day {k}" for k in range(200)]
    path, out = tmp_path / f"x{ending}", tmp_path / f"y{ending}"
    {".csv": lambda: frame.to_csv(path, index=False), ".parquet": lambda: frame.to_parquet(path)}.get(
        ending, lambda: frame.to_feather(path)
    )()
    model, warned = said(LowRankImputer(2, random_state=0).fit, path)
    assert model.feature_names_in_.tolist() == NAMES
    if ending != ".feather":  # which commands do not read
        given = read_given(path, Reading())
        assert (given.names, given.counting) == (NAMES, ["n"])
    assert [one.partition(".")[0] for one in warned] == [
        "Columns that count rows or years were left out: n",
        "Columns without numbers were left out: day",
    ]
    written = fill(model, path, out)
    assert written.carried == ("n", "day")
    again = open_rows(out, columns=["n", *NAMES])
    assert_array_equal(np.concatenate([block.values for block in again.blocks()])[:, 0], frame["n"])
    taken, warned = said(LowRankImputer(2, random_state=0).fit, open_rows(path, columns=["n", *NAMES]))
    assert (taken.feature_names_in_.tolist(), warned) == (["n", *NAMES], [])


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, lambda frame: pl.DataFrame(frame).lazy()])
def test_texts_of_frames_are_carried_along_and_named(make, frame, tmp_path):
    frame["town"] = [f"town {k}" for k in range(200)]
    model, warned = said(LowRankImputer(2, random_state=0).fit, open_rows(make(frame)))
    assert warned == ["Columns without numbers were left out: town. They are carried along when the rows are filled."]
    written = fill(model, make(frame), tmp_path / "y.parquet")
    assert written.carried == ("town",)
    found = pd.read_parquet(tmp_path / "y.parquet")
    assert found["town"].tolist() == frame["town"].tolist()
    assert not found.isna().any().any()


# ------------------------------------------------------------------ into another format


@pytest.fixture
def towns(frame):
    frame.insert(2, "day", pd.date_range("2024-01-01", periods=200))
    frame["town"] = [f'"{k}",\nsouth' if k % 7 else None for k in range(200)]
    frame.insert(0, "n", range(200))
    return frame


def fill_other(path, out):
    model, _ = said(LowRankImputer(2, random_state=0).fit, path)
    assert fill(model, path, out, level=0.9).carried == ("n", "day", "town")


def texts(column):
    return [one if isinstance(one, str) else None for one in column]


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
def test_a_text_becomes_a_table_with_all_its_columns(ending, towns, tmp_path):
    towns.to_csv(tmp_path / "x.csv", index=False)
    fill_other(tmp_path / "x.csv", tmp_path / f"y{ending}")
    found = (pd.read_parquet if ending == ".parquet" else pd.read_feather)(tmp_path / f"y{ending}")
    assert [name for name in found if "_" not in name] == list(towns)
    assert found["n"].tolist() == list(range(200))
    assert found["n"].dtype.kind == "i"
    assert found["day"].tolist() == towns["day"].dt.strftime("%Y-%m-%d").tolist()
    assert texts(found["town"]) == texts(towns["town"])
    assert_array_equal(found["a"][towns["a"].notna()], towns["a"].dropna())


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.gz"])
def test_a_table_becomes_a_text_with_all_its_columns(ending, towns, tmp_path):
    towns.to_parquet(tmp_path / "x.parquet")
    fill_other(tmp_path / "x.parquet", tmp_path / f"y{ending}")
    found = pd.read_csv(tmp_path / f"y{ending}", sep="\t" if ending == ".tsv" else ",")
    assert [name for name in found if "_" not in name] == list(towns)
    assert found["n"].tolist() == list(range(200))
    assert (pd.to_datetime(found["day"]) == towns["day"]).all()
    assert texts(found["town"]) == texts(towns["town"])


def test_a_text_with_commas_becomes_one_with_tabs(towns, tmp_path):
    towns["town"] = [f"a\tb {k}" for k in range(200)]
    towns.to_csv(tmp_path / "x.csv", index=False)
    fill_other(tmp_path / "x.csv", tmp_path / "y.tsv")
    found = pd.read_csv(tmp_path / "y.tsv", sep="\t")
    assert found["town"].tolist() == towns["town"].tolist()
    assert_array_equal(found["a"][towns["a"].notna()], towns["a"].dropna())


@pytest.mark.parametrize("ending", [".npy", ".npz", ".h5", ".zarr"])
def test_an_array_has_no_room_for_other_columns(ending, towns, tmp_path):
    towns.to_csv(tmp_path / "x.csv", index=False)
    model, _ = said(LowRankImputer(2, random_state=0).fit, tmp_path / "x.csv")
    out = tmp_path / f"y{ending}"
    sentence = "An array has no room for columns that are not filled: n, day, town; write a .csv or .parquet file"
    with pytest.raises(TableError, match=sentence):
        fill(model, tmp_path / "x.csv", out)
    with pytest.raises(TableError, match=sentence):
        open_sink(out, open_rows(tmp_path / "x.csv"))
    model.feature_names_in_ = model.feature_names_in_[::-1]  # another order: the columns are those of the model
    with pytest.raises(TableError, match=sentence):
        fill(model, tmp_path / "x.csv", out)
    assert not out.exists()
    model.feature_names_in_ = model.feature_names_in_[::-1]
    written = fill(model, open_rows(tmp_path / "x.csv", columns=NAMES), out)
    assert (written.n_rows, written.carried) == (200, ())


def test_what_a_text_cannot_say_is_refused(frame, tmp_path):
    frame["list"] = [[k, k] for k in range(200)]
    frame.to_parquet(tmp_path / "x.parquet")
    model, _ = said(LowRankImputer(2, random_state=0).fit, tmp_path / "x.parquet")
    with pytest.raises(TableError, match=r"Column list holds list<.*>, for which a text has no room"):
        fill(model, tmp_path / "x.parquet", tmp_path / "y.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["x.parquet"]
