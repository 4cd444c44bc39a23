"""Rows whose features are at another place than this process, and stay there."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.linalg import Array
from ..core.place import Place, Placed, Tall
from .products import count_missing, is_missing, some_rows


class PlacedRows(Placed):
    """Rows that ``place.put`` need not bring: for the filter and the variational fit they are rows like any others.

    What comes to this process has to be asked for: a few rows or columns of them.
    """

    def __init__(self, place: Place, tall: Tall, shape: tuple[int, int], dtype: np.dtype[Any]) -> None:
        self.place, self.tall, self.shape, self.dtype = place, tall, shape, dtype

    def __getitem__(self, key: tuple[slice, slice]) -> PlacedRows:
        """Some rows that follow each other, with all features."""
        start, stop, _ = key[0].indices(self.shape[0])
        if (start, stop) == (0, self.shape[0]):
            return self
        return self._with(self.place.each(some_rows, self.tall, start, stop), max(stop - start, 0))

    def chosen(self, numbers: Array) -> PlacedRows:
        """The rows with these numbers."""
        return self._with(self.place.each(rows_numbered, self.tall, numbers), len(numbers))

    def without(self, rows: Tall, columns: Tall) -> PlacedRows:
        """The same rows with nothing observed at some entries, whose columns are numbered within their pieces."""
        return self._with(self.place.each(emptied, self.tall, rows, columns), self.shape[0])

    def rows_here(self, numbers: Array) -> Array:
        """The rows with these numbers as an array of this process."""
        return self.place.get(self.place.each(rows_numbered, self.tall, numbers), 1)

    def columns_here(self, numbers: Array) -> Array:
        """The columns with these numbers, which are in order, as an array of this process."""
        wanted = np.zeros(self.shape[1], dtype=bool)
        wanted[numbers] = True
        return self.place.get(self.place.each(columns_marked, self.tall, self.place.put(wanted, 0)), 1)

    def n_observed(self) -> Array:
        """How many values each row has."""
        missing: Array = self.place.total(count_missing, self.place.each(is_missing, self.tall))
        return self.shape[1] - missing

    def _with(self, tall: Tall, n: int) -> PlacedRows:
        return PlacedRows(self.place, tall, (n, self.shape[1]), self.dtype)


def rows_numbered(Y: Array, numbers: Array) -> Array:
    """Some rows by their numbers."""
    return Y[numbers, :]


def columns_marked(Y: Array, wanted: Array) -> Array:
    """Some columns."""
    return Y[:, wanted]


def emptied(Y: Array, rows: Array, columns: Array) -> Array:
    """A copy of Y with gaps at some entries."""
    Y = Y.copy()
    Y[rows, columns] = np.nan
    return Y
