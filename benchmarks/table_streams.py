"""Real tables that arrive row by row: ``python -m benchmarks.table_streams [--tables 30] [--missing 0.3]
[--seed 0]``.

The tables of ``benchmarks.tables``, their rows in random order, entries removed at random. Pieces of PIECE rows are
asked about before they are learned from ("on the way": only from FROM rows on) and once more after the last row ("at
the end"). Beside ``LowRankImputer.partial_fit``: the running means of the columns; ``DictionaryFilter``, and
``BayesianFactorization`` of columns in units of the first piece, as streams; and, at the end, ``fit`` to all rows.
Errors are in standard deviations of the columns; ratios are geometric means over tables. Times are those of the
processor. Last, what a call with one row takes at most.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from benchmarks.tables import LEVEL, Array, removed, tables
from factorstream import BayesianFactorization, DictionaryFilter, LowRankImputer
from factorstream.cores import limited

PIECE, FROM = 25, 200
SPLITS = 300
"""Rows that are passed singly, to measure the longest call."""


class Errors(NamedTuple):
    """How far off fills were, in standard deviations of the columns, and how often bounds held."""

    rmse: float
    mae: float
    coverage: float


class Result(NamedTuple):
    """What one stream did with one table."""

    on_the_way: Errors | None
    at_the_end: Errors
    seconds: float  # of learning, per row


class Means:
    """Running means of the columns."""

    def __init__(self) -> None:
        self.total: Any = 0.0
        self.count: Any = 0.0

    def partial_fit(self, X: Array) -> None:
        """Take in some rows."""
        self.total = self.total + np.nansum(X, axis=0)
        self.count = self.count + (~np.isnan(X)).sum(axis=0)

    def impute(self, X: Array) -> Array:
        """X with its gaps filled."""
        return np.where(np.isnan(X), self.total / np.maximum(self.count, 1), X)


class Scaled:
    """A model of columns in units of the first rows that it is given."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.mean: Any = None
        self.unit: Any = None

    def partial_fit(self, X: Array) -> None:
        """Take in some rows."""
        if self.unit is None:
            self.mean, self.unit = np.nan_to_num(np.nanmean(X, axis=0)), np.nan_to_num(np.nanstd(X, axis=0))
            self.unit[self.unit == 0] = 1.0
        self.model.partial_fit((X - self.mean) / self.unit)

    def impute(self, X: Array) -> Array:
        """X with its gaps filled."""
        filled: Array = self.model.impute((X - self.mean) / self.unit) * self.unit + self.mean
        return filled

    def predict_interval(self, X: Array, level: float) -> tuple[Array, Array]:
        """Bounds of the gaps."""
        lower, upper = self.model.predict_interval((X - self.mean) / self.unit, level)
        return lower * self.unit + self.mean, upper * self.unit + self.mean


def streams(seed: int = 0) -> dict[str, Callable[[int], Any]]:
    """What is compared, given the number of columns."""
    return {
        "LowRankImputer": lambda m: LowRankImputer(random_state=seed, keep_empty_features=True),
        "column mean": lambda m: Means(),
        "DictionaryFilter": lambda m: DictionaryFilter(min(10, m - 1), random_state=seed),
        "BayesianFactorization": lambda m: Scaled(
            BayesianFactorization(min(10, m - 1), noise_variance="per_feature", calibrate=True, random_state=seed)
        ),
    }


def errors(found: list[tuple[Array, Array]]) -> Errors:
    """Of distances of fills, and whether bounds held, piece by piece."""
    off, held = (np.concatenate(one) for one in zip(*found, strict=True))
    return Errors(float(np.sqrt(np.mean(off**2))), float(np.mean(off)), float(np.mean(held)))


def asked(model: Any, X: Array, gone: Array, unit: Array) -> tuple[Array, Array]:
    """How far off the fills of the removed entries are, and whether their bounds hold them (NaN without bounds)."""
    gappy = np.where(gone, np.nan, X)
    off = np.abs((model.impute(gappy) - X) / unit)[gone]
    if not hasattr(model, "predict_interval"):
        return off, np.full(off.shape, np.nan)
    lower, upper = model.predict_interval(gappy, LEVEL)
    return off, ((lower <= X) & (upper >= X))[gone].astype(float)


def streamed(model: Any, X: Array, gone: Array) -> Result:
    """Ask about every piece before it is learned from, and about all of them at the end."""
    unit, found, seconds = _unit(X), [], 0.0
    gappy = np.where(gone, np.nan, X)
    for first in range(0, len(X), PIECE):
        some = slice(first, first + PIECE)
        if first >= FROM and gone[some].any():
            found.append(asked(model, X[some], gone[some], unit))
        started = time.process_time()
        model.partial_fit(gappy[some])
        seconds += time.process_time() - started
    end = errors([asked(model, X, gone, unit)])
    return Result(errors(found) if found else None, end, seconds / len(X))


