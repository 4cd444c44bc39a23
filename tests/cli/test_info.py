"""`factorstream info`."""

from __future__ import annotations

import io
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from cli_problems import say, series, summary, table, write
from factorstream import BayesianFactorization, BroydenFactorization, DictionaryFilter, LowRankImputer, SequenceFilter


def test_a_table(capsys, tmp_path):
    series(tmp_path / "x.csv", left_out=(3,))
    found = summary(capsys, "info", tmp_path / "x.csv")
    assert (found["kind"], found["rows"], found["columns"], found["columns_of_numbers"]) == ("table", 159, 6, 4)
    assert found["time"] == {
        "column": "time",
        "first": "2024-05-01 00:00",
        "last": "2024-05-07 15:00",
        "steps_left_out": 1,
    }
    assert [one["kind"] for one in found["column_facts"]] == ["time", "text", *["number"] * 4]
    assert found["gaps"] == sum(one["gaps"] for one in found["column_facts"])
    code, out, _ = say(capsys, "info", tmp_path / "x.csv")
    assert code == 0
    assert f"{found['gaps']} gaps in 4 columns of numbers" in out
    assert "time in column time: 2024-05-01 00:00 to 2024-05-07 15:00, 1 step left out" in out


@pytest.mark.parametrize(
    "model",
    [
        DictionaryFilter(2, random_state=0),
        BayesianFactorization(2),
        LowRankImputer(2, calibrate=False),
        SequenceFilter(2, drift="none", calibrate=False),
        BroydenFactorization(2, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_model(capsys, tmp_path, model):
    X = np.random.default_rng(0).normal(size=(40, 5))
    model.save(tmp_path / "m")
    assert "not fitted" in say(capsys, "info", tmp_path / "m")[1]
    model.fit(X).save(tmp_path / "m")
    found = summary(capsys, "info", tmp_path / "m")
    assert (found["kind"], found["class"], found["features"]) == ("model", type(model).__name__, 5)
    assert found["settings"]["n_components"] == 2
    code, out, _ = say(capsys, "info", tmp_path / "m")
    assert code == 0
    assert f"a saved {type(model).__name__}" in out
    assert "5 features, without names" in out
    assert f"for --model of: factorstream {found['good_for'][0]}" in out


def test_names_of_features_are_in_the_file(capsys, tmp_path):
    source = write(tmp_path / "x.csv", *table()[:2])
    assert say(capsys, "impute", source, "-o", tmp_path / "y.csv", "--save", tmp_path / "m")[0] == 0
    said = say(capsys, "info", tmp_path / "m")[1]
    assert "5 features: date, a, b, c, d" in said
    assert said.endswith("for --model of: factorstream impute\n")  # date is no number


def test_standard_input_and_many_columns(capsys, monkeypatch):
    text = ",".join(f"c{j}" for j in range(60)) + "\n" + ",".join("1" * 60) + "\n"
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text.encode())))
    code, out, _ = say(capsys, "info", "-")
    assert code == 0
    assert out.startswith("standard input: 1 row, 60 columns, text")
    assert "and 10 more columns" in out


@pytest.mark.parametrize("content", [None, b"", b"\x00\x01"])
def test_bad_files(capsys, tmp_path, content):
    if content is not None:
        (tmp_path / "x").write_bytes(content)
    code, out, err = say(capsys, "info", tmp_path / "x")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
