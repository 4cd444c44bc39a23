"""How a file was read: one list of sentences, which every command says."""

from __future__ import annotations

import numpy as np
import pytest

from cli_problems import say
from factorstream.jobs.reading import Reading, read_given
from factorstream.jobs.remarks import remarks
from factorstream.sources.delimited import parse_delimited


def said(text):
    return " ".join(remarks(parse_delimited(text.encode())))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("5,2\n3,\n", "The first line was taken as data"),
        (
            "a;b\n1,200.50;1\n7;2\n",
            "Column a was taken as text, because its numbers are written with commas or signs: ",
        ),
        ("a;b\n1,200.50;1\n7;2\n", "line 2 has '1,200.50'; write 1200.50."),
        ("a;b\n1;5%\n7;12%\n", "line 2 has '5%'; write 5."),
        ("a,b\n1,\n2,NA\n", "Columns without any value stay empty: b."),
        ("a\n1\n2\n3\nx y\n", "line 5 has 'x y'; correct it, or pass --missing='x y' if it marks a gap."),
    ],
)
def test_sentences(text, words):
    assert words in said(text)


def test_an_ordinary_table_has_none():
    assert said("name,a\nUlm,1\nBonn,\n") == ""


def write_rows(path, cell):
    X = np.random.default_rng(0).normal(size=(12, 2)).round(2)
    path.write_text("a;b;c\n" + "".join(f"{x};{y};{cell}\n" for x, y in X))
    return path


COMMANDS = [
    ["impute", "-o", "out.csv"],
    ["impute", "-o", "out.csv", "--online"],
    ["forecast", "-n", "1", "--components", "1"],
    ["detect"],
    ["factorize", "--components", "1"],
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_refuses_decimal_commas(capsys, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    name, *options = command
    code, out, err = say(capsys, name, write_rows(tmp_path / "in.csv", "3,14"), *options, "--quiet")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "decimal comma" in err
    assert "write 3.14" in err


@pytest.mark.parametrize("command", [*COMMANDS[:1], *COMMANDS[2:], ["info"]])
def test_every_command_says_what_it_took_as_text(capsys, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    name, *options = command
    code, _, err = say(capsys, name, write_rows(tmp_path / "in.csv", "5%"), *options)
    assert (code, "Column c was taken as text" in err) == (0, True)


def test_dates_that_say_nothing_are_named(tmp_path):
    (tmp_path / "x.csv").write_text("when,a\n2024-01-01,4\n2024-01-01,5\n2024-01-02,3\n")
    given = read_given(tmp_path / "x.csv", Reading())
    assert given.when is None
    assert "has 2024-01-01 again in line 3, so rows were taken as equally spaced." in given.date_remarks[0]
