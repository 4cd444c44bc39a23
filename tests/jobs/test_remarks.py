"""How a file was read: one list of sentences, which every command says."""

from __future__ import annotations

import numpy as np
import pytest

from cli_problems import say
from factorstream.jobs.forecasting import ForecastSettings, forecast_file
from factorstream.jobs.reading import Reading, read_given
from factorstream.jobs.remarks import remarks
from factorstream.sources.delimited import parse_delimited
from factorstream.sources.table import TableError


def said(text):
    return " ".join(remarks(parse_delimited(text.encode())))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("5,2\n3,\n", "The first line was taken as data"),
        (
            "a;b\n1;$5\n7;$7\n",
            "Column b was taken as text, because its numbers are written with commas or signs: ",
        ),
        (
            "a;b\n1,200.50;1\n7;2\n",
            "Commas were taken as marks between thousands: line 2 of column a has '1,200.50'; pass --decimal comma if",
        ),
        (
            'a,b\n1,"3,14"\n7,"2,5"\n4.5,"7"\n',
            "line 2 has '3,14'; write 3.14, or pass --decimal comma.",
        ),
        (
            "a;b\n1.200,5;7\n7;2,25\n",
            "Commas were taken as decimal commas, and points as marks between thousands: line 2 of column a has",
        ),
        (
            "a\n1\n2\n3\n<0.5\n5\n<0.5\n8\nn.d.\n",
            "because 2 texts in it are no finite numbers: '<0.5' (2 cells, the first in line 5), 'n.d.' (1 cell); "
            "correct them, or pass --na '<0.5' --na n.d. if they mark gaps.",
        ),
        ("a;b\n1;5%\n7;12%\n", "line 2 has '5%'; write 5."),
        ("a,b\n1,\n2,NA\n", "Columns without any value are not filled: b."),
        ("a\n1\n2\n3\nx y\n", "line 5 has 'x y'; correct it, or pass --na 'x y' if it marks a gap."),
    ],
)
def test_sentences(text, words):
    assert words in said(text)


def test_an_ordinary_table_has_none():
    assert said("name,a\nUlm,1\nBonn,\n") == ""


def write_rows(path, cell, other=""):
    X = np.random.default_rng(0).normal(size=(12, 2)).round(2)
    path.write_text("a;b;c;d\n" + "".join(f"{x};{y};{cell};{other}\n" for x, y in X))
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
    code, out, err = say(capsys, name, write_rows(tmp_path / "in.csv", "3,14", "1.200"), *options, "--quiet")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "decimal comma" in err
    assert "--online" in options or "column d may have points between thousands" in err
    assert "pass --decimal comma" in err
    code, _, err = say(capsys, name, tmp_path / "in.csv", *options, "--quiet", "--decimal", "point")
    assert (code, err) == (0, "")


@pytest.mark.parametrize("command", [*COMMANDS[:1], *COMMANDS[2:], ["info"]])
def test_every_command_says_what_it_took_as_text(capsys, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    name, *options = command
    code, _, err = say(capsys, name, write_rows(tmp_path / "in.csv", "5%"), *options)
    assert (code, "Column c was taken as text" in err) == (0, True)


@pytest.mark.parametrize(
    ("cells", "other", "refused"),
    [
        (["1", "1,2", "3,14"], "0.5", False),  # lists
        (["1", "1,2", "3,14"], "1.200", True),
        (["1,234", "2,345", "7,001"], "1.200", True),
        (["1,234", "2,345", "7,001"], "0.200", False),
        (["$5", "$7", "$9"], "1.200", False),
    ],
)
def test_commas_are_refused_where_points_may_be_misread(tmp_path, cells, other, refused):
    (tmp_path / "x.csv").write_text("c;d;e\n" + "".join(f"{cell};{other};{k * k}\n" for k, cell in enumerate(cells)))
    if refused:
        with pytest.raises(TableError, match=r"column c (has|may have) decimal commas .* column d may have points"):
            read_given(tmp_path / "x.csv", Reading())
    else:
        given = read_given(tmp_path / "x.csv", Reading())
        assert given.names == ["d", "e"]
        assert "Column c was taken as text, because its numbers are written with commas or signs" in given.remarks[1]


@pytest.mark.parametrize("text", ["2024-01-05,7%\n2024-01-09,8%\n", "n;a\n1;1,234\n2;2,345\n3;4,567\n"])
def test_why_no_numbers_were_found_is_said(tmp_path, text):
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(TableError) as problem:
        read_given(tmp_path / "x.csv", Reading())
    words = (
        ["column a has '1,234'"] if text.startswith("n") else ["of column 2 has '7%'", "pass --header if it is names"]
    )
    assert all(word in str(problem.value) for word in words)
    assert "column column" not in str(problem.value)


def test_columns_without_names_are_not_called_columns_twice(tmp_path):
    (tmp_path / "x.csv").write_text("2024-01-09,5\n2024-01-08,7\n2024-01-07,4\n")
    with pytest.raises(TableError, match=r"x\.csv cannot be used: column 1 goes down"):
        forecast_file(tmp_path / "x.csv", ForecastSettings(1))


def test_a_column_without_a_name_is_called_the_same_everywhere(tmp_path):
    (tmp_path / "x.csv").write_text(",a,b\n01/02/2024,4,1\n02/02/2024,5%,3\n03/02/2024,3,1\n")
    given = read_given(tmp_path / "x.csv", Reading())
    assert given.date_remarks[0].startswith("The column without a name was read as day/month/year")
    (tmp_path / "x.csv").write_text(",a\n1%,4\n2%,3\n")
    assert (
        read_given(tmp_path / "x.csv", Reading()).remarks[0].startswith("The column without a name was taken as text")
    )


def test_dates_that_say_nothing_are_named(tmp_path):
    (tmp_path / "x.csv").write_text("when,a\n2024-01-01,4\n2024-01-01,5\n2024-01-02,3\n")
    given = read_given(tmp_path / "x.csv", Reading())
    assert given.when is None
    assert "has 2024-01-01 again in line 3, so rows were taken as equally spaced." in given.date_remarks[0]


@pytest.mark.parametrize(("rows", "hint"), [("1.5 2\n3 NA\n4 5\n", True), ("x 2\n3 4\n", False), ("ab\ncd\n", False)])
def test_spaces_between_numbers_are_hinted_at(tmp_path, rows, hint):
    (tmp_path / "x.txt").write_text(f"a b\n{rows}")
    with pytest.raises(TableError, match="it has no column of numbers") as problem:
        read_given(tmp_path / "x.txt", Reading())
    assert ("pass --delimiter ' '" in str(problem.value)) == hint
    if hint:
        assert read_given(tmp_path / "x.txt", Reading(delimiter=" ")).names == ["a", "b"]
