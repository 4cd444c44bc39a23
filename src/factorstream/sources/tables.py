"""Tables in files: one interface over all formats.

A table shows its numbers as an array with NaN in the gaps, and is encoded again with the gaps filled. Columns
that are not numbers, and every value that was there, come out as they went in. A new format is a file with a
`Format` in it, and one line in ``FORMATS``.
"""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np

from . import delimited, npy, parquet
from .cells import Cells
from .endings import BLOCKWISE, NOT_PACKED, ending_of, is_packed
from .table import Bounds, Format, ReadOptions, Table, TableError, as_number, marks_of
from .text_remarks import marks_unused
from .writing import encode, encode_parts

__all__ = [
    "Bounds",
    "Table",
    "TableError",
    "delimiter_of",
    "encode",
    "encode_parts",
    "ending_of",
    "format_of",
    "is_packed",
    "open_lines",
    "read_table",
    "refuse_other_kinds",
]

STANDARD = Path("-")
"""Standard input in place of a file."""

FORMATS = (
    npy.FORMAT,
    parquet.FORMAT,
)
OTHER_KINDS = frozenset(
    [
        *(".xlsx", ".xlsm", ".xlsb", ".xls", ".ods", ".numbers", ".json", ".orc", ".mat", *BLOCKWISE),
        *(".nc", ".sqlite", ".db", ".sav", ".dta", ".rds", ".pkl", ".pickle", ".zip", ".html", ".pdf"),
    ]
)
"""Endings of files that are no text, or no table of cells, and would otherwise be taken as such."""
TEXT = delimited.FORMAT
"""What a file holds whose ending no other format has."""


def format_of(path: Path) -> Format:
    """The format that a file's name promises; text where no other does.

    >>> [format_of(Path(name)).name for name in ("data.parquet", "data.NPY", "data.tsv", "data.npy.gz")]
    ['parquet', 'npy', 'text', 'npy']
    """
    ending = ending_of(path)
    return next((known for known in FORMATS if ending in known.endings), TEXT)


def refuse_other_kinds(path: Path) -> None:
    """Raise a sentence for a file whose ending promises a kind that is not read, or not at once.

    >>> refuse_other_kinds(Path("sales.xlsx"))
    Traceback (most recent call last):
    factorstream.sources.table.TableError: sales.xlsx has the ending .xlsx, which is not read; save ...
    """
    ending = ending_of(path)
    if ending in BLOCKWISE:
        raise TableError(
            f"{path} has the ending {ending}, which only impute and factorize read, block by block and without "
            "--online, --sequence, --report, pictures and standard output; save the table as a .csv, .tsv, .parquet or "
            ".npy file."
        )
    if ending in OTHER_KINDS:
        raise TableError(
            f"{path} has the ending {ending}, which is not read; save the table as CSV (in a spreadsheet: Save As, "
            "CSV UTF-8), or name a .csv, .tsv, .parquet or .npy file."
        )


