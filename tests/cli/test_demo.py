"""`factorstream demo`."""

from __future__ import annotations

import os
import sys

from cli_problems import process, read, say, summary
from factorstream import load


def test_it_fills_and_judges_and_the_commands_it_names_run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for package in ("jinja2", "matplotlib"):  # pictures and pages are looked at where the page of the commands runs
        monkeypatch.setitem(sys.modules, package, None)
    found = summary(capsys, "demo")
    assert found["error"] < 0.9 < found["error_of_means"]
    assert 0.92 < found["held"] < 0.98
    for name in found["files"]:
        assert (tmp_path / name).stat().st_size > 1000
    _, rows = read(tmp_path / "demo" / "wine_filled.csv")
    assert len(rows) == 178
    assert all(cell for row in rows for cell in row)
    assert load(tmp_path / "demo" / "wine.factorstream").n_components_ == found["components"]
    code, out, _ = say(capsys, "demo")
    assert code == 0
    assert "Open demo/wine_filled.csv." in out
    named = [line.split()[1:] for line in out.splitlines() if line.startswith("  factorstream")]
    assert len(named) == 5
    for arguments in named:
        assert say(capsys, *arguments, "-q")[0] == 0


def test_it_needs_no_optional_package(tmp_path):
    hidden = "pandas", "polars", "pyarrow", "rich", "matplotlib", "jinja2", "numba"
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nclass Hide:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name.partition('.')[0] in {hidden!r}: raise ModuleNotFoundError(name, name=name)\n"
        "sys.meta_path.insert(0, Hide())\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    done = process("demo", cwd=tmp_path, env=environment, text=True)
    assert done.returncode == 0, done.stderr
    assert "Open demo/wine_filled.csv." in done.stdout
