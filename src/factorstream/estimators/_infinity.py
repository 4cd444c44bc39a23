"""Infinities in what a caller passes: they are refused, and the sentence says where the first one is."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite, prod

import numpy as np

from ..arrays import is_here, namespace, positions
from ..core.linalg import Array
from ..cores import TINY, each_of, limited
from ._sizes import bound_of, parts_of


def _as_they_are(at: list[int]) -> tuple[int, int | str]:
    return at[0], at[1]


def refuse_infinity(values: Array, where: Callable[[list[int]], tuple[int, int | str]] = _as_they_are) -> None:
    """Refuse rows, or the numbers of sparse ones, with an infinity; ``where`` says in which row and column it is."""
    if is_here(values) and values.size < TINY and not np.isinf(values).any():
        return
    with limited(prod(values.shape)):
        xp, parts = namespace(values), parts_of(values)
        if isfinite(bound_of(values, np.inf)):
            return
        infinite = each_of(lambda part: bool(xp.any(xp.isinf(values[part]))), parts)
    for part in (part for part, refused in zip(parts, infinite, strict=True) if refused):
        found = xp.isinf(values[part])
        row = int(positions(xp.any(found, axis=1) if found.ndim > 1 else found)[0])
        column = positions(found[row, :])[:1].tolist() if found.ndim > 1 else []
        at = where([row + (part[0].start or 0), *column])
        raise ValueError(
            f"X contains infinity at row {at[0]}, column {at[1]}; "
            "replace it by NaN to mark the entry as missing, or by a finite number."
        )


def refuse_infinite_extremes(low: Array, high: Array, X: Array) -> None:
    """The same for rows of which the least and the greatest value of every feature are known: ∞ and -∞ without any."""
    if bool(namespace(low).any((low == -np.inf) | (high == np.inf))):
        refuse_infinity(X)
