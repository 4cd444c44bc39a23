"""Columns that are rarely seen, and columns of different units: how ``DictionaryFilter`` fills them.

Five tables. docs/uncertainty.md has lines of all of them but ``tables``, in words of its own:

* columns: a matrix of low rank whose first column is seen in few rows, starts late, or is seen in one regime of the
  data only; the others are complete. The column is then asked for in 300 further rows.
* few: the same with very few values, which may spread further than those of the other columns.
* silent: sensors that fall silent while the dictionary drifts, asked for when they return (``silent_sensors``).
* tables: entries held out of small public tables and synthetic ones, all columns in one unit.
* units: the same of tables as they come, in the units that somebody chose, beside the column mean.

The first line is the paper's filter, the second the default; the others are the default with another value of one
constant. Nothing here is looked at when a filter is fitted.

    python -m benchmarks.rare_columns [--seeds N] [--jobs N] [--only columns few silent tables units]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

from factorstream import BayesianFactorization, DictionaryFilter, LowRankImputer
from factorstream.cores import limited

from . import silent_sensors
from .defaults import Array, data_sets, held_out_error
from .peers import PAPER

NOISE, ASKED = 0.3, 300


class Problem(NamedTuple):
    """Rows to learn from, rows to ask about, and what their first column is."""

    X: Array
    asked: Array
    truth: Array


def problem(
    seed: int, r: int = 3, m: int = 20, n: int = 500, seen: int = 30, kind: str = "at random", spread: float = 1.0
) -> Problem:
    """The first column is seen in some of n rows: any, the last ones, or those where one coefficient is small."""
    rng = np.random.default_rng(seed)
    C, Z = rng.standard_normal((m, r)), rng.standard_normal((n + ASKED, r))
    order = {"at random": rng.permutation(n), "late": np.arange(n)[::-1], "regime": np.argsort(np.abs(Z[:n, 0]))}[kind]
    X = Z @ C.T + NOISE * rng.standard_normal((n + ASKED, m))
    X[:, 0] *= spread
    learned, asked = X[:n].copy(), X[n:].copy()
    learned[order[seen:], 0] = asked[:, 0] = np.nan
    return Problem(learned, asked, X[n:, 0])


PROBLEMS: dict[str, Callable[[int], Problem]] = {
    "30 of 500": problem,
    "100 of 500": partial(problem, seen=100),
    "60 of 500, r=10": partial(problem, r=10, seen=60),
    "150 of 500, r=10": partial(problem, r=10, seen=150),
    "30 of 500, m=2000": partial(problem, m=2000),
    "late, 500 of 2500": partial(problem, n=2500, seen=500, kind="late"),
    "one regime, 100 of 500": partial(problem, seen=100, kind="regime"),
}
COMPONENTS = {name: 10 if "r=10" in name else 3 for name in PROBLEMS}

FEW, SPREADS = (5, 10, 15, 30, 60, 100), (1.0, 3.0, 10.0, 100.0)  # values of a column, and how far they spread

CORE = "factorstream.core.filter."
CHANGES: dict[str, dict[str, float]] = {
    "shared": {},
    "counted": {},
    "COUNTED_NOISE_SHARE=0.0005": {"factorstream.tall.starting.COUNTED_NOISE_SHARE": 0.0005},
    "COUNTED_NOISE_SHARE=0.01": {"factorstream.tall.starting.COUNTED_NOISE_SHARE": 0.01},
    "COUNTED_NOISE_SHARE=0.05": {"factorstream.tall.starting.COUNTED_NOISE_SHARE": 0.05},
    "TRUST_POWER=1": {CORE + "counted.TRUST_POWER": 1.0},
    "TRUST_POWER=2": {CORE + "counted.TRUST_POWER": 2.0},
    "YOUNG=2": {CORE + "groups.YOUNG": 2},
    "YOUNG=20": {CORE + "groups.YOUNG": 20},
    "SETTLED=5": {CORE + "groups.SETTLED": 5},
    "SETTLED=1000": {CORE + "groups.SETTLED": 1000},
    "ROOM=0": {CORE + "groups.ROOM": 0, CORE + "groups.ROOM_PER_ENTRY": 0.0},
    "STEPS_PER_HALF=1": {CORE + "groups.STEPS_PER_HALF": 1},
}
"""By name: constants of the filter with other values. "shared" is the paper's filter."""
UNIT_CHANGES: dict[str, dict[str, float]] = {
    "shared": {},
    "counted": {},
    "OTHER_UNIT=1": {CORE + "units.OTHER_UNIT": 1.0},
    "OTHER_UNIT=2": {CORE + "units.OTHER_UNIT": 2.0},
    "OTHER_UNIT=10": {CORE + "units.OTHER_UNIT": 10.0},
    "scale=False": {},
}
"""The same for the units of columns."""


