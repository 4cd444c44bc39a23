"""Filled blocks as delimited text: lines of a text as they were, but for their gaps; numbers of other sources."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ..cells import quoted, written
from ..lines import is_blank, split_lines
from ..stream import records
from ..table import Array
from ..tables import delimiter_of
from .drafts import SinkOptions, Whole
from .sink import Filled, OutputColumns
from .source import Block, Source
from .text import TextRows

__all__ = ["PackedText", "TextAppender"]


class TextAppender:
    """Appends rows to a text."""

    def __init__(self, path: Path, like: Source, options: SinkOptions) -> None:
        self._like = like if isinstance(like, TextRows) else None
        width = like.n_columns if self._like is None else self._like.width
        positions = range(width) if self._like is None else self._like.positions
        self._columns = OutputColumns(width, positions, options.bounds)
        self._features: list[int] = self._columns.features.tolist()
        self._bounds = frozenset(options.bounds)
        self._delimiter = (delimiter_of(path, None) or ",") if self._like is None else self._like.delimiter
        self._names = like.names if self._like is None else self._like.header and self._like.all_names

    def begin(self) -> bytes:
        """The line of names, if there is one."""
        if self._names is None:
            return b"" if self._like is None else self._like.mark.encode()
        cells = [quoted(name, self._delimiter) for name in self._columns.named(self._names)]
        if self._like is None or self._like.header is None:
            return (self._delimiter.join(cells) + "\n").encode()
        for cell, at in zip(self._like.header, self._columns.own, strict=True):
            cells[at] = cell  # as it was written
        return (self._like.mark + self._delimiter.join(cells) + self._like.header_end).encode()

    def encode(self, block: Block, filled: Filled) -> bytes:
        """The rows of a block."""
        native = self._like is not None
        return "".join(self._filled_lines(block.kept, filled) if native else self._new_lines(filled)).encode()

    def whole(self, draft: Path) -> Whole:
        """The rows of a draft but the last one: whether this, and blank lines behind it, are all there is not known."""
        begin = self.begin()
        here = len(begin)
        ends = [here]  # of the last two rows
        rows = -1
        with draft.open("rb") as file:
            file.seek(here)
            for record in records(_whole_lines(file), self._delimiter):
                here += len(record.text.encode())
                if record.text.strip("\r\n") or len(self._columns.own) == 1:
                    rows, ends = rows + 1, [ends[-1], here]
        return Whole(max(rows, 0), ends[0])

    def finish(self, file: BinaryIO, rows: int) -> None:
        """Nothing is left to do."""

    def _filled_lines(self, lines: Sequence[str], filled: Filled) -> list[str]:
        some = np.flatnonzero(np.any(filled.gaps, axis=1) | (filled.lower is not None))
        done = list(lines)
        for i in some.tolist():
            done[i] = self._filled_line(done[i], i, filled)
        return done

    def _filled_line(self, text: str, i: int, filled: Filled) -> str:
        """A row with its gaps filled; blank lines around it stay."""
        to, done = self._columns, []
        gaps = np.flatnonzero(filled.gaps[i]).tolist()
        for old, end in split_lines(text, self._delimiter):
            cells = old
            if not is_blank(old, len(to.own)):
                cells = [""] * to.width
                for cell, at in zip(old, to.own, strict=True):
                    cells[at] = cell
                for k in self._bounds:  # before the gaps are filled: a known value is its own bound, as it was written
                    at = self._features[k]
                    cells[at + 1] = cells[at + 2] = cells[at]
                for k in gaps:
                    at = self._features[k]
                    cells[at] = written(filled.values[i, k])
                    if k in self._bounds and filled.lower is not None and filled.upper is not None:
                        cells[at + 1], cells[at + 2] = written(filled.lower[i, k]), written(filled.upper[i, k])
            done.append(self._delimiter.join(cells) + end)
        return "".join(done)

    def _new_lines(self, filled: Filled) -> Iterator[str]:
        """Rows of numbers: known ones with all their digits, and as many as they are worth of those filled in."""
        to = self._columns
        values = np.full((len(filled.values), to.width), np.nan, dtype=filled.values.dtype)
        made = np.zeros(values.shape, dtype=bool)
        values[:, to.features], made[:, to.features] = filled.values, filled.gaps
        if filled.lower is not None and filled.upper is not None:
            for behind, side in ((1, filled.lower), (2, filled.upper)):
                at = to.features[to.bounds] + behind
                values[:, at], made[:, at] = side[:, to.bounds], filled.gaps[:, to.bounds]
        for row, new in zip(values, made, strict=True):
            yield self._delimiter.join(_cells(row, new)) + "\n"


class PackedText:
    """Parts of a text that is packed by gzip; a packed file may be several, one behind another."""

    def __init__(self, appender: TextAppender) -> None:
        self._appender = appender

    def plan(self) -> bytes:
        """What is the same for parts that can be joined."""
        return self._appender.begin()

    def write_part(self, path: Path, block: Block, filled: Filled) -> None:
        """Write the rows of a block to a file."""
        path.write_bytes(gzip.compress(self._appender.encode(block, filled)))

    def join(self, parts: Sequence[Path], rows: int, path: Path) -> None:
        """Write the file."""
        with path.open("wb") as out:
            out.write(gzip.compress(self._appender.begin()))
            for part in parts:
                with part.open("rb") as file:
                    shutil.copyfileobj(file, out)


def _cells(row: Array, made: Array) -> Iterable[str]:
    for value, new in zip(row, made, strict=True):
        if np.isnan(value):
            yield ""
        else:
            yield written(value) if new else str(value)


def _whole_lines(file: Iterable[bytes]) -> Iterator[str]:
    for line in file:
        if line.endswith(b"\n"):
            yield line.decode()
