"""One array of an NPZ file, unpacked on the way: a block of it is in memory, or all where columns lie one by one."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, cast

from ...text import listed
from ..table import TableError
from .array_output import ArrayParts
from .drafts import PartsSink, SinkOptions
from .npy import UNPACKING, NpyRows, read_header, write_npy
from .problems import choose_one
from .sink import Sink
from .source import RowOptions, Source

__all__ = ["make_sink", "open_file"]

DEFAULT = "X"
"""The name of an array whose source has none."""
ENDING = ".npy"
"""Of the names of arrays in the archive, as NumPy writes them."""


class _Member:
    """Opens an array. A class, not a closure, so that sources can be sent to other processes."""

    def __init__(self, path: Path, name: str) -> None:
        self.path, self.name = path, name

    def __call__(self) -> BinaryIO:
        with zipfile.ZipFile(self.path) as archive:  # the file stays open until the member is closed
            return cast(BinaryIO, archive.open(self.name))


class NpzRows(NpyRows):
    """The rows of one array among those of an archive."""

    def __init__(self, path: Path, name: str, options: RowOptions, size: int) -> None:
        super().__init__(_Member(path, name), str(path), options, size)
        self.path, self.member = path, name


def open_file(path: Path, options: RowOptions) -> NpzRows:
    """The rows of the array that ``options.dataset`` names, or of the only one with rows and columns."""
    try:
        with zipfile.ZipFile(path) as archive:
            arrays = [info for info in archive.infolist() if info.filename.endswith(ENDING)]
            sizes = {info.filename: info.file_size for info in arrays if _n_axes(archive, info) == 2}
    except UNPACKING as problem:
        if isinstance(problem, FileNotFoundError | PermissionError | IsADirectoryError):
            raise
        raise TableError("it is not an NPZ file, or is cut off") from None
    known = [name.removesuffix(ENDING) for name in sizes]
    if options.dataset is None and len(known) != 1:
        raise TableError(choose_one("arrays", known))
    wanted = (options.dataset or known[0]) + ENDING
    if wanted not in sizes:
        raise TableError(f"it has no array {options.dataset} with rows and columns; it has {listed(known)}")
    return NpzRows(path, wanted, options, sizes[wanted])


def _n_axes(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> int:
    """Of an array; 2 where its header cannot be read, which is said when its rows are."""
    try:
        with archive.open(info) as file:
            return len(read_header(cast(BinaryIO, file)).shape)
    except TableError:
        return 2


class _Parts(ArrayParts):
    """Parts of an array that become one of an archive; the other arrays of the source's are copied."""

    def __init__(self, like: Source, options: SinkOptions) -> None:
        super().__init__(like, options)
        self._like = like if isinstance(like, NpzRows) else None

    def join(self, parts: Sequence[Path], rows: int, path: Path) -> None:
        """Write the archive."""
        name, packing = DEFAULT + ENDING, zipfile.ZIP_DEFLATED
        with zipfile.ZipFile(path, "w") as out:
            if self._like is not None:
                name = self._like.member
                with zipfile.ZipFile(self._like.path) as archive:
                    packing = archive.getinfo(name).compress_type
                    for info in archive.infolist():
                        if info.filename != name:
                            _copy(archive, info, out)
            member = zipfile.ZipInfo(name)
            member.compress_type = packing
            with out.open(member, "w", force_zip64=True) as file:
                write_npy(cast(BinaryIO, file), self, parts, rows)


def make_sink(path: Path, like: Source, options: SinkOptions) -> Sink:
    """Write an NPZ file."""
    return PartsSink(path, _Parts(like, options), options)


def _copy(archive: zipfile.ZipFile, info: zipfile.ZipInfo, out: zipfile.ZipFile) -> None:
    copy = zipfile.ZipInfo(info.filename, info.date_time)
    copy.compress_type = info.compress_type
    with archive.open(info) as file, out.open(copy, "w", force_zip64=True) as to:
        shutil.copyfileobj(file, to)
