"""One array of a Zarr store, read slice by slice."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from ...extras import require
from ...text import listed
from ..table import TableError
from .array_output import ArrayParts
from .arrays import OpenedRows
from .cutting import rows_per_block
from .drafts import PartsSink, SinkOptions
from .problems import choose_one
from .sink import Sink
from .source import RowOptions, Source

__all__ = ["ZarrRows", "make_sink", "open_file"]


CHUNK_BYTES = 2**20
"""About how many bytes make a chunk of a new array; chunks have whole rows, so that each is read once. Not tuned: what
Zarr's own documentation names as the least."""


class ZarrRows(OpenedRows):
    """The rows of one array of a store."""

    def __init__(self, path: Path, dataset: str | None, options: RowOptions) -> None:
        super().__init__(partial(_opened, path, dataset), str(path), options)
        self.path, self.dataset = path, dataset


def open_file(path: Path, options: RowOptions) -> ZarrRows:
    """The rows of the store's array; of the one that ``options.dataset`` names, or of the only one, in a group."""
    require("zarr", extra="zarr")
    import zarr

    store = _store(path)
    if isinstance(store, zarr.Array):
        if options.dataset is not None:
            raise TableError(f"it is one array, and has none named {options.dataset}")
        return ZarrRows(path, None, options)
    members = store.members(max_depth=None)
    known = sorted(name for name, array in members if isinstance(array, zarr.Array) and array.ndim == 2)
    if options.dataset is None and len(known) != 1:
        raise TableError(choose_one("arrays", known))
    wanted = known[0] if options.dataset is None else options.dataset.strip("/")
    if wanted not in known:
        raise TableError(f"it has no array {options.dataset} with rows and columns; it has {listed(known)}")
    return ZarrRows(path, wanted, options)


@contextmanager
def _opened(path: Path, dataset: str | None) -> Iterator[Any]:
    store = _store(path)
    yield store if dataset is None else store[dataset]


def _store(path: Path) -> Any:
    import zarr

    path.stat()  # one that is not there is named by the system
    try:
        return zarr.open(path, mode="r")
    except (FileNotFoundError, NotADirectoryError, KeyError, ValueError):
        raise TableError("it is not a Zarr store") from None


class _Parts(ArrayParts):
    """Parts of an array that become a store; the other arrays of the source's group are copied."""

    def __init__(self, like: Source, options: SinkOptions) -> None:
        super().__init__(like, options)
        self._like = like if isinstance(like, ZarrRows) else None

    def join(self, parts: Sequence[Path], rows: int, path: Path) -> None:
        """Write the store."""
        import zarr

        name: str | None = None
        row_bytes = self.output.width * self.output.kind.itemsize
        how: dict[str, Any] = {"chunks": (min(rows_per_block(CHUNK_BYTES, row_bytes), rows), self.output.width)}
        if self._like is not None:
            name, store = self._like.dataset, _store(self._like.path)
            how = self._how(store if name is None else store[name])
            if name is not None:
                skipped = (self._like.path / name).resolve()
                zarr.create_group(path, zarr_format=store.metadata.zarr_format, attributes=store.attrs.asdict())
                _copy_others(self._like.path, path, skipped)
        array = zarr.create_array(
            path, name=name, shape=(rows, self.output.width), dtype=self.output.kind, overwrite=name is not None, **how
        )
        for first, values in self.read(parts):
            array[first : first + len(values)] = values

    def _how(self, array: Any) -> dict[str, Any]:
        """How the array is kept, for one that may have more columns."""
        rows, columns = array.chunks
        return {
            "chunks": (rows, self.output.width if columns == array.shape[1] else columns),
            "zarr_format": array.metadata.zarr_format,
            "compressors": array.compressors,
            "attributes": array.attrs.asdict(),
        }


def make_sink(path: Path, like: Source, options: SinkOptions) -> Sink:
    """Write a Zarr store."""
    require("zarr", extra="zarr")
    return PartsSink(path, _Parts(like, options), options)


def _copy_others(folder: Path, to: Path, skipped: Path) -> None:
    """Copy the members of a group, but for the folder of one array, which may be in a group within it."""

    def without(inside: str, names: list[str]) -> list[str]:
        return [name for name in names if (Path(inside) / name).resolve() == skipped]

    for member in folder.iterdir():
        if member.is_dir() and member.resolve() != skipped:
            shutil.copytree(member, to / member.name, ignore=without)
