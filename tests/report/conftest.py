"""Reports on small tables, and a browser that opens them."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec

import numpy as np
import pytest

from conftest import low_rank
from factorstream import LowRankImputer
from sequence_problems import hours, panel, quick, table

EVIL = "<img src=x onerror=alert(1)> & $x^{$"
"""A column of this name must stay text, and is no formula."""

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


@pytest.fixture(scope="session")
def gappy():
    """120 rows of six columns, a fifth of them missing."""
    rng = np.random.default_rng(0)
    X = low_rank(rng, 120, 6, 2, noise=0.2, offset=5.0)
    return np.where(rng.random(X.shape) < 0.2, np.nan, X)


@pytest.fixture(scope="session")
def imputer(gappy):
    return LowRankImputer(2, random_state=0).fit(gappy)


@pytest.fixture(scope="session")
def table_report(gappy, tmp_path_factory):
    """On a table of pandas with a dangerous name, a column of text and one without any value."""
    frames = pytest.importorskip("pandas")
    frame = frames.DataFrame(gappy, columns=[EVIL, "b", "c", "d" * 60, "e f", "ü"])
    frame["constant"] = np.where(np.arange(len(frame)) < 5, 3.0, np.nan)  # too few for finite bounds
    model = LowRankImputer(2, random_state=0).fit(frame)
    frame.insert(1, "<script>alert(2)</script>", "text")
    return model.report(tmp_path_factory.mktemp("table") / "report.html", frame)


@pytest.fixture(scope="session")
def sequence_report(tmp_path_factory):
    Y = panel(T=300)
    Y[100:130, 2] = Y[40:44, 0] = np.nan
    frame = table("pandas", Y, hours("pandas", 300))
    return quick(2).fit(frame).report(tmp_path_factory.mktemp("sequence") / "report.html", frame)


@pytest.fixture(scope="session")
def chromium():
    """A running browser. Without one the tests are skipped, or fail where FACTORSTREAM_BROWSER is "required"."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    missing = []
    if find_spec("playwright") is None:
        missing.append("`make browser` installs its driver")
    if program is None:
        missing.append("Debian's is installed by `apt-get install chromium`")
    if missing:
        stop = pytest.fail if os.environ.get("FACTORSTREAM_BROWSER") == "required" else pytest.skip
        stop(f"These tests need Chromium: {', and '.join(missing)}.")
    from playwright.sync_api import sync_playwright

    root = hasattr(os, "geteuid") and os.geteuid() == 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"] if root else [])
        yield browser
        browser.close()
