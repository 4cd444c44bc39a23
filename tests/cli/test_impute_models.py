"""`factorstream impute` in time, with saved models, and from standard input."""

from __future__ import annotations

import gzip
import io
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from cli_problems import read, run, say, series, summary, table, write
from factorstream import DictionaryFilter, LowRankImputer, SequenceFilter, load


def test_one_row_is_for_a_model(capsys, tmp_path):
    (tmp_path / "in.csv").write_text("a,b\n" + "".join(f"{k % 7},{k % 7 * 2}\n" for k in range(40)))
    (tmp_path / "row.csv").write_text("a,b\n3,\n")
    model, out = tmp_path / "m", tmp_path / "out.csv"
    assert run(capsys, tmp_path / "in.csv", "-o", out, "--save", model)[0] == 0
    code, said = run(capsys, tmp_path / "row.csv", "-o", out)
    assert code == 0
    assert "One row does not say what its gaps could be; pass more rows, or --model with a model that --save" in said
    code, said = run(capsys, tmp_path / "row.csv", "-o", out, "--model", model)
    assert code == 0
    assert float(out.read_text().splitlines()[1].split(",")[1]) == pytest.approx(6.0, abs=0.1)
    assert "One row" not in said


def test_a_saved_model_fills_new_rows_as_the_old_ones(capsys, tmp_path):
    header, rows, _, _ = table()
    source, model = write(tmp_path / "in.csv", header, rows), tmp_path / "m"
    assert run(capsys, source, "-o", tmp_path / "out.csv", "--level", "0.9", "--save", model)[0] == 0
    assert isinstance(load(model), LowRankImputer)
    assert load(model).feature_names_in_.tolist() == ["date", *"abcd"]
    few = write(tmp_path / "few.csv", header, rows[5:7])  # too few to fit anything to
    assert run(capsys, few, "-o", tmp_path / "again.csv", "--level", "0.9", "--model", model)[0] == 0
    names, again = read(tmp_path / "again.csv")
    full_names, filled = read(tmp_path / "out.csv")
    for new, old in zip(again, filled[5:7], strict=True):
        for name in "abcd":
            assert new[names.index(name)] == old[full_names.index(name)]


def test_a_model_of_columns_of_other_kinds_from_python(capsys, tmp_path):
    pandas = pytest.importorskip("pandas")
    x = np.random.default_rng(0).standard_normal(60)
    X = pandas.DataFrame({"a": x, "size": np.where(x > 0, "large", "small"), "name": [f"n{k}" for k in range(60)]})
    with pytest.warns(UserWarning, match="returned as they are"):
        imputer = LowRankImputer(random_state=0).fit(X)
    imputer.save(tmp_path / "m")
    X.loc[::5, "size"] = None
    X.to_csv(tmp_path / "in.csv", index=False)
    assert run(capsys, tmp_path / "in.csv", "-o", tmp_path / "out.csv", "--model", tmp_path / "m")[0] == 0
    assert [row[1] for row in read(tmp_path / "out.csv")[1]] == imputer.transform(X)["size"].tolist()
    code, _, said = say(capsys, "factorize", tmp_path / "in.csv", "-o", tmp_path / "f", "--model", tmp_path / "m")
    assert code == 2
    assert "m holds a model that was fitted to columns of other kinds than numbers ('size', 'name'), which only" in said


def test_one_row_and_a_column_that_is_all_gaps(capsys, tmp_path):
    header, rows, X, _ = table()
    source, model = write(tmp_path / "in.csv", header, rows), tmp_path / "m"
    assert run(capsys, source, "-o", tmp_path / "out.csv", "--save", model, "--numbers-only")[0] == 0
    shuffled = write(tmp_path / "one.csv", ["d", "extra", "b", "a", "c"], [[rows[0][5], "", "", rows[0][2], ""]])
    code, said = run(capsys, shuffled, "-o", tmp_path / "filled.csv", "--model", model)
    assert code == 0
    (filled,) = read(tmp_path / "filled.csv")[1]
    assert filled[1] == ""
    assert abs(float(filled[2]) - X[0, 1]) < X[:, 1].std()
    assert "Filled 2 gaps in 2 columns" in said


