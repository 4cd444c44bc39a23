"""What every sink of rows takes: blocks of a source with their gaps filled, one after another."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np

from ..table import Array, Bounds, TableError
from .numbers import is_sparse
from .source import Block

__all__ = ["Filled", "OutputColumns", "Sink", "filled_block"]


@runtime_checkable
class Sink(Protocol):
    """Writes blocks to a file. What was written is a draft until `close`, which puts it in the place of the file.

    As a context manager it closes the file at the end, and removes the draft if there was an error, or if rows of the
    source are missing. A sink that was opened to be resumed keeps it.
    """

    @property
    def path(self) -> Path:
        """The file."""

    @property
    def written(self) -> int:
        """How many rows are in the draft; a process that is killed does not lose them. The next block begins there."""

    def write(self, block: Block, filled: Array | None = None, bounds: Bounds | None = None) -> None:
        """Write a block, with the numbers of ``filled`` in its gaps, or as it is.

        ``filled``, and the arrays of ``bounds``, have the shape of ``block.values``; only what is in gaps counts.
        """

    def close(self) -> Path:
        """Finish the file and put it in its place; if rows of the source are missing, it is refused."""

    def discard(self) -> None:
        """Remove the draft."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, where: TracebackType | None
    ) -> None: ...


class OutputColumns:
    """Which columns a file gets: those of the source, and behind some of the numbers their bounds."""

    def __init__(self, width: int, positions: Sequence[int], bounds: Sequence[int]) -> None:
        with_bounds = {positions[at] for at in bounds}
        self.own: list[int] = []
        """Where the columns of the source are in the file."""
        self.width = 0
        """How many columns the file has."""
        for position in range(width):
            self.own.append(self.width)
            self.width += 3 if position in with_bounds else 1
        self.features = np.array([self.own[position] for position in positions], dtype=np.intp)
        """Where the columns of numbers are in the file."""
        self.bounds = np.array(sorted(bounds), dtype=np.intp)
        """Which of the numbers have bounds; those are the two columns behind them."""

    def named(self, names: Sequence[str]) -> list[str]:
        """The names of the file's columns, from those of the source's."""
        found = [""] * self.width
        for name, at in zip(names, self.own, strict=True):
            found[at] = name
        for at in self.features[self.bounds]:
            found[at + 1], found[at + 2] = f"{found[at]}_lower", f"{found[at]}_upper"
        return found


class Filled(NamedTuple):
    """A block to write."""

    gaps: Array
    """Which entries are gaps (n, n_columns, boolean)."""
    values: Array
    """The numbers, with those that were filled in; NaN in gaps that stay."""
    lower: Array | None
    """As the values, with the bounds in place of what was filled; None where no bounds are written."""
    upper: Array | None


def filled_block(block: Block, filled: Array | None, bounds: Bounds | None, with_bounds: bool) -> Filled:
    """The numbers of a block with its gaps filled; what does not fit it is refused."""
    known = _dense(block.values)
    gaps = np.isnan(known)
    if with_bounds and bounds is None:
        raise TableError("This file gets bounds; give them with every block.")
    given = [filled, *(bounds if with_bounds and bounds is not None else ())]
    for values in given:
        if values is not None and np.shape(values) != known.shape:
            raise TableError(
                f"A block of shape {known.shape} cannot be filled from an array of shape {np.shape(values)}."
            )
    if filled is None:  # gaps stay as they are written
        gaps = np.zeros_like(gaps)
    written = [known if values is None else np.where(gaps, values, known) for values in given]
    lower, upper = written[1:] if with_bounds else (None, None)
    return Filled(gaps, written[0], lower, upper)


def _dense(values: Any) -> Array:
    """The numbers of a block as an array: entries that a sparse one does not store are gaps."""
    if not is_sparse(values):
        return np.asarray(values)
    dense = np.full(values.shape, np.nan, dtype=values.dtype)
    entries = values.tocoo()
    dense[entries.row, entries.col] = entries.data
    return dense
