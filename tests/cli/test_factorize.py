"""`factorstream factorize`."""

from __future__ import annotations

import numpy as np
import pytest

from cli_problems import read, say, summary, table, write


def test_files_and_the_model_that_made_them(capsys, tmp_path):
    source = write(tmp_path / "x.csv", *table()[:2])
    folder, model = tmp_path / "new" / "folder", tmp_path / "m"
    found = summary(capsys, "factorize", source, "-o", folder, "--save", model)
    assert sorted(path.name for path in folder.iterdir()) == ["coefficients.csv", "components.csv", "mean.csv"]
    header, components = read(folder / "components.csv")
    assert header == ["component", "explained", "a", "b", "c", "d"]
    assert len(components) == found["components"] == len(found["explained"]) == 2
    again = tmp_path / "again"
    assert say(capsys, "factorize", source, "-o", again, "--model", model)[0] == 0
    for path in folder.iterdir():
        assert (again / path.name).read_bytes() == path.read_bytes()
    code, _, err = say(capsys, "impute", source, "-o", tmp_path / "y.csv", "--model", model, "--level", 0.9)
    assert code == 0
    assert "calibrate" not in err  # a model that is saved is calibrated


def test_arrays_and_a_picture(capsys, tmp_path):
    pytest.importorskip("matplotlib")
    np.save(tmp_path / "x.npy", table()[2])
    code, _, err = say(
        capsys, "factorize", tmp_path / "x.npy", "-o", tmp_path, "--components", 2, "--plot", tmp_path / "p.svg"
    )
    assert code == 0
    assert "2 components explain" in err
    assert np.load(tmp_path / "coefficients.npy").shape == (120, 2)
    assert "<svg" in (tmp_path / "p.svg").read_text()


def test_a_folder_that_is_a_file(capsys, tmp_path):
    source = write(tmp_path / "x.csv", *table()[:2])
    code, _, err = say(capsys, "factorize", source, "-o", source)
    assert code == 2
    assert "is a file; --output needs a folder" in err


def test_a_failed_run_leaves_no_folder(capsys, tmp_path):
    assert say(capsys, "factorize", tmp_path / "nothing.csv", "-o", tmp_path / "new" / "folder")[0] == 2
    assert not (tmp_path / "new").exists()


def test_no_components_are_said(capsys, tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1,7\n1,7\n,7\n")
    code, _, err = say(capsys, "factorize", tmp_path / "x.csv", "-o", tmp_path, "--save", tmp_path / "m")
    assert code == 0
    sentence = "No components were found, so nothing is taken from other columns: every entry holds the mean"
    assert sentence in err
    assert sentence in say(capsys, "info", tmp_path / "m")[1]
