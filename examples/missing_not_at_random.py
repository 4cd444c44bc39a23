"""What becomes of intervals when values are missing because they are large.

Hourly PM10 at 75 London stations, with 30% of every station's values removed twice: once at random, once so that high
values are the more likely to go, as when a sensor saturates. The same model fills both, and the picture shows its
intervals against the truth. ``missingness`` sees only the tables with gaps.

The data file is found through $FACTORSTREAM_DATA.

    python examples/missing_not_at_random.py          writes missing_not_at_random.png
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from factorstream import LowRankImputer, missingness
from factorstream.datasets import load_london_air
from factorstream.metrics import rmse

HOURS, SHARE, SHOWN, LEVEL = 1000, 0.3, 250, 0.95


def hidden(Y, rng, *, high):
    """Marks SHARE of every station's values: at random, or the more likely the higher a value ranks in its station.

    Every value has a number from 0 to 1 by chance, and those with the highest are marked. Where high values are to go,
    its share of lower values in the station is added to it, three times.
    """
    score = rng.random(Y.shape)
    for i in range(Y.shape[1]):
        seen = ~np.isnan(Y[:, i])
        if high:
            score[seen, i] += 3.0 * np.argsort(np.argsort(Y[seen, i])) / seen.sum()
        score[~seen, i] = -np.inf
    most = np.array([np.quantile(column[np.isfinite(column)], 1.0 - SHARE) for column in score.T])
    return score > most


def main(folder="."):
    air = load_london_air()
    print(f"PM10: {air.source}.")
    Y = air.values[:HOURS]
    Y = Y[:, ~np.isnan(Y).all(axis=0)]
    results = {}
    for name, high in (("missing at random", False), ("missing because it is high", True)):
        removed = hidden(Y, np.random.default_rng(0), high=high)
        X = np.where(removed, np.nan, Y)
        model = LowRankImputer(random_state=0).fit(X)
        filled = model.transform(X)
        lower, upper = model.predict_interval(X, LEVEL)
        inside = (lower <= Y) & (upper >= Y)
        print(f"\n{name}: the {LEVEL:.0%} intervals hold {inside[removed].mean():.1%}, "
              f"RMSE {rmse(Y, filled, where=removed):.2f}, "
              f"filled values are {(filled - Y)[removed].mean():+.2f} off on average.")  # fmt: skip
        print(f"missingness: {missingness(X)}")
        results[name] = (removed, filled, lower, upper, inside)
    path = Path(folder) / "missing_not_at_random.png"
    draw(Y, results, path)
    print(f"\nOpen {path}.")


def draw(Y, results, path):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4.4), layout="constrained")
    axes = figure.subplots(1, 2, sharex=True, sharey=True)
    most = np.nanquantile(Y, 0.995)
    for axis, (name, (removed, filled, lower, upper, inside)) in zip(axes, results.items(), strict=True):
        at = np.argwhere(removed)
        at = at[np.random.default_rng(1).permutation(len(at))[:SHOWN]]
        for held, color, label in ((True, "#0072B2", "holds the truth"), (False, "#D55E00", "does not")):
            row, column = at[inside[at[:, 0], at[:, 1]] == held].T
            fill = filled[row, column]
            reach = np.abs([fill - lower[row, column], upper[row, column] - fill])
            axis.errorbar(Y[row, column], fill, reach, fmt="o", ms=2.5, lw=0.6, color=color, alpha=0.7,
                          label=f"interval {label}")  # fmt: skip
        axis.plot([0, most], [0, most], color="#555555", lw=1)
        axis.set_title(f"{name}: {inside[removed].mean():.0%} held", loc="left", fontsize=10, fontweight="bold")
        axis.set(xlabel="true PM10 (µg/m³)", xlim=(0, most), ylim=(-0.2 * most, 1.2 * most))
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("filled in, with its 95% interval")
    axes[0].legend(loc="upper left", fontsize=8, frameon=False)
    figure.savefig(path, dpi=100)


if __name__ == "__main__":
    main(*sys.argv[1:])
