"""All pictures of ``factorstream.plot`` on one sheet, of real data.

Air: hourly PM10 at 12 London stations, runs of 20 hours removed until a fifth is gone. Faces: 400 photographs, a
quarter of the pixels removed. Every picture is drawn on the axes it is given.

The data files are found through $FACTORSTREAM_DATA.

    python examples/pictures.py             writes pictures.png
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from factorstream import DictionaryFilter, SequenceFilter, plot
from factorstream.datasets import load_london_air, load_olivetti
from factorstream.masks import random_mask, segment_mask

HOURS, STATIONS, AHEAD, COMPONENTS = 600, 12, 48, 30


def main(folder="."):
    from matplotlib.figure import Figure

    air = load_london_air()
    print(f"PM10: {air.source}.")
    Y = air.values[:HOURS, :STATIONS]
    X = np.where(segment_mask(Y.shape, 0.2, rng=0, missing=np.isnan(Y)), np.nan, Y)
    panel = SequenceFilter(5, drift="none").fit(X)

    faces = load_olivetti()
    print(f"Faces: {faces.source}.")
    images = faces.images.reshape(len(faces.images), -1)
    gappy = np.where(random_mask(images.shape, 0.25, rng=0), np.nan, images)
    model = DictionaryFilter(COMPONENTS, random_state=0).fit(gappy)

    figure = Figure(figsize=(13, 17), layout="constrained")
    wide = [[name] * 4 for name in ("gaps", "series", "forecast", "rows", "alarms")]
    two = [[left, left, right, right] for left, right in (("spectrum", "loadings"), ("held", "map"))]
    sheet = figure.subplot_mosaic([*wide, list("abcd"), *two], height_ratios=[1.5, 1, 1, 1, 1, 1.5, 1.7, 2.2])
    half = len(X) // 2
    plot.gaps(X, np.concatenate([panel.impute(X)[:half], X[half:]]), ax=sheet["gaps"])  # filled so far
    plot.series(panel, X, columns=[1], truth=Y, ax=sheet["series"])
    plot.forecast(panel, AHEAD, X, columns=[0], ax=sheet["forecast"])
    plot.innovations(panel, X, ax=[sheet["rows"], sheet["alarms"]])
    four = [sheet[letter] for letter in "abcd"]
    plot.components(model, "images", shape=faces.images.shape[1:], n_shown=4, ax=four)
    plot.spectrum(model, ax=sheet["spectrum"])
    plot.components(panel, "loadings", ax=sheet["loadings"])
    plot.calibration(panel, X, length=20, ax=sheet["held"])
    plot.coefficients(model, gappy, np.nanmean(gappy, axis=1), ax=sheet["map"])
    path = Path(folder) / "pictures.png"
    figure.savefig(path, dpi=80)
    print(f"Open {path}.")


if __name__ == "__main__":
    main(*sys.argv[1:])
