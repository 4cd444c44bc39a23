"""Open rows of any kind, wherever they are."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Sequence
from functools import cache, partial
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...text import counted, listed
from ..endings import ending_of
from ..table import TableError
from .given import given_columns, given_marks
from .problems import named, whole_sentences
from .source import BLOCK_BYTES, RowOptions, Source, rows_missing, whole_columns_of

if TYPE_CHECKING:
    from .sink import Sink

__all__ = ["WITH_SEVERAL", "format_of", "is_path", "is_several", "keeps_others", "open_rows", "open_sink"]

ADDRESS = re.compile(r"[a-zA-Z][\w+.-]+:/")
"""How an address in the web or in a store begins; pathlib makes one stroke of two. A drive of Windows is one letter."""

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

WITH_SEVERAL = frozenset({"npz", "hdf5", "zarr"})
"""Formats whose files can have several arrays."""

KINDS = {
    ("dask", "Array"): "dask_arrays",
    **dict.fromkeys([("dask", "DataFrame"), ("dask_expr", "DataFrame")], "dask_frames"),
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
    missing: Sequence[str | float] = (),
    dataset: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    encoding: str | None = None,
    block_bytes: int = BLOCK_BYTES,
) -> Source:
    """Open rows that need not fit in memory, to be read block by block.

    Parameters
    ----------
    what
        A path, whose ending says what the file holds (``.npy``, ``.npz``, ``.csv``, ``.tsv``, ``.parquet``, ``.arrow``,
        ``.feather``, ``.h5``, ``.hdf5``, ``.zarr``; texts and ``.npy`` also packed, as ``.csv.gz``). A folder that is
        a Zarr store or has the parts of a table as Parquet files. A pattern such as ``"2024-*.csv"``, whose files
        follow each other in the order of their names, or a list of paths, in the order of the list. An array with a
        shape and slices: NumPy's, a memory map, a dataset of HDF5 or Zarr, a sparse matrix, an array of Dask. A
        frame of pandas, polars or Dask, a lazy one too; a table or data set of Arrow. An iterable of blocks of rows,
        which is read once unless it is a list or a tuple; or a function without arguments that returns one, and is
        called for every pass.
    columns : sequence of str or int, default=None
        Names or positions of the columns whose numbers are wanted, in this order. By default all columns of an array;
        of a table those of numbers, without those that count rows or years. ``source.others`` names the others.
    missing : sequence of str or float, default=()
        Texts and numbers that mark a gap besides those that always do.
    dataset : str, default=None
        Which array of a file that has several.
    delimiter : str, default=None
        Between the cells of a text. By default a tab in ``.tsv`` and ``.tab``, else found from the first lines.
    header : bool, default=None
        Whether the first line of a text holds names. By default found from the first lines.
    decimal : str, default=None
        The decimal mark of a text, ``"."`` or ``","``. By default a point or, unless columns are given, a comma where
        that can be nothing else; ``source.assumed`` says so.
    thousands : str, default=None
        What stands between thousands in a text: ``"."``, ``","``, ``"'"`` or ``" "``. By default nothing, unless a mark
        can be nothing else.
    encoding : str, default=None
        Of a text, such as ``"cp1252"``. By default UTF-8, UTF-16 where it begins with the mark of this, or else cp1252.
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
    options = RowOptions(
        given_columns(columns),
        given_marks(missing),
        dataset,
        delimiter,
        header,
        block_bytes,
        decimal,
        thousands,
        encoding,
    )
    if isinstance(what, Source):
        return what
    if is_path(what):
        return _open_path(what, options)
    if isinstance(what, list | tuple) and any(map(is_path, what)):
        return _open_paths(what, options)
    with whole_sentences("What was given"):  # problems of code that makes the rows are its own
        return _open_object(what, options)


def is_path(what: Any) -> bool:
    """Whether something names a file."""
    return isinstance(what, str | PathLike)


def is_several(what: Any) -> bool:
    """Whether something is a list of paths, or of tables that follow each other; lists of rows are one table.

    >>> is_several(["a.npy", "b.npy"]), is_several([[1.0, 2.0], [3.0, 4.0]])
    (True, False)
    """
    if not isinstance(what, list | tuple) or not len(what):
        return False
    return is_path(what[0]) or len(getattr(what[0], "shape", ())) == 2


