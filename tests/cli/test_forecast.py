"""`factorstream forecast`."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

from cli_problems import code_of, read, say, series, summary


def test_to_standard_output_and_to_a_file(capsys, tmp_path):
    series(tmp_path / "x.csv", left_out=(9,))
    code, out, err = say(capsys, "forecast", tmp_path / "x.csv", "-n", 2, "--components", 3)
    assert code == 0
    header, *rows = csv.reader(io.StringIO(out))
    assert header[:4] == ["time", "a", "a_lower", "a_upper"]
    assert [row[0] for row in rows] == ["2024-05-07 16:00", "2024-05-07 17:00"]
    assert "Forecast 2 rows of 4 columns" in err
    assert "1 step of column time without a row counted as rows without data." in err
    assert "Columns without numbers were left out: region." in err
    arguments = ["forecast", tmp_path / "x.csv", "-n", 2, "--components", 3]
    found = summary(capsys, *arguments, "-o", tmp_path / "y.csv", "--level", 0.5)
    assert (found["time_column"], found["columns"], found["level"]) == ("time", list("abcd"), 0.5)
    narrow = read(tmp_path / "y.csv")[1]
    assert float(rows[0][2]) < float(narrow[0][2]) < float(narrow[0][3]) < float(rows[0][3])


def test_json_goes_to_standard_error_when_the_data_go_to_standard_output(capsys, tmp_path):
    series(tmp_path / "x.csv", n=60)
    code, out, err = say(capsys, "forecast", tmp_path / "x.csv", "--components", 2, "--json")
    assert code == 0
    assert out.startswith("time,a,")
    assert json.loads(err)["steps"] == 10


def test_a_model_goes_on_without_a_file_and_with_one(capsys, tmp_path):
    series(tmp_path / "x.csv", n=60)
    code, first, _ = say(
        capsys, "forecast", tmp_path / "x.csv", "-n", 3, "--components", 2, "--save", tmp_path / "m", "-q"
    )
    assert code == 0
    code, alone, err = say(capsys, "forecast", "--model", tmp_path / "m", "-n", 3)
    assert code == 0
    assert first == alone  # the time, too
    lines = (tmp_path / "x.csv").read_text().splitlines()
    more = [lines[0], "2024-05-03 12:00,x,1,2,3,4", "2024-05-03 13:00,x,,2,3,4"]
    arguments = ["forecast", tmp_path / "more.csv", "--model", tmp_path / "m", "-n", 1]
    (tmp_path / "more.csv").write_text("\n".join(more))  # two rows show no step, but the model knows it
    code, later, err = say(capsys, *arguments)
    assert code == 0
    assert later.splitlines()[1].startswith("2024-05-03 14:00,")
    assert "equally spaced" not in err
    (tmp_path / "more.csv").write_text("\n".join([lines[0], lines[-1]]))
    assert "which is not after the last row that the model has seen" in say(capsys, *arguments)[2]
    (tmp_path / "more.csv").write_text("a,b,c,d\n1,2,3,4\n1,,3,4")
    code, later, err = say(capsys, *arguments)
    assert code == 0
    assert "rows were taken as equally spaced" in err
    assert "they were taken as the next ones" in err


def test_a_model_takes_no_row_twice_and_counts_those_left_out(capsys, tmp_path):
    series(tmp_path / "all.csv", n=90)
    names, *lines = (tmp_path / "all.csv").read_text().splitlines(keepends=True)
    for name, rows in (("old.csv", lines[:60]), ("new.csv", lines[62:])):
        (tmp_path / name).write_text(names + "".join(rows))
    model, page = tmp_path / "m", tmp_path / "r.html"
    arguments = ["-n", 1, "-o", tmp_path / "y.csv"]
    assert say(capsys, "forecast", tmp_path / "old.csv", "--components", 2, "--save", model, *arguments)[0] == 0
    for name in ("old.csv", "all.csv"):
        code, _, err = say(capsys, "forecast", tmp_path / name, "--model", model, *arguments)
        assert code == 2
        assert (
            "it begins at 2024-05-01 00:00, which is not after the last row that the model has seen (2024-05-03" in err
        )
    arguments += ["--save", model, "--report", page]
    code, _, err = say(capsys, "forecast", tmp_path / "new.csv", "--model", model, *arguments)
    assert code == 0
    assert "2 steps between the rows of the model and these counted as rows without data." in err
    assert say(capsys, "forecast", "--model", model, "-n", 1, "-q")[1] == (tmp_path / "y.csv").read_text()
    assert "np.full((2, " in code_of(page.read_text())
    assert "90 rows taken in, the last at 2024-05-04 17:00" in say(capsys, "info", model)[1]


def test_a_model_without_dates_says_so(capsys, tmp_path):
    np.save(tmp_path / "x.npy", series(tmp_path / "x.csv", n=60))
    assert (
        say(capsys, "forecast", tmp_path / "x.npy", "-n", 1, "-o", tmp_path / "y.npy", "--save", tmp_path / "m")[0] == 0
    )
    code, _, err = say(capsys, "forecast", "--model", tmp_path / "m")
    assert (code, "does not know when its rows were" in err) == (0, True)
    code, _, err = say(capsys, "forecast", tmp_path / "x.npy", "--model", tmp_path / "m")
    assert code == 2
    assert "its rows are those that the model has seen last; pass the rows that come after them" in err


def test_what_is_not_modelled_is_said(capsys, tmp_path):
    series(tmp_path / "x.csv", n=60)
    assert "trend and season are not modelled" in say(capsys, "forecast", tmp_path / "x.csv", "-n", 1)[2]
    assert "Trend and season are not modelled" in " ".join(say(capsys, "forecast", "--help")[1].split())


def test_columns_that_the_model_does_not_know_have_numbers(capsys, tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 2)).round(2)
    (tmp_path / "x.csv").write_text("a,b\n" + "".join(f"{a},{b}\n" for a, b in X))
    (tmp_path / "y.csv").write_text("a,b,t,place\n" + "".join(f"{a},{b},{b},Ulm\n" for a, b in X[:5]))
    model = tmp_path / "m"
    assert say(capsys, "forecast", tmp_path / "x.csv", "--components", 1, "--save", model, "-q")[0] == 0
    code, _, said = say(capsys, "forecast", tmp_path / "y.csv", "--model", model)
    assert code == 0
    assert "Columns that the model does not know were left out: t." in said
    assert "Columns without numbers were left out: place." in said


def test_the_axis_has_dates(capsys, tmp_path):
    pytest.importorskip("matplotlib")
    series(tmp_path / "x.csv", n=60)
    assert say(capsys, "forecast", tmp_path / "x.csv", "--components", 2, "--plot", tmp_path / "p.svg")[0] == 0
    text = (tmp_path / "p.svg").read_text()
    assert "<!-- row -->" not in text
    assert "<!-- May-03 -->" in text or "<!-- 2024-May" in text


def test_columns_are_called_by_their_names(capsys, tmp_path):
    rows = [f"{k % 5},{(k * k) % 7},{'3' if k == 4 else ''},x" for k in range(30)]
    rows[20] = "1e30,2,,x"
    (tmp_path / "x.csv").write_text("\n".join(["a,b,single,text", *rows]))
    code, _, err = say(capsys, "forecast", tmp_path / "x.csv", "-n", 1)
    assert code == 0
    assert "Bounds are left empty where one value of a column is known, or none: single." in err
    assert "Absurd values, out of all proportion to the others, had no part in the fit: a; correct them" in err
    assert "column 0" not in err
    code, _, err = say(capsys, "detect", tmp_path / "x.csv", "-n", 1)
    assert code == 0
    assert "had no part in the fit: a; correct them" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "name a file IN, or a --model"),
        (["x.csv", "-n", "0"], "argument --steps: '0' is not a whole number of at least 1"),
        (["x.csv", "--level", "2"], "'2' is not a level between 0 and 1"),
        (["x.csv", "--model", "m", "--robust"], "--robust is a setting of the fit, and --model was fitted before"),
        (["--model", "m", "--report", "r.html"], "--report needs the rows of a file IN"),
        (["nothing.csv"], "nothing.csv does not exist."),
        (["nothing.csv", "-o", "x.npy"], "x.npy is not of the same kind as nothing.csv"),
        (["--model", "nothing"], "nothing does not exist; --save writes such a file."),
    ],
)
def test_bad_arguments(capsys, arguments, words):
    code, out, err = say(capsys, "forecast", *arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1
