"""The command line as people and programs run it: pipes, interrupts, shells, and how soon it answers."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from cli_problems import process, table, write

pytestmark = pytest.mark.long  # processes, pipes and signals

COMMAND = [sys.executable, "-m", "factorstream"]


def test_help_answers_in_under_a_third_of_a_second():
    """The best of several, in CPU time: other work on the machine is none of ours."""
    used = []
    for arguments in ([], ["impute"], ["detect"]) * 2:
        before = os.times()
        done = process(*arguments, "--help", text=True)
        after = os.times()
        assert (done.returncode, done.stderr) == (0, "")
        used.append(after.children_user + after.children_system - before.children_user - before.children_system)
    assert min(used[::3]) < 0.3
    assert min(used[1::3]) < 0.3


def test_a_row_comes_out_as_soon_as_it_has_gone_in():
    """`cat x.csv | factorstream impute - -o - --online`, where cat waits for each answer."""
    command = [*COMMAND, "impute", "-", "-o", "-", "--online", "--quiet"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        running.stdin.write(b"id,a,b\nx,1,2\n")
        running.stdin.flush()
        assert [running.stdout.readline() for _ in range(2)] == [b"id,a,b\n", b"x,1,2\n"]
        for line in (b"y,2.5,4\n", b'"z",3,\n', b"w,,7\n"):
            running.stdin.write(line)
            running.stdin.flush()
            cells = running.stdout.readline().strip().split(b",")  # would wait for ever
            assert cells[0] == line.partition(b",")[0]
            assert all(cells)
        rest, said = running.communicate()
    assert (rest, said, running.returncode) == (b"", b"", 0)


def test_pipes_from_command_to_command(tmp_path):
    source = write(tmp_path / "x.csv", *table()[:2])
    first = process("impute", "-", "-o", "-", "--level", "0.9", "--json", input=source.read_bytes())
    assert first.returncode == 0
    assert json.loads(first.stderr)["output"] == "-"
    second = process("info", "-", "--json", input=first.stdout)
    assert json.loads(second.stdout)["gaps"] == 0


def test_a_reader_that_goes_away_is_no_error():
    command = [*COMMAND, "impute", "-", "-o", "-", "--online"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "bufsize": 0}
    with subprocess.Popen(command, **pipes) as running:
        running.stdin.write(b"a,b\n1,2\n")
        running.stdout.read(1)
        running.stdout.close()
        with contextlib.suppress(BrokenPipeError):
            while running.poll() is None:
                running.stdin.write(b"1,2\n" * 100)
        said = running.stderr.read()
    assert (running.returncode, said) == (141, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_outputs_that_are_full_or_closed(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n2,\n3,5\n")
    for end, code, words in (
        ("> /dev/full", 1, "factorstream: No space left on device.\n"),
        (">&-", 2, "factorstream: Standard output is closed; name a file with --output.\n"),
    ):
        line = f'"{sys.executable}" -m factorstream impute x.csv -o - {end}'
        done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (code, words)


@pytest.mark.parametrize("module", ["factorstream.cli", "click"])
def test_an_interrupt_while_python_imports_is_one_sentence(module):
    code = f"""
import runpy, sys
class Interrupted:
    def find_spec(self, name, *_):
        if name == "{module}":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted())
runpy.run_module("factorstream", run_name="__main__")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "factorstream: interrupted.\n")


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to another process")
@pytest.mark.parametrize(
    ("online", "sent"), [(False, signal.SIGINT), (True, signal.SIGINT), (True, signal.SIGTERM)], ids=str
)
def test_an_interrupt_leaves_nothing_half_written(tmp_path, online, sent):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 3)) @ rng.normal(size=(3, 40)) + 0.1 * rng.normal(size=(4000, 40))
    X[rng.random(X.shape) < 0.2] = np.nan
    source = tmp_path / "x.csv"
    np.savetxt(source, X, fmt="%.4g", delimiter=",", header=",".join(f"c{j}" for j in range(40)), comments="")
    (tmp_path / "y.csv").write_text("old")
    command = [*COMMAND, "impute", source, "-o", tmp_path / "y.csv", "--save", tmp_path / "m", "--level", "0.9"]
    command += ["--online"] if online else []
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        if online:
            deadline = time.monotonic() + 60
            while len(list(tmp_path.iterdir())) < 3 and time.monotonic() < deadline:
                time.sleep(0.02)  # until it writes
        else:
            time.sleep(1.5)
        assert running.poll() is None, "it was over before it could be interrupted"
        running.send_signal(sent)
        said = running.stderr.read()
    assert said == "factorstream: interrupted.\n"
    assert running.returncode in (128 + sent, -sent)  # which a shell calls 128 + sent as well
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.csv", "y.csv"]
    assert (tmp_path / "y.csv").read_text() == "old"


# ------------------------------------------------------------------ shells


def completions(shell, line):
    """What a shell is told when its user presses Tab at the end of a line."""
    words = line.split(" ")
    environment = {**os.environ, "_FACTORSTREAM_COMPLETE": f"{shell}_complete", "COMP_WORDS": line}
    environment["COMP_CWORD"] = words[-1] if shell == "fish" else str(len(words) - 1)
    done = subprocess.run(COMMAND, capture_output=True, text=True, check=True, env=environment)
    return done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands_and_options(shell):
    environment = {**os.environ, "_FACTORSTREAM_COMPLETE": f"{shell}_source"}
    script = subprocess.run(COMMAND, capture_output=True, text=True, check=False, env=environment)
    assert script.returncode == 0
    assert "_FACTORSTREAM_COMPLETE" in script.stdout
    assert "impute" in completions(shell, "factorstream imp")
    assert "--online" in completions(shell, "factorstream impute --onl")
    assert "sequences" in completions(shell, "factorstream reproduce --experiment seq")


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_bash_itself_completes(tmp_path):
    program = tmp_path / "factorstream"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m factorstream "$@"\n')
    program.chmod(0o755)
    lines = (
        'eval "$(_FACTORSTREAM_COMPLETE=bash_source factorstream)"',
        "COMP_WORDS=(factorstream f); COMP_CWORD=1; _factorstream_completion factorstream",
        'echo "${COMPREPLY[@]}"',
    )
    environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", "\n".join(lines)], capture_output=True, text=True, check=False, env=environment
    )
    assert done.stdout.split() == ["forecast", "factorize"]
