"""How often 95% intervals of ``DictionaryFilter`` hold in single columns, where each has a noise of its own.

Y = X Cᵀ + noise, X and C standard normal. The noise has the deviation 0.3 in all columns, or one between 0.05 and 1.5
in each; columns are in one unit, or in units between 10⁻³ and 10³. Printed are quantiles of the coverage over the
columns of all seeds, and the mean width beside that without a noise per column, for several numbers of kept rows.

    python -m benchmarks.column_noises [--seeds N] [--jobs N]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from factorstream import DictionaryFilter
from factorstream.cores import limited
from factorstream.estimators import _kept_rows

Array = NDArray[np.float64]


class Case(NamedTuple):
    """Rows, columns, components, share missing; whether every column has its own noise and its own unit."""

    n: int
    m: int
    r: int
    missing: float
    noises: bool
    units: bool


SIZES = [(500, 20, 3, 0.3), (500, 20, 3, 0.7), (150, 10, 3, 0.3), (50, 20, 3, 0.3), (2000, 40, 5, 0.3)]
CASES = [
    Case(*size, noises, units) for size in SIZES for noises, units in ((False, False), (True, False), (True, True))
]
KEPT = [1, 32, 64, 128]
"""Rows that are kept; one says nothing, and all columns have the same noise in their units."""
QUANTILES = [0.0, 0.1, 0.5, 0.9, 1.0]


def judged(case: Case, kept: int, seed: int) -> tuple[Array, float]:
    """The coverage of every column, and the mean logarithm of the widths."""
    rng = np.random.default_rng(seed)
    n, m, r = case.n, case.m, case.r
    noise = np.exp(rng.uniform(np.log(0.05), np.log(1.5), m)) if case.noises else np.full(m, 0.3)
    X = rng.standard_normal((n, r)) @ rng.standard_normal((r, m)) + noise * rng.standard_normal((n, m))
    X += 3.0 * rng.standard_normal(m)
    if case.units:
        X *= 10.0 ** rng.uniform(-3.0, 3.0, m)
    gone = rng.random(X.shape) < case.missing
    some = ~gone.all(axis=1)
    X, gone = X[some], gone[some]
    gappy = np.where(gone, np.nan, X)
    with limited(1), patch.multiple(_kept_rows, MOST=kept, LEAST=kept):
        model = DictionaryFilter(r, random_state=seed).fit(gappy)
    low, high = model.predict_interval(gappy)
    held = np.sum((low <= X) & (high >= X) & gone, axis=0) / gone.sum(axis=0)
    return held, float(np.log((high - low)[gone]).mean())


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args(arguments)
    print("| rows, columns, r, missing | noise | unit | kept | " + " | ".join(f"{q:.0%}" for q in QUANTILES), end="")
    print(" | mean | width |\n|" + "---|" * (len(QUANTILES) + 6))
    with ProcessPoolExecutor(given.jobs) as pool:
        jobs = {key: pool.submit(judged, *key) for key in product(CASES, KEPT, range(given.seeds))}
        for case in CASES:
            plain = np.mean([jobs[case, KEPT[0], seed].result()[1] for seed in range(given.seeds)])
            for kept in KEPT:
                results = [jobs[case, kept, seed].result() for seed in range(given.seeds)]
                held, width = (
                    np.concatenate([one[0] for one in results]),
                    np.exp(np.mean([one[1] for one in results]) - plain),
                )
                words = "own" if case.noises else "same", "own" if case.units else "same", str(kept)
                numbers = [f"{value:.2f}" for value in np.quantile(held, QUANTILES)]
                size = f"{case.n}, {case.m}, {case.r}, {case.missing:.0%}"
                print("| " + " | ".join([size, *words, *numbers, f"{held.mean():.3f}", f"{width:.2f}"]) + " |")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
