"""Every example runs to its end, on small data, and writes its picture."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from factorstream.datasets import LondonAir, OlivettiFaces

pytest.importorskip("matplotlib")

FOLDER = Path(__file__).parent.parent / "examples"
SMALLER = {
    "air_quality": {"BROKEN": 100, "AHEAD": 10, "SHOWN": 60},
    "change_points": {
        "T": 500,
        "TRAIN": 200,
        "CHANGES": {250: "shift", 330: "noise", 420: "sign"},
        "PANELS": 2,
        "QUIET": 2,
    },
    "dictionary_uncertainty": {"R": 3, "LOOKS": (10, 60)},
    "drifting_dictionary": {
        "N": 400,
        "M": 10,
        "SEEDS": (1, 2),
        "GRIDS": {"no forgetting": (0.0,), "drift Q_V": (1e-3,), "forgetting factor": (0.98, 0.9)},
    },
    "missing_not_at_random": {"HOURS": 120, "SHOWN": 30},
    "pictures": {"COMPONENTS": 4, "AHEAD": 10},
    "restore_faces": {"R": 3, "SHOWN": (0, 1, 2)},
    "stop_early": {"PASSES": 3, "TOLERANCES": (0.1,)},
}


def made_up_faces():
    rng = np.random.default_rng(0)
    flat = 20 * rng.random((60, 5)) @ rng.random((5, 4096)) + rng.random((60, 4096))
    return OlivettiFaces(flat.reshape(60, 64, 64), np.arange(60), "made up")


def made_up_air():
    rng = np.random.default_rng(0)
    flat = np.cumsum(rng.standard_normal((150, 2)), axis=0) @ rng.random((2, 6)) + 0.3 * rng.standard_normal((150, 6))
    return LondonAir(30 + flat, "made up")


def test_no_example_is_forgotten():
    assert {path.stem for path in FOLDER.glob("*.py")} >= set(SMALLER)


@pytest.mark.parametrize("name", sorted(SMALLER))
def test_example(name, tmp_path, monkeypatch, capsys):
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    for constant, value in SMALLER[name].items():
        monkeypatch.setattr(example, constant, value)
    monkeypatch.setattr(example, "load_olivetti", made_up_faces, raising=False)
    monkeypatch.setattr(example, "load_london_air", made_up_air, raising=False)
    example.main(tmp_path)
    assert (tmp_path / f"{name}.png").stat().st_size > 10_000
    assert f"{name}.png" in capsys.readouterr().out


def test_the_example_of_a_report(tmp_path, monkeypatch, capsys):
    pytest.importorskip("jinja2")
    spec = importlib.util.spec_from_file_location("report", FOLDER / "report.py")
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    monkeypatch.setattr(example, "load_london_air", made_up_air)
    monkeypatch.setattr(example, "COMPONENTS", 2)
    monkeypatch.setattr(example.shutil, "which", lambda program: None)  # no picture of it
    example.main(tmp_path)
    assert "</html>" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert f"Open {tmp_path / 'report.html'}." in capsys.readouterr().out
