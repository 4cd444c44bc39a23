"""What one row of a stream costs, and how good a stream is from its first rows on.

Rows are given to `SequenceFilter.partial_fit` one after another, with a quarter of the entries removed in runs, and the
gaps of each row are filled as it comes. Printed are, for every sequence: the median and the largest processor time of a
row in milliseconds (the first row, which imports what only streams need, is left out), and for rows 2-64, 65-256,
257-1000 and later: the root mean square error of one-step forecasts and of gaps in units of each feature's spread, and
what intervals of ±2 standard deviations and of 95% held, of forecasts and of gaps.

    python -m benchmarks.sequence_streams                # every sequence, two seeds
    python -m benchmarks.sequence_streams factors walks  # some
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from factorstream import SequenceFilter
from factorstream.datasets import DatasetNotFoundError, load_london_air

from .sequence_runs import factors, jumped, with_gaps

Array = NDArray[np.float64]

PARTS = ((1, 64), (64, 256), (256, 1000), (1000, 10**9))
"""Rows that are judged together."""
ROWS = 1400
SEEDS = (0, 1)
INSIDE = (2.0, 1.959964)
"""Standard deviations on either side: the published filters', and those of 95%."""


class Data(NamedTuple):
    """The values as they are, and as they are given to the model."""

    truth: Array
    given: Array


def prices(rng: np.random.Generator, T: int) -> Array:
    """Logarithms of prices: random walks with a common part, whose steps are heavy-tailed and come in calm and wild
    times."""
    wild = np.exp(0.5 * np.sin(np.arange(T) / 60.0))[:, None]
    steps = rng.standard_t(4, (T, 1)) @ rng.uniform(0.5, 1.0, (1, 8)) + rng.standard_t(4, (T, 8))
    return np.asarray((0.01 * wild * steps).cumsum(axis=0))


def panel(rng: np.random.Generator, T: int) -> Array:
    """Twelve sensors that share four states, of which nothing stays: no levels."""
    return factors(rng, T, m=12, phi=0.95) + factors(rng, T, m=12, phi=0.7)


def turning(rng: np.random.Generator, T: int) -> Array:
    """Walks for a third of the rows, and then shared states without levels."""
    walks, shared = 0.3 * rng.standard_normal((T // 3, 6)).cumsum(axis=0), factors(rng, T - T // 3)
    return np.vstack([walks, walks[-1:] + shared])


MADE: dict[str, Callable[[np.random.Generator, int], Array]] = {
    "factors": factors,
    "slow levels": lambda rng, T: factors(rng, T, step=0.05),
    "walks": lambda rng, T: rng.standard_normal((T, 6)).cumsum(axis=0),
    "noisy walks": lambda rng, T: factors(rng, T, step=0.5),
    "panel": panel,
    "prices": prices,
    "jumps": lambda rng, T: jumped(rng, factors(rng, T), 100),
    "turning": turning,
    "wide": lambda rng, T: factors(rng, T, m=60, phi=0.95),
}


def sequence(name: str, seed: int) -> Data | None:
    """A sequence by name, in units of each feature's spread; None where its data are not there."""
    rng = np.random.default_rng(seed)
    if name in MADE:
        truth = MADE[name](rng, ROWS)
    elif (found := real(name, seed)) is not None:
        truth = found
    else:
        return None
    truth = (truth - np.nanmean(truth, axis=0)) / np.nanstd(truth, axis=0)
    return Data(truth, with_gaps(rng, truth))


def real(name: str, seed: int) -> Array | None:
    """London's air, or series that come with statsmodels; None where they are not there."""
    try:
        if name == "london":
            return np.asarray(load_london_air().values[seed * ROWS : (seed + 1) * ROWS], dtype=np.float64)
        from statsmodels import datasets  # type: ignore[import-not-found,unused-ignore]
    except (DatasetNotFoundError, ImportError):
        return None
    if name == "macrodata":
        frame = datasets.macrodata.load_pandas().data.drop(columns=["year", "quarter"])
        positive = frame.columns[(frame > 0).all()]
        frame[positive] = np.log(frame[positive])
        return np.asarray(frame, dtype=np.float64)
    if name == "elnino":
        return np.asarray(datasets.elnino.load_pandas().data.drop(columns="YEAR"), dtype=np.float64).reshape(-1, 1)
    if name == "co2":
        return np.asarray(datasets.co2.load_pandas().data, dtype=np.float64)
    return np.asarray(datasets.sunspots.load_pandas().data[["SUNACTIVITY"]], dtype=np.float64)


REAL = ("london", "macrodata", "elnino", "co2", "sunspots")


class Streamed(NamedTuple):
    """What was foretold of every row, what was filled in, with standard deviations, and what each row cost."""

    ahead: Array  # (2, T, m) mean and standard deviation
    filled: Array  # (2, T, m)
    seconds: Array  # (T,)


def streamed(X: Array) -> Streamed:
    """Pass the rows of X through a stream."""
    model, T = SequenceFilter(), len(X)
    out = Streamed(np.full((2, *X.shape), np.nan), np.full((2, *X.shape), np.nan), np.zeros(T))
    for t, row in enumerate(X):
        if t:
            out.ahead[:, t] = np.array(model.forecast(1, return_std=True))[:, 0]
        began = time.process_time()
        model.partial_fit(row[None])
        out.seconds[t] = time.process_time() - began
        out.filled[:, t] = np.array(model.recent(return_std=True))[:, -1]
    return out


def judged(truth: Array, answer: Array, where: NDArray[np.bool_]) -> tuple[float, ...]:
    """Root mean square error, and what ±2 standard deviations and 95% held; infinite deviations are left out."""
    mean, std = answer
    where = where & np.isfinite(truth) & np.isfinite(mean) & np.isfinite(std)
    error, std = (mean - truth)[where], std[where]
    if not len(error):
        return (np.nan,) * 3
    return float(np.sqrt(np.mean(error**2))), *(float(np.mean(np.abs(error) <= z * std)) for z in INSIDE)


def measured(data: Data) -> tuple[Array, Array]:
    """Median and largest milliseconds of a row; for every part of the rows, six numbers."""
    found, rows = streamed(data.given), np.arange(len(data.truth))[:, None]
    out = []
    for first, last in PARTS:
        here = (rows >= first) & (rows < last)
        ahead = judged(data.truth, found.ahead, here & np.isfinite(data.given))
        gaps = judged(data.truth, found.filled, here & np.isnan(data.given))
        out.append((*ahead, *gaps))
    times = 1e3 * found.seconds[1:]
    return np.array([np.median(times), times.max()]), np.array(out)


def main(*names: str) -> None:
    """A block of lines for every sequence, means over the seeds."""
    for name in names or (*MADE, *REAL):
        several = [sequence(name, seed) for seed in SEEDS if seed == SEEDS[0] or name in (*MADE, "london")]
        found = [measured(data) for data in several if data is not None]
        if not found:
            print(f"{name}: its data are not here")
            continue
        times = np.array([each for each, _ in found])
        print(f"{name}: a row takes {np.median(times[:, 0]):.2f} ms, at most {times[:, 1].max():.1f} ms")
        for (first, last), numbers in zip(PARTS, np.nanmean([each for _, each in found], axis=0), strict=True):
            if np.isfinite(numbers[0]):
                line = "one step {:.3f} ({:.3f} {:.3f})  gaps {:.3f} ({:.3f} {:.3f})".format(*numbers)
                print(f"  rows {first + 1:4}-{min(last, 9999):4}  {line}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
