"""A first look that needs no data: real wines with gaps, and made-up loads. Writes nothing and prints nothing."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_wine

from ..masks import random_mask
from ..sources.cells import written
from ..sources.delimited import write_delimited
from ..sources.table import Array, NewColumn

__all__ = ["Wines", "judge", "loads", "wines"]

MISSING = 0.2
"""Share of the values that is removed. Not tuned: a table with many gaps, most of whose rows can still be filled."""


class Wines(NamedTuple):
    """178 wines from three growers, 13 measurements of each; scikit-learn brings them along."""

    names: list[str]
    values: Array
    """What was measured."""
    gaps: Array
    """Which values are removed."""

    def known(self) -> Array:
        """The values with NaN in the gaps."""
        return np.where(self.gaps, np.nan, self.values)

    def content(self) -> bytes:
        """The table with its gaps, as comma-separated text."""
        columns = [NewColumn("wine", [f"w{k + 1:03d}" for k in range(len(self.values))])]
        for j, name in enumerate(self.names):
            cells = [
                "" if gap else written(value) for gap, value in zip(self.gaps[:, j], self.values[:, j], strict=True)
            ]
            columns.append(NewColumn(name, cells))
        return write_delimited(columns)


class Judgement(NamedTuple):
    """How far filled values are from those that were removed, in deviations of their columns."""

    error: float
    error_of_means: float
    """Of the column means, for comparison."""
    held: float
    """Share of the bounds that hold the value that was removed."""


def wines(seed: int = 0) -> Wines:
    """The wines, with some values removed at random."""
    bunch = load_wine()
    values = np.asarray(bunch.data, dtype=np.float64)
    names = [name.replace("/", "_") for name in bunch.feature_names]
    return Wines(names, values, random_mask(values.shape, MISSING, seed))


def loads(seed: int = 0) -> bytes:
    """Two weeks of made-up hourly loads of four sites that share a daily cycle, with gaps and one strange hour."""
    rng = np.random.default_rng(seed)
    hour = np.arange(14 * 24)
    X = 20 + 5 * np.sin(2 * np.pi * hour[:, None] / 24 + np.arange(4)) + 0.5 * rng.normal(size=(len(hour), 4))
    X[200, 2] += 8.0
    gaps = random_mask(X.shape, 0.05, rng)
    gaps[200] = False
    when = [(datetime(2024, 5, 1) + timedelta(hours=k)).strftime("%Y-%m-%d %H:%M") for k in hour.tolist()]
    columns = [NewColumn("time", when)]
    for j, name in enumerate(("north", "east", "south", "west")):
        columns.append(NewColumn(name, np.where(gaps[:, j], np.nan, X[:, j].round(2)).tolist()))
    return write_delimited(columns)


def judge(table: Wines, filled: Array, lower: Array, upper: Array) -> Judgement:
    """Compare with what was removed; nothing of it was known to the model."""
    known = table.known()
    mean, deviation = np.nanmean(known, axis=0), np.nanstd(known, axis=0)
    error = ((filled - table.values) / deviation)[table.gaps]
    plain = ((mean - table.values) / deviation)[table.gaps]
    held = ((lower <= table.values) & (table.values <= upper))[table.gaps]
    return Judgement(float(np.sqrt(np.mean(error**2))), float(np.sqrt(np.mean(plain**2))), float(held.mean()))
