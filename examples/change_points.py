"""Change points: when the innovations stop looking like the model's.

A panel of 12 series follows two common factors. Then three things happen to it:

  row  900   half of the series shift by 1.5 standard deviations of their noise
  row 1300   the noise of all series grows by half
  row 1700   the loadings of the second factor change their sign in half of the series

`SequenceFilter.alarms` turns each row's innovations into one normal score (positive: the row was further off than the
model expected) and sums it in a two-sided CUSUM. Its threshold follows from the rate of false alarms one is ready to
accept, here 1e-3 per row. The model is fitted to the first 600 rows, before anything has happened.

A fitted model is not told that its world has changed, so after a change the scores stay high; the rule's own slow
mean (500 rows) takes that in, and until it has, alarms repeat. What counts is the first one. The scores are not quite
independent and the model is learned, so the false-alarm rate is measured on 40 panels in which nothing happens.

    python examples/change_points.py          writes change_points.png
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from factorstream import SequenceFilter

T, M, TRAIN, NOISE, RATE = 2000, 12, 600, 0.5, 1e-3
CHANGES = {900: "half of the series shift", 1300: "all noise grows by half", 1700: "a factor changes its sign"}
PANELS, QUIET = 20, 40


def make_panel(seed, changes):
    """Rows with a tenth of the entries missing; ``changes`` are the numbers of those that happen."""
    rng = np.random.default_rng(seed)
    when = [t if number in changes else T for number, t in enumerate(CHANGES)]
    C, x, rows = rng.standard_normal((M, 2)), np.zeros(2), []
    other = C * np.where(np.arange(M)[:, None] % 2, [1.0, -1.0], 1.0)
    shift = 1.5 * NOISE * (np.arange(M) % 2)
    for t in range(T):
        x = 0.9 * x + np.sqrt(0.19) * rng.standard_normal(2)
        noise = NOISE * (1.5 if t >= when[1] else 1.0) * rng.standard_normal(M)
        rows.append((other if t >= when[2] else C) @ x + (t >= when[0]) * shift + noise)
    Y = np.array(rows)
    return np.where(rng.random(Y.shape) < 0.1, np.nan, Y)


def watch(Y):
    return SequenceFilter(n_components=2, drift="none", alarm_rate=RATE).fit(Y[:TRAIN]).alarms(Y)


def delay(seed, number):
    """Rows from one of the changes, alone, to the first alarm; None if there was none within 200 rows."""
    when = list(CHANGES)[number]
    fired = np.flatnonzero(watch(make_panel(seed, [number])).fired[when : when + 200])
    return int(fired[0]) if len(fired) else None


def main(folder="."):
    print(f"{'change':32} {'found':>8} {'median delay':>13} {'90%':>5}")
    for number, name in enumerate(CHANGES.values()):
        delays = [delay(seed, number) for seed in range(PANELS)]
        found = [rows for rows in delays if rows is not None]
        summary = f"{np.median(found):8.0f} rows {np.quantile(found, 0.9):5.0f}" if found else "       –"
        print(f"{name:32} {len(found):3d} of {PANELS:2d} {summary}", flush=True)
    quiet = [watch(make_panel(100 + seed, [])).fired[TRAIN:].sum() for seed in range(QUIET)]
    rows = QUIET * (T - TRAIN)
    print(
        f"False alarms without a change: {sum(quiet)} in {rows} rows, {sum(quiet) / rows:.1e} per row (set: {RATE:g})."
    )
    path = Path(folder) / "change_points.png"
    draw(make_panel(0, range(3)), path)
    print(f"Open {path}.")


def draw(Y, path):
    from matplotlib.figure import Figure

    alarms = watch(Y)
    fired = np.flatnonzero(alarms.fired)
    figure = Figure(figsize=(11, 6.6), layout="constrained")
    series, score, sums = figure.subplots(3, 1, sharex=True)
    for k in range(4):
        series.plot(Y[:, k] + 6 * k, lw=0.6, color=("#0072B2", "#009E73", "#E69F00", "#CC79A7")[k])
    series.set_title("four of the series", loc="left", fontsize=10, fontweight="bold")
    score.plot(alarms.score, lw=0.5, color="#555555")
    score.set_title("normal score of each row's innovations", loc="left", fontsize=10, fontweight="bold")
    sums.plot(alarms.up, color="#D55E00", lw=1.2, label="too far off")
    sums.plot(alarms.down, color="#0072B2", lw=1.2, label="too close")
    sums.set_title("CUSUM; triangles: alarms", loc="left", fontsize=10, fontweight="bold")
    sums.plot(fired, np.full(len(fired), -1.0), "v", color="#000000", ms=5)
    sums.legend(fontsize=8, frameon=False, loc="upper left")
    sums.set_xlabel("row")
    for axis in (series, score, sums):
        axis.axvspan(0, TRAIN, color="#0072B2", alpha=0.06, lw=0)
        for when, name in CHANGES.items():
            axis.axvline(when, color="#000000", lw=0.9, ls=(0, (4, 3)))
            if axis is series:
                axis.annotate(name, (when, 1.0), xycoords=("data", "axes fraction"), fontsize=8, va="bottom")
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(alpha=0.25)
    series.annotate("fitted to these rows", (10, 0.02), xycoords=("data", "axes fraction"), fontsize=8)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main(*sys.argv[1:])
