"""The check of the built site finds what does not work offline, and nothing else."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "docs" / "check_site.py"


@pytest.fixture
def problems():
    spec = importlib.util.spec_from_file_location("check_site", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.problems


GOOD = """<link rel="stylesheet" href="site.css"><h1 id="top">Title</h1>
<a href="#top">up</a> <a href="jobs/a%20page.html#part">on</a> <a href="jobs/">folder</a>
<a href="https://example.org">outside, for whoever follows it</a> <img src="data:image/png;base64,AA==">"""


@pytest.fixture
def site(tmp_path):
    (tmp_path / "jobs").mkdir()
    (tmp_path / "site.css").write_text("")
    (tmp_path / "index.html").write_text(GOOD)
    (tmp_path / "jobs" / "index.html").write_text('<a href="../index.html">home</a>')
    (tmp_path / "jobs" / "a page.html").write_text('<h2 id="part">Part</h2>')
    return tmp_path


def test_a_sound_site_has_no_problem(problems, site):
    assert problems(site) == []


@pytest.mark.parametrize(
    ("added", "said"),
    [
        ('<a href="gone.html">x</a>', "gone.html is not there"),
        ('<a href="#gone">x</a>', "#gone has no such anchor"),
        ('<a href="jobs/a%20page.html#gone">x</a>', "has no such anchor"),
        ('<img src="gone.png">', "gone.png is not there"),
        ('<script src="https://cdn.example.org/x.js"></script>', "is loaded from outside"),
        ('<link rel="stylesheet" href="//fonts.example.org/x.css">', "is loaded from outside"),
    ],
)
def test_what_does_not_work_is_named(problems, site, added, said):
    (site / "index.html").write_text(GOOD + added)
    (found,) = problems(site)
    assert found.startswith("index.html: ")
    assert said in found


def test_an_empty_folder_is_no_site(problems, tmp_path):
    assert len(problems(tmp_path)) == 1
