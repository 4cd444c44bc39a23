"""A report on real data: hourly PM10 at twelve London stations, gaps as the record has them.

The data file is found through $FACTORSTREAM_DATA.

    python examples/report.py               writes report.html, and report.png where a browser takes its picture

The picture needs Chromium and its driver (`make browser`): light on a screen, and dark on a phone.
"""

from __future__ import annotations

import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

from factorstream import SequenceFilter
from factorstream.datasets import load_london_air

HOURS, STATIONS, COMPONENTS = 800, 12, 5
VIEWS = {"light": (1000, 1500), "dark": (380, 1500)}
"""Widths and heights in pixels."""


def main(folder="."):
    air = load_london_air()
    print(f"PM10: {air.source}.")
    X = air.values[:HOURS, :STATIONS]
    model = SequenceFilter(COMPONENTS).fit(X)
    page = model.report(Path(folder) / "report.html", X)
    print(f"Open {page}.")
    chromium = shutil.which("chromium")
    if chromium and find_spec("playwright"):
        print(f"Its picture is {photograph(page, chromium)}.")


def photograph(page, chromium):
    """The page in both views, side by side in one file."""
    from io import BytesIO

    import numpy as np
    from matplotlib.image import imread, imsave
    from playwright.sync_api import sync_playwright

    shots = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for scheme, (width, height) in VIEWS.items():
            view = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": height})
            view.goto(page.absolute().as_uri())
            shots.append(imread(BytesIO(view.screenshot()))[..., :3])
        browser.close()
    path = page.with_suffix(".png")
    imsave(path, np.concatenate(shots, axis=1))
    return path


if __name__ == "__main__":
    main(*sys.argv[1:])
