"""Columns of numbers that probably name the rows."""

from __future__ import annotations

import numpy as np
import pytest

from cli_problems import run, summary
from factorstream.jobs.identifiers import identifiers_in

RNG = np.random.default_rng(0)
ROWS = np.arange(40)
SHUFFLED = RNG.permutation(40)


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("order", 1000 + ROWS**2, True),
        ("order", 9000 - ROWS**2, True),
        ("customer", 500 + SHUFFLED, True),
        ("customer", 500 + 3 * SHUFFLED, False),  # not most numbers of the range
        ("customer_id", 500 + 7 * SHUFFLED, True),
        ("CustomerID", 500 + 7 * SHUFFLED, True),
        ("order no", 500 + 7 * SHUFFLED, True),
        ("humid", 500 + 7 * SHUFFLED, False),
        ("customer_id", 500 + SHUFFLED // 2, False),  # a customer has several rows
        ("id", 500.5 + SHUFFLED, False),
        ("id", np.where(ROWS < 9, ROWS**2, np.nan), False),  # too few to tell
        ("order", np.where(ROWS % 3, 1000 + ROWS**2, np.nan), True),
    ],
)
def test_what_looks_like_an_identifier(name, values, expected):
    X = np.column_stack([RNG.normal(size=40), values])
    assert identifiers_in(X, ["x", name]) == [name] * expected


def write(path, more=""):
    x = RNG.normal(size=40)
    rows = [f"{500 + k},{k * k},{v:.3f},{2 * v:.3f}" for k, v in zip(SHUFFLED, x, strict=True)]
    path.write_text("\n".join(["customer,square,a,b", *rows, ",,0.5,", ",,,0.5"]) + more + "\n")
    return path


def test_impute_names_it_and_the_option(capsys, tmp_path):
    source, out = write(tmp_path / "in.csv"), tmp_path / "out.csv"
    code, said = run(capsys, source, "-o", out)
    assert code == 0
    assert "Column customer has another whole number in every row and was used as a measurement" in said
    assert "pass --id customer." in said
    assert "other whole numbers" not in said
    code, said = run(capsys, source, "-o", out, "--id", "customer")
    assert code == 0
    assert "whole number in every row" not in said
    assert summary(capsys, "impute", source, "-o", out)["suspected_identifiers"] == ["customer"]


@pytest.mark.parametrize("options", [["--columns", "customer,a,b"], ["--sequence"], ["--exclude", "customer"]])
def test_nothing_is_said_where_the_columns_were_chosen_or_the_rows_are_time_steps(capsys, tmp_path, options):
    code, said = run(capsys, write(tmp_path / "in.csv"), "-o", tmp_path / "out.csv", *options)
    assert code == 0
    assert "whole number" not in said.replace("whole numbers only", "")


def test_several_are_named_together(capsys, tmp_path):
    text = write(tmp_path / "in.csv").read_text().splitlines()
    rows = [f"{line},{'order' if k == 0 else 10 + k * k}" for k, line in enumerate(text)]
    (tmp_path / "in.csv").write_text("\n".join(rows) + "\n")
    _, said = run(capsys, tmp_path / "in.csv", "-o", tmp_path / "out.csv")
    assert "Columns customer, order have other whole numbers in every row and were used as measurements" in said
    assert "pass --exclude customer,order." in said
    _, said = run(capsys, tmp_path / "in.csv", "-o", tmp_path / "out.csv", "--id", "customer")
    assert "if it names the rows, pass --exclude order." in said


def test_a_model_has_said_it_before(capsys, tmp_path):
    source, model = write(tmp_path / "in.csv"), tmp_path / "m"
    run(capsys, source, "-o", tmp_path / "out.csv", "--save", model)
    code, said = run(capsys, source, "-o", tmp_path / "out.csv", "--model", model)
    assert code == 0
    assert "whole number in every row" not in said
