"""The command line as a whole."""

import json
import math
import pkgutil
import subprocess
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from cli_problems import say
from factorstream import __version__, cli
from factorstream.cli._command import Words


@pytest.mark.parametrize(("arguments", "words"), [([], "command"), (["nonsense"], "nonsense"), (["bench"], "bench")])
def test_bad_arguments_are_answered_in_one_sentence(capsys, arguments, words):
    with pytest.raises(SystemExit) as stop:
        cli.main(arguments)
    message = capsys.readouterr().err
    assert stop.value.code == 2
    assert words in message
    assert message.count("\n") == 1


def test_every_file_is_a_command_and_every_command_a_file(capsys):
    files = {module.name for module in pkgutil.iter_modules(cli.__path__) if not module.name.startswith("_")}
    assert set(cli.COMMANDS) == files
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    out = capsys.readouterr().out
    assert all(name in out for name in files)


@pytest.mark.parametrize("argument", ["--help", "--version", "nonsense"])
def test_the_command_line_answers_before_anything_heavy_is_imported(argument):
    code = f"""
import sys
sys.argv = ["factorstream", "{argument}"]
from factorstream.cli import main
try:
    main()
except SystemExit:
    print("MODULES", *sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.partition("MODULES")[2].split()}
    assert "factorstream" in loaded
    assert not loaded & {"numpy", "scipy", "sklearn", "pandas", "matplotlib", "rich", "jinja2"}


def test_version(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"factorstream {__version__}\n"


def test_the_package_runs_as_the_command():
    run = [sys.executable, "-m", "factorstream"]
    done = subprocess.run([*run, "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"factorstream {__version__}\n")
    done = subprocess.run([*run, "nonsense"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.partition(":")[0]) == (2, "factorstream")


def test_help_needs_no_optional_package():
    code = "import sys; sys.modules['rich'] = sys.modules['matplotlib'] = None; from factorstream.cli import main; main(['reproduce', '--help'])"  # noqa: E501
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "--quick" in done.stdout


def test_debug_shows_the_traceback(capsys, tmp_path):
    (tmp_path / "x.csv").write_text("a,b\nx,y\n")
    arguments = ["impute", str(tmp_path / "x.csv"), "-o", str(tmp_path / "y.csv")]
    assert cli.main(arguments) == 2
    plain = capsys.readouterr().err
    assert cli.main([*arguments, "--debug"]) == 2
    full = capsys.readouterr().err
    assert plain.count("\n") == 1
    assert full.startswith("Traceback")
    assert full.endswith(plain)


def test_what_nobody_thought_of_is_one_sentence_too(capsys, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("something\nwith two lines.")

    monkeypatch.setattr("factorstream.completion.complete_file", fail)
    arguments = ["impute", str(tmp_path / "x.csv"), "-o", str(tmp_path / "y.csv")]
    assert cli.main(arguments) == 1
    assert capsys.readouterr().err == "factorstream: RuntimeError: something (pass --debug for the traceback).\n"
    assert cli.main([*arguments, "--json"]) == 1
    said = capsys.readouterr()
    assert said.err == ""
    assert json.loads(said.out)["error"].startswith("RuntimeError: something")


def test_warnings_become_notes_and_quiet_says_nothing(capsys, tmp_path, monkeypatch):
    def warn(*_, **__):
        for _ in range(2):
            warnings.warn("mind the gap", UserWarning, stacklevel=1)
        raise MemoryError

    monkeypatch.setattr("factorstream.completion.complete_file", warn)
    arguments = ["impute", str(tmp_path / "x.csv"), "-o", str(tmp_path / "y.csv")]
    assert cli.main(arguments) == 1
    noted, failed = capsys.readouterr().err.splitlines()
    assert noted == "factorstream: mind the gap"
    assert failed.startswith("factorstream: There is not enough memory")
    assert cli.main([*arguments, "--quiet"]) == 1
    assert capsys.readouterr().err.splitlines() == [failed]


def test_only_warnings_for_users_become_notes(capsys):
    class Mine(UserWarning):
        """Such as those of scikit-learn."""

    words = Words("x")
    with warnings.catch_warnings(record=True) as shown, words.repeating_warnings():
        warnings.simplefilter("always", RuntimeWarning)
        warnings.warn("mind the gap", Mine, stacklevel=1)
        warnings.warn("divide by zero", RuntimeWarning, stacklevel=1)
    assert words.notes == ["mind the gap"]
    assert [str(one.message) for one in shown] == ["divide by zero"]
    assert capsys.readouterr().err == "factorstream: mind the gap\n"


def test_phases_are_shown_again_where_they_begin_again(monkeypatch):
    shown = []

    @contextmanager
    def watched(what, total=None, *, show=True):
        shown.append(what)
        yield

    monkeypatch.setattr("factorstream.cli._command.progress", watched)
    words = Words("x")
    for _ in range(2):
        with words.phases() as begin:
            for what in ("reading", "reading", "fitting", "reading"):
                begin(what)
    assert shown == ["reading", "fitting", "reading"] * 2


def test_json_is_json_where_numbers_are_not_finite(capsys):
    words = Words("x", as_json=True)
    words.fact(error=math.nan, bounds=(-math.inf, 1.5), errors={"a": np.float64("inf")}, single=np.float32("nan"))
    words.fact(count=np.int64(3), several=np.array([1.0, np.nan]), path=Path("y.csv"), done=True, none=None)
    assert words.done() == 0

    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    assert json.loads(capsys.readouterr().out, parse_constant=refuse) == {
        "command": "x",
        "error": None,
        "bounds": [None, 1.5],
        "errors": {"a": None},
        "single": None,
        "count": 3,
        "several": [1.0, None],
        "path": "y.csv",
        "done": True,
        "none": None,
        "exit_code": 0,
        "notes": [],
    }


def test_help_names_every_exit_code(capsys):
    said = say(capsys, "--help")[1]
    for code in ("0 done", "1 failed", "2 bad", "130", "141", "143"):
        assert code in said
