"""How often 95% intervals hold, over sizes and gaps: rows for the table of docs/uncertainty.md.

Well-specified data: Y = X Cᵀ + noise, X and C standard normal, noise of deviation 0.3, entries missing at random. Every
cell of the grid is (rows, features, components, share missing); cells with fewer observed entries than parameters
are left out. Coverage is over the missing entries of all seeds.

    python benchmarks/coverage.py --jobs 16
    python benchmarks/coverage.py --only "LowRankImputer" --seeds 5 --cells
    python benchmarks/coverage.py --single    # small tables one by one: the mean, and the lowest of twenty
    python benchmarks/coverage.py --wine      # a small real table as it is, with few and many components
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_wine

from factorstream import BayesianFactorization, DictionaryFilter, LowRankImputer
from factorstream.core.variational.conformal import CalibrationError
from factorstream.cores import limited
from factorstream.masks import random_mask

Array = NDArray[np.float64]

NOISE, LEVEL = 0.3, 0.95
BAR = 0.92
"""Cells below this are named."""

ESTIMATORS: dict[str, Callable[[int], Any]] = {
    "DictionaryFilter(r)": lambda r: DictionaryFilter(r, random_state=0),
    "DictionaryFilter(r, covariance='shared', scale=False)": lambda r: DictionaryFilter(
        r, covariance="shared", scale=False, random_state=0
    ),
    "BayesianFactorization(r)": lambda r: BayesianFactorization(r),
    "BayesianFactorization(r, noise_variance='per_feature')": lambda r: BayesianFactorization(
        r, noise_variance="per_feature"
    ),
    "BayesianFactorization()": lambda r: BayesianFactorization(random_state=0),
    "BayesianFactorization(noise_variance='per_feature')": lambda r: BayesianFactorization(
        noise_variance="per_feature", random_state=0
    ),
    "LowRankImputer(calibrate=False)": lambda r: LowRankImputer(calibrate=False, random_state=0),
    "LowRankImputer()": lambda r: LowRankImputer(random_state=0),
}
"""What is measured, by the line it has in the table; called with the true number of components."""


class Cell(NamedTuple):
    """A size of the data."""

    n: int
    m: int
    r: int
    missing: float
    hides_large: bool = False  # gaps are not at random: the largest values of every feature are missing

    @property
    def n_observed(self) -> float:
        """Entries that are observed on average."""
        return self.n * self.m * (1.0 - self.missing)

    @property
    def n_parameters(self) -> int:
        """Loadings, coefficients and means."""
        return self.r * (self.n + self.m) + self.m


GRID = [
    cell
    for cell in (Cell(*sizes) for sizes in product((15, 50, 150, 500), (5, 20, 40), (1, 3), (0.3, 0.7, 0.9)))
    if cell.n_observed >= cell.n_parameters
]


SMALL = [Cell(150, 6, r, missing) for r in (1, 2, 3) for missing in (0.1, 0.3)]
"""Sizes of tables that are looked at one by one."""


class Held(NamedTuple):
    """What one fit, or all fits of a cell, came to."""

    held: int  # missing entries that their interval holds
    entries: int  # missing entries
    warned: int  # fits with a warning, or without an answer
    refused: int = 0  # fits without an answer: too few entries could be hidden to calibrate this level
    squares: float = 0.0  # sum of the squared errors of all missing entries, those without bounds too
    filled: int = 0  # how many these are


def draw(cell: Cell, seed: int) -> tuple[Array, Array]:
    """The whole matrix, and the same with NaN in its gaps; every feature keeps at least one value."""
    rng = np.random.default_rng([seed, *cell[:3], int(100 * cell.missing)])
    X, C = rng.standard_normal((cell.n, cell.r)), rng.standard_normal((cell.m, cell.r))
    Y = X @ C.T + NOISE * rng.standard_normal((cell.n, cell.m))
    gaps = rng.random(Y.shape) < cell.missing
    if cell.hides_large:
        gaps = np.quantile(Y, 1.0 - cell.missing, axis=0) < Y
    gaps[rng.integers(cell.n, size=cell.m), np.arange(cell.m)] &= ~gaps.all(axis=0)
    return Y, np.where(gaps, np.nan, Y)


def measure(name: str, cell: Cell, seed: int) -> Held:
    """Fit, and count the missing entries that lie within their bounds."""
    return held_by(ESTIMATORS[name](cell.r), *draw(cell, seed))


def held_by(model: Any, Y: Array, gappy: Array) -> Held:
    """Fit a model to a table with gaps, whose whole is Y, and count."""
    with warnings.catch_warnings(record=True) as told, limited(1):
        warnings.simplefilter("always")
        model.fit(gappy)
        gaps = np.isnan(gappy)
        fill = model.transform if isinstance(model, LowRankImputer) else model.impute
        error = float(np.sum((fill(gappy) - Y)[gaps] ** 2)), int(gaps.sum())
        try:
            lower, upper = model.predict_interval(gappy, LEVEL)
        except CalibrationError:  # said to be impossible: neither right nor wrong
            return Held(0, 0, 1, 1, *error)
    held = int(np.sum((lower <= Y)[gaps] & (upper >= Y)[gaps]))
    return Held(held, int(gaps.sum()), int(bool(told)), 0, *error)


def _measured(job: tuple[str, Cell, int]) -> Held:
    return measure(*job)


class Result(NamedTuple):
    """The coverage of one estimator in one cell."""

    name: str
    cell: Cell
    coverage: float
    warned: float  # share of the fits with a warning, or without an answer
    refused: float  # share of the fits without an answer
    error: float  # RMSE of the missing entries


def run(names: Sequence[str], cells: Sequence[Cell], seeds: int, jobs: int) -> list[Result]:
    """All cells of all estimators."""
    work = [(name, cell, seed) for name in names for cell in cells for seed in range(seeds)]
    if jobs > 1:
        with ProcessPoolExecutor(jobs) as pool:
            found = list(pool.map(_measured, work, chunksize=seeds))
    else:
        found = [_measured(job) for job in work]
    results = []
    for at, (name, cell) in enumerate(product(names, cells)):
        total = np.sum(found[at * seeds : (at + 1) * seeds], axis=0)
        coverage = float(total[0] / total[1]) if total[1] else np.nan
        error = float(np.sqrt(total[4] / total[5]))
        results.append(Result(name, cell, coverage, float(total[2] / seeds), float(total[3] / seeds), error))
    return results


def table(results: Sequence[Result]) -> str:
    """One line per estimator: coverage by the number of rows, the cells below the bar, how many of these warned, error.

    Where fits with that many rows were refused, their share, over all cells, is said. The error is the geometric mean
    over all cells of the RMSE, relative to that of the first estimator.
    """
    rows = sorted({result.cell.n for result in results})
    heads = ["estimator", *(f"{n} rows" for n in rows), f"sizes below {BAR}", "of these with a warning", "error"]
    lines = [
        "| " + " | ".join(heads) + " |",
        "|---|" + "---|" * (len(rows) + 3),
    ]
    first = [result.error for result in results if result.name == results[0].name]
    for name in dict.fromkeys(result.name for result in results):
        mine = [result for result in results if result.name == name]
        spans = []
        for n in rows:
            values = [result.coverage for result in mine if result.cell.n == n]
            values = [value for value in values if not np.isnan(value)]
            refused = float(np.mean([result.refused for result in mine if result.cell.n == n]))
            said = f", {refused:.0%} refused" if refused else ""
            spans.append(f"{min(values):.3f} to {max(values):.3f}{said}" if values else "all refused")
        below = [result for result in mine if result.coverage < BAR]
        warned = sum(result.warned > 0.5 for result in below)
        error = float(np.exp(np.mean(np.log([result.error for result in mine]) - np.log(first))))
        verdict = f" | {len(below)} of {len(mine)} | {warned} | {error:.2f} |"
        lines.append(f"| `{name}` | " + " | ".join(spans) + verdict)
    return "\n".join(lines)


def cell_lines(results: Sequence[Result]) -> str:
    """One line per cell."""
    lines = [
        "| estimator | rows | features | components | missing | coverage | fits that warned | were refused | RMSE |",
        "|---|" + "---|" * 8,
    ]
    for name, (n, m, r, missing, _), coverage, warned, refused, error in results:
        what = f"| `{name}` | {n} | {m} | {r} | {missing:.0%} | {coverage:.3f}"
        lines.append(f"{what} | {warned:.0%} | {refused:.0%} | {error:.3f} |")
    return "\n".join(lines)


def single_lines(names: Sequence[str], seeds: int) -> str:
    """What single small tables hold, one line per estimator: means over ``seeds`` tables of a size, and the lowest."""
    lines = ["| estimator | mean of a size | lowest table of a size |", "|---|---|---|"]
    for name in names:
        shares = [
            [each.held / each.entries for each in (measure(name, cell, k) for k in range(seeds))] for cell in SMALL
        ]
        mean, lowest = np.mean(shares, axis=1), np.min(shares, axis=1)
        spans = (f"{part.min():.2f} to {part.max():.2f}" for part in (mean, lowest))
        lines.append(f"| `{name}` | " + " | ".join(spans) + " |")
    return "\n".join(lines)


WINE: dict[str, Callable[[int], Any]] = {
    "DictionaryFilter()": lambda seed: DictionaryFilter(random_state=seed),
    "DictionaryFilter(5)": lambda seed: DictionaryFilter(5, random_state=seed),
    "DictionaryFilter(3)": lambda seed: DictionaryFilter(3, random_state=seed),
    "BayesianFactorization()": lambda seed: BayesianFactorization(random_state=seed),
    "BayesianFactorization(noise_variance='per_feature')": lambda seed: BayesianFactorization(
        noise_variance="per_feature", random_state=seed
    ),
    "LowRankImputer()": lambda seed: LowRankImputer(random_state=seed),
}
"""What is asked about the wine table, by its line; called with the seed."""


def wine_lines(names: Sequence[str], seeds: int) -> str:
    """What intervals hold of 30% of the wine table (178 × 13, units as they are): mean, lowest and highest seed."""
    Y = load_wine().data
    lines = ["| estimator | mean | lowest | highest |", "|---|---|---|---|"]
    for name in names:
        shares = []
        for seed in range(seeds):
            found = held_by(WINE[name](seed), Y, np.where(random_mask(Y.shape, 0.3, rng=seed), np.nan, Y))
            shares.append(found.held / found.entries)
        spans = (f"{part:.2f}" for part in (np.mean(shares), min(shares), max(shares)))
        lines.append(f"| `{name}` | " + " | ".join(spans) + " |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1, help="processes (default: 1)")
    parser.add_argument("--seeds", type=int, default=20, help="data sets per cell (default: 20)")
    parser.add_argument("--only", default="", help="estimators whose line has this text")
    parser.add_argument(
        "--hide-large", action="store_true", help="gaps that are not at random: the largest values are missing"
    )
    parser.add_argument("--cells", action="store_true", help="also print every cell")
    parser.add_argument("--single", action="store_true", help="tables of 150 × 6 one by one, and nothing else")
    parser.add_argument("--wine", action="store_true", help="the wine table of scikit-learn, and nothing else")
    asked = parser.parse_args(arguments)
    if asked.wine:
        print(wine_lines([name for name in WINE if asked.only in name], asked.seeds))
        return
    names = [name for name in ESTIMATORS if asked.only in name]
    if asked.single:
        print(single_lines(names, asked.seeds))
        return
    cells = [cell._replace(hides_large=asked.hide_large) for cell in GRID if not asked.hide_large or cell.missing < 0.5]
    results = run(names, cells, asked.seeds, asked.jobs)
    print(table(results))
    if asked.cells:
        print("\n" + cell_lines(results))


if __name__ == "__main__":
    main()