@contextmanager
def changed(change: str) -> Iterator[dict[str, Any]]:
    """Constants have their other values; given are the parameters of the filter. On one thread, without compiled rows.

    Compiled rows have the constants of the day on which they were compiled.
    """
    with ExitStack() as stack:
        stack.enter_context(limited(1))
        stack.enter_context(patch.dict("os.environ", FACTORSTREAM_COMPILED="0"))
        for path, value in (CHANGES | UNIT_CHANGES)[change].items():
            stack.enter_context(patch(path, value))
        yield {"shared": PAPER, "scale=False": {"scale": False}}.get(change, {})


def judged(change: str, name: str, seed: int) -> tuple[float, float]:
    """Coverage of 95% intervals and mean squared error of one filter for one column."""
    with changed(change) as kind:
        return _held(PROBLEMS[name](seed), DictionaryFilter(COMPONENTS[name], random_state=seed, **kind))


def with_few(estimator: str, seen: int, spread: float, seed: int) -> tuple[float, float]:
    """The same for a column that is seen in few of 500 rows."""
    model = (
        LowRankImputer(random_state=seed) if estimator == "LowRankImputer" else DictionaryFilter(3, random_state=seed)
    )
    with changed("counted"):
        return _held(problem(seed, seen=seen, spread=spread), model)


def _held(given: Problem, model: DictionaryFilter | LowRankImputer) -> tuple[float, float]:
    lower, upper = model.fit(given.X).predict_interval(given.asked)
    truth, middle = given.truth, (lower + upper)[:, 0] / 2.0
    return float(np.mean((lower[:, 0] <= truth) & (truth <= upper[:, 0]))), float(np.mean((middle - truth) ** 2))


def by_sweeps(name: str, seed: int) -> float:
    """Mean squared error of the variational fit."""
    given = PROBLEMS[name](seed)
    with limited(1):
        model = BayesianFactorization(COMPONENTS[name], calibrate=False, random_state=seed).fit(given.X)
        return float(np.mean((np.asarray(model.impute(given.asked))[:, 0] - given.truth) ** 2))


def on_table(change: str, name: str, seeds: int) -> float:
    """Error of held-out entries of one data set of ``defaults``."""
    X, r = data_sets()[name]
    with changed(change) as kind:
        return held_out_error(X, r, range(seeds), kind.get("covariance", "counted"))


RAW_TABLES: dict[str, Callable[[], Any]] = {
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "diabetes": partial(load_diabetes, scaled=False),
    "iris": load_iris,
}
UNIT_COMPONENTS = (3, 10)


def in_raw_units(change: str, name: str, r: int, seed: int) -> tuple[float, float, float]:
    """Of a fifth of a table's entries: mean squared error, that of the column mean, and coverage of 95% intervals.

    Errors are in standard deviations of the columns.
    """
    X = np.asarray(RAW_TABLES[name]().data, dtype=np.float64)
    gone = np.random.default_rng(seed).random(X.shape) < 0.2
    gappy = np.where(gone, np.nan, X)
    with changed(change) as kind:
        lower, upper = DictionaryFilter(r, random_state=seed, **kind).fit(gappy).predict_interval(gappy)
    errors = [(filled - X) / X.std(axis=0) for filled in ((lower + upper) / 2.0, np.nanmean(gappy, axis=0))]
    ours, mean = (float(np.mean(error[gone] ** 2)) for error in errors)
    return ours, mean, float(np.mean(((lower <= X) & (upper >= X))[gone]))


# ------------------------------------------------------------------ what is printed


def print_line(name: str, cells: Sequence[str]) -> None:
    """A line of a Markdown table."""
    print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def print_heading(words: str, names: Sequence[str]) -> None:
    """What comes, and the first two lines of its table."""
    print(f"\n{words}\n")
    print_line("", names)
    print("|---|" + "---|" * len(names))


