"""Forecasts of series with trends, beside the methods that everybody has at hand.

    python -m benchmarks.sequence_trends --origins 12

``macrodata`` is that of statsmodels (the group ``bench``): 203 quarters from 1959 to 2009 of 12 columns. Those that are
positive throughout are taken as logarithms. Forecasts of 8 quarters begin at origins spread evenly over the second
half, and are made from all rows before. Beside ours: the last value; that with the mean of all changes so far (random
walk with drift); the value of the same quarter a year before with the same drift (seasonal naive); and ETS of each
column with a trend, plain and damped. ``made-up`` has two columns with trends and two without, for a quick look
without statsmodels.

For random walks, gaps are filled beside straight lines.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec

import numpy as np

from factorstream import SequenceFilter
from factorstream.cores import limited

from .defaults import Array

STEPS = 8
WALKS = 6
"""Sequences of random walks whose gaps are filled."""


def macrodata() -> tuple[list[str], Array]:
    """Names and rows; logarithms of what is positive."""
    if not find_spec("statsmodels"):
        raise SystemExit("Install the group bench: macrodata is part of statsmodels.")
    data = import_module("statsmodels.datasets").macrodata.load_pandas().data.drop(columns=["year", "quarter"])
    Y = data.to_numpy(dtype=np.float64)
    positive = (Y > 0).all(axis=0)
    Y[:, positive] = np.log(Y[:, positive])
    return list(data.columns), Y


def made_up() -> tuple[list[str], Array]:
    """A line with noise, a walk with drift, noise, and a walk."""
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(120, 4))
    Y[:, [1, 3]] = Y[:, [1, 3]].cumsum(axis=0)
    Y[:, :2] += 0.4 * np.arange(120)[:, None]
    return ["line", "drift", "noise", "walk"], Y


DATA: dict[str, Callable[[], tuple[list[str], Array]]] = {"macrodata": macrodata, "made-up": made_up}


def last_value(X: Array) -> Array:
    """The last row, for ever."""
    return np.repeat(X[-1:], STEPS, axis=0)


def with_drift(X: Array) -> Array:
    """The last row, and the mean change of all rows so far once more in every step."""
    return np.asarray(X[-1] + np.arange(1, STEPS + 1)[:, None] * (X[-1] - X[0]) / (len(X) - 1))


def a_year_before(X: Array) -> Array:
    """The same quarter of the last year, and what a year has added on the average."""
    drift = (X[-1] - X[0]) / (len(X) - 1)
    years = 1 + np.arange(STEPS) // 4
    return np.asarray(X[len(X) - 4 + np.arange(STEPS) % 4] + 4 * years[:, None] * drift)


def ets(X: Array, *, damped: bool) -> Array:
    """ETS of statsmodels with a trend, each column by itself."""
    model = import_module("statsmodels.tsa.exponential_smoothing.ets").ETSModel
    out = np.empty((STEPS, X.shape[1]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of an optimiser that has not converged
        for j, x in enumerate(X.T):
            out[:, j] = model(x, trend="add", damped_trend=damped).fit(disp=False).forecast(STEPS)
    return out


def measure(names: list[str], Y: Array, origins: int) -> None:
    """Print errors by column, and their geometric mean over those of a random walk with drift."""
    others: dict[str, Callable[[Array], Array]] = {
        "random walk with drift": with_drift,
        "last value": last_value,
        "seasonal naive": a_year_before,
    }
    if find_spec("statsmodels"):
        others["ETS, trend"] = lambda X: ets(X, damped=False)
        others["ETS, damped"] = lambda X: ets(X, damped=True)
    off: dict[str, list[Array]] = {}
    held: dict[str, list[Array]] = {}
    seconds: dict[str, float] = {}
    for origin in np.linspace(len(Y) // 2, len(Y) - STEPS, origins).astype(int):
        X, truth = Y[:origin], Y[origin : origin + STEPS]
        for name, method in others.items():
            off.setdefault(name, []).append(method(X) - truth)
        for trend in (False, True, "auto"):
            name = f"ours, trend={trend}"
            began = time.process_time()
            model = SequenceFilter(trend=trend).fit(X)
            lower, upper = model.forecast_interval(STEPS)
            seconds[name] = seconds.get(name, 0.0) + time.process_time() - began
            off.setdefault(name, []).append((lower + upper) / 2 - truth)
            held.setdefault(name, []).append((lower <= truth) & (truth <= upper))
    base = _root(off["random walk with drift"])
    print(f"{'':24s}", " ".join(f"{name[:8]:>8s}" for name in names), "   ratio")
    for name, parts in off.items():
        errors = _root(parts)
        more = ""
        if name in held:
            more = f" held {np.mean(held[name]):.3f}, {seconds[name] / origins:.1f} s each"
        ratio = np.exp(np.mean(np.log(errors / base)))
        print(f"{name:24s}", " ".join(f"{e:8.4f}" for e in errors), f"{ratio:8.3f}", more, flush=True)


def measure_walks() -> None:
    """Print errors in gaps of ten rows of random walks, beside straight lines."""
    rng = np.random.default_rng(0)
    errors: dict[str, list[float]] = {}
    for _ in range(WALKS):
        Y = rng.normal(size=(240, 4)).cumsum(axis=0)
        gone = np.repeat(rng.random((24, 4)) < 0.2, 10, axis=0)
        X = np.where(gone, np.nan, Y)
        rows = np.arange(len(Y))
        seen = np.isfinite(X)
        lines = np.stack([np.interp(rows, rows[s], x[s]) for x, s in zip(X.T, seen.T, strict=True)], axis=1)
        fills = {
            f"ours, trend={trend}": SequenceFilter(trend=trend).fit(X).impute(X) for trend in (False, True, "auto")
        }
        for name, filled in {"straight lines": lines, **fills}.items():
            errors.setdefault(name, []).append(float(np.mean((filled - Y)[gone] ** 2)))
    for name, parts in errors.items():
        print(f"gaps of random walks, {name:20s} {np.sqrt(np.mean(parts)):.3f}")


def _root(parts: list[Array]) -> Array:
    return np.asarray(np.sqrt(np.mean(np.array(parts) ** 2, axis=(0, 1))))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for every method."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", choices=list(DATA), default="macrodata")
    parser.add_argument("--origins", type=int, default=12)
    parser.add_argument("--no-walks", action="store_true", help="leave out the gaps of random walks")
    given = parser.parse_args(arguments)
    with limited(1):
        measure(*DATA[given.data](), given.origins)
        if not given.no_walks:
            measure_walks()


if __name__ == "__main__":
    main()
