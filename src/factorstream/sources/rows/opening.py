"""Open rows of any kind, wherever they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...text import counted
from ..endings import ending_of
from ..table import TableError
from .problems import named
from .source import BLOCK_BYTES, RowOptions, Source

if TYPE_CHECKING:
    from .sink import Sink

__all__ = ["open_rows", "open_sink"]


FORMATS = {
    ".npy": "npy",
    ".npz": "npz",
    **dict.fromkeys((".csv", ".tsv", ".tab", ".txt"), "text"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), "arrow"),
    **dict.fromkeys((".h5", ".hdf5"), "hdf5"),
    ".zarr": "zarr",
}
"""The file of this folder that reads a format, by the endings of its files; imported when the first one is opened. Its
``open_file(path, options)`` raises a `TableError` whose message continues the sentence "FILE cannot be used: it …";
its ``make_sink(path, like, options)`` opens a file for writing."""

KINDS = {
    ("dask", "Array"): "dask_arrays",
    ("pandas", "DataFrame"): "pandas_frames",
    ("polars", "DataFrame"): "polars_frames",
    ("polars", "LazyFrame"): "lazy_frames",
    ("pyarrow", "Table"): "arrow_tables",
    ("pyarrow", "Dataset"): "arrow_datasets",
}
"""The file of this folder whose ``open_object(what, options)`` reads a library's class, or one that inherits it."""


def open_rows(
    what: Any,
    *,
    columns: Sequence[str | int] | None = None,
    missing: Sequence[str] = (),
    dataset: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    block_bytes: int = BLOCK_BYTES,
) -> Source:
    """Open rows that need not fit in memory, to be read block by block.

    Parameters
    ----------
    what
        A path, whose ending says what the file holds (``.npy``, ``.npz``, ``.csv``, ``.tsv``, ``.parquet``, ``.arrow``,
        ``.feather``, ``.h5``, ``.hdf5``, ``.zarr``; texts and ``.npy`` also packed, as ``.csv.gz``). An array with a
        shape and slices: NumPy's, a memory map, a dataset of HDF5 or Zarr, a sparse matrix, an array of Dask. A
        frame of pandas or polars, a lazy one too; a table or data set of Arrow. An iterable of blocks of rows, which
        is read once unless it is a list or a tuple; or a function without arguments that returns one, and is called
        for every pass.
    columns : sequence of str or int, default=None
        Names or positions of the columns whose numbers are wanted, in this order. By default all columns of numbers.
    missing : sequence of str, default=()
        Texts and numbers that mark a gap besides those that always do.
    dataset : str, default=None
        Which array of a file that has several.
    delimiter : str, default=None
        Between the cells of a text. By default a tab in ``.tsv`` and ``.tab``, else found from the first lines.
    header : bool, default=None
        Whether the first line of a text holds names. By default found from the first lines.
    block_bytes : int, default=8 MiB
        About how many bytes the rows of a block take.

    Returns
    -------
    Source
        ``source.blocks(start=0)`` gives blocks: ``block.values`` is an array with NaN in the gaps, ``block.first`` the
        number of its first row. ``source.names``, ``dtype``, ``n_rows``, ``n_columns`` and ``rewinds`` describe them.

    Raises
    ------
    TableError
        If the rows cannot be read; one sentence says why.

    Examples
    --------
    >>> import numpy as np
    >>> from factorstream import open_rows
    >>> source = open_rows(np.arange(12.0).reshape(6, 2), block_bytes=64)
    >>> source.n_rows, source.n_columns, source.names, source.rewinds
    (6, 2, None, True)
    >>> [(block.first, block.values.shape) for block in source.blocks()]
    [(0, (4, 2)), (4, (2, 2))]
    >>> [block.first for block in source.blocks(start=3)]
    [3, 4]
    """
    if isinstance(columns, str) or isinstance(missing, str):
        raise TableError("Give columns and missing as lists of texts, not as one text.")
    options = RowOptions(
        None if columns is None else tuple(columns), tuple(missing), dataset, delimiter, header, block_bytes
    )
    if isinstance(what, Source):
        return what
    if isinstance(what, str | PathLike):
        return _open_file(Path(what), options)
    with named("What was given"):
        return _open_object(what, options)


def open_sink(path: str | PathLike[str], like: Source, *, bounds: Sequence[int] = (), resume: bool = False) -> Sink:
    """Open a file for filled blocks of rows. Nothing is in its place until it is complete.

    Parameters
    ----------
    path : str or path
        The file; its ending says the format. Where that is the source's, all that is not filled comes out as it was:
        other columns, texts, types, names. Otherwise the numbers and names are written.
    like : Source
        Where the blocks come from.
    bounds : sequence of int, default=()
        Which columns of numbers, counted from 0, have two more columns behind them for the bounds of what was filled
        in, NAME_lower and NAME_upper; both are the value itself where it was known.
    resume : bool, default=False
        Go on with the draft of a run that was stopped or killed: ``sink.written`` says how many rows it has, and the
        next block begins there. An error then leaves the draft for the next time.

    Returns
    -------
    Sink
        ``sink.write(block, filled, bounds)`` writes a block. In a ``with`` statement it puts the file in its place at
        the end, or removes the draft if there was an error.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from factorstream import open_rows, open_sink
    >>> path = Path(tempfile.mkdtemp()) / "towns.csv"
    >>> _ = path.write_text("town,heat,rain\\nUlm,21.5,\\nBonn,,3\\n")
    >>> source = open_rows(path)
    >>> with open_sink(path.with_name("filled.csv"), source) as sink:
    ...     for block in source.blocks():
    ...         sink.write(block, np.zeros(block.values.shape))
    >>> print(sink.path.read_text(), end="")
    town,heat,rain
    Ulm,21.5,0
    Bonn,0,3
    """
    from .drafts import SinkOptions

    target = Path(path)
    options = SinkOptions(tuple(sorted({int(j) for j in bounds})), resume)
    if options.bounds and not 0 <= options.bounds[0] <= options.bounds[-1] < like.n_columns:
        raise TableError(f"The source has {counted(like.n_columns, 'column')} of numbers; bounds count them from 0.")
    sink: Sink = _format(target).make_sink(target, like, options)
    return sink


def _format(path: Path) -> Any:
    """The file of this folder that knows a file's format."""
    ending = ending_of(path)
    if ending not in FORMATS:
        known = ", ".join(FORMATS)
        raise TableError(f"{path} has the ending {ending}, which is not read block by block; those are {known}.")
    return import_module(f"{__package__}.{FORMATS[ending]}")


def _open_file(path: Path, options: RowOptions) -> Source:
    reader = _format(path)
    with named(str(path)):
        source: Source = reader.open_file(path, options)
    return source


def _open_object(what: Any, options: RowOptions) -> Source:
    from .arrays import is_array, open_array
    from .iterables import MadeRows, PassingRows

    for kind in type(what).__mro__:
        reader = KINDS.get((kind.__module__.partition(".")[0], kind.__name__))
        if reader is not None:
            found: Source = import_module(f"{__package__}.{reader}").open_object(what, options)
            return found
    if is_array(what):
        return open_array(what, options)
    if isinstance(what, list | tuple):
        return MadeRows(partial(iter, what), options)  # a lambda could not be sent to other processes
    if callable(what):
        return MadeRows(what, options)
    if isinstance(what, Iterable):
        return PassingRows(what, options)
    raise TableError(f"Rows cannot be read from {type(what).__name__}; give a path, an array or an iterable of blocks.")
