"""Stop when there is nothing left to learn: `tol`.

The paper's last suggestion: let the covariance say when further computation is unnecessary. After every pass
`DictionaryFilter` knows which share of its predictive variance is doubt about the dictionary (the rest is
noise, which no further pass removes). `fit` stops once that share falls below `tol`. The share is a rule for
stopping and not a measure of what is left to gain: it goes on falling with every pass, because passes over
the same samples count as new ones, while the SNR has long been flat.

    python examples/stop_early.py                   writes stop_early.png
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

from factorstream import DictionaryFilter
from factorstream.datasets import load_olivetti
from factorstream.masks import random_mask
from factorstream.metrics import snr

PASSES = 20
TOLERANCES = (0.1, 0.05, 0.02, 0.01)
PAPER = {"covariance": "shared", "scale": False}  # whose suggestion it is


def main(folder="."):
    faces = load_olivetti()
    print(f"Faces: {faces.source}.")
    Y = faces.images.reshape(len(faces.images), -1)
    Y = Y[np.random.default_rng(0).permutation(len(Y))]  # shuffled here once, so that all runs see one order
    removed = random_mask(Y.shape, 0.25, rng=0)
    X = np.where(removed, np.nan, Y)

    def score(model):
        return snr(Y, model.inverse_transform(model.transform(X)), where=removed)

    # The whole way, pass by pass, to see what stopping gives up.
    model = DictionaryFilter(40, **PAPER, random_state=0)
    curve = []
    for _ in range(PASSES):
        model.partial_fit(X)
        curve.append(score(model))
    shares = [record["dictionary_share"] for record in model.history_]

    stops = []
    print(f"{'tol':>6} {'passes':>7} {'SNR (dB)':>9} {'seconds':>8}")
    for tol in (*TOLERANCES, 0.0):
        begin = time.perf_counter()
        model = DictionaryFilter(40, **PAPER, n_passes=PASSES, shuffle=False, tol=tol, random_state=0).fit(X)
        seconds = time.perf_counter() - begin
        stops.append((tol, model.n_passes_, score(model)))
        print(f"{tol:6g} {model.n_passes_:7d} {stops[-1][2]:9.2f} {seconds:8.2f}", flush=True)
    path = Path(folder) / "stop_early.png"
    draw(shares, curve, stops, path)
    print(f"Open {path}.")


def draw(shares, curve, stops, path):
    from matplotlib.figure import Figure

    passes = np.arange(1, PASSES + 1)
    figure = Figure(figsize=(7.5, 6), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True)
    upper.semilogy(passes, shares, "o-", color="#0072B2", ms=4)
    upper.set_ylabel("share of the predictive variance\nthat is doubt about the dictionary")
    lower.plot(passes, curve, "o-", color="#0072B2", ms=4)
    lower.set_ylabel("SNR over the removed pixels (dB)")
    lower.set_xlabel("passes over 400 faces, 25% of the pixels missing")
    for tol, done, db in stops[:-1]:
        upper.axhline(tol, color="#777777", lw=0.8, ls="--")
        upper.annotate(f"tol = {tol:g}", (PASSES, tol), ha="right", va="bottom", fontsize=8)
        lower.plot(done, db, "s", color="#D55E00", ms=8, zorder=3)
        lower.annotate(
            f"tol = {tol:g}",
            (done, db),
            xytext=(4, -14),
            textcoords="offset points",
            fontsize=8,
            color="#D55E00",
        )
    lower.set_title("squares: where fit(tol=…) stopped", fontsize=9, loc="left")
    lower.set_xticks(range(0, PASSES + 1, 2))
    for axis in (upper, lower):
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main(*sys.argv[1:])
