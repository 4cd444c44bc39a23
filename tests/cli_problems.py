"""A table with gaps in a file, and the command `factorstream impute` on it."""

from __future__ import annotations

import csv

import numpy as np

from factorstream import cli


def table(n=120, seed=100):
    """Rows of text: an id, a date, four numbers of two factors in different units, and a comment."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) @ rng.normal(size=(2, 4)) + 0.1 * rng.normal(size=(n, 4))
    X = X * [1.0, 1000.0, 1e-3, 1.0] + [0.0, 5000.0, 0.0, 20.0]
    gaps = rng.random(X.shape) < 0.2
    gaps[:, 3] = False  # a column of numbers that only helps
    rows = []
    for k in range(n):
        cells = ["" if gap else f"{value:.7g}" for value, gap in zip(X[k], gaps[k], strict=True)]
        rows.append([f"{k + 1:05d}", f"2024-01-{k % 28 + 1:02d}", *cells, ["fine", "", "so, so"][k % 3]])
    return ["id", "date", "a", "b", "c", "d", "comment"], rows, X, gaps


def write(path, header, rows, delimiter=","):
    with path.open("w", newline="") as file:
        csv.writer(file, delimiter=delimiter, lineterminator="\n").writerows([header, *rows])
    return path


def read(path, delimiter=","):
    with path.open(newline="") as file:
        header, *rows = csv.reader(file, delimiter=delimiter)
    return header, rows


def run(capsys, *arguments):
    """Exit code and what was said on standard error; nothing is said on standard output."""
    try:
        code = cli.main(["impute", *map(str, arguments)])
    except SystemExit as stop:
        code = stop.code
    said = capsys.readouterr()
    assert said.out == ""
    return code, said.err