def _mean(parts: Sequence[Future[Any]]) -> Array:
    return np.asarray(np.mean([each.result() for each in parts], axis=0))


def columns(pool: Executor, seeds: int) -> Callable[[], None]:
    """Rarely seen columns: starts the work, and gives what prints it."""
    sweeps = {name: [pool.submit(by_sweeps, name, seed) for seed in range(seeds)] for name in PROBLEMS}
    cells = {(c, n): [pool.submit(judged, c, n, seed) for seed in range(seeds)] for c in CHANGES for n in PROBLEMS}

    def show() -> None:
        best = {name: float(_mean(parts)) for name, parts in sweeps.items()}
        print_heading("coverage of 95% intervals / RMSE / RMSE over the variational fit's", list(PROBLEMS))
        for change in CHANGES:
            found = {name: _mean(cells[change, name]) for name in PROBLEMS}
            print_line(
                change,
                [f"{hold:.3f} / {mse**0.5:.3f} / {(mse / best[n]) ** 0.5:.2f}" for n, (hold, mse) in found.items()],
            )

    return show


def few(pool: Executor, seeds: int) -> Callable[[], None]:
    """Columns with very few values."""
    cells = {
        (name, spread, seen): [pool.submit(with_few, name, seen, spread, seed) for seed in range(seeds)]
        for name in ("DictionaryFilter", "LowRankImputer")
        for spread in SPREADS
        for seen in FEW
    }

    def show() -> None:
        print_heading("coverage of 95% intervals of a column with few values", [f"{seen} of 500" for seen in FEW])
        for name, spread in dict.fromkeys((name, spread) for name, spread, _ in cells):
            print_line(f"`{name}`, spread × {spread:g}", [f"{_mean(cells[name, spread, n])[0]:.2f}" for n in FEW])

    return show


def silent(pool: Executor, seeds: int) -> Callable[[], None]:
    """Silent sensors."""
    cells = {
        (kind, rows): [pool.submit(silent_sensors.asked, rows, seed, kind) for seed in range(seeds)]
        for kind in silent_sensors.KINDS
        for rows in silent_sensors.SILENT
    }

    def show() -> None:
        asked = ["at return", *(f"after {n}" for n in silent_sensors.AFTER[1:])]
        print_heading("silent sensors under drift: coverage of 95% intervals / RMSE", asked)
        for (kind, rows), parts in cells.items():
            print_line(
                f"{kind}, silent for {rows} rows", [f"{hold:.3f} / {mse**0.5:.3f}" for hold, mse in _mean(parts)]
            )

    return show


def tables(pool: Executor, seeds: int) -> Callable[[], None]:
    """Held-out entries."""
    names, few = list(data_sets()), max(1, seeds // 4)
    cells = {change: [pool.submit(on_table, change, name, few) for name in names] for change in CHANGES}

    def show() -> None:
        print_heading("error of held-out entries, relative to their size", names)
        for change, parts in cells.items():
            print_line(change, [f"{each.result():.4f}" for each in parts])

    return show


def units(pool: Executor, seeds: int) -> Callable[[], None]:
    """Tables in the units that they came in."""
    pairs = [(name, r) for name in RAW_TABLES for r in UNIT_COMPONENTS]
    cells = {
        (change, pair): [pool.submit(in_raw_units, change, *pair, seed) for seed in range(max(1, seeds // 4))]
        for change in UNIT_CHANGES
        for pair in pairs
    }

    def show() -> None:
        heading = "a fifth of the entries hidden: RMSE in standard deviations / coverage of 95% intervals"
        print_heading(heading, [f"{name}, r={r}" for name, r in pairs])
        print_line("column mean", [f"{_mean(cells['counted', pair])[1] ** 0.5:.3f}" for pair in pairs])
        for change in UNIT_CHANGES:
            found = [_mean(cells[change, pair]) for pair in pairs]
            print_line(change, [f"{mse**0.5:.3f} / {hold:.3f}" for mse, _, hold in found])

    return show


PARTS = {"columns": columns, "few": few, "silent": silent, "tables": tables, "units": units}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS), help="only these tables")
    given = parser.parse_args(arguments)
    with ProcessPoolExecutor(given.jobs) as pool:
        for show in [PARTS[name](pool, given.seeds) for name in given.only]:
            show()


if __name__ == "__main__":
    main()
