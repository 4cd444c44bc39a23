"""`factorstream impute`: values that stand for gaps, and texts that keep a column from being numbers."""

from __future__ import annotations

import numpy as np
import pytest

from cli_problems import read, run, table, write
from factorstream.jobs import large_files


def marked(mark, column=2, every=13, seed=100):
    """The usual table in which `mark` stands in some cells of a column that were known; and which cells they are."""
    header, rows, X, gaps = table(seed=seed)
    at = [k for k in range(0, len(rows), every) if not gaps[k, column - 2]]
    for k in at:
        rows[k][column] = mark
    return header, rows, X, at


@pytest.mark.parametrize("mark", ["-9999", "-9999.0", "broken"])
def test_marks_are_filled_like_gaps(capsys, tmp_path, mark):
    """The same file as where the cells were empty: a mark has no say in anything."""
    header, rows, X, at = marked(mark)
    source = write(tmp_path / "in.csv", header, rows)
    given = mark.removesuffix(".0")  # numbers are compared as numbers
    code, said = run(capsys, source, "-o", tmp_path / "out.csv", f"--na={given}", "--na", "other")
    assert code == 0
    assert said.count("\n") == 5  # what was filled, fills beyond what was seen, dates, comments, and "other"
    assert "No cell says other, which was to mark gaps." in said
    for k in at:
        rows[k][2] = ""
    write(source, header, rows)
    run(capsys, source, "-o", tmp_path / "empty.csv")
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "empty.csv").read_bytes()
    filled = np.array([float(row[2]) for row in read(tmp_path / "out.csv")[1]])
    assert np.abs(filled - X[:, 0])[at].max() < 1.0


