"""Faces with a quarter of the pixels missing, filled in, with the standard deviation of every filled pixel.

    python examples/restore_faces.py          writes restore_faces.png

The upper half removes pixels at random and fills them in one pass of the filter, all settings automatic. The
lower half removes a square per face and fits one posterior per pixel, calibrated on squares hidden on purpose.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from factorstream import BayesianFactorization, DictionaryFilter
from factorstream.datasets import load_olivetti
from factorstream.masks import block_mask, random_mask
from factorstream.metrics import snr

R = 40
SHOWN = (0, 52, 105, 168, 232, 290, 351)


def restore(Y, gone, model):
    """Y without the removed entries, the filled Y, and the deviations (NaN where observed)."""
    X = np.where(gone, np.nan, Y)
    filled, std = model.fit(X).impute(X, return_std=True)
    restored = snr(Y, filled, where=gone)
    print(f"{gone.mean():.0%} removed, {type(model).__name__}: {restored:.2f} dB over the removed pixels")
    return X, filled, np.where(gone, std, np.nan)


def draw(Y, cases, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    gaps = matplotlib.colormaps["gray"].with_extremes(bad="#c8553d")
    rows = [("original", Y, "gray", (0, 242))]
    for label, (X, filled, std) in cases.items():
        spread = tuple(np.nanpercentile(std, (1, 99)))
        rows += [(label, X, gaps, (0, 242)), ("filled", filled, "gray", (0, 242))]
        rows += [("standard\ndeviation", std, "viridis", spread)]
    figure, axes = plt.subplots(len(rows), len(SHOWN), figsize=(1.35 * len(SHOWN) + 1.4, 1.35 * len(rows)), dpi=80)
    for line, (label, images, colours, (low, high)) in zip(axes, rows, strict=True):
        for axis, k in zip(line, SHOWN, strict=True):
            axis.imshow(images[k].reshape(64, 64), cmap=colours, vmin=low, vmax=high)
            axis.set(xticks=[], yticks=[])
            axis.set_frame_on(False)
        line[0].set_ylabel(label, rotation=0, ha="right", va="center", labelpad=8)
    figure.subplots_adjust(left=0.13, right=0.995, top=0.995, bottom=0.005, wspace=0.03, hspace=0.03)
    figure.savefig(path)


def main(folder="."):
    images = load_olivetti().images
    Y = images.reshape(len(images), -1)
    cases = {
        "25% removed": restore(Y, random_mask(Y.shape, 0.25, rng=0), DictionaryFilter(R, random_state=0)),
        "a square\nremoved": restore(
            Y,
            block_mask(len(Y), (64, 64), rng=0),
            BayesianFactorization(R, calibrate=True, random_state=0),
        ),
    }
    path = Path(folder) / "restore_faces.png"
    draw(Y, cases, path)
    print(f"Open {path}.")


if __name__ == "__main__":
    main(*sys.argv[1:])