def test_columns_that_the_model_does_not_know_keep_their_gaps(capsys, tmp_path):
    header, rows, _, _ = table()
    model = tmp_path / "m"
    narrow = write(tmp_path / "narrow.csv", ["a", "b", "d"], [[row[2], row[3], row[5]] for row in rows])
    assert run(capsys, narrow, "-o", tmp_path / "x.csv", "--save", model)[0] == 0
    code, said = run(capsys, write(tmp_path / "in.csv", header, rows), "-o", tmp_path / "x.csv", "--model", model)
    assert code == 0
    assert "Gaps left as they are in columns that the model does not know: c." in said
    code, said = run(capsys, narrow, "-o", tmp_path / "y.csv", "--model", tmp_path / "m")
    assert code == 0


def test_a_model_of_another_table_is_refused(capsys, tmp_path):
    header, rows, _, _ = table()
    source = write(tmp_path / "in.csv", header, rows)
    DictionaryFilter(2, random_state=0).fit(np.random.default_rng(0).normal(size=(30, 7))).save(tmp_path / "m")
    code, said = run(capsys, source, "-o", tmp_path / "y.csv", "--model", tmp_path / "m")
    assert code == 2
    assert "in.csv cannot be used: it has 4 columns of numbers, and the model 7 features without names." in said


def test_bounds_of_a_model_that_cannot_be_calibrated(capsys, tmp_path):
    (tmp_path / "in.csv").write_text("a,b\n1,2\n2,\n3,6.5\n4,8\n,9\n")
    model = tmp_path / "m"
    assert run(capsys, tmp_path / "in.csv", "-o", tmp_path / "x.csv", "--save", model)[0] == 0
    code, said = run(capsys, tmp_path / "in.csv", "-o", tmp_path / "y.csv", "--model", model, "--level", "0.95")
    assert code == 2
    assert said.count("\n") == 1


def test_a_table_without_gaps_teaches_a_model(capsys, tmp_path):
    header, rows, X, gaps = table()
    full = write(tmp_path / "full.csv", list("abcd"), [[f"{value:.7g}" for value in row] for row in X])
    found = summary(capsys, "impute", full, "-o", tmp_path / "copy.csv", "--save", tmp_path / "m")
    assert (found["gaps_filled"], found["model"]) == (0, "LowRankImputer")
    assert (tmp_path / "copy.csv").read_bytes() == full.read_bytes()
    source = write(tmp_path / "in.csv", header, rows)
    assert run(capsys, source, "-o", tmp_path / "out.csv", "--model", tmp_path / "m")[0] == 0
    filled = np.array([row[2:6] for row in read(tmp_path / "out.csv")[1]], dtype=float)
    assert np.sqrt(np.mean((((filled - X) / X.std(axis=0))[gaps]) ** 2)) < 0.6


def test_time_steps(capsys, tmp_path):
    X = series(tmp_path / "x.csv", left_out=(40, 41))
    source, model = tmp_path / "x.csv", tmp_path / "m"
    arguments = ["--sequence", "--components", "3", "--level", "0.9"]
    code, said = run(capsys, source, "-o", tmp_path / "y.csv", *arguments, "--save", model)
    assert code == 0
    assert "2 time steps without a row counted as rows without data." in said
    twin = SequenceFilter(3).fit(X)
    here = [k for k in range(160) if k not in (40, 41)]
    _, rows = read(tmp_path / "y.csv")
    numbers = np.array([row[2:] for row in rows], dtype=float).reshape(158, 4, 3)
    lower, upper = twin.predict_interval(X, 0.9)
    for k, part in enumerate((twin.impute(X), lower, upper)):
        np.testing.assert_allclose(numbers[:, :, k], part[here], rtol=1e-8)
    assert run(capsys, source, "-o", tmp_path / "z.csv", "--level", "0.9", "--model", model)[0] == 0
    assert (tmp_path / "z.csv").read_bytes() == (tmp_path / "y.csv").read_bytes()
    assert say(capsys, "forecast", "--model", model, "-n", 2)[0] == 0
    assert say(capsys, "detect", source, "--model", model, "-n", 2)[0] == 0


