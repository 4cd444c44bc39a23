"""How large the numbers of some rows are: passes over all of them, which make no array of their size."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..arrays import is_here, namespace
from ..core.linalg import Array
from ..cores import each_of
from ..tall.products import square_sum

AT_ONCE = 2**18
"""Entries looked at together where a mask is needed; none is as large as the data. Not tuned; speed only."""


def bound_of(values: Array, small: float) -> float:
    """The size of the largest number; parts whose sum of squares is below ``small`` count as zero.

    That sum is one cheap pass, and enough where nothing is missing. The other two are made part by part, while these
    are in the cache.
    """

    def of(part: Array) -> float:
        return 0.0 if square_sum(part) < small else largest_of(part)

    if not is_here(values):
        return of(values) if prod(values.shape) else 0.0
    in_order = values if values.flags.c_contiguous or not values.flags.f_contiguous else values.T
    return max(each_of(lambda part: of(in_order[part]), parts_of(in_order)), default=0.0)


def largest_of(values: Array) -> float:
    """The size of the largest number, zero where all are missing."""
    if is_here(values):
        least, greatest = (reduce(values, axis=None, initial=0.0) for reduce in (np.fmin.reduce, np.fmax.reduce))
        return float(max(-least, greatest))  # without a copy, as the sizes would be
    xp = namespace(values)
    return float(xp.max(xp.where(xp.isnan(values), 0.0, xp.abs(values))))


def parts_of(values: Array) -> list[Any]:
    """Some rows at a time, so that no copy is as large as the data; a device has room for a mask of them."""
    if not is_here(values):
        return [(slice(None), ...)]
    step = max(1, AT_ONCE // max(1, values[:1].size))
    return [(slice(first, first + step), ...) for first in range(0, len(values), step)]
