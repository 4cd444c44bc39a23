"""Some rows of many, chosen at random while they pass."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..core.linalg import is_sparse
from ..tall.rows import Rows


class Chosen(NamedTuple):
    """Rows chosen at random while they pass: each has a random number, and those with the least numbers stay.

    The rows are spread over all of the source, whatever its length, and no period of it can coincide with the choice.
    """

    most: int
    """How many may stay."""
    below: float = 1.0
    """What the numbers are less than."""
    parts: tuple[Rows, ...] = ()
    numbers: tuple[Any, ...] = ()
    """Those of the rows of each part."""

    @property
    def all(self) -> bool:
        """Whether no row was left out."""
        return self.below == 1.0


def chosen_rows(chosen: Chosen) -> Rows:
    """Those that stay, in their order."""
    if len(chosen.parts) == 1:
        return chosen.parts[0]
    if is_sparse(chosen.parts[0]):
        return sparse.vstack(chosen.parts, format="csr")
    return np.concatenate(chosen.parts)


def with_more(chosen: Chosen, rows: Rows, first: int) -> Chosen:
    """Choose among some more rows, of which the first has this number in the source."""
    most, below, parts, numbers = chosen
    random = _random_numbers(first, rows.shape[0])
    few = random < below
    parts, numbers = (*parts, rows[few]), (*numbers, random[few])
    while sum(map(len, numbers)) > most:
        below *= 0.5
        few_of = [part < below for part in numbers]
        parts = tuple(part[few] for part, few in zip(parts, few_of, strict=True))
        numbers = tuple(part[few] for part, few in zip(numbers, few_of, strict=True))
    return Chosen(most, below, parts, numbers)


def _random_numbers(first: int, n: int) -> Any:
    """The random numbers of n rows: every row of a source has its own, wherever reading began."""
    bits = np.random.PCG64(0)
    bits.advance(first)
    return np.random.Generator(bits).random(n)