def read_table(
    path: Path,
    delimiter: str | None = None,
    header: bool | None = None,
    missing: tuple[str, ...] = (),
    *,
    decimal: str | None = None,
    thousands: str | None = None,
    encoding: str | None = None,
) -> Table:
    """Read a table from a file: text (CSV and the like), Parquet or NumPy's ``.npy``, each packed by gzip or not.

    Parameters
    ----------
    path : pathlib.Path
        The file; ``Path("-")`` is standard input, which is text. Its ending says what it holds.
    delimiter : str, default=None
        Between the cells of a text. By default a tab in ``.tsv`` and ``.tab``, else found from the first lines.
    header : bool, default=None
        Whether the first line of a text holds the names of the columns. By default it does, unless all its cells are
        numbers, dates or gaps like those of the rows below it; ``table.first_line`` says what was assumed where it
        could be otherwise.
    missing : tuple of str, default=()
        Texts and numbers that mark a gap besides those that always do.
    decimal : str, default=None
        The decimal mark of a text, ``"."`` or ``","``. By default a point, or a comma where that can be nothing else.
    thousands : str, default=None
        What stands between thousands in a text: ``"."``, ``","``, ``"'"`` or ``" "``. By default nothing, unless a mark
        can be nothing else.
    encoding : str, default=None
        Of a text, such as ``"cp1252"``. By default UTF-8, UTF-16 where it begins with the mark of this, or else cp1252.
        ``table.assumed`` says what was found.

    Returns
    -------
    table
        ``table.numbers`` is an array of the columns of finite numbers, NaN in the gaps; ``table.numeric`` are the
        positions of these columns, and ``table.names`` the names of all.

    Raises
    ------
    TableError
        If the file cannot be read; one sentence says why.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "towns.csv"
    >>> _ = path.write_text("town,heat,rain\\nUlm,21.5,\\nBonn,,3\\n")
    >>> table = read_table(path)
    >>> [table.names[j] for j in table.numeric]
    ['heat', 'rain']
    >>> table.numbers
    array([[21.5,  nan],
           [ nan,  3. ]])
    """
    refuse_other_kinds(path)
    where = "Standard input" if path == STANDARD else str(path)
    with _named_problems(path):
        raw = sys.stdin.buffer.read() if path == STANDARD else path.read_bytes()
    if is_packed(path) and raw:
        raw = _unpacked(raw, path)
    if not raw:
        raise TableError(f"{where} cannot be used: it is empty.")
    try:
        options = ReadOptions(ending_of(path), delimiter, header, missing, decimal, thousands, encoding)
        table = format_of(path).read(raw, options)
    except TableError as problem:
        raise TableError(f"{where} cannot be used: {problem}.") from None
    if format_of(path) != TEXT and (unused := _unused(table, missing)):  # a text has said it of all its cells
        table.assumed = [*table.assumed, *marks_unused(unused, "No number is")]
    _take_out(table, missing)
    return table


@contextmanager
def open_lines(path: Path) -> Iterator[Iterable[bytes]]:
    """The lines of a text one by one, each as soon as it is there."""
    if path == STANDARD:
        yield sys.stdin.buffer
        return
    refuse_other_kinds(path)
    if format_of(path) != TEXT:
        raise TableError(f"{path} is not text, and only text goes row by row; leave out --online.")
    with ExitStack() as stack:
        with _named_problems(path):
            file = stack.enter_context(path.open("rb"))
        yield _unpacked_lines(file) if is_packed(path) else file


def delimiter_of(path: Path, delimiter: str | None) -> str | None:
    """The delimiter that was given, or that a file's name promises; None where it has to be found."""
    return "\t" if delimiter is None and ending_of(path) in (".tsv", ".tab") else delimiter


def _unpacked(raw: bytes, path: Path) -> bytes:
    try:
        return gzip.decompress(raw)
    except (OSError, EOFError, zlib.error):
        raise TableError(f"{path} cannot be used: {NOT_PACKED}.") from None


def _unpacked_lines(file: BinaryIO) -> Iterator[bytes]:
    try:
        with gzip.GzipFile(fileobj=file) as lines:
            yield from lines
    except (OSError, EOFError, zlib.error):
        raise TableError(NOT_PACKED) from None


@contextmanager
def _named_problems(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise TableError(f"{path} does not exist.") from None
    except OSError as problem:
        if path.is_dir():  # Windows calls this a missing permission
            raise TableError(f"{path} is a folder, not a file.") from None
        raise TableError(f"{path} cannot be read: {problem.strerror or problem}.") from None


def _unused(table: Table, missing: tuple[str, ...]) -> list[str]:
    """Those of the marks of gaps that no number is, which are texts too: other columns are left as they are.

    Infinite ones have been taken out when the file was read, and nobody has to be told of what is a gap in every text.
    """
    always, left = Cells(), []
    for text in missing:
        value = as_number(text)
        if (value is None and not always.is_gap(text)) or (value is not None and np.isfinite(value)):
            left.append(text)
    return [text for text in left if not np.isin(table.numbers, marks_of([text], table.numbers.dtype)).any()]


def _take_out(table: Table, missing: tuple[str, ...]) -> None:
    """Make gaps of the numbers that mark one; a column in which nothing else is left holds no numbers."""
    known = table.numbers
    marks = marks_of(missing, known.dtype)
    if not marks.size or not table.numeric:
        return
    numbers = np.where(np.isin(known, marks), np.nan, known)
    some = np.asarray(~np.isnan(numbers).all(axis=0))
    table.numbers = numbers[:, some]
    table.numeric = [position for position, kept in zip(table.numeric, some.tolist(), strict=True) if kept]