@pytest.mark.parametrize("form", ["csv", "csv with decimal commas", "parquet", "npy"])
def test_marks_that_are_found_nowhere_are_said(capsys, tmp_path, form):
    """A mark that is misspelt, or a number with another sign, would go unnoticed; one in a column of texts is found."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)).round(3)
    X[::7, 0], X[::9, 1] = -9, np.nan
    path = tmp_path / f"in.{form[:3] if 'csv' in form else form}"
    if form == "npy":
        np.save(path, X)
    elif form == "parquet":
        pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        pq.write_table(pa.table({f"c{j}": pa.array(x, from_pandas=True) for j, x in enumerate(X.T)}), path)
    else:
        rows = [[*("" if x != x else str(x) for x in row), "note" if row[2] > 0 else "none seen"] for row in X]
        if "commas" in form:
            rows = [[cell.replace(".", ",") for cell in row] for row in rows]
        path.write_text("\n".join(";".join(row) for row in [["a", "b", "c", "d"], *rows]))
    texts = ["--na", "Note" if "csv" in form else "x", "--na", "NA"]
    code, said = run(capsys, path, "-o", path.with_stem("out"), "--na=-99", "--na=-9.0", "--na=99", *texts)
    assert code == 0
    nowhere = "No cell says -99 or 99" if "csv" in form else "No number is -99 or 99 or x"
    assert f"{nowhere}, which was to mark gaps." in said
    assert "--na -9" not in said
    _, said = run(capsys, path, "-o", path.with_stem("out"), "--na=-9", "--na", "NA")
    assert "which was to mark gaps" not in said


@pytest.mark.parametrize("large", [2**40, 100])
@pytest.mark.parametrize("form", ["npy", "parquet"])
def test_a_mark_that_is_too_large_for_the_type_of_numbers(capsys, tmp_path, monkeypatch, form, large):
    """Without a warning of NumPy, which is an error here."""
    monkeypatch.setattr(large_files, "LARGE", large)
    X = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    X[::9, 1] = np.nan
    path = tmp_path / f"in.{form}"
    if form == "npy":
        np.save(path, X)
    else:
        pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        pq.write_table(pa.table({f"c{j}": pa.array(x, from_pandas=True) for j, x in enumerate(X.T)}), path)
    assert run(capsys, path, "-o", path.with_stem("out"), "--na", "1e40")[0] == 0


def test_a_fill_value_that_is_far_off_is_pointed_out(capsys, tmp_path):
    header, rows, _, at = marked("-9999")
    source = write(tmp_path / "in.csv", header, rows)
    code, said = run(capsys, source, "-o", tmp_path / "out.csv")
    assert code == 0
    assert f"Column a has the value -9999 {len(at)} times, unlike its other values" in said
    assert "if it marks a gap, pass --na -9999." in said
    assert [row[2] for row in read(tmp_path / "out.csv")[1]].count("-9999") == len(at)  # nothing is decided for them


@pytest.mark.parametrize("column", [3, 5])
def test_numbers_that_look_like_fill_values_among_their_like_are_not(capsys, tmp_path, column):
    """9999 where values are in thousands, and an outlier that is there once."""
    header, rows, _, _ = marked("9999" if column == 3 else "77", column, 13 if column == 3 else 1000)
    _, said = run(capsys, write(tmp_path / "in.csv", header, rows), "-o", tmp_path / "out.csv")
    assert "--na" not in said


def test_the_one_text_in_a_column_of_numbers_is_named(capsys, tmp_path):
    header, rows, _, _ = table()
    rows[40][-1] = "two\nlines"  # a cell of two lines, so that rows and lines are counted differently below it
    rows[57][5] = "1.2.3"
    code, said = run(capsys, write(tmp_path / "in.csv", header, rows), "-o", tmp_path / "out.csv")
    assert code == 0
    line = (tmp_path / "in.csv").read_text().splitlines().index(",".join(rows[57])) + 1
    assert line == 60
    assert f"Column d was taken as text, because one text in it is no finite number: line {line} has '1.2.3'" in said
    assert "pass --na 1.2.3 if it marks a gap" in said
    assert "Column comment" not in said
    assert "Column date" not in said


def with_absurd(values, column=2):
    """The usual table with these values in some cells of a column that were known; and the lines of the cells."""
    header, rows, _, gaps = table()
    rows[3][-1] = "two\nlines"  # from here on rows and lines are counted differently
    known = [k for k in range(20, len(rows)) if not gaps[k, column - 2]]
    for k, value in zip(known, values, strict=False):
        rows[k][column] = value
    return header, rows, [k + 3 for k in known[: len(values)]]


@pytest.mark.parametrize(("value", "known"), [("1e30", " (a common fill value)"), ("-123456789123", "")])
def test_an_absurd_value_is_named_in_one_line(capsys, tmp_path, value, known):
    header, rows, (line,) = with_absurd([value])
    source = write(tmp_path / "in.csv", header, rows)
    code, said = run(capsys, source, "-o", tmp_path / "out.csv", "--level", "0.9")  # a warning would be an error
    assert code == 0
    shown = f"{float(value):.15g}"
    assert (
        f"factorstream: Column a has an absurd value, which had no part in filling the gaps: line {line} has "
        f"{shown}{known}; correct it, or pass --na {shown} if it marks a gap.\n"
    ) in said
    assert said.count(shown) == 2  # it is not pointed out once more as a fill value
    assert [row[2] for row in read(tmp_path / "out.csv")[1]].count(value) == 1  # nothing is decided for them
    code, said = run(capsys, source, "-o", tmp_path / "marked.csv", f"--na={shown}")
    assert code == 0
    assert "absurd value" not in said


def test_several_absurd_values_are_counted(capsys, tmp_path):
    header, rows, (line, *_) = with_absurd(["123456789123", "-1e30", "5e15"])
    _, said = run(capsys, write(tmp_path / "in.csv", header, rows), "-o", tmp_path / "out.csv")
    assert (
        "Column a has 3 absurd values, which had no part in filling the gaps: the first, in line "
        f"{line}, is 123456789123; correct them, or pass --na VALUE for each that marks a gap.\n"
    ) in said
    assert "warning" not in said.lower()


def test_an_absurd_value_of_an_array_has_a_row(capsys, tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 3))
    X[4, 0], X[30, 1] = np.nan, 1e12
    np.save(tmp_path / "in.npy", X)
    _, said = run(capsys, tmp_path / "in.npy", "-o", tmp_path / "out.npy")
    assert "Column column 2 has" not in said
    assert "Column 2 has an absurd value, which had no part in filling the gaps: row 31 has 1000000000000;" in said


@pytest.mark.parametrize("kind", ["npy", "parquet", "csv"])
def test_infinity_can_mark_a_gap(capsys, tmp_path, kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1)) @ rng.normal(size=(1, 3)) + 0.01 * rng.normal(size=(60, 3))
    given = X.copy()
    given[7, 2], given[9, 0], given[11, 1] = np.inf, np.nan, -np.inf
    source, target = tmp_path / f"in.{kind}", tmp_path / f"out.{kind}"
    if kind == "npy":
        np.save(source, given)
    elif kind == "parquet":
        pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        pq.write_table(pa.table(dict(zip("abc", given.T, strict=True))), source)
    else:
        write(source, list("abc"), [[f"{x:.7g}" for x in row] for row in given])
    code, said = run(capsys, source, "-o", target, "--na", "inf")
    assert code == 0
    assert "Filled 2 gaps in 2 columns" in said  # column b has -inf, which is another number
    if kind == "npy":
        out = np.load(target)
    elif kind == "parquet":
        out = np.column_stack([column.to_numpy() for column in pq.read_table(target).columns])
    else:
        out = np.array(read(target)[1], dtype=float)
    assert np.abs(out - X)[[7, 9], [2, 0]].max() < 0.3
    assert out[11, 1] == -np.inf


def test_one_text_in_many_cells_is_named_once(capsys, tmp_path):
    header, rows, _, at = marked("not measured", 5)
    _, said = run(capsys, write(tmp_path / "in.csv", header, rows), "-o", tmp_path / "out.csv")
    assert f"{len(at)} cells, the first in line {at[0] + 2}, have 'not measured'" in said
    assert "pass --na 'not measured' if it marks a gap" in said


@pytest.mark.parametrize("kind", [np.int64, np.float32, np.float64])
def test_marks_in_arrays(capsys, tmp_path, kind):
    rng = np.random.default_rng(0)
    X = (100 * (rng.normal(size=(80, 2)) @ rng.normal(size=(2, 5)) + 0.1 * rng.normal(size=(80, 5)))).astype(kind)
    given = X.copy()
    given[::9, 1] = -9999
    np.save(tmp_path / "in.npy", given)
    code, said = run(capsys, tmp_path / "in.npy", "-o", tmp_path / "out.npy", "--na=-9999")
    assert code == 0
    assert "Filled 9 gaps in 1 column" in said
    out = np.load(tmp_path / "out.npy")
    assert out.dtype == (np.float64 if kind is np.int64 else kind)
    np.testing.assert_array_equal(out[given != -9999], X[given != -9999])
    assert np.abs(out - X).max() < 60


def test_marks_in_parquet(capsys, tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rng = np.random.default_rng(0)
    x = rng.integers(0, 100, 60)
    columns = {"a": np.where(x % 7 == 0, -9999, 3 * x), "b": x, "name": x + 2**60}
    pq.write_table(pa.table(columns), tmp_path / "in.parquet")
    code, said = run(capsys, tmp_path / "in.parquet", "-o", tmp_path / "out.parquet", "--na=-9999")
    assert code == 0
    assert "in 1 column" in said
    out = pq.read_table(tmp_path / "out.parquet")
    assert np.abs(out["a"].to_numpy() - 3 * x).max() < 5
    np.testing.assert_array_equal(out["name"].to_numpy(), columns["name"])  # more digits than a float has


def test_a_column_of_marks_only_holds_no_numbers(capsys, tmp_path):
    header, rows, _, _ = table()
    for row in rows:
        row[5] = "-9999"
    code, _ = run(capsys, write(tmp_path / "in.csv", header, rows), "-o", tmp_path / "out.csv", "--na=-9999")
    assert code == 0
    assert {row[5] for row in read(tmp_path / "out.csv")[1]} == {"-9999"}


@pytest.mark.parametrize("gap", ["", "NA"])
def test_neither_a_mark_nor_a_gap_makes_data_of_a_column_that_counts(capsys, tmp_path, gap):
    header, rows, _, _ = table()
    header, rows = ["year", *header], [[str(60 + k) if k != 7 else gap, *row] for k, row in enumerate(rows)]
    source = write(tmp_path / "in.csv", header, rows)
    for n, options in enumerate([(), ("--checkpoint", tmp_path / "draft"), ("--online",)]):
        out = tmp_path / f"{n}.csv"
        code, said = run(capsys, source, "-o", out, "--na", "99", *options)
        assert code == 0
        assert "year" in said
        assert [row[0] for row in read(out)[1]] == [row[0] for row in rows]


def test_marks_that_say_below_a_limit_are_said_to_do_so(capsys, tmp_path):
    header, rows, _, _ = marked("<0.5")
    source = write(tmp_path / "in.csv", header, rows)
    for n, options in enumerate([(), ("--checkpoint", tmp_path / "draft"), ("--online",)]):
        _, said = run(capsys, source, "-o", tmp_path / f"{n}.csv", "--na", "<0.5", "--na", "-9999", *options)
        assert said.count("Values marked <0.5 are known to lie below or above a limit") == 1
    assert "a limit, which" not in run(capsys, source, "-o", tmp_path / "out.csv", "--na", "-9999")[1]
