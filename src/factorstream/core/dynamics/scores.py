"""Columns of a sequence as normal scores: those with enough values; the others stay as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..linalg import Array
from ..tables.marginals import Marginals, normal_marginals

LEAST_VALUES = 30
"""Values from which on a column gets scores, some of them different. Derived: as for columns of tables."""


class Scores(NamedTuple):
    """The maps of some columns from values to scores and back. What is asked about entries goes by their columns, which
    are in order."""

    marginals: Marginals  # of these columns, one after another
    columns: Array  # their numbers, in order

    def of(self, Z: Array) -> Array:
        """The scores of rows Z (T, m); NaN stays NaN."""
        out = Z.copy()
        for k, j in enumerate(self.columns):
            out[:, j] = self.marginals.score(k, Z[:, j])
        return out

    def value(self, column: Array, z: Array) -> Array:
        """The values (n,) of entries whose scores are z (n,)."""
        out = z.copy()
        for k, some in self._of_each(column):
            out[some] = self.marginals.value(k, z[some])
        return out

    def mean(self, column: Array, z: Array, std: Array) -> Array:
        """The mean of the values of entries whose scores have the law N(z, std²)."""
        out = z.copy()
        for k, some in self._of_each(column):
            out[some] = self.marginals.mean(k, z[some], std[some])
        return out

    def std(self, column: Array, z: Array, std: Array) -> Array:
        """The standard deviation of these values."""
        out = std.copy()
        for k, some in self._of_each(column):
            out[some] = self.marginals.std(k, z[some], std[some])
        return out

    def _of_each(self, column: Array) -> Iterator[tuple[int, slice]]:
        """The number of every map, and which entries are of its column."""
        for k, j in enumerate(self.columns):
            begin, end = np.searchsorted(column, [j, j + 1])
            if begin < end:
                yield k, slice(int(begin), int(end))


def as_they_are() -> Scores:
    """No column has scores of its own."""
    return Scores(Marginals(np.empty(0), np.empty(0), np.zeros(1, dtype=int), straight=False), np.arange(0))


def normal_scores(Z: Array) -> Scores:
    """Normal scores of every column of Z (T, m) that has enough values."""
    enough = [j for j, z in enumerate(Z.T) if _suits(z[np.isfinite(z)])]
    return Scores(normal_marginals(Z[:, enough]), np.array(enough)) if enough else as_they_are()


def _suits(z: Array) -> bool:
    return len(z) >= LEAST_VALUES and bool(z.min() < z.max())