def test_standard_input(capsys, tmp_path, monkeypatch):
    source = write(tmp_path / "in.csv", *table()[:2])
    assert run(capsys, source, "-o", tmp_path / "out.csv")[0] == 0
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(source.read_bytes())))
    assert run(capsys, "-", "-o", tmp_path / "piped.csv")[0] == 0
    assert (tmp_path / "piped.csv").read_bytes() == (tmp_path / "out.csv").read_bytes()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"")))
    code, said = run(capsys, "-", "-o", tmp_path / "piped.csv")
    assert code == 2
    assert said == "factorstream: Standard input cannot be used: it is empty.\n"


def test_row_by_row(capsys, tmp_path):
    header, rows, _, _ = table()
    source, target, model = write(tmp_path / "in.csv", header, rows), tmp_path / "out.csv", tmp_path / "m"
    code, said = run(capsys, source, "-o", target, "--online", "--save", model)
    assert code == 0
    assert "in 120 rows, one by one; wrote" in said
    assert isinstance(load(model), DictionaryFilter)
    assert load(model).n_samples_seen_ == 120
    filled = read(target)[1]
    for old, new in zip(rows, filled, strict=True):
        assert all(after == before for before, after in zip(old, new, strict=True) if before)
    assert run(capsys, source, "-o", target, "--online", "--model", model)[0] == 0
    assert run(capsys, source, "-o", target, "--model", model)[0] == 0  # all rows at once, by the same model


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["x.csv", "--online", "--robust"], "--online has no --robust; leave out one of them"),
        (["x.csv", "--model", "m", "--components", "3"], "--components is a setting of the fit"),
        (["x.csv", "--online"], "x.csv does not exist."),
    ],
)
def test_bad_arguments(capsys, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    code, said = run(capsys, *arguments, "-o", "y.csv")
    assert code == 2
    assert words in said
    assert said.count("\n") == 1


def test_arrays_do_not_go_row_by_row(capsys, tmp_path):
    np.save(tmp_path / "x.npy", table()[2])
    code, said = run(capsys, tmp_path / "x.npy", "-o", tmp_path / "y.npy", "--online")
    assert code == 2
    assert "is not text, and only text goes row by row; leave out --online." in said


def test_a_broken_row_leaves_the_old_file(capsys, tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n3\n")
    (tmp_path / "y.csv").write_text("old")
    code, said = run(capsys, tmp_path / "x.csv", "-o", tmp_path / "y.csv", "--online")
    assert code == 2
    assert "x.csv cannot be used: line 3 has 1 cell where the first has 2." in said
    assert (tmp_path / "y.csv").read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("online", [[], ["--online"]])
def test_packed_files(capsys, tmp_path, online):
    source = write(tmp_path / "in.tsv", *table()[:2], "\t")
    assert run(capsys, source, "-o", tmp_path / "out.tsv", *online)[0] == 0
    packed = tmp_path / "in.tsv.gz"
    packed.write_bytes(gzip.compress(source.read_bytes()))
    assert run(capsys, packed, "-o", tmp_path / "out.tsv.gz", *online)[0] == 0
    assert gzip.decompress((tmp_path / "out.tsv.gz").read_bytes()) == (tmp_path / "out.tsv").read_bytes()


@pytest.mark.parametrize("content", [b"a,b\n1,\n", gzip.compress(b"a,b\n1,2\n2,\n")[:-9]], ids=["plain", "cut short"])
def test_files_that_are_not_packed_as_they_say(capsys, tmp_path, content):
    (tmp_path / "in.csv.gz").write_bytes(content)
    for online in ([], ["--online"]):
        code, said = run(capsys, tmp_path / "in.csv.gz", "-o", tmp_path / "out.csv", *online)
        assert code == 2
        assert "it is not packed by gzip, or is cut off." in said
