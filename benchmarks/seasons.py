"""Gaps and forecasts of series with seasons, beside the copies and decompositions that everybody has at hand.

    python -m benchmarks.seasons --data bikeshare taylor --origins 12

- ``bikeshare``: hourly rentals and weather of a year, 8760 × 6, from the package ISLP. Errors are in standard
  deviations of each column; gaps last 3 to 24 hours and take a fifth; forecasts are of 24 and 168 hours.
- ``taylor``: half-hourly demand for electricity, 4032 × 1, from the package pmdarima. Gaps last 6 to 48 rows; forecasts
  are of 48 and 336 rows. The standard deviation is 5567, in whose units errors are.
- ``made-up``: two columns with a day of 12 rows and a week of 7 days, for a quick look.

The files of the two packages are read, and the packages not imported: it is enough that they are on the path.
Forecasts begin at origins spread evenly over the last 120 days (bikeshare), or the second half, and are made from all
rows before.
Beside ours: what was seen a period ago, for each period (a missing value is looked for one period earlier still), the
mean of the same place of the longest period for gaps, and, where statsmodels is installed, its MSTL with ETS for what
is left of each column after gaps are filled by straight lines.
"""

from __future__ import annotations

import argparse
import ast
import csv
import time
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

from factorstream import SequenceFilter
from factorstream.cores import limited

from .defaults import Array


class Series(NamedTuple):
    """Rows, their periods, the shortest and the longest gap, and the first origin of forecasts."""

    rows: Array
    periods: tuple[int, int]
    gaps: tuple[int, int]
    first: int


BIKESHARE_COLUMNS = ("casual", "registered", "temp", "atemp", "hum", "windspeed")


def bikeshare() -> Series:
    """Hours without a row are NaN."""
    Y = np.full((365 * 24, len(BIKESHARE_COLUMNS)), np.nan)
    with _file("ISLP", "data/Bikeshare.csv").open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            hour = int("".join(filter(str.isdigit, row["hr"])))
            Y[(int(row["day"]) - 1) * 24 + hour] = [float(row[name]) for name in BIKESHARE_COLUMNS]
    return Series(Y, (24, 168), (3, 24), len(Y) - 120 * 24 - 13)


