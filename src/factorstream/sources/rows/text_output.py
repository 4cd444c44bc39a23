"""Filled blocks as delimited text: lines of a text as they were, but for their gaps; numbers of other sources."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ..cells import Cells, quoted, written
from ..encodings import decoded_lines
from ..lines import is_blank, split_lines
from ..number_form import PLAIN
from ..stream import records
from ..table import Array
from ..tables import delimiter_of
from .drafts import SinkOptions, Whole
from .sink import Filled, OutputColumns
from .source import Block, Carrying, Source
from .text import TextRows

__all__ = ["PackedText", "TextAppender"]


class TextAppender:
    """Appends rows to a text."""

    def __init__(self, path: Path, like: Source, options: SinkOptions) -> None:
        wanted = delimiter_of(path, None)
        self._like = like if isinstance(like, TextRows) and wanted in (None, like.delimiter) else None
        self._carrying = like if self._like is None and isinstance(like, Carrying) else None
        positions: Sequence[int] = range(like.n_columns)
        self._names, width = like.names, like.n_columns
        if isinstance(like, Carrying):
            positions, width = like.positions, len(like.all_names)
            self._names = None if like.names is None else like.all_names
        self._others = [j for j in range(width) if j not in positions]
        self._columns = OutputColumns(width, positions, options.bounds)
        self._features: list[int] = self._columns.features.tolist()
        self._bounds = frozenset(options.bounds)
        self._delimiter = (wanted or ",") if self._like is None else self._like.delimiter
        self._number = Cells(form=PLAIN if self._like is None else self._like.form)

    def begin(self) -> bytes:
        """The line of names, if there is one."""
        if self._names is None:
            return b"" if self._like is None else self._encoded(self._like.mark)
        cells = [quoted(name, self._delimiter) for name in self._columns.named(self._names)]
        if self._like is None or self._like.header is None:
            return self._encoded(self._delimiter.join(cells) + "\n")
        for cell, at in zip(self._like.header, self._columns.own, strict=True):
            cells[at] = cell  # as it was written
        return self._encoded(self._like.mark + self._delimiter.join(cells) + self._like.header_end)

    def encode(self, block: Block, filled: Filled) -> bytes:
        """The rows of a block."""
        native = self._like is not None
        lines = self._filled_lines(block.kept, filled) if native else self._new_lines(block, filled)
        return self._encoded("".join(lines))

    def whole(self, draft: Path) -> Whole:
        """The rows of a draft but the last one: whether this, and blank lines behind it, are all there is not known."""
        begin = self.begin()
        here = len(begin)
        ends = [here]  # of the last two rows
        rows = -1
        with draft.open("rb") as file:
            file.seek(here)
            for record in records(_whole_lines(file, self._encoding), self._delimiter):
                here += len(self._encoded(record.text))
                if record.text.strip("\r\n") or len(self._columns.own) == 1:
                    rows, ends = rows + 1, [ends[-1], here]
        return Whole(max(rows, 0), ends[0])

    @property
    def _encoding(self) -> str:
        return "utf-8" if self._like is None else self._like.encoding

    def _encoded(self, text: str) -> bytes:
        return text.encode(self._encoding)

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
                    cells[at] = self._cell(filled.values[i, k])
                    if k in self._bounds and filled.lower is not None and filled.upper is not None:
                        cells[at + 1], cells[at + 2] = self._cell(filled.lower[i, k]), self._cell(filled.upper[i, k])
            done.append(self._delimiter.join(cells) + end)
        return "".join(done)

    def _cell(self, value: float) -> str:
        return self._number.written(value, self._delimiter)

    def _new_lines(self, block: Block, filled: Filled) -> Iterator[str]:
        """Rows of a source of another kind: known numbers with all their digits, and as many as they are worth of those
        filled in; other columns as the texts that they say."""
        to = self._columns
        values = np.full((len(filled.values), to.width), np.nan, dtype=filled.values.dtype)
        made = np.zeros(values.shape, dtype=bool)
        values[:, to.features], made[:, to.features] = filled.values, filled.gaps
        if filled.lower is not None and filled.upper is not None:
            for behind, side in ((1, filled.lower), (2, filled.upper)):
                at = to.features[to.bounds] + behind
                values[:, at], made[:, at] = side[:, to.bounds], filled.gaps[:, to.bounds]
        texts = [] if self._carrying is None else self._carrying.texts(block, self._others)
        for i, (row, new) in enumerate(zip(values, made, strict=True)):
            cells = list(_cells(row, new))
            for j, column in zip(self._others, texts, strict=bool(texts)):
                cells[to.own[j]] = quoted(column[i] or "", self._delimiter)
            yield self._delimiter.join(cells) + "\n"


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


def _whole_lines(file: Iterable[bytes], encoding: str) -> Iterator[str]:
    """The lines of a draft that are complete."""
    for line in decoded_lines(file, encoding):
        if line.endswith("\n"):
            yield line
