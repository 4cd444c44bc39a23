"""How often alarms come that should not, and how soon and rightly those that should. ``python -m benchmarks.events``.

First table: sequences in which nothing happens. `SequenceFilter` with its defaults and `alarm_rate` ASKED watches them,
after a fit of FITTED rows ("fit") or from the first row of a stream on, where watching begins after 256 rows
("stream"); where the noise has heavy tails, the last pair is that of ``robust=False`` after a fit. Counted are alarms
per row, and outliers, which are events and raise no alarm, over the rate asked for: at most 1 together is as promised.

Second table: five features on one cycle, with noise of one standard deviation. At row CHANGE feature 2 moves by so many
deviations, or has an outlier of 8, or its noise becomes three times as large. What is told in the WITHIN rows after it:
the share of sequences in which something is, the median number of rows until then, and of those found the share whose
kind is right, whose features are just the one that changed, and the median size and row of the beginning, relative to
what they are. The alarm rate is the default, 1e-4.

At last the annual flow of the Nile, which fell in 1899: 1871 to 1895 to learn from, the rest one by one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from factorstream import SequenceFilter

Array = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Array]

ASKED = 3e-3
FITTED, WATCHED = 300, 600
"""Rows to learn from, and rows that alarms are counted in."""
SEEDS = 4
"""Sequences of each kind in which nothing happens, and in which something does."""
CHANGE, WITHIN = 400, 60


def cycle(T: int, m: int, size: float = 3.0) -> Array:
    """Features on one cycle, each at another place of it."""
    return size * np.sin(np.arange(T)[:, None] / 9 + np.arange(m))


def gaussian(m: int) -> Draw:
    """A cycle with Gaussian noise."""
    return lambda rng, T: cycle(T, m) + rng.normal(size=(T, m))


def student(nu: float, m: int = 5) -> Draw:
    """A cycle with noise of Student's law."""
    return lambda rng, T: cycle(T, m) + rng.standard_t(nu, size=(T, m))


def autoregressive(phi: float, m: int = 3) -> Draw:
    """Features that come back to their mean, each by itself."""

    def draw(rng: np.random.Generator, T: int) -> Array:
        Y, e = np.zeros((T, m)), rng.normal(size=(T, m))
        for t in range(1, T):
            Y[t] = phi * Y[t - 1] + e[t]
        return Y

    return draw


def walks(rng: np.random.Generator, T: int) -> Array:
    """Random walks with noise."""
    return np.cumsum(0.3 * rng.normal(size=(T, 3)), axis=0) + rng.normal(size=(T, 3))


