"""A report is the same in every format, and says what its numbers depend on."""

import json

from factorstream.report.document import Document, Picture, Section, versions, write_document
from factorstream.report.tables import Column, Table

TABLE = Table("A title", [Column("v", "value")], [{"v": 1.5}])


def test_all_files_say_the_same(tmp_path):
    picture = Picture("dots", b"PNG", "Dots", "Some dots.")
    sections = [Section("The table", ["**Bold** words.", "- one", "- two"]), Section("Dots", picture=picture)]
    document = Document("name", "Title", "Lead.", TABLE, sections, {"scores": [float("nan"), 2.0]})
    paths = write_document(document, tmp_path)
    assert [path.name for path in paths] == ["name.html", "name.md", "name.csv", "name.json", "name-dots.png"]
    page, text = paths[0].read_text(), paths[1].read_text()
    for words in ("Title", "Lead.", "A title", "The table", "Some dots.", f"numpy {versions()['numpy']}"):
        assert words in page
        assert words in text
    assert "<strong>Bold</strong> words." in page
    assert "**Bold** words.\n\n- one\n- two\n\n## Dots\n\n![Dots](name-dots.png)\n\nSome dots." in text
    assert page.count("<table") == text.count("| value |") == 1
    data = json.loads(paths[3].read_text())
    assert data["scores"] == [None, 2.0]  # JSON has no NaN
    assert data["table"] == [{"v": 1.5}]
    assert paths[4].read_bytes() == b"PNG"


def test_a_package_that_is_not_installed_is_said():
    assert versions(["surely-not-installed"])["surely-not-installed"] == "not installed"
