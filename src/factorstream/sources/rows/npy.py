"""NPY files, read block by block from where the rows lie; packed ones are unpacked on the way."""

from __future__ import annotations

import gzip
import os
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from ..endings import NOT_PACKED, is_packed
from ..table import Array, TableError
from .cutting import rows_per_block
from .numbers import ArrayColumns, whole_shape
from .problems import named
from .source import Block, RowOptions

__all__ = ["UNPACKING", "NpyRows", "open_file"]

Opened = Callable[[], BinaryIO]
"""Opens the bytes of an NPY file at their beginning."""

CUT_OFF = "it ends before its last row"
"""What is said of a file that is shorter than its header promises."""
UNPACKING = (EOFError, OSError, zlib.error, zipfile.BadZipFile)
"""What goes wrong in packed files that are cut off or damaged."""
SKIPPED = 2**20
"""How many bytes are read at once where a stream cannot seek. Not tuned: large enough to cost nothing."""


class _Header(NamedTuple):
    shape: tuple[int, ...]
    by_columns: bool
    kind: np.dtype[Any]
    offset: int
    """Of the first row in the file."""


class NpyRows:
    """The rows of an array as NumPy saves it."""

    names = None
    rewinds = True

    def __init__(self, open_bytes: Opened, where: str, options: RowOptions, size: int | None = None) -> None:
        self._open, self._where = open_bytes, where
        with open_bytes() as file:
            self._header = header = _read_header(file)
        self.n_rows, width = whole_shape(header.shape)
        self.layout = ArrayColumns(width, header.kind, options)
        if header.by_columns and width > 1 and self.n_rows > 1:
            raise TableError(
                "its columns lie one after another; save np.ascontiguousarray of the array, or give np.load(path, "
                'mmap_mode="r") in its place'
            )
        if size is not None and size < header.offset + self.n_rows * self._row_bytes:
            raise TableError(CUT_OFF)
        self.dtype, self.n_columns = self.layout.dtype, self.layout.n_columns
        self._rows = rows_per_block(options.block_bytes, width * self.dtype.itemsize)

    def blocks(self, start: int = 0) -> Iterator[Block]:
        """The rows from number ``start`` on."""
        with named(self._where), self._open() as file:
            _go_to(file, self._header.offset + start * self._row_bytes)
            while start < self.n_rows:
                end = min(start - start % self._rows + self._rows, self.n_rows)
                yield self.layout.block(start, self._read(file, end - start))
                start = end
            _expect_end(file)

    @property
    def _row_bytes(self) -> int:
        return self.layout.width * self._header.kind.itemsize

    def _read(self, file: BinaryIO, n: int) -> Array:
        rows = np.empty((n, self.layout.width), dtype=self._header.kind)
        into = rows.reshape(-1).view(np.uint8).data
        filled = 0
        while filled < len(into):
            try:
                got = file.readinto(into[filled:])  # type: ignore[attr-defined]
            except UNPACKING:  # of what unpacks it
                raise TableError(CUT_OFF) from None
            if not got:
                raise TableError(CUT_OFF)
            filled += got
        return rows


def open_file(path: Path, options: RowOptions) -> NpyRows:
    """The rows of an NPY file, packed by gzip or not."""
    if is_packed(path):
        return NpyRows(_Unpacked(path), str(path), options)
    return NpyRows(_Plain(path), str(path), options, path.stat().st_size)


class _Plain:
    """Opens a file. A class, not a closure, so that sources can be sent to other processes."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __call__(self) -> BinaryIO:
        return self.path.open("rb")


class _Unpacked(_Plain):
    """Opens what is packed in a file."""

    def __call__(self) -> BinaryIO:
        return gzip.open(self.path, "rb")  # type: ignore[return-value]


def _read_header(file: BinaryIO) -> _Header:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy's about a header that it had to mend
            version = np.lib.format.read_magic(file)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, by_columns, kind = read(file)
    except (gzip.BadGzipFile, zlib.error):
        raise TableError(NOT_PACKED) from None
    except (EOFError, zipfile.BadZipFile):
        raise TableError(CUT_OFF) from None
    except Exception:  # a damaged header is read as Python: errors of its tokenizer, its parser, NumPy, ...
        raise TableError("it is not an NPY file of numbers") from None
    return _Header(shape, by_columns, kind, file.tell())


def _expect_end(file: BinaryIO) -> None:
    """Make what unpacks a file compare its checksum, which stands behind the last byte."""
    try:
        file.read(1)
    except UNPACKING:
        raise TableError(CUT_OFF) from None


def _go_to(file: BinaryIO, offset: int) -> None:
    try:
        if file.seekable():
            file.seek(offset, os.SEEK_SET)
            return
        left = offset
        while left > 0 and (read := file.read(min(left, SKIPPED))):
            left -= len(read)
    except UNPACKING:  # of what unpacks it
        raise TableError(CUT_OFF) from None
