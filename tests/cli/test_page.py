"""Runs every command of docs/command-line.md, from top to bottom, and compares what it prints with the page."""

from __future__ import annotations

import doctest
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from factorstream import cli

pytestmark = pytest.mark.long  # every command of a page

PAGE = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")
CHECK = doctest.OutputChecker()
PROGRESS = re.compile(r"^(?!factorstream:)[^\n:]+: [^\n]*(?:so far|left|after [^\n]*)\n", re.MULTILINE)
"""Lines that are said where the machine is slow."""
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def runs():
    """Commands of the page with what they say."""
    for block in re.findall(r"^```console\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, said = part.partition("\n")
            yield line, said


def said_by(line, monkeypatch):
    """What a line says: in this process where it is one command of ours, or else by a shell."""
    if re.search(r"[|>]", line) or not line.startswith("factorstream "):
        ours = f'python() {{ "{sys.executable}" "$@"; }}\nfactorstream() {{ python -m factorstream "$@"; }}\n'
        return subprocess.run(["bash", "-c", ours + line + " 2>&1"], capture_output=True, text=True, check=True).stdout
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", out)
        cli.main(shlex.split(line)[1:])
    return out.buffer.getvalue().decode()


@pytest.mark.skipif(sys.platform == "win32", reason="the page speaks to a Unix shell")
def test_the_page_runs(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    pytest.importorskip("PIL")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    for line, expected in runs():
        found = PROGRESS.sub("", said_by(line, monkeypatch))
        assert CHECK.check_output(expected, found, FLAGS), f"{line}\nsays\n{found}\nand not\n{expected}"
    assert "489 gaps filled in wine.csv" in (tmp_path / "demo" / "report.html").read_text()
    for picture in ("demo/wine.png", "ahead.png", "alarms.png", "restored.png"):
        assert (tmp_path / picture).read_bytes().startswith(b"\x89PNG")


def test_every_command_and_option_is_on_the_page():
    for name in cli.COMMANDS:
        assert f"`factorstream {name}" in PAGE
    for option in (
        "--level",
        "--online",
        "--sequence",
        "--na",
        "--columns",
        "--exclude",
        "--id",
        "--decimal",
        "--thousands",
        "--encoding",
        "--header",
        "--save",
        "--model",
        "--plot",
        "--report",
        "--json",
    ):
        assert option in PAGE
