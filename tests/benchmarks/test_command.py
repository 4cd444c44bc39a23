"""The command `python -m benchmarks`."""

from __future__ import annotations

import json

import pytest
from benchmarks.cases import CASES
from benchmarks.command import main

from bench_problems import HERE
from factorstream.datasets import DatasetNotFoundError

pytestmark = pytest.mark.long  # benchmarks, if small ones


@pytest.fixture
def nothing_found(monkeypatch):
    """No data set can be reached, and the rates of the machine are made up."""

    def nowhere():
        raise DatasetNotFoundError("It was not found: look elsewhere.")

    for load in ("masked.load_olivetti", "sweeps.load_olivetti", "sweeps.load_london_air"):
        monkeypatch.setattr(f"benchmarks.{load}", nowhere)
    monkeypatch.setattr("benchmarks.report.machine", lambda: HERE)


@pytest.mark.usefixtures("nothing_found")
def test_a_case_without_its_data_is_a_line_of_the_table_and_of_its_bars(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    pytest.importorskip("rich")
    needy = ["masked_stream", "variational_sweep", "sequence_sweep"]
    assert main(["--only", *needy, "memory", "--output", str(tmp_path)]) == 0
    data = json.loads((tmp_path / "benchmark.json").read_text())
    lines = {row["case"]: (row["method"], row["note"]) for row in data["rows"]}
    why = "It was not found: look elsewhere."
    for name, missing in zip(needy, ("faces", "faces", "London PM10"), strict=True):
        assert lines[CASES[name].heading] == (f"not run: no {missing}", why)
    known = dict.fromkeys(("faces", "variational sweep"), "not run: no faces") | {"EM sweep": "not run: no London PM10"}
    verdicts = {bar["what"]: bar["unmeasured"] for bar in data["bars"] if bar["measured"] is None}
    for what, verdict in verdicts.items():
        assert verdict == known.get(what.partition(":")[0], "not chosen")
    page = (tmp_path / "benchmark.md").read_text()
    assert "| faces: quality of one automatic pass | – | ≥ 18.9 | not run: no faces |" in page
    said = capsys.readouterr()
    assert said.err == ""
    assert not [name for name in needy if name in said.out + page]


@pytest.mark.usefixtures("nothing_found")
def test_nothing_measured_is_a_failure(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    pytest.importorskip("rich")
    assert main(["--only", "variational_sweep", "--output", str(tmp_path)]) == 1
    said = capsys.readouterr()
    assert said.err == "benchmarks: nothing was measured; the notes of the table say why.\n"
    assert "look elsewhere" in said.out


def test_help_lists_the_cases(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    lines = capsys.readouterr().out.splitlines()
    for name, case in CASES.items():
        (line,) = [line for line in lines if line.strip().startswith(f"{name} ")]
        assert case.words in line
        assert len(line) < 80


def test_unknown_cases_are_refused_in_one_sentence(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    assert main(["--only", "nonsense", "--output", str(tmp_path / "out")]) == 2
    assert "does not know nonsense; choose from complete_stream" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("refused", "words"),
    [("file", "is a file; --output needs a folder"), ("file/folder", "cannot be written (Not a directory); choose")],
)
def test_an_output_that_is_a_file_is_refused_before_the_work(capsys, tmp_path, monkeypatch, refused, words):
    def work(*_, **__):
        raise AssertionError("the work has begun")

    pytest.importorskip("matplotlib")
    monkeypatch.setattr("benchmarks.report.run", work)
    (tmp_path / "file").write_text("")
    assert main(["--output", str(tmp_path / refused)]) == 2
    message = capsys.readouterr().err
    assert words in message
    assert message.count("\n") == 1


def test_a_run_that_is_interrupted_and_arguments_that_are_wrong(capsys, tmp_path, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    pytest.importorskip("matplotlib")
    monkeypatch.setattr("benchmarks.report.run", interrupt)
    assert main(["--output", str(tmp_path)]) == 130
    assert capsys.readouterr().err == "benchmarks: interrupted.\n"
    with pytest.raises(SystemExit):
        main(["--colour"])
    assert capsys.readouterr().err.count("\n") == 1
