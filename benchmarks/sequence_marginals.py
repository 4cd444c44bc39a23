"""Gaps filled by a model of the values, by models of their normal scores, and by both, weighed by hidden entries.

A quarter of the entries is removed from made-up and real sequences, in runs, and 20, 30 and 40% of the air of London,
in runs of 20 hours. Printed are, for every sequence and setting of ``marginals``: the root mean square error of the
gaps, in units of each feature's spread (London's air in its own), what bounds of 95% and ±1.96 standard deviations
held, the mean width of the bounds, and the processor seconds of the fit.

    python -m benchmarks.sequence_marginals                        # every sequence, two seeds
    python -m benchmarks.sequence_marginals --only london-30 --seeds 3
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from factorstream import SequenceFilter
from factorstream.datasets import DatasetNotFoundError, load_london_air
from factorstream.masks import segment_mask

from .sequence_runs import factors, with_gaps
from .sequence_streams import real

Array = NDArray[np.float64]
MARGINALS = ("linear", "auto", "normal")
ROWS = 600
RUN = 20
"""Hours of a removed run in London."""


def logarithms(rng: np.random.Generator, step: float = 0.0) -> Array:
    """Positive values with a long tail: their logarithms are drawn from the model."""
    Y = factors(rng, ROWS, step=step)
    return np.asarray(np.exp(0.7 * (Y - Y.mean(axis=0)) / Y.std(axis=0)))


def shares(rng: np.random.Generator) -> Array:
    """Values between 0 and 100, many of them near either end."""
    Y = factors(rng, ROWS)
    return np.asarray(100.0 / (1.0 + np.exp(-2.0 * Y / Y.std(axis=0))))


MADE: dict[str, Callable[[np.random.Generator], Array]] = {
    "normal": lambda rng: factors(rng, ROWS),
    "normal, levels": lambda rng: factors(rng, ROWS, step=0.15),
    "random walks": lambda rng: rng.standard_normal((ROWS, 6)).cumsum(axis=0),
    "logarithms": logarithms,
    "logarithms, levels": lambda rng: logarithms(rng, step=0.15),
    "shares": shares,
}
REAL = ("macrodata", "elnino", "co2", "sunspots")
LONDON = {f"london-{percent}": percent / 100 for percent in (20, 30, 40)}


def data(name: str, seed: int) -> tuple[Array, Array] | None:
    """Values as they are, and with gaps; None where they are not there."""
    rng = np.random.default_rng(seed)
    if name in LONDON:
        try:
            truth = np.asarray(load_london_air().values, dtype=np.float64)
        except DatasetNotFoundError:
            return None
        gone = segment_mask(truth.shape, LONDON[name], RUN, rng=seed, missing=np.isnan(truth))
        return truth, np.where(gone, np.nan, truth)
    found = MADE[name](rng) if name in MADE else real(name, seed)
    return None if found is None else (found, with_gaps(rng, found))


def measured(truth: Array, given: Array, marginals: str, unit: Array) -> Array:
    """Error, what bounds and deviations hold, width of the bounds, and seconds of the fit."""
    start = time.process_time()
    model = SequenceFilter(marginals=marginals, n_components=min(10, given.shape[1] + 1)).fit(given)
    seconds = time.process_time() - start
    filled, std = model.impute(given, return_std=True)
    lower, upper = model.predict_interval(given)
    gone = np.isnan(given) & np.isfinite(truth)
    off = ((filled - truth) / unit)[gone]
    inside = ((lower <= truth) & (truth <= upper))[gone].mean()
    within = (np.abs(filled - truth) < 1.959964 * std)[gone].mean()
    return np.array([np.sqrt(np.mean(off**2)), inside, within, ((upper - lower) / unit)[gone].mean(), seconds])


def main(arguments: list[str] | None = None) -> None:
    """Print a line for every sequence and setting."""
    parser = argparse.ArgumentParser(description="Gaps of sequences under each setting of marginals.")
    every = [*MADE, *REAL, *LONDON]
    parser.add_argument("--only", nargs="*", default=every, choices=every, metavar="NAME", help="sequences")
    parser.add_argument("--seeds", type=int, default=2, help="how many ways to remove entries")
    parser.add_argument("--marginals", nargs="*", default=MARGINALS, choices=MARGINALS, help="settings to compare")
    asked = parser.parse_args(arguments)
    print(f"{'':20}{'marginals':>10}{'error':>9}{'bounds':>9}{'1.96 sd':>9}{'width':>9}{'seconds':>9}")
    for name in asked.only:
        pairs = [data(name, seed) for seed in range(asked.seeds)]
        for marginals in asked.marginals:
            runs = []
            for pair in pairs:
                if pair is not None:
                    truth, given = pair
                    unit = np.ones(truth.shape[1]) if name in LONDON else np.nanstd(truth, axis=0)
                    runs.append(measured(truth, given, marginals, unit))
            words = "".join(f"{value:9.4f}" for value in np.mean(runs, axis=0)) if runs else "  not found"
            print(f"{name:20}{marginals:>10}{words}", flush=True)


if __name__ == "__main__":
    main()
