"""NPY files, read block by block from where the rows lie; packed ones are unpacked on the way."""

from __future__ import annotations

import gzip
import io
import os
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np

from ..endings import NOT_PACKED, is_packed
from ..table import Array, TableError
from .array_output import ArrayOutput, ArrayParts
from .cutting import rows_per_block
from .drafts import GrowingSink, PartsSink, SinkOptions, Whole
from .numbers import ArrayColumns, whole_shape
from .problems import named
from .sink import Filled, Sink
from .source import Block, RowOptions, Source

__all__ = ["UNPACKING", "NpyHeader", "NpyRows", "make_sink", "npy_header", "open_file", "read_header", "write_npy"]

Opened = Callable[[], BinaryIO]
"""Opens the bytes of an NPY file at their beginning."""

CUT_OFF = "it ends before its last row"
"""What is said of a file that is shorter than its header promises."""
UNPACKING = (EOFError, OSError, zlib.error, zipfile.BadZipFile)
"""What goes wrong in packed files that are cut off or damaged."""
SKIPPED = 2**20
"""How many bytes are read at once where a stream cannot seek. Not tuned: large enough to cost nothing."""


class NpyHeader(NamedTuple):
    """What is known of an array before its rows are read."""

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
            self._header = header = read_header(file)
        self.n_rows, width = whole_shape(header.shape)
        self.layout = ArrayColumns(width, header.kind, options)
        if size is not None and size < header.offset + self.n_rows * self._row_bytes:
            raise TableError(CUT_OFF)
        self.dtype, self.n_columns = self.layout.dtype, self.layout.n_columns
        self._rows = rows_per_block(options.block_bytes, width * self.dtype.itemsize)

    def blocks(self, start: int = 0) -> Iterator[Block]:
        """The rows from number ``start`` on."""
        header, width = self._header, self.layout.width
        with named(self._where), self._open() as file:
            columns = self._columns(file) if header.by_columns else None
            if columns is None:
                _go_to(file, header.offset + start * self._row_bytes)
            while start < self.n_rows:
                end = min(start - start % self._rows + self._rows, self.n_rows)
                rows = self._read(file, end - start, width) if columns is None else columns[:, start:end].T.copy()
                yield self.layout.block(start, rows)
                start = end
            _expect_end(file)

    def _columns(self, file: BinaryIO) -> Array:
        """An array whose columns lie one after another, as (width, n_rows): mapped, or unpacked as a whole."""
        header, shape = self._header, (self.layout.width, self.n_rows)
        if isinstance(file, io.BufferedReader):  # a plain file
            return np.memmap(file, header.kind, "r", header.offset, shape)
        _go_to(file, header.offset)
        return self._read(file, *shape)

    @property
    def _row_bytes(self) -> int:
        return self.layout.width * self._header.kind.itemsize

    def _read(self, file: BinaryIO, n: int, width: int) -> Array:
        rows = np.empty((n, width), dtype=self._header.kind)
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


def read_header(file: BinaryIO) -> NpyHeader:
    """What an NPY file says of its array."""
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
    return NpyHeader(shape, by_columns, kind, file.tell())


class _Appender:
    """Appends rows to an NPY file, whose header gets the number of rows at the end."""

    def __init__(self, output: ArrayOutput) -> None:
        self._output = output

    def begin(self) -> bytes:
        """A header without rows; NumPy leaves room in it for more digits."""
        return npy_header(self._output, 0)

    def encode(self, block: Block, filled: Filled) -> bytes:
        """The rows of a block."""
        return self._output.rows(block, filled).tobytes()

    def whole(self, draft: Path) -> Whole:
        """The rows that fit into the length of a draft."""
        header, row = len(self.begin()), self._output.width * self._output.kind.itemsize
        rows = (draft.stat().st_size - header) // row
        return Whole(rows, header + rows * row)

    def finish(self, file: BinaryIO, rows: int) -> None:
        """Write the header again, with the number of rows."""
        file.seek(0)
        file.write(npy_header(self._output, rows))


class _PackedParts(ArrayParts):
    """Parts of an NPY file that is packed by gzip."""

    def join(self, parts: Sequence[Path], rows: int, path: Path) -> None:
        """Write the file."""
        with gzip.open(path, "wb") as out:
            write_npy(cast(BinaryIO, out), self, parts, rows)


def write_npy(out: BinaryIO, array: ArrayParts, parts: Sequence[Path], rows: int) -> None:
    """Write parts of an array as one NPY file."""
    out.write(npy_header(array.output, rows))
    for _, values in array.read(parts):
        out.write(values.data)


def npy_header(output: ArrayOutput, rows: int) -> bytes:
    """The header of an array; its length does not depend on the number of rows."""
    header = io.BytesIO()
    kind = np.lib.format.dtype_to_descr(output.kind)
    np.lib.format.write_array_header_1_0(header, {"descr": kind, "fortran_order": False, "shape": (rows, output.width)})
    return header.getvalue()


def make_sink(path: Path, like: Source, options: SinkOptions) -> Sink:
    """Write an NPY file, packed by gzip or not."""
    if is_packed(path):
        return PartsSink(path, _PackedParts(like, options), options)
    return GrowingSink(path, _Appender(ArrayOutput(like, options)), options)


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