def fitted(X: Array, gone: Array, seed: int) -> Result:
    """The same rows at once."""
    started = time.process_time()
    model = LowRankImputer(random_state=seed, keep_empty_features=True).fit(np.where(gone, np.nan, X))
    seconds = time.process_time() - started
    return Result(None, errors([asked(model, X, gone, _unit(X))]), seconds / len(X))


def _unit(X: Array) -> Array:
    unit: Array = np.nanstd(X, axis=0)
    unit[unit == 0] = 1.0
    return unit


def longest_call(X: Array) -> tuple[float, float]:
    """Seconds of the processor that a call with one row takes at most, and on average, in the last rows of X."""
    model, taken = LowRankImputer(random_state=0, keep_empty_features=True).partial_fit(X[:-SPLITS]), []
    for row in X[-SPLITS:]:
        started = time.process_time()
        model.partial_fit(row[None])
        taken.append(time.process_time() - started)
    return max(taken), float(np.mean(taken))


def ratio(mine: list[Errors], theirs: list[Errors], k: int) -> tuple[float, float]:
    """Geometric mean of ours over theirs, and the share of tables in which ours is smaller."""
    by = np.log([a[k] / b[k] for a, b in zip(mine, theirs, strict=True)])
    return float(np.exp(by.mean())), float(np.mean(by < 0))


def report(found: dict[str, list[Result]]) -> None:
    """Print both tables, and how often bounds held."""
    for when in ("on_the_way", "at_the_end"):
        of = {name: [getattr(one, when) for one in results] for name, results in found.items()}
        of = {name: [one for one in results if one is not None] for name, results in of.items()}
        mine = of["LowRankImputer"]
        print(f"\n{when.replace('_', ' ')}, {len(mine)} tables\n")
        print("| stream over | RMSE | smaller | MAE | smaller |\n|---|---|---|---|---|")
        for name in [name for name in of if name != "LowRankImputer" and len(of[name]) == len(mine)]:
            rmse, mae = ratio(mine, of[name], 0), ratio(mine, of[name], 1)
            print(f"| {name} | {rmse[0]:.3f} | {rmse[1]:.0%} | {mae[0]:.3f} | {mae[1]:.0%} |")
        for name, results in of.items():
            if results and not np.isnan(results[0].coverage):
                held = np.percentile([one.coverage for one in results], [5, 50, 95])
                print(f"\n{name}: {LEVEL:.0%} bounds hold {held[0]:.3f}, {held[1]:.3f}, {held[2]:.3f}", end="")
        print()
    print("\n| | milliseconds per row |\n|---|---|")
    for name, results in found.items():
        print(f"| {name} | {1e3 * np.median([one.seconds for one in results]):.2g} |")


def main(arguments: list[str] | None = None) -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=30, help="how many, drawn with seed 0")
    parser.add_argument("--half", choices=("even", "odd"), default="even")
    parser.add_argument("--missing", type=float, default=0.3)
    parser.add_argument("--seed", type=int, default=0, help="random_state of the models")
    parser.add_argument("--without", nargs="*", default=[], help="streams to leave out")
    parser.add_argument("--columns", type=int, nargs="*", default=[5, 15, 30, 100], help="of the longest calls")
    given = parser.parse_args(arguments)
    every = list(tables(given.half, most_rows=2000))
    drawn = np.random.default_rng(0).choice(len(every), min(given.tables, len(every)), replace=False)
    made = {name: make for name, make in streams(given.seed).items() if name not in given.without}
    found: dict[str, list[Result]] = {name: [] for name in (*made, "fit")}
    with warnings.catch_warnings(), limited(1):
        warnings.simplefilter("ignore")
        for k in sorted(drawn):
            X = every[k][1]
            X = X[np.random.default_rng(0).permutation(len(X))]
            gone = removed(X, given.missing, "random", seed=0)
            for name, make in made.items():
                found[name].append(streamed(make(X.shape[1]), X, gone))
            found["fit"].append(fitted(X, gone, given.seed))
        print(f"{len(drawn)} tables of the {given.half} half, {given.missing:.0%} removed")
        report(found)
        print("\n| columns | longest call, s | mean call, ms |\n|---|---|---|")
        for m in given.columns:
            rng = np.random.default_rng(0)
            X = np.exp(0.5 * rng.standard_normal((2300, 3)) @ rng.standard_normal((3, m)))
            X[rng.random(X.shape) < given.missing] = np.nan
            most, mean = longest_call(X)
            print(f"| {m} | {most:.2f} | {1e3 * mean:.1f} |")


if __name__ == "__main__":
    main()
