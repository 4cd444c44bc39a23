import os

import pytest

from factorstream.report.extras import MissingExtraError, require
from factorstream.report.files import write_atomic
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


def test_missing_extra_is_one_sentence_with_the_command():
    with pytest.raises(MissingExtraError, match=r'pip install "factorstream\[report\]"') as caught:
        require("json", "surely_not_installed")
    assert "surely_not_installed" in str(caught.value)
    assert "json" not in str(caught.value).replace("surely_not_installed", "")


def test_lists_in_paragraphs():
    page = paragraphs(["a", "- b", "- c", "d"])
    assert page.count("<ul>") == 1
    assert page.count("<li>") == 2
