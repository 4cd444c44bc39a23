"""`factorstream forecast`."""

from __future__ import annotations

import csv
import io
import json

import pytest

from cli_problems import read, say, series, summary


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
    assert [line.partition(",")[2] for line in first.splitlines()] == alone.splitlines()  # but for the time
    lines = (tmp_path / "x.csv").read_text().splitlines()
    (tmp_path / "more.csv").write_text("\n".join([lines[0], "2024-05-03 12:00,x,1,2,3,4", "2024-05-03 13:00,x,,2,3,4"]))
    code, later, err = say(capsys, "forecast", tmp_path / "more.csv", "--model", tmp_path / "m", "-n", 1)
    assert code == 0
    assert "rows were taken as equally spaced" in err  # two rows show no step
    assert len(later.splitlines()) == 2


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
