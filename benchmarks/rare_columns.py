"""Columns that are rarely seen: how well ``DictionaryFilter`` fills them, and what its constants do to that.

A table of low rank whose first column is seen in few rows, starts late, or is seen in one regime of the data only; the
other columns are complete. The column is then asked for in 300 further rows. Beside it, small public tables of which a
fifth of the entries is held out. Printed are coverage of 95% intervals and error, the latter relative to
``BayesianFactorization``.

    python -m benchmarks.rare_columns [--seeds N] [--jobs N]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import partial
from typing import NamedTuple
from unittest.mock import patch

import numpy as np

from factorstream import BayesianFactorization, DictionaryFilter

from .defaults import Array, data_sets, held_out_error

NOISE, ASKED = 0.3, 300


class Problem(NamedTuple):
    """Rows to learn from, rows to ask about, and what their first column is."""

    X: Array
    asked: Array
    truth: Array


def problem(seed: int, r: int = 3, m: int = 20, n: int = 500, seen: int = 30, kind: str = "at random") -> Problem:
    """The first column is seen in ``seen`` of n rows: any, the last ones, or those where one coefficient is small."""
    rng = np.random.default_rng(seed)
    C, Z = rng.standard_normal((m, r)), rng.standard_normal((n + ASKED, r))
    order = {"at random": rng.permutation(n), "late": np.arange(n)[::-1], "regime": np.argsort(np.abs(Z[:n, 0]))}[kind]
    X = Z @ C.T + NOISE * rng.standard_normal((n + ASKED, m))
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
CHANGES: dict[str, dict[str, float]] = {
    "shared": {},
    "counted": {},
    "COUNTED_NOISE_SHARE=0.0005": {"factorstream.tall.starting.COUNTED_NOISE_SHARE": 0.0005},
    "COUNTED_NOISE_SHARE=0.01": {"factorstream.tall.starting.COUNTED_NOISE_SHARE": 0.01},
    "COUNTED_NOISE_SHARE=0.05": {"factorstream.tall.starting.COUNTED_NOISE_SHARE": 0.05},
    "YOUNG=2": {"factorstream.core.filter.groups.YOUNG": 2},
    "YOUNG=20": {"factorstream.core.filter.groups.YOUNG": 20},
    "ROOM=0": {"factorstream.core.filter.groups.ROOM": 0, "factorstream.core.filter.groups.ROOM_PER_ENTRY": 0.0},
    "STEPS_PER_HALF=1": {"factorstream.core.filter.groups.STEPS_PER_HALF": 1},
}
"""By name: constants of the filter with other values."""


def judged(change: str, name: str, seed: int) -> tuple[float, float]:
    """Coverage of 95% intervals and mean squared error of one filter for one column."""
    given = PROBLEMS[name](seed)
    covariance = "shared" if change == "shared" else "counted"
    with ExitStack() as stack:
        for path, value in CHANGES[change].items():
            stack.enter_context(patch(path, value))
        model = DictionaryFilter(COMPONENTS[name], covariance=covariance, random_state=seed).fit(given.X)
        lower, upper = model.predict_interval(given.asked)
    truth, middle = given.truth, (lower + upper)[:, 0] / 2.0
    return float(np.mean((lower[:, 0] <= truth) & (truth <= upper[:, 0]))), float(np.mean((middle - truth) ** 2))


def by_sweeps(name: str, seed: int) -> float:
    """Mean squared error of the variational fit."""
    given = PROBLEMS[name](seed)
    model = BayesianFactorization(COMPONENTS[name], calibrate=False, random_state=seed).fit(given.X)
    return float(np.mean((np.asarray(model.impute(given.asked))[:, 0] - given.truth) ** 2))


def on_tables(change: str, seeds: int) -> list[float]:
    """Error of held-out entries of each data set of ``defaults``."""
    covariance = "shared" if change == "shared" else "counted"
    with ExitStack() as stack:
        for path, value in CHANGES[change].items():
            stack.enter_context(patch(path, value))
        return [held_out_error(X, r, range(seeds), covariance) for X, r in data_sets().values()]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print two tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    given = parser.parse_args(arguments)
    seeds = range(given.seeds)
    with ProcessPoolExecutor(given.jobs) as pool:
        sweeps = {name: [pool.submit(by_sweeps, name, seed) for seed in seeds] for name in PROBLEMS}
        cells = {
            (c, name): [pool.submit(judged, c, name, seed) for seed in seeds] for c in CHANGES for name in PROBLEMS
        }
        tables = {change: pool.submit(on_tables, change, max(1, given.seeds // 4)) for change in CHANGES}
        best = {name: np.mean([each.result() for each in parts]) for name, parts in sweeps.items()}
        print("coverage of 95% intervals / error relative to the variational fit\n")
        print(f"{'':28}" + "".join(f"{name:>24}" for name in PROBLEMS))
        for change in CHANGES:
            found = {name: np.mean([each.result() for each in cells[change, name]], axis=0) for name in PROBLEMS}
            line = "".join(
                f"{f'{hold:.3f} / {np.sqrt(mse / best[name]):.2f}':>24}" for name, (hold, mse) in found.items()
            )
            print(f"{change:28}{line}", flush=True)
        print("\nerror of held-out entries, relative to their size\n")
        print(f"{'':28}" + "".join(f"{name:>20}" for name in data_sets()))
        for change, table in tables.items():
            print(f"{change:28}" + "".join(f"{error:20.4f}" for error in table.result()), flush=True)


if __name__ == "__main__":
    main()
