"""The code of README and docs runs as it stands, and what they link to and name is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import factorstream
from factorstream import datasets, diagnostics, images, masks, metrics, plot
from factorstream.cli import COMMANDS

pytestmark = pytest.mark.long  # every example of every page

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
JOBS = sorted((DOCS / "jobs").glob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md")), *JOBS]


def blocks(page):
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


EXAMPLES = ("start", "which", "guide", "uncertainty", "pictures", "report", "files", "cluster", "large")
"""Pages besides those of the jobs that have examples."""


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *(DOCS / f"{name}.md" for name in EXAMPLES), *JOBS], ids=lambda page: page.stem
)
def test_pages_run_from_the_top(page, tmp_path, monkeypatch):
    """Nothing is known beforehand: a page imports and makes what it uses."""
    pytest.importorskip("pandas")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    if page.stem == "river":
        pytest.importorskip("river")
    monkeypatch.chdir(tmp_path)
    known: dict[str, object] = {}
    found = blocks(page)
    assert found
    for code in found:
        exec(compile(code, page.name, "exec"), known)
    pyplot.close("all")


@pytest.mark.parametrize("page", JOBS, ids=lambda page: page.stem)
def test_a_job_begins_with_ten_lines(page):
    first = [line for line in blocks(page)[0].splitlines() if line]
    assert len(first) <= 10
    before = page.read_text(encoding="utf-8").partition("```python")[0].strip().split("\n\n")
    assert len(before) == 2, "a title and one paragraph that says what the page gives"
    assert f"(jobs/{page.name})" in (DOCS / "index.md").read_text(encoding="utf-8")


def test_the_reference_has_every_public_name():
    listed = set(re.findall(r"^   ([\w.]+)$", (DOCS / "reference.md").read_text(encoding="utf-8"), flags=re.MULTILINE))
    assert listed >= set(factorstream.__all__)
    for module in (datasets, diagnostics, images, masks, metrics):
        short = module.__name__.removeprefix("factorstream.")
        public = {f"{short}.{name}" for name in module.__all__} - {
            "diagnostics.missingness"
        }  # factorstream.missingness
        assert listed >= public


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target
    for target, anchor in re.findall(r"\]\(([^)#]*)#([^)]+)\)", text):
        if not target.startswith("http"):
            other = (page.parent / target if target else page).read_text(encoding="utf-8")
            titles = [
                re.sub(r"[^\w\- ]", "", title).strip().lower().replace(" ", "-")
                for title in re.findall(r"^#+ (.*)$", other, re.MULTILINE)
            ]
            assert anchor in titles, anchor


def test_the_vocabulary_knows_every_parameter_that_estimators_share():
    text = (ROOT / "docs" / "vocabulary.md").read_text(encoding="utf-8")
    named = [value for name in factorstream.__all__ if hasattr(value := getattr(factorstream, name), "fit")]
    parameters = [set(Estimator._get_param_names()) for Estimator in named]
    shared = {name for some in parameters for name in some if sum(name in others for others in parameters) > 1}
    as_in_scikit_learn = {"random_state"}
    missing = {name for name in shared - as_in_scikit_learn if f"`{name}`" not in text}
    assert not missing


NAMED = [ROOT / "src" / "factorstream" / "core" / "README.md", *PAGES]
FILES = [
    f"/{path.relative_to(ROOT).as_posix()}{'/' if path.is_dir() else ''}"
    for folder in ("src", "tests", "benchmarks", "docs", "examples")
    for path in (ROOT / folder, *(ROOT / folder).rglob("*"))
]
MADE_UP = {
    "core/variational/noise/laplace.py",
    "tall/pieces.py",
    "sources/json_lines.py",
    "cli/show.py",
    "estimators/additive_means.py",
}
"""The files that the skeletons of CONTRIBUTING stand for."""


def without_code(page):
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", NAMED, ids=lambda page: page.name)
def test_files_that_are_named_are_there(page):
    named = set(re.findall(r"`(?:\.\./)*([\w/]+(?:\.py|/))`", without_code(page)))
    missing = {name for name in named - MADE_UP if not any(path.endswith(f"/{name}") for path in FILES)}
    assert not missing


def test_commands_that_are_named_are_there():
    text = "\n".join(map(without_code, PAGES))
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    assert set(re.findall(r"(?:`|^    )make ([\w-]+)", text, flags=re.MULTILINE)) <= targets
    commands = set(re.findall(r"(?:`|^    )factorstream (\w+)", text, flags=re.MULTILINE))
    assert commands - {"show"} <= set(COMMANDS)  # show is an example of CONTRIBUTING
    for script in re.findall(r"(?:`|^    )python ([\w/]+\.py)", text, flags=re.MULTILINE):
        assert (ROOT / script).exists(), script


def test_no_page_speaks_of_what_is_gone():
    """The changelog says what replaces it."""
    gone = ("FilterImputer", "featurewise", "dictionary_drift", "factorstream bench", "cli_impute", "experiments/bench")
    for page in (*NAMED, *(ROOT / "examples").glob("*.py")):
        text = page.read_text(encoding="utf-8")
        if page.name == "CONTRIBUTING.md":  # its table says what was touched before
            text = re.sub(r"^## What a change reaches\n.*?(?=^## )", "", text, flags=re.MULTILINE | re.DOTALL)
        assert not [word for word in gone if word in text], page


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 95


def test_every_picture_is_used_in_the_gallery():
    text = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "examples" / "gallery").glob("plot_*.py"))
    used = {
        node.func.attr
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if isinstance(node.func.value, ast.Name) and node.func.value.id == "plot"
    }
    assert used == set(plot.__all__)
