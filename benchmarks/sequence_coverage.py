"""Whether 95% intervals of short sequences hold 95%: gaps, and forecasts of ten rows, over sizes and shares of gaps.

The rows are drawn from the model itself: r states that decay by 0.9 per row, Gaussian noise, entries missing at
random. Printed are the share of true values inside the intervals, the median width of the intervals of gaps, and the
root mean square error of what the gaps were filled with, each a mean over the seeds.

    python benchmarks/sequence_coverage.py             # the defaults
    python benchmarks/sequence_coverage.py none        # drift="none", and as many components as there are states
    python benchmarks/sequence_coverage.py plain       # calibrate=False
    python benchmarks/sequence_coverage.py default 12 20 30   # other numbers of rows
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from factorstream import SequenceFilter

Array = NDArray[np.float64]

SETTINGS: dict[str, Callable[[int], dict[str, Any]]] = {
    "default": lambda r: {},
    "none": lambda r: {"drift": "none", "n_components": r},
    "plain": lambda r: {"calibrate": False},
}
"""By name: the parameters for r states."""
ROWS, FEATURES, STATES, MISSING = (40, 80, 160), (5, 20), (1, 3), (0.3, 0.7, 0.9)
SEEDS = 20
AHEAD = 10
NORMAL = 1.959964
"""Standard deviations on either side that hold 95%."""


def sequence(T: int, m: int, r: int, missing: float, seed: int) -> tuple[Array, Array]:
    """The true rows, AHEAD of them beyond the data, and the data."""
    rng = np.random.default_rng([seed, T, m, r, int(100 * missing)])
    C, mean, x = rng.normal(size=(m, r)), rng.normal(size=m), rng.normal(size=r)
    rows = []
    for _ in range(T + AHEAD):
        rows.append(mean + C @ x + 0.3 * np.sqrt(r) * rng.normal(size=m))
        x = 0.9 * x + np.sqrt(0.19) * rng.normal(size=r)
    Y = np.array(rows)
    return Y, np.where(rng.random((T, m)) < missing, np.nan, Y[:T])


def measured(setting: dict[str, Any], T: int, m: int, r: int, missing: float, seed: int) -> tuple[float, ...]:
    """Four numbers: the share of gaps whose intervals hold the truth, the same for forecasts, the median width of the
    intervals of gaps, and the root mean square error of the filled gaps.

    Features with one value or none, whose intervals are infinite, are left out; NaN where nothing is left.
    """
    Y, X = sequence(T, m, r, missing, seed)
    known = np.isfinite(X).sum(axis=0) > 1
    if not known.any():
        return (np.nan,) * 4
    model = SequenceFilter(**setting).fit(X)
    gone = np.isnan(X) & known
    lower, upper = (np.asarray(bound)[gone] for bound in model.predict_interval(X))
    mean, std = (np.asarray(part)[:, known] for part in model.forecast(AHEAD, return_std=True))
    truth, middle = Y[:T][gone], (lower + upper) / 2
    return (
        float(((lower <= truth) & (upper >= truth)).mean()),
        float((np.abs(mean - Y[T:, known]) < NORMAL * std).mean()),
        float(np.median(upper - lower)),
        float(np.sqrt(np.mean((middle - truth) ** 2))),
    )


def main(name: str = "default", *rows: str) -> None:
    """One line for every size; ``rows`` are those of ROWS unless they are given."""
    warnings.filterwarnings("ignore", message="Bounds are infinite where one value")
    print("rows features states missing   gaps  forecasts   width    rmse")
    for T, m, r, missing in product(map(int, rows) if rows else ROWS, FEATURES, STATES, MISSING):
        found = [measured(SETTINGS[name](r), T, m, r, missing, seed) for seed in range(SEEDS)]
        gaps, ahead, width, error = np.nanmean(found, axis=0)
        print(f"{T:4} {m:8} {r:6} {missing:7.1f} {gaps:6.3f} {ahead:10.3f} {width:7.2f} {error:7.2f}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
