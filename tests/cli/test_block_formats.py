"""Formats that are read block by block alone: NPZ, Arrow, Feather, HDF5 and Zarr."""

from __future__ import annotations

import json

import numpy as np
import pytest

from cli_problems import run, say, summary
from factorstream import LowRankImputer, cli, open_rows
from factorstream.jobs import large_files
from row_files import NAMES, WRITERS, gathered, towns

ENDINGS = [".npz", ".arrow", ".feather", ".h5", ".zarr"]
NEEDS = {".arrow": "pyarrow", ".feather": "pyarrow", ".h5": "h5py", ".zarr": "zarr"}


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 1)) @ rng.normal(size=(1, 3)) + 0.1 * rng.normal(size=(200, 3)) + 4
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:, 2] = np.nan_to_num(X[:, 2], nan=4.0)  # a column that only helps
    return X


def written(path, X):
    if path.suffix in NEEDS:
        pytest.importorskip(NEEDS[path.suffix])
    WRITERS[path.suffix](path, X)
    return path


@pytest.fixture(params=ENDINGS)
def path(request, tmp_path, X):
    return written(tmp_path / f"in{request.param}", X)


def numbers_of(path):
    return gathered(open_rows(path))


@pytest.mark.parametrize("level", [(), ("--level", "0.9")])
def test_what_is_filled_is_what_an_npy_file_gets(capsys, tmp_path, path, X, level):
    np.save(tmp_path / "x.npy", X)
    assert run(capsys, tmp_path / "x.npy", "-o", tmp_path / "y.npy", *level)[0] == 0
    out = path.with_name(f"out{path.suffix}")
    code, said = run(capsys, path, "-o", out, *level)
    assert code == 0
    assert f"block by block; wrote {out}." in said
    expected = np.load(tmp_path / "y.npy")
    assert not np.isnan(expected).any()
    np.testing.assert_array_equal(numbers_of(out), expected)  # few values are fitted at once however they were read


def test_tables_that_are_too_small_to_calibrate_have_the_bounds_of_the_model(capsys, tmp_path):
    x = np.random.default_rng(0).normal(size=(9, 2))
    x[0, 0] = x[3, 1] = np.nan
    path, out = written(tmp_path / "in.npz", x), tmp_path / "out.npz"
    code, said = run(capsys, path, "-o", out, "--level", "0.95")
    assert code == 0
    assert "too small to calibrate the bounds at this level; they are the model's own." in said
    np.save(tmp_path / "x.npy", x)
    assert run(capsys, tmp_path / "x.npy", "-o", tmp_path / "y.npy", "--level", "0.95")[0] == 0
    np.testing.assert_array_equal(numbers_of(out), np.load(tmp_path / "y.npy"))


@pytest.mark.parametrize("ending", [".npz", ".feather"])
def test_columns_with_infinities_are_left_out_and_named_as_in_other_files(capsys, tmp_path, X, ending):
    X[7, 1], X[9, 1] = np.inf, -np.inf
    path, out = written(tmp_path / f"in{ending}", X), tmp_path / f"out{ending}"
    name = open_rows(path).names[1] if ending == ".feather" else "2"
    code, said = run(capsys, path, "-o", out, "--level", "0.9")
    assert code == 0
    assert f"olumn {name} was taken as text, because 2 texts in it are no finite numbers" in said
    assert "'inf' (1 cell, the first in row 8), '-inf' (1 cell)" in said
    found = numbers_of(out)
    assert not np.isnan(found[:, 0]).any()
    code, said = run(capsys, path, "-o", out, "--na", "inf", "--na=-inf")
    assert code == 0
    assert "as text" not in said
    assert np.isfinite(numbers_of(out)).all()


def test_a_file_with_infinities_in_every_column_says_so(capsys, tmp_path):
    path = written(tmp_path / "in.npz", np.full((9, 2), np.inf))
    assert "it has no column of numbers (row 1 of column 1 has 'inf')." in run(capsys, path, "-o", path)[1]


def test_the_rest_of_a_file_comes_out_as_it_was(capsys, path, X):
    out = path.with_name(f"out{path.suffix}")
    assert run(capsys, path, "-o", out, "--level", "0.9")[0] == 0
    if path.suffix in (".arrow", ".feather"):
        from pyarrow import feather

        table = feather.read_table(out)
        assert table.column_names == ["town", *(f"{a}{b}" for a in NAMES[:2] for b in ("", "_lower", "_upper")), "wind"]
        assert table.column("town").to_pylist() == towns(len(X))
    elif path.suffix == ".h5":
        import h5py

        with h5py.File(out) as file:
            assert file["notes"].asstr()[()] == "made for a test"
            assert file["measured/X"].shape == (len(X), 7)


