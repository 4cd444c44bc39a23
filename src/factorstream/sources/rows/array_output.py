"""Filled blocks as arrays: what NPY, NPZ, HDF5 and Zarr write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..table import Array
from .drafts import SinkOptions
from .numbers import ArrayColumns
from .sink import Filled, OutputColumns
from .source import Block, Source, others_of, refuse_lost

__all__ = ["ArrayOutput", "ArrayParts"]


class ArrayOutput:
    """The array that a file gets: in the type of the source's, or floats where whole numbers have gaps or bounds."""

    def __init__(self, like: Source, options: SinkOptions) -> None:
        layout = getattr(like, "layout", None)
        self._native = isinstance(layout, ArrayColumns)
        refuse_lost(others_of(like))
        width, kind, positions = like.n_columns, like.dtype, None
        if isinstance(layout, ArrayColumns):
            width, positions = layout.width, layout.positions
            whole = layout.kind.kind != "f" and (layout.becomes_float or bool(options.bounds))
            kind = np.dtype(np.float64) if whole else layout.kind
        self.kind: np.dtype[Any] = kind
        """The type of its entries."""
        self._columns = OutputColumns(width, range(width) if positions is None else positions, options.bounds)
        self.width = self._columns.width
        """How many columns it has."""

    def rows(self, block: Block, filled: Filled) -> Array:
        """The rows of a block."""
        to = self._columns
        raw = block.kept if self._native and isinstance(block.kept, np.ndarray) else filled.values
        out = np.empty((len(filled.values), to.width), dtype=self.kind)
        out[:, to.own] = raw
        with np.errstate(over="ignore"):  # what a shorter type cannot hold is infinite in it
            if filled.gaps.any():
                numbers = out[:, to.features]
                numbers[filled.gaps] = filled.values[filled.gaps]
                out[:, to.features] = numbers
            if filled.lower is not None and filled.upper is not None:
                at = to.features[to.bounds]
                out[:, at + 1], out[:, at + 2] = filled.lower[:, to.bounds], filled.upper[:, to.bounds]
        return out


class ArrayParts:
    """Parts of an array as plain numbers, to be joined by a format's ``join``."""

    def __init__(self, like: Source, options: SinkOptions) -> None:
        self.output = ArrayOutput(like, options)

    def plan(self) -> bytes:
        """What is the same for parts that can be joined."""
        return f"{self.output.kind.str} {self.output.width}".encode()

    def write_part(self, path: Path, block: Block, filled: Filled) -> None:
        """Write the rows of a block to a file."""
        path.write_bytes(self.output.rows(block, filled).data)

    def read(self, parts: Sequence[Path]) -> Iterator[tuple[int, Array]]:
        """The rows of the parts, each with the number of its first."""
        first = 0
        for part in parts:
            rows = np.fromfile(part, dtype=self.output.kind).reshape(-1, self.output.width)
            yield first, rows
            first += len(rows)
