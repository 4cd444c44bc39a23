"""Files above a size are filled and factorised block by block, as smaller ones are at once."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from cli_problems import read, run, table, write
from factorstream import BayesianFactorization, cli, load, principal_axes
from factorstream.jobs import large_files


@pytest.fixture
def small_is_large(monkeypatch):
    monkeypatch.setattr(large_files, "LARGE", 100)


@pytest.fixture
def path(tmp_path):
    header, rows, _, _ = table(n=300)
    return write(tmp_path / "in.csv", header, rows)


def both(capsys, monkeypatch, path, *arguments):
    """What is said and written at once and by blocks."""
    said, found = [], []
    for name, large in (("once", 2**40), ("blocks", 100)):
        monkeypatch.setattr(large_files, "LARGE", large)
        out = path.with_name(f"{name}{path.suffix}")
        code, words = run(capsys, path, "-o", out, *arguments)
        assert code == 0
        said.append(words.replace(str(out), "OUT"))
        found.append(out.read_bytes())
    return said, found


@pytest.mark.parametrize("arguments", [(), ("--level", "0.9"), ("--robust",), ("--components", "2")])
def test_a_text_is_filled_by_blocks_as_at_once(capsys, monkeypatch, path, arguments):
    said, found = both(capsys, monkeypatch, path, *arguments, "--numbers-only")
    assert found[0] == found[1]  # few values are fitted at once however they were read
    assert "block by block; wrote OUT" in said[1]
    for sentence in said[0].splitlines():
        if "count rows" in sentence:
            assert sentence in said[1]


@pytest.mark.parametrize("ending", [".npy", ".parquet"])
def test_other_formats(capsys, monkeypatch, tmp_path, ending):
    _, _, X, gaps = table(n=300)
    X = np.where(gaps, np.nan, X)
    path = tmp_path / f"in{ending}"
    if ending == ".npy":
        np.save(path, X)
    else:
        pytest.importorskip("pandas").DataFrame(X, columns=list("abcd")).to_parquet(path)
    _, found = both(capsys, monkeypatch, path, "--level", "0.9")
    if ending == ".npy":
        assert found[0] == found[1]
    else:
        pandas = pytest.importorskip("pandas")
        pandas.testing.assert_frame_equal(*(pandas.read_parquet(tmp_path / f"{n}{ending}") for n in ("once", "blocks")))


def test_a_model_is_saved_and_used_again(capsys, small_is_large, path, tmp_path):
    code, _ = run(capsys, path, "-o", tmp_path / "one.csv", "--save", tmp_path / "model")
    assert code == 0
    assert load(tmp_path / "model").feature_names_in_.tolist() == ["a", "b", "c", "d"]
    code, _ = run(capsys, path, "-o", tmp_path / "two.csv", "--model", tmp_path / "model")
    assert code == 0
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()


def test_a_file_without_gaps_is_copied(capsys, small_is_large, tmp_path):
    rng = np.random.default_rng(0)
    path = write(tmp_path / "in.csv", ["a", "b"], rng.normal(size=(50, 2)).tolist())
    code, said = run(capsys, path, "-o", tmp_path / "out.csv")
    assert code == 0
    assert "Filled 0 gaps" in said
    assert (tmp_path / "out.csv").read_bytes() == path.read_bytes()


def test_what_cannot_be_used_is_said_in_one_sentence(capsys, small_is_large, tmp_path):
    path = write(tmp_path / "in.csv", ["n", "m"], [[k, 2 * k] for k in range(100)])
    code, said = run(capsys, path, "-o", tmp_path / "out.csv")
    assert code == 2
    assert said.count("\n") == 1
    assert "in.csv cannot be used: it has no columns of numbers but those that count its rows." in said
    assert not (tmp_path / "out.csv").exists()
    path = write(tmp_path / "in.csv", ["a", "a_lower"], [[k % 3, k % 5 or ""] for k in range(100)])
    path.write_text(path.read_text() + ",1\n")
    code, said = run(capsys, path, "-o", tmp_path / "out.csv", "--level", "0.9")
    assert code == 2
    assert "There is a column a_lower already; rename it, or leave out --level." in said


def test_factors_of_a_large_file(capsys, monkeypatch, path, tmp_path):
    said = []
    for name, large in (("once", 2**40), ("blocks", 100)):
        monkeypatch.setattr(large_files, "LARGE", large)
        assert (
            cli.main(["factorize", str(path), "-o", str(tmp_path / name), "--save", str(tmp_path / f"{name}.model")])
            == 0
        )
        said.append(capsys.readouterr().err.replace(name, "DIR"))
    assert said[0] == said[1]
    assert "2 components explain" in said[0]
    parts = {}
    for name in ("once", "blocks"):
        for part in ("components", "coefficients", "mean"):
            header, rows = read(tmp_path / name / f"{part}.csv")
            keep = [j for j, column in enumerate(header) if column not in ("id", "date", "comment")]
            parts[name, part] = np.array([[float(row[j]) for j in keep] for row in rows])
    for part in ("components", "coefficients", "mean"):
        assert_allclose(parts["blocks", part], parts["once", part], rtol=1e-9, atol=1e-12)


def test_factors_of_a_model_of_another_class(capsys, monkeypatch, path, tmp_path):
    _, rows, _, _ = table(n=300)
    X = np.array([[float(cell) if cell != "" else np.nan for cell in row[2:6]] for row in rows])
    BayesianFactorization(2, random_state=0).fit(X).save(tmp_path / "model")
    said = []
    for name, large in (("once", 2**40), ("blocks", 100)):
        monkeypatch.setattr(large_files, "LARGE", large)
        assert cli.main(["factorize", str(path), "-o", str(tmp_path / name), "--model", str(tmp_path / "model")]) == 0
        said.append(capsys.readouterr().err.replace(name, "DIR"))
    assert said[0] == said[1]
    header, found = read(tmp_path / "blocks" / "components.csv")
    axes = principal_axes(load(tmp_path / "model"), X, unit=np.nanstd(X, axis=0))
    assert_allclose(np.array(found)[:, header.index("explained")].astype(float), axes.explained_variance / 4, rtol=1e-3)


def test_columns_that_are_not_filled_are_named(capsys, small_is_large, tmp_path):
    """In the same words, and with the same result, as of a file that is read at once."""
    rng = np.random.default_rng(0)
    rows = [[k, *(rng.normal(size=2).round(3)), "oops" if k == 7 else 2.5 * k % 7, ""] for k in range(100)]
    for k in (3, 30, 60):
        rows[k][1] = ""
    path = write(tmp_path / "in.csv", ["n", "a", "b", "c", "empty"], rows)
    code, by_blocks = run(capsys, path, "-o", tmp_path / "blocks.csv", "--level", "0.9")
    assert code == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large_files, "LARGE", 2**30)
        code, at_once = run(capsys, path, "-o", tmp_path / "once.csv", "--level", "0.9")
    assert code == 0
    for sentence in (
        "Column c was taken as text, because one text in it is no finite number: line 9 has 'oops'",
        "--na oops",
        "Columns without any value are not filled: empty.",
        "Columns that count rows or years were left out: n.",
    ):
        assert sentence in by_blocks
        assert sentence in at_once
    assert "Warning" not in by_blocks
    assert (tmp_path / "blocks.csv").read_text() == (tmp_path / "once.csv").read_text()