def gaps(rng: np.random.Generator, T: int) -> Array:
    """Gaussian noise, and a third of the entries missing in runs of ten."""
    Y = gaussian(5)(rng, T)
    Y[np.repeat(rng.random((T // 10, 5)) < 1 / 3, 10, axis=0)] = np.nan
    return Y


QUIET: dict[str, Draw] = {
    "Gaussian, 1 feature": gaussian(1),
    "10 features": gaussian(10),
    "50 features": gaussian(50),
    "gaps": gaps,
    "autoregressive, 0.5": autoregressive(0.5),
    "autoregressive, 0.9": autoregressive(0.9),
    "random walks": walks,
    "t, 4 degrees": student(4.0),
    "t, 2 degrees": student(2.0),
    "t, 1.5 degrees": student(1.5),
    "t, 2 degrees, 1 feature": student(2.0, 1),
}

SHIFTS = (1.0, 2.0, 3.0, 4.0)


def counted(draw: Draw, use: str, robust: bool | str = "auto") -> tuple[float, float]:
    """Alarms and outliers per row over the rate asked for."""
    alarms = outliers = rows = 0
    for seed in range(SEEDS):
        Y = draw(np.random.default_rng(seed), FITTED + WATCHED)
        model = SequenceFilter(3, alarm_rate=ASKED, robust=robust)
        model = model.fit(Y[:FITTED]).partial_fit(Y[FITTED:]) if use == "fit" else model.partial_fit(Y)
        alarms += len(model.alarms_)
        outliers += sum(event.kind == "outlier" for event in model.events_)
        rows += len(Y) - (FITTED if use == "fit" else 256)
    return alarms / rows / ASKED, outliers / rows / ASKED


def changed(kind: str, size: float, rng: np.random.Generator) -> Array:
    """A sequence in which something happens to feature 2."""
    T = CHANGE + WITHIN
    Y, noise = cycle(T, 5), rng.normal(size=(T, 5))
    if kind == "spread":
        noise[CHANGE:, 2] *= size
    elif kind == "shift":
        Y[CHANGE:, 2] += size
    else:
        Y[CHANGE, 2] += size
    return Y + noise


def told(kind: str, size: float, use: str) -> str:
    """A line of the second table."""
    delays, right, alone, sizes, since = [], [], [], [], []
    for seed in range(SEEDS):
        Y = changed(kind, size, np.random.default_rng(seed))
        model = SequenceFilter(3)
        model = model.fit(Y[:FITTED]).partial_fit(Y[FITTED:]) if use == "fit" else model.partial_fit(Y)
        found = [event for event in model.events_ if event.row >= CHANGE]
        if found:
            first = found[0]
            delays.append(first.row - CHANGE)
            right.append(first.kind == kind)
            alone.append(first.features == (2,))
            sizes.append(first.sizes[0] / size)
            since.append(first.since - CHANGE)
    if not delays:
        return f"{kind:8s} {size:4.0f}  {use:6s}  0.00"
    return (
        f"{kind:8s} {size:4.0f}  {use:6s}  {len(delays) / SEEDS:.2f}  {np.median(delays):5.0f}  {np.mean(right):.2f}  "
        f"{np.mean(alone):.2f}  {np.median(sizes):.2f}  {np.median(since):+4.0f}"
    )


def nile() -> list[str]:
    """What is told of the Nile in a table, in the later part of it, and in a stream."""
    from statsmodels.datasets import nile

    flow = nile.load_pandas().data["volume"].to_numpy()[:, None]
    model = SequenceFilter().fit(flow[:25])
    whole, later = model.alarms(flow), model.alarms(flow[25:])
    for row in flow[25:]:
        model.partial_fit(row[None])
    return [
        f"Nile, whole table: alarms in {[1871 + int(row) for row in whole.when]}, {list(whole.events)}",
        f"Nile, later part:  alarms in {[1896 + int(row) for row in later.when]}, {list(later.events)}",
        f"Nile, stream:      alarms in {[1871 + row for row in model.alarms_]}, {model.events_}",
    ]


def quiet(names: tuple[str, ...] = ()) -> None:
    """Print the first table, or some lines of it."""
    print(f"alarms and outliers counted / asked for (alarm_rate={ASKED:g})", flush=True)
    print(f"{'':26s}  {'fit':12s}  {'stream':12s}  fit, robust=False")
    for name in names or QUIET:
        each = [counted(QUIET[name], "fit"), counted(QUIET[name], "stream")]
        if name.startswith("t, "):
            each.append(counted(QUIET[name], "fit", robust=False))
        print(f"{name:26s}  " + "  ".join(f"{alarms:5.2f} {outliers:5.2f} " for alarms, outliers in each), flush=True)


def changes() -> None:
    """Print the second table, and the Nile."""
    print("what happens   use     told  after  kind  alone  size  since", flush=True)
    for kind, sizes in (("shift", SHIFTS), ("outlier", (8.0,)), ("spread", (3.0,))):
        for size in sizes:
            for use in ("fit", "stream"):
                print(told(kind, size, use), flush=True)
    print("\n".join(nile()))


def main(*only: str) -> None:
    """Print both tables; of the first one lines that are named, or "changes", the second one alone."""
    if only != ("changes",):
        quiet(only)
    if not only or only == ("changes",):
        changes()


if __name__ == "__main__":
    main(*sys.argv[1:])
