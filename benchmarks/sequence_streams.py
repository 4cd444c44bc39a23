"""What one row of a stream costs, and how good a stream is from its first rows on.

Rows are given to `SequenceFilter.partial_fit` one after another, with a quarter of the entries removed in runs, and the
gaps of each row are filled as it comes. Printed are, for every sequence: the processor time of a row in milliseconds,
its median, what one row in a thousand exceeds, and the largest (the lesser of two passes, as a busy machine makes any
row slow; without the first rows, which import what only streams need), and for rows 2-64, 65-256, 257-1000 and later:
the root mean square error of one-step forecasts and of gaps in units of each feature's spread, and what intervals of ±2
standard deviations and of 95% held, of forecasts and of gaps. Some sequences have seasons, trends or known columns, and
are told so.

    python -m benchmarks.sequence_streams                # every sequence, two seeds
    python -m benchmarks.sequence_streams factors walks  # some
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from factorstream import SequenceFilter
from factorstream.datasets import DatasetNotFoundError, load_london_air

from .seasons import bikeshare
from .sequence_runs import factors, jumped, with_gaps

Array = NDArray[np.float64]

PARTS = ((1, 64), (64, 256), (256, 1000), (1000, 10**9))
"""Rows that are judged together."""
ROWS = 1400
SEEDS = (0, 1)
IMPORTS = 4
"""Rows that may import what only streams need."""
INSIDE = (2.0, 1.959964)
"""Standard deviations on either side: the published filters', and those of 95%."""


class Data(NamedTuple):
    """The values as they are, and as they are given to the model."""

    truth: Array
    given: Array
    known: Array | None = None
    settings: dict[str, Any] = {}  # noqa: RUF012  of the model; never changed


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


def days(rng: np.random.Generator, T: int, *, week: bool = False) -> Array:
    """Six features with a shape of 24 rows each, shared states, and gaps of whole days; `week`: days of two kinds."""
    hour, day = np.arange(T) % 24, np.arange(T) // 24
    shapes = rng.standard_normal((2, 24, 6)).cumsum(axis=1)
    kind = (day % 7 > 4) * 1 if week else 0 * day
    return np.asarray(shapes[kind, hour] - shapes.mean(axis=(0, 1)) + factors(rng, T))


def risen(rng: np.random.Generator, T: int) -> Array:
    """Six features that rise or fall beside shared states."""
    return np.asarray(np.arange(T)[:, None] * rng.standard_normal(6) / 100.0 + factors(rng, T))


SETTINGS: dict[str, dict[str, Any]] = {
    "days": {"period": 24},
    "weeks": {"period": (24, 168)},
    "found days": {"period": "auto"},
    "bikeshare": {"period": (24, 168)},
    "risen": {"trend": True},
    "days and risen": {"period": 24, "trend": True},
    "holidays": {},
}
"""What sequences with seasons, trends or known columns are modelled with."""
SEASONAL: dict[str, Callable[[np.random.Generator, int], Array]] = {
    "days": days,
    "weeks": lambda rng, T: days(rng, T, week=True),
    "found days": days,
    "risen": risen,
    "days and risen": lambda rng, T: days(rng, T) + risen(rng, T),
    "holidays": factors,
}


def seasonal(name: str, seed: int) -> Data:
    """A sequence that has something to be told of, by name; gaps last 8 or 24 rows."""
    rng = np.random.default_rng(seed)
    if name == "bikeshare":
        truth = bikeshare().rows[seed * 3 * ROWS : seed * 3 * ROWS + ROWS]
    else:
        truth = SEASONAL[name](rng, ROWS)
    known = None
    if name == "holidays":
        known = np.stack([(rng.random(ROWS) < 0.1) * 1.0, factors(rng, ROWS, m=1)[:, 0]], axis=1)
        truth = truth + known @ rng.standard_normal((2, truth.shape[1]))
    truth = (truth - np.nanmean(truth, axis=0)) / np.nanstd(truth, axis=0)
    return Data(truth, with_gaps(rng, truth, 24 if "period" in SETTINGS[name] else 8), known, SETTINGS[name])


def sequence(name: str, seed: int) -> Data | None:
    """A sequence by name, in units of each feature's spread; None where its data are not there."""
    if name in SETTINGS:
        return seasonal(name, seed)
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


def streamed(data: Data) -> Streamed:
    """Pass the rows of X through a stream."""
    X, model, T = data.given, SequenceFilter(**data.settings), len(data.given)
    out = Streamed(np.full((2, *X.shape), np.nan), np.full((2, *X.shape), np.nan), np.zeros(T))
    for t, row in enumerate(X):
        known = {} if data.known is None else {"known": data.known[t : t + 1]}
        if t:
            out.ahead[:, t] = np.array(model.forecast(1, return_std=True, **known))[:, 0]
        began = time.process_time()
        model.partial_fit(row[None], **known)
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
    """Milliseconds of a row: median, 99.9%, largest; for every part of the rows, six numbers."""
    found, again, rows = streamed(data), streamed(data), np.arange(len(data.truth))[:, None]
    out = []
    for first, last in PARTS:
        here = (rows >= first) & (rows < last)
        ahead = judged(data.truth, found.ahead, here & np.isfinite(data.given))
        gaps = judged(data.truth, found.filled, here & np.isnan(data.given))
        out.append((*ahead, *gaps))
    times = 1e3 * np.minimum(found.seconds, again.seconds)[IMPORTS:]
    return np.array([np.median(times), np.quantile(times, 0.999), times.max()]), np.array(out)


def main(*names: str) -> None:
    """A block of lines for every sequence, means over the seeds."""
    gc.collect()
    gc.freeze()  # or one row waits until everything that was imported has been looked through
    for name in names or (*MADE, *REAL, *SETTINGS):
        several = [sequence(name, seed) for seed in SEEDS if seed == SEEDS[0] or name not in REAL or name == "london"]
        found = [measured(data) for data in several if data is not None]
        if not found:
            print(f"{name}: its data are not here")
            continue
        times = np.array([each for each, _ in found])
        print(
            f"{name}: a row takes {np.median(times[:, 0]):.2f} ms, one in 1000 more than {times[:, 1].max():.1f} ms, "
            f"none more than {times[:, 2].max():.1f} ms"
        )
        for (first, last), numbers in zip(PARTS, np.nanmean([each for _, each in found], axis=0), strict=True):
            if np.isfinite(numbers[0]):
                line = "one step {:.3f} ({:.3f} {:.3f})  gaps {:.3f} ({:.3f} {:.3f})".format(*numbers)
                print(f"  rows {first + 1:4}-{min(last, 9999):4}  {line}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
