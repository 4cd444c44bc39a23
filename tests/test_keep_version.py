"""Sites of several versions beside each other."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "docs" / "keep_version.py"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("keep_version", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def build(folder, version, page="new"):
    folder.mkdir(parents=True, exist_ok=True)
    mark = f'<div class="site-version navbar-item" data-version="{version}">{version}</div>'
    (folder / "index.html").write_text(f"<html>{mark}{page}</html>", encoding="utf-8")
    return folder


def listed(site):
    text = (site / "versions.js").read_text(encoding="utf-8")
    return json.loads(text.removeprefix("window.FACTORSTREAM_VERSIONS = ").removesuffix(";\n"))


def test_versions_lie_beside_each_other_and_the_newest_is_first(script, tmp_path):
    site = tmp_path / "site"
    for version in ("0.9.0", "0.10.0", "0.2.0", "0.10.0rc1"):
        assert script.keep(build(tmp_path / version, version), site) == version
    assert listed(site) == ["0.10.0", "0.10.0rc1", "0.9.0", "0.2.0"]
    assert "url=0.10.0/index.html" in (site / "index.html").read_text(encoding="utf-8")


def test_a_version_that_is_kept_again_replaces_itself_only(script, tmp_path):
    site = tmp_path / "site"
    old = build(tmp_path / "old", "0.1.0", "old")
    (old / "gone.html").write_text("", encoding="utf-8")
    script.keep(old, site)
    script.keep(build(tmp_path / "other", "0.2.0"), site)
    script.keep(build(tmp_path / "again", "0.1.0", "again"), site)
    assert "again" in (site / "0.1.0" / "index.html").read_text(encoding="utf-8")
    assert not (site / "0.1.0" / "gone.html").exists()
    assert listed(site) == ["0.2.0", "0.1.0"]


def test_what_is_no_site_is_refused(script, tmp_path):
    (tmp_path / "index.html").write_text("<html></html>", encoding="utf-8")
    with pytest.raises(SystemExit, match="no site with a version"):
        script.keep(tmp_path, tmp_path / "site")
    assert not (tmp_path / "site").exists()
