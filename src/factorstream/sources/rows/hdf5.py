"""One dataset of an HDF5 file, read slice by slice."""

from __future__ import annotations

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
from .drafts import PartsSink, SinkOptions
from .problems import choose_one
from .sink import Sink
from .source import RowOptions, Source

__all__ = ["Hdf5Rows", "make_sink", "open_file"]

DEFAULT = "X"
"""The name of a dataset whose source has none."""
PROPERTIES = ("compression", "compression_opts", "shuffle", "fletcher32", "fillvalue")
"""Of a dataset, as h5py names them, which its filled copy takes over."""


class Hdf5Rows(OpenedRows):
    """The rows of one dataset among those of a file."""

    def __init__(self, path: Path, dataset: str, options: RowOptions) -> None:
        super().__init__(partial(_opened, path, dataset), str(path), options)
        self.path, self.dataset = path, dataset


def open_file(path: Path, options: RowOptions) -> Hdf5Rows:
    """The rows of the dataset that ``options.dataset`` names, or of the only one with rows and columns."""
    require("h5py", extra="hdf5")
    with _file(path) as file:
        known = _tables(file)
    if options.dataset is None and len(known) != 1:
        raise TableError(choose_one("datasets", known))
    wanted = known[0] if options.dataset is None else options.dataset.strip("/")
    if wanted not in known:
        raise TableError(f"it has no dataset {options.dataset} with rows and columns; it has {listed(known)}")
    return Hdf5Rows(path, wanted, options)


def _tables(file: Any) -> list[str]:
    """The names of all datasets with two axes, in groups too."""
    import h5py

    found: list[str] = []

    def look(name: str, what: Any) -> None:
        if isinstance(what, h5py.Dataset) and what.ndim == 2:
            found.append(name)

    file.visititems(look)
    return found


@contextmanager
def _opened(path: Path, dataset: str) -> Iterator[Any]:
    with _file(path) as file:
        yield _Slices(file[dataset])


class _Slices:
    """A dataset whose broken parts are named in one sentence."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self.shape, self.dtype, self.chunks = dataset.shape, dataset.dtype, dataset.chunks

    def __getitem__(self, rows: slice) -> Any:
        try:
            return self._dataset[rows]
        except OSError:
            raise TableError("it is damaged or cut off") from None


@contextmanager
def _file(path: Path) -> Iterator[Any]:
    import h5py

    with path.open("rb"):  # a file that is not there, or may not be read, is named by the system
        pass
    try:
        file = h5py.File(path, "r")
    except OSError:
        raise TableError("it is not an HDF5 file, or is cut off") from None
    with file:
        yield file


class _Parts(ArrayParts):
    """Parts of an array that become a dataset; everything else in the source's file is copied."""

    def __init__(self, like: Source, options: SinkOptions) -> None:
        super().__init__(like, options)
        self._like = like if isinstance(like, Hdf5Rows) else None

    def join(self, parts: Sequence[Path], rows: int, path: Path) -> None:
        """Write the file."""
        import h5py

        with h5py.File(path, "w") as out:
            name, how, notes = DEFAULT, {}, {}
            if self._like is not None:
                name = self._like.dataset
                with _file(self._like.path) as file:
                    _copy_others(file, out, name)
                    how, notes = self._how(file[name]), dict(file[name].attrs)
            dataset = out.create_dataset(name, (rows, self.output.width), self.output.kind, **how)
            dataset.attrs.update(notes)
            for first, values in self.read(parts):
                dataset[first : first + len(values)] = values

    def _how(self, dataset: Any) -> dict[str, Any]:
        """How the dataset is kept, for one that may have more columns."""
        if dataset.chunks is None:
            return {}
        rows, columns = dataset.chunks
        how = {name: getattr(dataset, name) for name in PROPERTIES}
        how["chunks"] = (rows, self.output.width if columns == dataset.shape[1] else columns)
        how["maxshape"] = (None, self.output.width)  # whatever is in chunks may grow
        return how


def make_sink(path: Path, like: Source, options: SinkOptions) -> Sink:
    """Write an HDF5 file."""
    require("h5py", extra="hdf5")
    return PartsSink(path, _Parts(like, options), options)


def _copy_others(file: Any, out: Any, dataset: str) -> None:
    """Copy everything in a group but one dataset, which may be in a group within it."""
    first, _, rest = dataset.partition("/")
    out.attrs.update(dict(file.attrs))
    for name in file:
        if name != first:
            file.copy(name, out)
    if rest:
        _copy_others(file[first], out.create_group(first), rest)