def test_a_file_may_be_filled_in_place(capsys, path):
    assert run(capsys, path, "-o", path)[0] == 0
    assert not np.isnan(numbers_of(path)).any()
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_one_of_several_arrays(capsys, tmp_path, X):
    path, out = tmp_path / "in.npz", tmp_path / "out.npz"
    np.savez(path, a=X, b=X + 1, names=np.array(NAMES))
    code, said = run(capsys, path, "-o", out)
    assert (code, said.count("\n")) == (2, 1)
    assert "it has the arrays a, b; name one of them, as open_rows(path, dataset=" in said
    assert "or --dataset a." in said
    assert run(capsys, path, "-o", out, "--dataset", "b")[0] == 0
    found = np.load(out)
    np.testing.assert_array_equal(found["a"], X)
    assert found["names"].tolist() == NAMES
    assert not np.isnan(found["b"]).any()
    known = ~np.isnan(X)
    np.testing.assert_array_equal(found["b"][known], (X + 1)[known])
    code, said = run(capsys, path, "-o", out, "--dataset", "c")
    assert (code, "it has no array c with rows and columns; it has a, b." in said) == (2, True)


def test_other_marks_of_gaps(capsys, tmp_path, X):
    path = written(tmp_path / "in.npz", np.where(np.isnan(X), -9999.0, X))
    found = summary(capsys, "impute", path, "-o", tmp_path / "out.npz", "--na=-9999")
    assert found["gaps_filled"] == np.isnan(X).sum()


def test_a_run_that_was_stopped_goes_on(capsys, monkeypatch, path, tmp_path):
    out, checkpoint = path.with_name(f"out{path.suffix}"), tmp_path / "checkpoint"
    want = path.with_name(f"want{path.suffix}")
    assert run(capsys, path, "-o", want, "--level", "0.9")[0] == 0
    with monkeypatch.context() as patch:
        patch.setattr(large_files, "fill_source", lambda *_, **__: (_ for _ in ()).throw(ValueError("stopped")))
        assert run(capsys, path, "-o", out, "--level", "0.9", "--checkpoint", checkpoint)[0] == 2
    assert checkpoint.exists()
    monkeypatch.setattr(LowRankImputer, "_fit_source", lambda *_: pytest.fail("It was fitted already."))
    assert run(capsys, path, "-o", out, "--level", "0.9", "--checkpoint", checkpoint)[0] == 0
    np.testing.assert_array_equal(numbers_of(out), numbers_of(want))
    assert not checkpoint.exists()


def test_a_model_is_saved_and_used_again(capsys, path, tmp_path):
    one, two = path.with_name(f"one{path.suffix}"), path.with_name(f"two{path.suffix}")
    assert run(capsys, path, "-o", one, "--save", tmp_path / "model")[0] == 0
    assert run(capsys, path, "-o", two, "--model", tmp_path / "model")[0] == 0
    np.testing.assert_array_equal(numbers_of(one), numbers_of(two))


def test_factors(capsys, path, tmp_path, X):
    np.save(tmp_path / "x.npy", X)
    assert cli.main(["factorize", str(tmp_path / "x.npy"), "-o", str(tmp_path / "npy"), "--components", "1"]) == 0
    assert cli.main(["factorize", str(path), "-o", str(tmp_path / "own"), "--components", "1"]) == 0
    capsys.readouterr()

    def said_of_all(folder, ending):
        parts = {name: open_rows(folder / f"{name}{ending}") for name in ("components", "coefficients", "mean")}
        values = {name: gathered(part) for name, part in parts.items()}
        names = parts["components"].names
        loadings = values["components"] if names is None else values["components"][:, 2:]  # number and share first
        assert names is None or names == ["component", "explained", *NAMES]
        return values["coefficients"] @ loadings + values["mean"]

    np.testing.assert_allclose(
        said_of_all(tmp_path / "own", path.suffix), said_of_all(tmp_path / "npy", ".npy"), rtol=1e-5
    )
    assert cli.main(["factorize", str(path), "-o", str(tmp_path / "own"), "--components", "1"]) == 0  # written anew


