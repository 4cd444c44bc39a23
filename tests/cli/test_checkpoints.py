"""`--checkpoint`: commands that were stopped go on, and write the same."""

from __future__ import annotations

import pytest

from cli_problems import run, table, write
from factorstream import LowRankImputer, cli
from factorstream.jobs import large_factors, large_files


@pytest.fixture
def path(tmp_path):
    header, rows, _, _ = table(n=300)
    return write(tmp_path / "in.csv", header, rows)


def no_fit(*_):
    raise AssertionError("The fit was finished already.")


def test_what_was_learned_is_not_learned_again(capsys, monkeypatch, path, tmp_path):
    checkpoint, out = tmp_path / "checkpoint", tmp_path / "out.csv"
    assert run(capsys, path, "-o", tmp_path / "want.csv", "--level", "0.9", "--numbers-only")[0] == 0
    with monkeypatch.context() as patch:
        patch.setattr(large_files, "fill_source", lambda *_, **__: (_ for _ in ()).throw(ValueError("stopped")))
        code, said = run(capsys, path, "-o", out, "--level", "0.9", "--checkpoint", checkpoint)
    assert (code, "stopped" in said, out.exists(), checkpoint.exists()) == (2, True, False, True)
    monkeypatch.setattr(LowRankImputer, "_fit_source", no_fit)
    code, said = run(capsys, path, "-o", out, "--level", "0.9", "--checkpoint", checkpoint)
    assert (code, "block by block" in said) == (0, True)
    assert out.read_bytes() == (tmp_path / "want.csv").read_bytes()
    assert {one.name for one in tmp_path.iterdir()} == {"in.csv", "want.csv", "out.csv"}


def test_factors_go_on_too(capsys, monkeypatch, path, tmp_path):
    checkpoint = tmp_path / "checkpoint"
    arguments = ["factorize", str(path), "-o", str(tmp_path / "factors"), "--checkpoint", str(checkpoint)]
    with monkeypatch.context() as patch:
        patch.setattr(large_factors, "copy_rows", lambda *_: (_ for _ in ()).throw(ValueError("stopped")))
        assert cli.main(arguments) == 2
    assert checkpoint.exists()
    monkeypatch.setattr(LowRankImputer, "_fit_source", no_fit)
    assert cli.main(arguments) == 0
    assert not checkpoint.exists()
    assert (tmp_path / "factors" / "coefficients.csv").exists()


def test_the_checkpoint_of_another_fit_is_refused_in_one_sentence(capsys, monkeypatch, path, tmp_path):
    checkpoint = tmp_path / "checkpoint"
    with monkeypatch.context() as patch:
        patch.setattr(large_files, "fill_source", lambda *_, **__: (_ for _ in ()).throw(ValueError("stopped")))
        run(capsys, path, "-o", tmp_path / "out.csv", "--checkpoint", checkpoint)
    code, said = run(capsys, path, "-o", tmp_path / "out.csv", "--checkpoint", checkpoint, "--seed", "1")
    assert code == 2
    assert said.count("\n") == 1
    assert "checkpoint is the checkpoint of another fit (other random_state); remove it to begin anew" in said


@pytest.mark.parametrize(("option", "name"), [("IN", "in.csv"), ("--output", "out.csv"), ("--save", "model")])
def test_a_checkpoint_has_a_file_of_its_own(capsys, path, tmp_path, option, name):
    before = path.read_bytes()
    files = ("-o", tmp_path / "out.csv", "--save", tmp_path / "model", "--checkpoint", tmp_path / "." / name)
    code, said = run(capsys, path, *files)
    assert (code, path.read_bytes(), list(tmp_path.iterdir())) == (2, before, [path])
    assert f"--checkpoint and {option} are the same file" in said


@pytest.mark.parametrize(("option", "name"), [("IN", "in.csv"), ("--output", "out.csv")])
def test_a_model_is_saved_to_a_file_of_its_own(capsys, path, tmp_path, option, name):
    before = path.read_bytes()
    code, said = run(capsys, path, "-o", tmp_path / "out.csv", "--save", tmp_path / name)
    assert (code, path.read_bytes(), list(tmp_path.iterdir())) == (2, before, [path])
    assert f"--save and {option} are the same file" in said


@pytest.mark.parametrize("others", [("--online",), ("--sequence",), ("--report", "page.html")])
def test_what_does_not_go_by_blocks_is_refused(capsys, path, tmp_path, others):
    code, said = run(capsys, path, "-o", tmp_path / "out.csv", "--checkpoint", tmp_path / "c", *others)
    assert code == 2
    assert "--checkpoint is for files" in said
