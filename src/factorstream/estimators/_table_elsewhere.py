"""Tables whose rows are on a device: learned and told by the host.

Sorting, kernels and trees of a few columns are small and irregular work, for which the host is better. So a table's
model stays with the host wherever the rows are, and rows to be filled come to it and go back.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import beside, to_host
from ..core.linalg import Array
from ..core.place import Tall
from ._table_model import TableModel


class TableElsewhere(NamedTuple):
    """A table's model, asked about rows of a device; answers are there too."""

    table: TableModel

    def fill(self, X: Tall) -> Tall:
        """X with its gaps filled in."""
        return beside(self.table.fill(rows_on_host(X)), X)

    def predict(self, X: Tall) -> tuple[Tall, Tall]:
        """The same, and the variance of every filled entry; zero where observed."""
        mean, variance = self.table.predict(rows_on_host(X))
        return beside(mean, X), beside(variance, X)

    def bounds(self, X: Tall, level: float) -> tuple[Tall, Tall, Tall]:
        """What ``fill`` returns, and bounds that hold an entry with probability ``level``; X where observed."""
        filled, lower, upper = self.table.bounds(rows_on_host(X), level)
        return beside(filled, X), beside(lower, X), beside(upper, X)

    def draw(self, X: Tall, n_draws: int, rng: np.random.Generator) -> Tall:
        """Joint draws of the gaps (n_draws × n × m)."""
        return beside(self.table.draw(rows_on_host(X), n_draws, rng), X)


def rows_on_host(X: Tall) -> Array:
    """Rows of NumPy, in the layout that rows of the host have: one layout, so one rounding."""
    return np.ascontiguousarray(to_host(X))
