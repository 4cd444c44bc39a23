"""``--report`` on every command that has a table and a model."""

from __future__ import annotations

import html
import re
import sys

import numpy as np
import pytest

from cli_problems import code_of, read, say, series, summary, table, write

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")


def test_a_filled_table(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "x.csv", *table()[:2])
    found = summary(capsys, "impute", "x.csv", "-o", "y.csv", "--level", 0.9, "--report", "r.html")
    assert found["report"] == "r.html"
    page = (tmp_path / "r.html").read_text()
    assert f"{found['gaps_filled']} gaps filled in x.csv" in page
    assert re.search(r"<li>Columns that are not finite numbers had no part in it: [^<]*comment[^<]*\.</li>", page)
    assert "date (reports are for numbers; without --report these are used and filled)" in page
    assert "factorstream impute x.csv -o y.csv --level 0.9 --report r.html" in html.unescape(page)
    known = {}
    exec(code_of(page), known)  # it makes the very numbers of the file
    filled = np.genfromtxt("y.csv", delimiter=",", skip_header=1, usecols=(2, 5, 8))
    np.testing.assert_allclose(known["filled"][:, :3], filled, rtol=1e-8)


def test_names_are_not_marked_up(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    header, rows, _, _ = table(n=40)
    header[1], header[-1] = "x**2", "y**2"
    write(tmp_path / "a`b`.csv", header, rows)
    assert say(capsys, "impute", "a`b`.csv", "-o", "y.csv", "--report", "r.html", "-q")[0] == 0
    page = (tmp_path / "r.html").read_text()
    assert re.search(r"had no part in it: [^<]*x\*\*2, y\*\*2", page)
    assert re.search(r"<title>[^<]* in a`b`\.csv", page)
    assert re.search(r"<h1>[^<]* in a`b`\.csv", page)


@pytest.mark.long
def test_time_steps_to_come_and_strange_ones(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    series(tmp_path / "x.csv", n=48, left_out=(9,))
    arguments = ["forecast", "x.csv", "-n", 2, "--components", 2, "-o", "y.csv", "--save", "m", "--report", "f.html"]
    arguments += ["--level", 0.99]
    assert say(capsys, *arguments)[0] == 0
    page = (tmp_path / "f.html").read_text()
    assert "<h1>2 rows to come after x.csv</h1>" in page
    assert "gaps filled" not in page
    assert 'aria-label="Rows to come"' in page
    assert "with intervals of 50%, 80%, 99%" in page
    known = {}
    exec(code_of(page), known)  # it makes the very numbers of the file
    expected = np.genfromtxt("y.csv", delimiter=",", names=True)["a"]
    np.testing.assert_allclose(known["mean"][:, 0], expected, rtol=1e-8)
    assert "2024-05-03 00:00" in page
    assert "Columns without numbers were left out: region." in page
    assert say(capsys, "detect", "x.csv", "--model", "m", "-o", "z.csv", "--report", "d.html")[0] == 0
    page = (tmp_path / "d.html").read_text()
    assert "<h1>10 strange rows of 47 in x.csv</h1>" in page
    assert 'aria-label="Scores of all rows"' in page
    known = {}
    exec(code_of(page), known)
    strangest = np.genfromtxt("z.csv", delimiter=",", names=True)["score"]
    np.testing.assert_allclose(np.sort(known["score"][~np.isnan(known["score"])])[::-1], strangest, atol=6e-4)


def test_all_alarms_are_in_the_table_of_a_report(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    series(tmp_path / "x.csv", n=120, missing=0.0)
    assert say(capsys, "detect", "x.csv", "--sequence", "--components", 3, "--save", "m")[0] == 0
    lines = (tmp_path / "x.csv").read_text().splitlines()
    moved = ("9,35,9,35", "35,9,60,9", "60,90,9,60")  # from line 61, 81 and 101 on
    lines[60:] = [line[:17] + "north," + moved[k // 20 % 3] for k, line in enumerate(lines[60:])]
    (tmp_path / "y.csv").write_text("\n".join(lines))
    assert say(capsys, "detect", "y.csv", "--model", "m", "-n", 1, "-o", "z.csv", "--report", "d.html")[0] == 0
    header, rows = read(tmp_path / "z.csv")
    alarms = [row for row in rows if row[header.index("alarm")]]
    page = html.unescape((tmp_path / "d.html").read_text())
    part = page[page.index("Rows with an alarm are all in the table") :]
    assert len(alarms) > 2
    for line, when, *_, columns in alarms:
        assert re.search(rf">{line}<.*?>{when}<.*?>yes<.*?>{re.escape(columns)}<", part, flags=re.DOTALL)


def test_a_model_that_is_given_is_the_one_that_is_measured(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = np.where(table(n=90)[3], np.nan, table(n=90)[2])
    np.save("old.npy", X[:60])
    np.save("new.npy", X[60:])
    arguments = ["-o", "y.npy", "--report", "r.html"]
    for source, more, words in (
        ("old.npy", ["--save", "m"], "these are the errors of the new model"),
        ("old.npy", ["--model", "m"], "these are the errors of the new model"),
        ("new.npy", ["--model", "m"], "these are its own errors"),
    ):
        assert say(capsys, "impute", source, *arguments, *more)[0] == 0
        assert words in (tmp_path / "r.html").read_text()


def test_components(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "x.csv", *table()[:2])
    assert say(capsys, "factorize", "x.csv", "--report", "r.html")[0] == 0
    page = (tmp_path / "r.html").read_text()
    assert "<h1>2 components of x.csv</h1>" in page
    assert 'aria-label="Map of the components"' in page
    known = {}
    exec(code_of(page), known)
    explained = np.genfromtxt("factors/components.csv", delimiter=",", names=True)["explained"]
    np.testing.assert_allclose(known["variance"] / 4, explained, rtol=1e-3)
    assert say(capsys, "detect", "x.csv", "-q", "-n", 3, "-o", "z.csv", "--report", "d.html")[0] == 0
    exec(code_of((tmp_path / "d.html").read_text()), known)
    np.testing.assert_allclose(np.sort(known["score"])[::-1], np.genfromtxt("z.csv", delimiter=",")[1:, 2], atol=6e-4)


def test_rows_are_counted_as_in_the_file(capsys, tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    header, rows, _, _ = table(n=40)
    rows[7][2] = ""
    write(tmp_path / "x.csv", header, rows)
    assert say(capsys, "impute", "x.csv", "-o", "y.csv", "--report", "r.html", "-q")[0] == 0
    page = (tmp_path / "r.html").read_text()
    assert "rows are counted from 0" not in page
    assert ">line</text>" in page
    assert re.search(r">9</td>\s*<td[^>]*>a<", page)


def test_without_pandas_columns_are_numbered(capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    np.save(tmp_path / "x.npy", np.where(table(n=40)[3], np.nan, table(n=40)[2]))
    assert say(capsys, "impute", tmp_path / "x.npy", "-o", tmp_path / "y.npy", "--report", tmp_path / "r.html")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["x.csv", "-o", "y.csv", "--online", "--report", "r.html"], 2, "--online keeps no rows to report on"),
        (["x.csv", "-o", "y.csv", "--report", "nowhere/r.html"], 2, "The folder nowhere does not exist"),
        (["x.csv", "-o", "y.csv", "--report", "."], 2, ". is a folder; --report needs a file."),
        (["x.csv", "-o", "y.csv", "--report", "r.txt"], 2, "r.txt has another ending; --report writes a .html file."),
    ],
)
def test_bad_arguments(capsys, arguments, code, words):
    found, _, err = say(capsys, "impute", *arguments)
    assert found == code
    assert words in err
    assert err.count("\n") == 1


def test_a_missing_package_is_named_before_the_work(capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    source = write(tmp_path / "x.csv", *table()[:2])
    code, _, err = say(capsys, "impute", source, "-o", tmp_path / "y.csv", "--report", tmp_path / "r.html")
    assert code == 1
    assert 'This needs jinja2; run `pip install "factorstream[report]"`.' in err
    assert not (tmp_path / "y.csv").exists()
