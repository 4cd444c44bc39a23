"""What measuring the scale does to rows: plain functions, which a ``Place`` runs (see ``products``)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..arrays import as_type, copied, namespace
from ..core.linalg import Array, over_rows
from ..core.place import Tall
from .products import clear_gaps
from .rows import Rows, dense


class Sums(NamedTuple):
    """Of every feature: how many values, their sum, and the size of the largest (m each)."""

    count: Tall
    total: Tall
    largest: Tall


def values_and_gaps(rows: Rows, origin: Array) -> tuple[Array, Array]:
    """The rows less the origin in double precision, zero where missing, and where that is (both B × m)."""
    values = np.subtract(dense(rows), origin, dtype=np.float64, order="C")
    return values, clear_gaps(values)


def added(sums: Sums, values: Array, missing: Array) -> Sums:
    """The sums with some more rows. A sum that overflows says nothing: ``check_range`` refuses such values."""
    size = np.maximum(over_rows(np.maximum, values, 0.0), -over_rows(np.minimum, values, 0.0))
    with np.errstate(over="ignore", invalid="ignore"):
        total = sums.total + values.sum(axis=0)
    return Sums(sums.count + (len(values) - missing.sum(axis=0)), total, np.maximum(sums.largest, size))


def added_squares(squares: Array, values: Array) -> Array:
    """The sum of squares of every feature with some more rows; it overflows only for values that are refused."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(squares + np.einsum("ij,ij->j", values, values))


def without_one(count: Array) -> Array:
    """One less than each count, but not less than none."""
    less: Array = namespace(count).maximum(count - 1.0, 0.0)
    return less


def means(sums: Sums, overall: float) -> Array:
    """The mean of every feature; ``overall`` for those without a value."""
    xp = namespace(sums.count)
    out: Array = xp.where(sums.count > 0, sums.total / xp.maximum(sums.count, 1.0), overall)
    return out


def squares_between(count: Array, origin: Array, overall: float) -> float:
    """The squared distances of the features' means from the overall one, once per value."""
    return float(count @ (origin - overall) ** 2)


def is_positive(count: Array) -> Array:
    """Where there is a value (boolean)."""
    return count > 0


def converted(values: Array, dtype: np.dtype[Any]) -> Array:
    """A copy in another dtype."""
    out: Array = copied(as_type(values, dtype))
    return out
