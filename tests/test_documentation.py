"""The code of README and docs runs as it stands, and what they link to is there."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import factorstream

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page):
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", ["README.md", "docs/guide.md", "docs/files.md"])
def test_the_examples_run(name, tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3)) @ rng.standard_normal((3, 20)) + 0.1 * rng.standard_normal((300, 20))
    X[rng.random(X.shape) < 0.2] = np.nan
    known = {
        "np": np,
        "rng": rng,
        "X": X,
        "more": X,
        **{name: getattr(factorstream, name) for name in factorstream.__all__},
    }
    found = blocks(ROOT / name)
    assert found
    for code in found:
        exec(compile(code, name, "exec"), known)


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
    named = [getattr(factorstream, name) for name in factorstream.__all__ if name != "load"]
    parameters = [set(Estimator._get_param_names()) for Estimator in named]
    shared = {name for some in parameters for name in some if sum(name in others for others in parameters) > 1}
    as_in_scikit_learn = {"random_state", "verbose"}
    missing = {name for name in shared - as_in_scikit_learn if f"`{name}`" not in text}
    assert not missing
