"""The published experiment on sequences: remove runs of 20 hours from every London station and fill them in.

Nothing here is chosen by hand for these data: all settings are the defaults, and what the model decides, it decides on
observed entries.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..estimators.sequence import SequenceFilter
from ..masks import segment_mask
from ..metrics import coverage, rmse
from ..report.measure import straight_lines

__all__ = ["FRACTIONS", "METHODS", "PUBLISHED", "Excerpt", "Method", "Score", "Sequences", "interpolate", "run"]

Array = NDArray[np.float64]
Restored = tuple[Array, Array | None]
"""Filled rows and, where the method has them, standard deviations."""

FRACTIONS = (0.2, 0.3, 0.4)
"""Shares to remove, those of the published experiment."""
RUN = 20
"""Rows of a removed run, as published."""
LAG = 24
"""Rows that the fixed-lag stream waits for: a day of hours, a little more than a removed run."""
EXCERPT, STATIONS = 240, 3
"""Rows (ten days) and features of the figure."""

# RMSE and ±2σ coverage in Akyildiz et al., "Probabilistic sequential matrix factorization" (AISTATS 2021).
PUBLISHED: dict[str, dict[float, tuple[float, float | None]]] = {
    "PSMF": {0.2: (7.26, 0.79), 0.3: (7.44, None), 0.4: (7.72, 0.73)},
    "rPSMF": {0.2: (7.47, 0.92), 0.3: (7.54, None), 0.4: (7.68, 0.84)},
}


@dataclass(frozen=True)
class Method:
    """One or several rows of the table: ``restore(X)`` fills the NaN of X, once under each label."""

    labels: tuple[str, ...]
    restore: Callable[[Array], tuple[Restored, ...]]


@dataclass(frozen=True)
class Score:
    """One method on one mask, over the removed entries; coverage is None where a method has no intervals."""

    fraction: float
    method: str
    seed: int
    rmse: float
    two_sigma: float | None
    level_90: float | None
    level_95: float | None
    seconds: float


@dataclass(frozen=True)
class Excerpt:
    """A piece of one feature for the figure."""

    feature: int
    rows: Array
    truth: Array
    removed: NDArray[np.bool_]
    filled: Array
    std: Array
    line: Array


@dataclass
class Sequences:
    """Everything the experiment found."""

    fractions: Sequence[float]
    labels: Sequence[str]
    seeds: Sequence[int]
    scores: list[Score] = field(default_factory=list)
    excerpts: list[Excerpt] = field(default_factory=list)

    def of(self, fraction: float, method: str) -> list[Score]:
        """The scores of one method at one fraction, one per seed."""
        return [score for score in self.scores if (score.fraction, score.method) == (fraction, method)]


def interpolate(X: Array) -> Array:
    """Fill the gaps of every column by straight lines, and its ends by the nearest value.

    >>> interpolate(np.array([[np.nan], [1.0], [np.nan], [3.0]])).T
    array([[1., 1., 2., 3.]])
    """
    return straight_lines(X, np.arange(len(X)))


def smoothed(X: Array) -> tuple[Restored, ...]:
    """Fit all rows, fill with the smoother."""
    filled, std = SequenceFilter().fit(X).impute(X, return_std=True)
    return ((filled, std),)


def streamed(X: Array) -> tuple[Restored, ...]:
    """One pass, row by row: each row as the filter fills it at once, and as it stands `LAG` rows later."""
    model = SequenceFilter(lag=LAG)
    now, later = (np.empty_like(X), np.empty_like(X)), (np.empty_like(X), np.empty_like(X))
    for t in range(len(X)):
        recent = model.partial_fit(X[t : t + 1]).recent(return_std=True)
        rows = slice(t - len(recent[0]) + 1, t + 1)
        for part in (0, 1):
            now[part][t] = recent[part][-1]
            later[part][rows] = recent[part]  # the last to overwrite a row is the one with the full lag
    return now, later


METHODS = (
    Method(("SequenceFilter, smoothed",), smoothed),
    Method(("SequenceFilter, streaming filter", f"SequenceFilter, streaming, {LAG} rows later"), streamed),
    Method(("linear interpolation",), lambda X: ((interpolate(X), None),)),
)


def run(
    values: Array,
    fractions: Sequence[float],
    seeds: Iterable[int],
    notify: Callable[[str], None] = lambda what: None,
    methods: Sequence[Method] = METHODS,
) -> Sequences:
    """Remove, restore and score; ``notify`` is told what comes next, once for every method, fraction and seed."""
    labels = [label for method in methods for label in method.labels]
    result = Sequences(fractions, labels, list(seeds))
    for fraction in fractions:
        for seed in result.seeds:
            removed = segment_mask(values.shape, fraction, RUN, rng=seed, missing=np.isnan(values))
            X = np.where(removed, np.nan, values)
            for method in methods:
                notify(f"{method.labels[0]} · {fraction:.0%} removed · seed {seed}")
                start = time.perf_counter()
                restored = method.restore(X)
                seconds = time.perf_counter() - start
                for label, found in zip(method.labels, restored, strict=True):
                    result.scores.append(_score(values, removed, found, fraction, label, seed, seconds))
                filled, std = restored[0]
                if not result.excerpts and std is not None:
                    result.excerpts = _excerpts(values, removed, X, filled, std)
    return result


def _score(
    values: Array,
    removed: NDArray[np.bool_],
    restored: Restored,
    fraction: float,
    method: str,
    seed: int,
    seconds: float,
) -> Score:
    filled, std = restored
    error = rmse(values, filled, where=removed)
    if std is None:
        return Score(fraction, method, seed, error, None, None, None, seconds)
    two_sigma = coverage(values, filled, std, n_std=2, where=removed)
    levels = [coverage(values, filled, std, level=level, where=removed) for level in (0.9, 0.95)]
    return Score(fraction, method, seed, error, two_sigma, levels[0], levels[1], seconds)


def _excerpts(values: Array, removed: NDArray[np.bool_], X: Array, filled: Array, std: Array) -> list[Excerpt]:
    """The middle of the record, in the features that lost most of it there and have most of it to compare with."""
    first = max((len(values) - EXCERPT) // 2, 0)
    rows = slice(first, first + EXCERPT)
    known = (~np.isnan(values[rows])).mean(axis=0)
    best = np.argsort(-np.where(known > 0.9, removed[rows].mean(axis=0), -1.0), kind="stable")[:STATIONS]
    lines, where = interpolate(X), np.arange(len(values), dtype=np.float64)[rows]
    return [
        Excerpt(int(i), where, values[rows, i], removed[rows, i], filled[rows, i], std[rows, i], lines[rows, i])
        for i in best
    ]