def taylor() -> Series:
    """The longest list of numbers in the file of the data set."""
    source = next(_file("pmdarima", "datasets").glob("taylor.*"))
    tree = ast.parse(source.read_text(encoding="utf-8"))
    longest = max((node for node in ast.walk(tree) if isinstance(node, ast.List)), key=lambda node: len(node.elts))
    Y = np.array(ast.literal_eval(longest), dtype=float)[:, None]
    return Series(Y, (48, 336), (6, 48), len(Y) // 2 + 5)


def made_up() -> Series:
    """A day and a week in two columns, and noise."""
    rng = np.random.default_rng(0)
    t = np.arange(12 * 7 * 12)
    Y = rng.normal(size=(12, 2))[t % 12] + rng.normal(size=(84, 2))[t % 84] + 0.3 * rng.normal(size=(len(t), 2))
    return Series(Y, (12, 84), (2, 12), 2 * len(t) // 3)


SERIES: dict[str, Callable[[], Series]] = {"bikeshare": bikeshare, "taylor": taylor, "made-up": made_up}


def _file(package: str, path: str) -> Path:
    found = find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise SystemExit(f"Put the package {package} on the path, of which only {path} is read.")
    return Path(found.submodule_search_locations[0]) / path


def runs(Y: Array, shortest: int, longest: int, share: float = 0.2, seed: int = 0) -> Array:
    """Observed entries to remove: in each column runs of random lengths until a share of the rows is gone."""
    rng = np.random.default_rng(seed)
    gone = np.zeros(Y.shape, dtype=bool)
    for j in range(Y.shape[1]):
        while gone[:, j].mean() < share:
            length = rng.integers(shortest, longest + 1)
            start = rng.integers(0, len(Y) - length)
            gone[start : start + length, j] = True
    return np.asarray(gone & np.isfinite(Y))


def measure_gaps(series: Series, seed: int) -> None:
    """Print errors and coverage of every column's gaps."""
    Y, spread = series.rows, np.nanstd(series.rows, axis=0)
    gone = runs(Y, *series.gaps, seed=seed)
    X = np.where(gone, np.nan, Y)

    def say(name: str, filled: Array, more: str = "") -> None:
        print(f"gaps, {name:22s}", _numbers(_root((filled - Y) ** 2, gone) / spread), more, flush=True)

    place = np.arange(len(Y)) % series.periods[-1]
    means = np.array([np.nanmean(X[place == k], axis=0) for k in range(series.periods[-1])])
    say("means of the places", means[place])
    for name, period in (("without seasons", None), ("with seasons", series.periods)):
        began = time.process_time()
        model = SequenceFilter(period=period).fit(X)
        lower, upper = model.predict_interval(X)
        held = np.array([((lower <= Y) & (upper >= Y))[gone[:, j], j].mean() for j in range(Y.shape[1])])
        say(name, model.impute(X), f"held {_numbers(held)}, {time.process_time() - began:.1f} s")


def measure_forecasts(series: Series, origins: int, *, decompose: bool) -> None:
    """Print errors, means over columns, and coverage of forecasts of a day and of a week."""
    Y, (short, steps), spread = series.rows, series.periods, np.nanstd(series.rows, axis=0)
    off: dict[str, list[Array]] = {}
    held: list[Array] = []
    for origin in np.linspace(series.first, len(Y) - steps - 1, origins).astype(int):
        X, truth = Y[:origin], Y[origin : origin + steps]
        for period in series.periods:
            off.setdefault(f"{period} rows ago", []).append(copied(X, period, steps) - truth)
        if decompose:
            off.setdefault("MSTL with ETS", []).append(decomposed(X, series.periods, steps) - truth)
        off.setdefault("without seasons", []).append(SequenceFilter().fit(X).forecast(steps) - truth)
        model = SequenceFilter(period=series.periods).fit(X)
        off.setdefault("with seasons", []).append(model.forecast(steps) - truth)
        lower, upper = model.forecast_interval(steps)
        held.append(np.where(np.isfinite(truth), (lower <= truth) & (truth <= upper), np.nan))
    for length in (short, steps):
        for name, parts in off.items():
            errors = np.sqrt(np.nanmean(np.array(parts)[:, :length] ** 2, axis=(0, 1))) / spread
            print(f"{length} steps, {name:20s}", _numbers(errors), f"mean {errors.mean():.3f}")
        inside = np.nanmean(np.array(held)[:, :length], axis=(0, 1))
        print(f"{length} steps, with seasons held", _numbers(inside), f"mean {inside.mean():.3f}", flush=True)


def copied(X: Array, period: int, steps: int) -> Array:
    """The last known value of the same place of the period, for every row to come."""
    out = np.full((steps, X.shape[1]), np.nan)
    for h in range(steps):
        for j in range(X.shape[1]):
            known = X[(len(X) + h) % period :: period, j]
            known = known[np.isfinite(known)]
            out[h, j] = known[-1] if len(known) else np.nan
    return out


def decomposed(X: Array, periods: Sequence[int], steps: int) -> Array:
    """MSTL of every column, the last cycle of each season going on; ETS with a damped trend for the rest."""
    ETSModel = import_module("statsmodels.tsa.exponential_smoothing.ets").ETSModel
    MSTL = import_module("statsmodels.tsa.seasonal").MSTL
    out = np.empty((steps, X.shape[1]))
    for j, x in enumerate(X.T):
        seen = np.flatnonzero(np.isfinite(x))
        parts = MSTL(np.interp(np.arange(len(x)), seen, x[seen]), periods=periods).fit()
        seasons = parts.seasonal.reshape(len(x), -1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of an optimiser that has not converged
            rest = ETSModel(parts.trend + parts.resid, trend="add", damped_trend=True).fit(disp=False)
        out[:, j] = rest.forecast(steps)
        for k, period in enumerate(sorted(periods)):
            out[:, j] += np.resize(seasons[-period:, k], steps)
    return out


def _root(squares: Array, where: Array) -> Array:
    return np.sqrt([squares[where[:, j], j].mean() for j in range(squares.shape[1])])


def _numbers(values: Array) -> str:
    return " ".join(f"{value:.3f}" for value in values)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for every method and question."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", choices=list(SERIES), default=list(SERIES))
    parser.add_argument("--origins", type=int, default=12, help="of forecasts; 0 leaves them out")
    parser.add_argument("--seeds", type=int, default=1, help="masks of gaps; 0 leaves them out")
    given = parser.parse_args(arguments)
    for name in given.data:
        series = SERIES[name]()
        print(f"{name}: {series.rows.shape[0]} rows, {series.rows.shape[1]} columns, periods {series.periods}")
        with limited(1):
            for seed in range(given.seeds):
                measure_gaps(series, seed)
            if given.origins:
                measure_forecasts(series, given.origins, decompose=find_spec("statsmodels") is not None)


if __name__ == "__main__":
    main()
