"""`factorstream impute`: what cannot be done is said in one sentence, and nothing is written."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

import pytest

from cli_problems import run, table, write


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "does not exist"),
        ("", "is empty"),
        ("a,b\n", "it has no rows below its line of names; pass --no-header if that is data."),
        ("a,b\nx,\n", "no column of numbers (one row does not say what its gaps could be; pass more rows, or --model"),
        ("a,b\n1,2\n3\n", "line 3 has 1 cell where the first has 2"),
        ("a,b\nx,y\n", "no column of numbers"),
        ("a,b\nx,\n,\n", "no column of numbers"),
        ("a\n1\n2\noops\n4\n", "no column of numbers (line 4 of column a has 'oops')"),
        ("a,a_lower\n1,2\n,3\n4,4\n", "There is a column a_lower already"),
        ('a,b\n"1,5","2,25"\n"-3,0",\n', "column a has decimal commas (line 2 has '1,5'); pass --decimal comma"),
        ("a;b\n1,5;1.200\n-3,0;\n", "column b may have points between thousands; pass --decimal comma --thousands"),
        ("a,b\n7%,x\n12%,y\n", "no column of numbers (line 2 of column a has '7%')"),
    ],
)
def test_bad_files(capsys, tmp_path, content, words):
    if content is not None:
        (tmp_path / "in.csv").write_text(content)
    code, said = run(capsys, tmp_path / "in.csv", "-o", tmp_path / "out.csv", "--level", "0.9")
    assert code == 2
    assert words in said
    assert said.count("\n") == 1
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("name", ["in.parquet", "in.npy"])
def test_files_that_are_not_what_they_are_called(capsys, tmp_path, name):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    (tmp_path / name).write_bytes(b"a,b\n1,2\n")
    code, said = run(capsys, tmp_path / name, "-o", (tmp_path / "out").with_suffix(Path(name).suffix))
    assert code == 2
    assert "cannot be used" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("nowhere/out.csv", "does not exist"),
        (".", "is a folder"),
        ("out.parquet", "same kind"),
        ("out.xlsx", "has the ending .xlsx, which is not written; name a .csv"),
    ],
)
def test_bad_outputs(capsys, tmp_path, target, words):
    source = write(tmp_path / "in.csv", *table()[:2])
    code, said = run(capsys, source, "-o", tmp_path / target)
    assert code == 2
    assert words in said
    assert said.count("\n") == 1
    assert list(tmp_path.iterdir()) == [source]


def test_an_output_that_cannot_be_written_is_refused_before_the_work(capsys, tmp_path, monkeypatch):
    def refuse(*_, **__):  # permissions do not stop every user
        raise PermissionError(errno.EACCES, "Permission denied")

    def work(*_, **__):
        raise AssertionError("the work has begun")

    monkeypatch.setattr(tempfile, "NamedTemporaryFile", refuse)
    monkeypatch.setattr("factorstream.completion.complete_file", work)
    code, said = run(capsys, tmp_path / "in.csv", "-o", tmp_path / "out.csv")
    assert code == 2
    assert f"{tmp_path / 'out.csv'} cannot be written (Permission denied); choose another --output." in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--level", "1"], "'1' is not a level between 0 and 1"),
        (["--level", "nan"], "'nan' is not a level"),
        (["--components", "0"], "'0' is neither auto nor a whole number"),
        (["--seed", "-1"], "--seed"),
        (["--delimiter", ",,"], "',,' is not one character"),
        (["--na="], "argument --na: an empty cell is a gap anyway; name a number or a text"),
        (["--na", "  "], "argument --na: an empty cell is a gap anyway"),
    ],
)
def test_bad_arguments(capsys, tmp_path, arguments, words):
    code, said = run(capsys, "in.csv", "-o", "out.csv", *arguments)
    assert code == 2
    assert words in said
    assert said.count("\n") == 1


def test_a_failed_write_leaves_the_old_file(capsys, tmp_path, monkeypatch):
    source = write(tmp_path / "in.csv", *table()[:2])
    (tmp_path / "out.csv").write_text("old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    code, said = run(capsys, source, "-o", tmp_path / "out.csv")
    assert code == 2
    assert "cannot be written: No space left on device." in said
    assert (tmp_path / "out.csv").read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 2


def test_commas_in_text_are_no_decimal_commas(capsys, tmp_path):
    (tmp_path / "in.csv").write_text("id;a\n1;Bonn, D\n;1,5\n3;\n")
    _, said = run(capsys, tmp_path / "in.csv", "-o", tmp_path / "out.csv")
    assert "decimal" not in said


def test_leading_blank_lines_are_no_reason_to_fail(capsys, tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("\n" * 25 + "a,b\n1,2\n3,\n")
    assert run(capsys, path, "-o", tmp_path / "out.csv")[0] in (0, 2)
