import os
from pathlib import Path

import pytest

from factorstream.report.extras import MissingExtraError, require
from factorstream.report.files import check_writable, write_atomic
from factorstream.report.html import paragraphs


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = write_atomic(tmp_path / "a.txt", "old")

    def broken(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(OSError, match="disk full"):
        write_atomic(path, "new")
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("a.txt", "old")]


def test_permissions_are_those_of_an_ordinary_file(tmp_path):
    (tmp_path / "plain").write_text("x")
    assert write_atomic(tmp_path / "a", b"x").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_asking_whether_a_file_can_be_written_changes_nothing(tmp_path):
    path = write_atomic(tmp_path / "a", "old")
    check_writable(path)
    check_writable(tmp_path / "new")
    check_writable(Path(os.devnull))
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("a", "old")]
    for nowhere in (tmp_path / "no" / "folder", path / "below a file", tmp_path / ("long" * 100)):
        with pytest.raises(OSError):
            check_writable(nowhere)


def test_a_device_that_must_not_be_written(monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermissionError):
        check_writable(Path(os.devnull))


def test_missing_extra_is_one_sentence_with_the_command():
    with pytest.raises(MissingExtraError, match=r'pip install "factorstream\[report\]"') as caught:
        require("json", "surely_not_installed")
    assert "surely_not_installed" in str(caught.value)
    assert "json" not in str(caught.value).replace("surely_not_installed", "")


def test_lists_in_paragraphs():
    page = paragraphs(["a", "- b", "- c", "d"])
    assert page.count("<ul>") == 1
    assert page.count("<li>") == 2
