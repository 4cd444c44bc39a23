"""`factorstream detect`."""

from __future__ import annotations

import csv
import io
import sys

import pytest

from cli_problems import read, say, series, summary, table, write
from factorstream.cli._tables import print_columns
from factorstream.sources.table import NewColumn


def test_the_strangest_rows_as_text(capsys, tmp_path):
    header, rows, _, _ = table()
    rows[70][2] = "25"
    source = write(tmp_path / "x.csv", header, rows)
    code, out, err = say(capsys, "detect", source, "-n", 4)
    assert code == 0
    names, *found = csv.reader(io.StringIO(out))
    assert names == ["line", "id", "score", "columns"]
    assert found[0][:2] == ["72", "00071"]
    assert found[0][3].startswith("a (+")
    scores = [float(row[2]) for row in found]
    assert scores == sorted(scores, reverse=True)
    assert "Scored 120 rows by a DictionaryFilter." in err
    assert "Columns without numbers were left out: id, date, comment." in err
    code, out, _ = say(capsys, "detect", source, "-n", 4, "-o", tmp_path / "strange.tsv")
    assert (code, out) == (0, "")
    header, every = read(tmp_path / "strange.tsv", "\t")  # all rows, the strangest first
    assert (header, every[:4]) == (names, found)
    assert sorted(int(row[0]) for row in every) == list(range(2, 122))


def test_a_table_for_people_on_a_terminal(capsys, tmp_path, monkeypatch):
    pytest.importorskip("rich")
    source = write(tmp_path / "x.csv", *table()[:2])
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    _, out, _ = say(capsys, "detect", source, "-n", 2, "-q")
    assert "strange rows" in out
    assert "┃" in out
    monkeypatch.setitem(sys.modules, "rich", None)
    monkeypatch.setitem(sys.modules, "rich.console", None)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert say(capsys, "detect", source, "-n", 2, "-q")[1].startswith("line,id,score,columns\n")


def test_names_on_a_terminal_are_no_markup(capsys, monkeypatch):
    pytest.importorskip("rich")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    texts = ["wind [m/s]", "b [/x]", "[red]", ":smile:"]
    print_columns([NewColumn("speed [m/s]", texts), NewColumn("[/b]", [1.0, 2.0, 3.0, 4.0])], "of [bold].csv")
    out = capsys.readouterr().out
    for text in (*texts, "speed [m/s]", "[/b]", "of [bold].csv"):
        assert text in out


def test_time_steps_learned_from_one_file_and_watched_in_another(capsys, tmp_path):
    pytest.importorskip("matplotlib")
    series(tmp_path / "x.csv", n=120)
    model, picture = tmp_path / "m", tmp_path / "p.png"
    learned = summary(capsys, "detect", tmp_path / "x.csv", "--sequence", "--components", 3, "--save", model)
    assert learned["model"] == "SequenceFilter"
    lines = (tmp_path / "x.csv").read_text().splitlines()
    lines[50] = "2024-05-03 01:00,north,99,20,20,20"
    (tmp_path / "y.csv").write_text("\n".join(lines))
    found = summary(capsys, "detect", tmp_path / "y.csv", "--model", model, "-n", 2, "--plot", picture)
    assert (found["rows"], len(found["strange"])) == (120, 2)
    first = found["strange"][0]
    assert (first["line"], first["when"]) == (51, "2024-05-03 01:00")
    assert next(iter(first["columns"])) == "a"
    assert (isinstance(first["score"], float), first["infinite"]) == (True, False)
    assert picture.read_bytes().startswith(b"\x89PNG")
    lines[50] = "2024-05-03 01:00,north,1e30,20,20,20"
    (tmp_path / "y.csv").write_text("\n".join(lines))
    first = summary(capsys, "detect", tmp_path / "y.csv", "--model", model, "-n", 1)["strange"][0]
    assert (first["line"], first["score"], first["infinite"]) == (51, None, True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--robust"], "--robust is for --sequence"),
        (["--top", "none"], "'none' is not a whole number"),
        (["--plot", "p.doc"], "p.doc has no ending of a picture"),
        (["-o", "x.npy"], "x.npy has the ending .npy, and detect writes text; name a .csv or .tsv file"),
        (["-o", "x.parquet.gz"], "x.parquet.gz has the ending .parquet, and"),
        (["-o", "x.xlsx"], "x.xlsx has the ending .xlsx, and detect writes text"),
        (["-o", "nowhere/x.csv"], "The folder nowhere does not exist"),
        (["--save", "."], ". is a folder; --save needs a file."),
    ],
)
def test_bad_arguments(capsys, arguments, words):
    pytest.importorskip("matplotlib")
    code, out, err = say(capsys, "detect", "x.csv", *arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1


def test_a_model_that_scores_no_rows_is_refused(capsys, tmp_path):
    source = write(tmp_path / "x.csv", *table()[:2])
    assert say(capsys, "impute", source, "-o", tmp_path / "y.csv", "--save", tmp_path / "m")[0] == 0
    code, _, err = say(capsys, "detect", source, "--model", tmp_path / "m")
    assert code == 2
    assert "m holds a LowRankImputer, and this needs a DictionaryFilter or a" in err


def test_all_alarms_are_listed(capsys, tmp_path):
    series(tmp_path / "x.csv", n=120, missing=0.0)
    model = tmp_path / "m"
    arguments = ["--sequence", "--components", 3, "--save", model]
    assert say(capsys, "detect", tmp_path / "x.csv", *arguments)[0] == 0
    lines = (tmp_path / "x.csv").read_text().splitlines()
    moved = ("9,35,9,35", "35,9,60,9", "60,90,9,60")  # from line 61, 81 and 101 on
    lines[60:] = [line[:17] + "north," + moved[k // 20 % 3] for k, line in enumerate(lines[60:])]
    (tmp_path / "y.csv").write_text("\n".join(lines))
    arguments = ["detect", tmp_path / "y.csv", "--model", model, "-n", 1]
    found = summary(capsys, *arguments, "-o", tmp_path / "all.csv")
    assert len(found["alarm_places"]) == found["alarms"] > 2
    header, rows = read(tmp_path / "all.csv")
    at = header.index("alarm")
    assert sorted(int(row[0]) for row in rows if row[at]) == [one["line"] for one in found["alarm_places"]]
    assert all(row[-1] for row in rows if row[at])  # with columns to blame
    code, _, err = say(capsys, *arguments)
    assert code == 0
    assert f"by the SequenceFilter of {model}" in err
    assert "More alarms: line " in err
    code, _, err = say(capsys, "detect", tmp_path / "x.csv", "--model", model)
    assert "The model was fitted to these very rows" in err
