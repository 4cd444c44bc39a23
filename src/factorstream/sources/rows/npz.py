"""One array of an NPZ file, unpacked on the way: nothing but a block of it is ever in memory."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import BinaryIO, cast

from ...text import listed
from ..table import TableError
from .npy import UNPACKING, NpyRows
from .source import RowOptions

__all__ = ["open_file"]

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
    """The rows of the array that ``options.dataset`` names, or of the only one."""
    try:
        with zipfile.ZipFile(path) as archive:
            sizes = {info.filename: info.file_size for info in archive.infolist() if info.filename.endswith(ENDING)}
    except UNPACKING as problem:
        if isinstance(problem, FileNotFoundError | PermissionError | IsADirectoryError):
            raise
        raise TableError("it is not an NPZ file, or is cut off") from None
    known = [name.removesuffix(ENDING) for name in sizes]
    if options.dataset is None and len(known) != 1:
        raise TableError(
            f"it has the arrays {listed(known)}; name one of them with dataset" if known else "it has no arrays"
        )
    wanted = (options.dataset or known[0]) + ENDING
    if wanted not in sizes:
        raise TableError(f"it has no array {options.dataset}; it has {listed(known)}")
    return NpzRows(path, wanted, options, sizes[wanted])
