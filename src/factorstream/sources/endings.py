"""What the ending of a file's name promises."""

from __future__ import annotations

from pathlib import Path

__all__ = ["BLOCKWISE", "NOT_PACKED", "ending_of", "is_packed"]

BLOCKWISE = frozenset([".npz", ".arrow", ".feather", ".ipc", ".h5", ".hdf5", ".zarr"])
"""Endings of files that are read block by block, whatever their size, and in no other way."""

NOT_PACKED = "it is not packed by gzip, or is cut off"
"""What is said of a file whose ending promises gzip and which is something else."""


def is_packed(path: Path) -> bool:
    """Whether a file's name promises that it is packed by gzip."""
    return path.suffix.lower() == ".gz"


def ending_of(path: Path) -> str:
    """The ending of a file's name in lower case, without that of gzip.

    >>> ending_of(Path("x.CSV.gz"))
    '.csv'
    """
    return (path.with_suffix("") if is_packed(path) else path).suffix.lower()