def test_factors_of_one_of_several_arrays(capsys, tmp_path, X):
    np.savez(tmp_path / "in.npz", a=X, b=X[:, :2])
    arguments = ["factorize", tmp_path / "in.npz", "-o", tmp_path / "out", "--components", "1"]
    assert say(capsys, *arguments)[0] == 2
    assert not (tmp_path / "out").exists()
    assert say(capsys, *arguments, "--dataset", "b")[0] == 0
    assert np.load(tmp_path / "out" / "mean.npz")["X"].shape == (1, 2)


def test_a_folder_of_parquet_parts(capsys, tmp_path, X):
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    (tmp_path / "in.parquet").mkdir()
    for k in range(2):
        written(tmp_path / "in.parquet" / f"{k}.parquet", X[100 * k : 100 * (k + 1)])
    assert run(capsys, tmp_path / "in.parquet", "-o", tmp_path / "out.parquet")[0] == 0
    filled = pandas.read_parquet(tmp_path / "out.parquet")
    assert filled.columns.tolist() == ["town", *NAMES]
    assert not filled[NAMES].isna().any(axis=None)
    code, said = run(capsys, tmp_path / "in.parquet", "-o", tmp_path / "in.parquet")
    assert (code, "in.parquet is a folder; --output needs a file." in said) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["in.npz", "-o", "out.npy"], "out.npy is not of the same kind as in.npz; give it the same ending."),
        (["in.npy", "-o", "out.npz"], "out.npz is not of the same kind as in.npy; give it the same ending."),
        (["in.npz", "-o", "-"], "in.npz has the ending .npz, which only impute and factorize read"),
        (["in.npz", "-o", "out.npz", "--sequence"], "in.npz has the ending .npz, which only impute and factorize read"),
        (["in.npz", "-o", "out.npz", "--online"], "in.npz has the ending .npz, which only impute and factorize read"),
        (["in.npy", "-o", "out.npy", "--dataset", "X"], "an array of a .npz, .h5 or .zarr file, and in.npy is none"),
        (["no.npz", "-o", "out.npz"], "no.npz does not exist."),
        (["bad.npz", "-o", "out.npz"], "bad.npz cannot be used: it is not an NPZ file, or is cut off."),
        (["in.npz", "-o", "folder.zarr"], "folder.zarr is a folder; --output needs a file."),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(capsys, tmp_path, monkeypatch, X, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    np.savez("in.npz", X=X)
    np.save("in.npy", X)
    (tmp_path / "folder.zarr").mkdir()
    (tmp_path / "folder.zarr" / "letters").touch()
    (tmp_path / "bad.npz").write_bytes(b"no")
    code, said = run(capsys, *arguments)
    assert (code, said.count("\n")) == (2, 1)
    assert sentence in said
    assert sorted(one.name for one in tmp_path.iterdir()) == ["bad.npz", "folder.zarr", "in.npy", "in.npz"]


@pytest.mark.parametrize("command", [["forecast", "in.h5", "-n", "3"], ["detect", "in.h5"], ["info", "in.h5"]])
def test_other_commands_say_who_reads_them(capsys, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.h5").write_bytes(b"\x89HDF")
    code, _, said = say(capsys, *command)
    assert (code, said.count("\n")) == (2, 1)
    assert "in.h5 has the ending .h5, which only impute and factorize read, block by block" in said


@pytest.mark.parametrize("ending", [".feather", ".arrow", ".parquet"])
def test_gaps_of_texts_that_stay_are_said(ending, capsys, tmp_path, monkeypatch):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import feather, parquet

    monkeypatch.setattr(large_files, "LARGE", 100)
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    texts = [None if k % 7 == 0 else f"n{k}" for k in range(60)]
    gappy = np.where(rng.random(60) < 0.2, np.nan, x)
    columns = {
        "name": texts,
        "a": pa.array(gappy, from_pandas=True),
        "other": texts,
        "b": x + 0.1 * rng.normal(size=60),
    }
    write = parquet.write_table if ending == ".parquet" else feather.write_feather
    write(pa.table(columns), str(tmp_path / f"in{ending}"))
    arguments = [tmp_path / f"in{ending}", "-o", tmp_path / f"out{ending}"]
    code, said = run(capsys, *arguments)
    assert code == 0
    assert "Gaps left as they are in columns that had no part in it: name, other." in said
    _, out, _ = say(capsys, "impute", *arguments, "--json")
    assert json.loads(out)["gaps_left"] == 18
    model = tmp_path / "model.factorstream"
    for options in (["--exclude", "other"], ["--id", "other", "--save", model], ["--id", "other", "--model", model]):
        _, said = run(capsys, *arguments, *options)
        assert "Gaps left as they are in columns that had no part in it: name." in said
