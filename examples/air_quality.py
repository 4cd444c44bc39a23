"""Air quality: fill the gaps of a sensor network, forecast it, and hear of it when a sensor misbehaves.

Hourly PM10 at 75 London stations, with runs of 20 hours removed from every station until 30% are gone. The model is
fitted to all hours but the last two days; it fills the gaps, forecasts those two days, and says how sure it is of
both. Then one station is broken on purpose (it reports 60 µg/m³ too much from hour 3000 on) to see how soon the alarm
rule hears of it: the station's own level, which the model learns, could otherwise explain the jump away.

The data file is found through $FACTORSTREAM_DATA.

    python examples/air_quality.py          writes air_quality.png
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from factorstream import SequenceFilter
from factorstream.datasets import load_london_air
from factorstream.masks import segment_mask
from factorstream.metrics import coverage, rmse

AHEAD, BROKEN, SHOWN = 48, 3000, 240


def main(folder="."):
    air = load_london_air()
    print(f"PM10: {air.source}.")
    Y, future = air.values[:-AHEAD], air.values[-AHEAD:]
    removed = segment_mask(Y.shape, 0.3, rng=0, missing=np.isnan(Y))
    X = np.where(removed, np.nan, Y)
    model = SequenceFilter().fit(X)
    filled, std = model.impute(X, return_std=True)
    print(f"Gaps: RMSE {rmse(Y, filled, where=removed):.2f}, "
          f"{coverage(Y, filled, std, where=removed):.1%} inside the 95% interval.")  # fmt: skip
    ahead, ahead_std = model.forecast(AHEAD, return_std=True)
    last = np.array([column[~np.isnan(column)][-1] for column in X.T])
    print(f"Forecast of {AHEAD} hours: RMSE {rmse(future, ahead):.2f} (last value: "
          f"{rmse(future, np.broadcast_to(last, future.shape)):.2f}, mean: "
          f"{rmse(future, np.broadcast_to(np.nanmean(X, axis=0), future.shape)):.2f}), "
          f"{coverage(future, ahead, ahead_std):.1%} inside the 95% interval.")  # fmt: skip

    broken = X.copy()
    station = int(np.argmax((~np.isnan(X)).sum(axis=0)))
    broken[BROKEN:, station] += 60.0
    sound, alarms = model.alarms(X), model.alarms(broken)
    print(f"Alarms: {sound.fired.sum()} in {len(X)} hours as they were.")
    late = np.flatnonzero((alarms.fired & ~sound.fired)[BROKEN:])
    heard = f"comes {late[0]} hours later" if len(late) else "never comes"
    print(f"Station {station} breaks at hour {BROKEN}; the first alarm that it adds {heard}.")
    path = Path(folder) / "air_quality.png"
    draw(Y, removed, filled, std, future, ahead, ahead_std, path)
    print(f"Open {path}.")


def draw(Y, removed, filled, std, future, ahead, ahead_std, path):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 6.6), layout="constrained")
    shown = slice(max(len(Y) - SHOWN, 0), len(Y))
    best = np.argsort(-removed[shown].sum(axis=0) - 1e-3 * (~np.isnan(future)).sum(axis=0))[:3]
    hours = np.arange(len(Y))[shown]
    later = len(Y) + np.arange(len(future))
    for axis, i in zip(figure.subplots(3, 1, sharex=True), best, strict=True):
        gap = removed[shown, i]
        fill, spread = np.where(gap, filled[shown, i], np.nan), 2 * std[shown, i]
        axis.fill_between(hours, fill - spread, fill + spread, color="#56B4E9", alpha=0.4, lw=0, label="±2σ")
        axis.fill_between(later, ahead[:, i] - 2 * ahead_std[:, i], ahead[:, i] + 2 * ahead_std[:, i],
                          color="#E69F00", alpha=0.3, lw=0, label="±2σ of the forecast")  # fmt: skip
        axis.plot(hours, np.where(gap, np.nan, Y[shown, i]), color="#555555", lw=1.1, label="observed")
        axis.plot(hours[gap], Y[shown, i][gap], ".", color="#D55E00", ms=4, label="removed")
        axis.plot(hours, fill, color="#0072B2", lw=1.6, label="filled in")
        axis.plot(later, ahead[:, i], color="#B36B00", lw=1.6, label="forecast")
        axis.plot(later, future[:, i], ".", color="#555555", ms=4, label="what came")
        axis.set_title(f"station {i}", loc="left", fontsize=10, fontweight="bold")
        axis.set_ylabel("PM10 (µg/m³)")
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(alpha=0.25)
    axis.set_xlabel("hour")
    figure.legend(*axis.get_legend_handles_labels(), loc="outside lower center", ncols=7, fontsize=8, frameon=False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main(*sys.argv[1:])
