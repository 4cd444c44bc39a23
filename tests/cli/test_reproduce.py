"""`factorstream reproduce`."""

import errno
import sys
import tempfile

import numpy as np
import pytest

from factorstream import cli, datasets
from factorstream.datasets import DatasetNotFoundError, OlivettiFaces

pytest.importorskip("matplotlib")
pytest.importorskip("rich")


@pytest.fixture
def faces(monkeypatch):
    """A few small synthetic faces instead of the 400 real ones, and a small rank."""
    rng = np.random.default_rng(0)
    images = (rng.random((45, 40)) @ rng.random((40, 144)) * 10).reshape(45, 12, 12)
    made_up = OlivettiFaces(images, np.arange(45), "made-up faces")
    monkeypatch.setattr(datasets, "load_olivetti", lambda: made_up)


def failing(capsys, *arguments):
    """Exit code and the one line on standard error."""
    try:
        code = cli.main(arguments)
    except SystemExit as stop:
        code = stop.code
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    return code, message


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["reproduce", "--seeds", "0"], "'0' is not a whole number of at least 1"),
        (["reproduce", "--seeds", "two"], "'two' is not a whole number"),
        (["reproduce", "--fraction", "1.5"], "'1.5' is not a fraction between 0 and 1"),
        (["reproduce", "--fraction", "nan"], "'nan' is not a fraction"),
        (["reproduce", "--fraction"], "expected at least one argument"),
        (["reproduce", "--experiment", "other"], "restoration"),
        (["reproduce", "--colour"], "--colour"),
    ],
)
def test_bad_arguments_are_answered_in_one_sentence(capsys, arguments, words):
    code, message = failing(capsys, *arguments)
    assert code == 2
    assert words in message


@pytest.fixture
def no_work(monkeypatch):
    """The work of every command fails, so that what is said before it can be told from what is said after."""

    def work(*_, **__):
        raise AssertionError("the work has begun")

    for name in ("datasets.load_olivetti", "datasets.load_london_air"):
        monkeypatch.setattr(f"factorstream.{name}", work)


WITH_FOLDERS = (["reproduce"], ["reproduce", "--experiment", "sequences"])


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("command", WITH_FOLDERS)
def test_an_output_that_is_a_file_is_refused_before_the_work(capsys, tmp_path, command):
    (tmp_path / "file").write_text("")
    code, message = failing(capsys, *command, "--output", str(tmp_path / "file"))
    assert code == 2
    assert "is a file; --output needs a folder" in message
    code, message = failing(capsys, *command, "--output", str(tmp_path / "file" / "folder"))
    assert code == 2
    assert "cannot be written (Not a directory); choose another with --output" in message


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("command", WITH_FOLDERS)
def test_a_folder_that_cannot_be_written_is_refused_before_the_work(capsys, tmp_path, monkeypatch, command):
    def refuse(*_, **__):  # permissions do not stop every user
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(tempfile, "NamedTemporaryFile", refuse)
    code, message = failing(capsys, *command, "--output", str(tmp_path))
    assert code == 2
    assert f"The folder {tmp_path} cannot be written (Permission denied); choose another" in message


def test_no_data(capsys, tmp_path, monkeypatch):
    def nowhere():
        raise DatasetNotFoundError("No source of the Olivetti faces could be reached.")

    monkeypatch.setattr(datasets, "load_olivetti", nowhere)
    code, message = failing(capsys, "reproduce", "--quick", "--output", str(tmp_path))
    assert code == 1
    assert "No source of the Olivetti faces" in message


@pytest.mark.parametrize("package", ["rich", "matplotlib"])
def test_missing_extra(capsys, tmp_path, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    code, message = failing(capsys, "reproduce", "--output", str(tmp_path / "out"))
    assert code == 1
    assert f'This needs {package}; run `pip install "factorstream[report]"`' in message
    assert not (tmp_path / "out").exists()


def test_interrupted(capsys, tmp_path, faces, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("factorstream.experiments.restoration.run", interrupt)
    code, message = failing(capsys, "reproduce", "--output", str(tmp_path))
    assert code == 130
    assert "interrupted" in message


def test_reproduce_writes_real_files_and_names_them(capsys, tmp_path, faces):
    folder = tmp_path / "new" / "folder"
    assert cli.main(["reproduce", "--quick", "--fraction", "0.2", "--output", str(folder)]) == 0
    out = capsys.readouterr().out
    assert "made-up faces" in out
    assert "20% of the pixels at random" in out
    assert "MF-RLF" in out
    assert "NMF, 100 iterations" in out
    assert "Open" in out
    assert out.index("restoration.html") < out.index("restoration.md")
    for path in folder.iterdir():
        assert path.stat().st_size > 200
    assert len(list(folder.iterdir())) == 6


def test_a_fraction_that_leaves_nothing(capsys, tmp_path, faces):
    code, message = failing(capsys, "reproduce", "--quick", "--fraction", "0.99", "--output", str(tmp_path))
    assert code == 2
    assert "remove fewer" in message
