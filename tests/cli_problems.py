"""Tables with gaps in files, and commands on them, in this process and in one of their own."""

from __future__ import annotations

import ast
import csv
import html
import json
import re
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path

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
        rows.append([f"{k + 1:05d}", f"2024-01-{k % 28 + 1:02d}", *cells, [f"fine {k}", "", f"so, so {k}"][k % 3]])
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


def series(path, n=160, left_out=(), missing=0.1, seed=0):
    """Hourly loads of four sites that share a daily cycle, in a file; the numbers, with NaN in the gaps."""
    rng = np.random.default_rng(seed)
    hour = np.arange(n)[:, None]
    X = 20 + 5 * np.sin(2 * np.pi * hour / 24 + np.arange(4)) + 0.3 * rng.normal(size=(n, 4))
    X = np.round(np.where(rng.random(X.shape) < missing, np.nan, X), 3)
    rows = []
    for k in range(n):
        if k in left_out:
            X[k] = np.nan
            continue
        when = (datetime(2024, 5, 1) + timedelta(hours=k)).strftime("%Y-%m-%d %H:%M")
        rows.append([when, "north", *("" if np.isnan(value) else f"{value:g}" for value in X[k])])
    write(path, ["time", "region", "a", "b", "c", "d"], rows)
    return X


def say(capsys, *arguments):
    """Exit code, standard output and standard error of a command in this process."""
    try:
        code = cli.main(list(map(str, arguments)))
    except SystemExit as stop:
        code = stop.code
    said = capsys.readouterr()
    return code, said.out, said.err


def summary(capsys, *arguments):
    """What a command that works says with --json."""
    code, out, err = say(capsys, *arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def process(*arguments, **options):
    """A command in a process of its own, to its end."""
    command = [sys.executable, "-m", "factorstream", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, check=False, **options)


def code_of(page):
    """The lines of Python in a report. What they import of this package is in the reference."""
    (code,) = re.findall(r"<pre[^>]*><code[^>]*>(.*?)</code></pre>", page, flags=re.DOTALL)
    code = html.unescape(re.sub(r"<[^>]+>", "", code))
    reference = (Path(__file__).parents[1] / "docs" / "reference.md").read_text(encoding="utf-8")
    listed = re.findall(r"^   ([\w.]+)$", reference, flags=re.MULTILINE)
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and node.module.partition(".")[0] == "factorstream":
            for one in node.names:
                assert f"{node.module}.{one.name}".removeprefix("factorstream.") in listed
    return code