def open_sink(path: str | PathLike[str], like: Source, *, bounds: Sequence[int] = (), resume: bool = False) -> Sink:
    """Open a file for filled blocks of rows. Nothing is in its place until it is complete.

    Parameters
    ----------
    path : str or path
        The file; its ending says the format. Where that is the source's, all that is not filled comes out as it was:
        other columns, texts, types, names. Columns of whole numbers get whole ones: fills are rounded, and bounds
        outwards. Otherwise tables get all columns too; arrays have room for numbers alone,
        and are refused where a table has other columns, unless ``columns`` has chosen the numbers.
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
        the end, or removes the draft if there was an error. It is one if rows of the source are missing then.

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
    from .folders import is_zarr
    from .several import FollowingRows

    target = Path(path)
    if target.is_dir() and not (target.suffix.lower() == ".zarr" and is_zarr(target)):
        raise TableError(f"{target} is a folder; name a file to write to.")
    if isinstance(like, FollowingRows) and like.carries_more:
        raise TableError(
            "These have more columns than those of numbers, which one file for all of them would lose; fill each "
            "of them on its own."
        )
    options = SinkOptions(
        tuple(sorted({int(j) for j in bounds})),
        resume,
        partial(rows_missing, like),
        cache(partial(whole_columns_of, like)),
    )
    if options.bounds and not 0 <= options.bounds[0] <= options.bounds[-1] < like.n_columns:
        raise TableError(f"The source has {counted(like.n_columns, 'column')} of numbers; bounds count them from 0.")
    sink: Sink = _format(target).make_sink(target, like, options)
    return sink


def format_of(path: Path) -> str | None:
    """The format that a file's name promises; None where it is none that is read block by block."""
    return FORMATS.get(ending_of(path))


def keeps_others(path: Path) -> bool:
    """Whether a file has room for columns that are no numbers."""
    return format_of(path) in ("text", "parquet", "arrow")


def _format(path: Path) -> Any:
    """The file of this folder that knows a file's format."""
    found = format_of(path)
    if found is None:
        ending, known = ending_of(path), ", ".join(FORMATS)
        has = f"the ending {ending}" if ending else "no ending"
        raise TableError(f"{path} has {has}, which is not read block by block; those are {known}.")
    return import_module(f"{__package__}.{found}")


def _open_path(given: str | PathLike[str], options: RowOptions) -> Source:
    """A file, a folder, or the files of a pattern."""
    text = os.fspath(given)
    if ADDRESS.match(text):
        raise TableError(
            f"{text} is an address, and files are read from disk; download it first, or pass what another library has "
            "opened there: an array, or a data set of Arrow."
        )
    path = Path(text)
    with named(text):
        if path.is_dir():
            from .folders import open_folder

            return open_folder(path, options)
        if not path.exists() and set("*?[") & set(text):
            files = sorted(glob.glob(text, recursive=True))
            if not files:
                raise TableError(f"No file matches {text}.")
            return _open_paths(files, options)
        reader = _format(path)
        if options.dataset is not None and format_of(path) not in WITH_SEVERAL:
            raise TableError(f"it is one table, and has none named {options.dataset}")
        source: Source = reader.open_file(path, options)
        return source


def _open_paths(given: Sequence[Any], options: RowOptions) -> Source:
    """Files that follow each other."""
    from .several import open_several

    if not all(map(is_path, given)):
        raise TableError("A list holds paths or blocks of rows, not both; give one of them.")
    return open_several(given, [os.fspath(one) for one in given], _open_path, options)


def _open_object(what: Any, options: RowOptions) -> Source:
    from .arrays import is_array, open_array
    from .iterables import MadeRows, PassingRows

    reader = _reader_of(what)
    if reader is not None:
        found: Source = import_module(f"{__package__}.{reader}").open_object(what, options)
        return found
    if is_array(what):
        return open_array(what, options)
    if isinstance(what, list | tuple):
        if what and all(_reader_of(one) is not None for one in what):
            from .several import open_several

            return open_several(what, [f"Frame {k + 1}" for k in range(len(what))], _open_object, options)
        return MadeRows(partial(iter, what), options)  # a lambda could not be sent to other processes
    if callable(what):
        return MadeRows(what, options)
    if hasattr(what, "keys") and (names := list(what.keys())):
        raise TableError(
            f"Rows cannot be read from {type(what).__name__}, which has {listed(names)}; give one of them, as "
            f"X[{names[0]!r}]."
        )
    if isinstance(what, Iterable):
        return PassingRows(what, options)
    raise TableError(f"Rows cannot be read from {type(what).__name__}; give a path, an array or an iterable of blocks.")


def _reader_of(what: Any) -> str | None:
    """The file of this folder that reads a library's class; None where it has none of its own."""
    known = (KINDS.get((kind.__module__.partition(".")[0], kind.__name__)) for kind in type(what).__mro__)
    return next((reader for reader in known if reader is not None), None)
