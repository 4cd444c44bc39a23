"""What every file format gives and takes: a table with gaps, and the columns to write in its place."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "NO_FORMS",
    "Bounds",
    "Fill",
    "Format",
    "NewColumn",
    "OtherFill",
    "OutputColumn",
    "ReadOptions",
    "Stray",
    "Table",
    "TableError",
    "Unread",
    "as_number",
    "infinities",
    "marks_of",
    "overlaid",
    "rounded",
    "within",
    "without_infinities",
]

Array = NDArray[Any]

NO_FORMS: Mapping[int, str] = MappingProxyType({})
"""Nothing is known of how another file has written its columns."""


class TableError(ValueError):
    """A file that cannot be used as a table; the message is one sentence for the person who named it."""


class Bounds(NamedTuple):
    """The interval of every entry of `Table.numbers`."""

    lower: Array
    upper: Array


class Fill(NamedTuple):
    """Numbers for the gaps of one column."""

    gaps: Array
    """Which rows are gaps (n_rows, boolean)."""
    values: Any
    """A number for every row, NaN where the cell stays empty, of which only those in the gaps count; or what
    `Table.answered` says of a column that is no number."""


class OtherFill(NamedTuple):
    """What fills the gaps of a column that is no number."""

    gaps: Array
    """Which rows are gaps (n_rows, boolean)."""
    values: Any
    """What `Table.answered` said."""
    beside: Mapping[str, Any]
    """The same of columns after it, by the ends of their names."""


class OutputColumn(NamedTuple):
    """One column to write: a column of the table as it was read, or a copy of it with its gaps filled."""

    position: int
    """Of the column in the table that was read."""
    name: str
    fill: Fill | None = None


class NewColumn(NamedTuple):
    """One column of a table with other rows than the one that was read: a forecast, components."""

    name: str
    values: Sequence[Any]
    """Numbers (NaN: an empty cell), texts, or dates and times as Python has them."""
    like: int | None = None
    """Position of the column of the table that was read whose type it takes; None: the type that fits the values. Texts
    write the cells of a copy of that column as they are, so that the name NA stays, which counts as a gap."""


MOST_TEXTS = 100
"""Different texts of a column of numbers that are told apart. Not tuned: more are no marks of gaps."""


class Stray(NamedTuple):
    """A column that would hold numbers but for some texts, and the commonest of these."""

    column: str
    text: str
    n_cells: int
    """How many say it."""
    line: int
    """Of the first of them in the file, counted from 1."""
    others: tuple[tuple[str, int], ...] = ()
    """The next commonest texts, each with how many cells say it."""
    n_texts: int = 1
    """How many different texts there are, as far as they were counted."""
    word: str = "line"
    """What ``line`` counts: lines of a text, rows of other files."""


class Unread(NamedTuple):
    """A column of numbers that are not written as numbers are read here: 3,14 or 1,200.50 or 5%."""

    column: str
    text: str
    """What one of its cells says."""
    line: int
    """Of this cell in the file, counted from 1."""
    plain: str
    """How to write it."""
    decimal_comma: bool
    """Whether its commas may be decimal ones. Then 1.200 in other columns may mean 1200, and would be misread."""
    sure_comma: bool = False
    """Whether a comma in it can only be a decimal one."""
    groups: str = ""
    """What stands between thousands in its cells with a decimal comma: points, spaces, apostrophes."""
    thousands: str = ""
    """Commas or apostrophes, where these can only stand between thousands, and its points are decimal ones."""
    signed: bool = False
    """Whether there are signs of money or per cent."""


class Table(Protocol):
    """What a file holds."""

    names: list[str]
    """All columns, in order."""
    numeric: list[int]
    """Positions of the columns that hold finite numbers and gaps, and at least one number."""
    numbers: Array
    """Their values (n_rows, len(numeric)), NaN in the gaps."""
    first_line: str
    """A sentence where the first line of a text was taken as names or as data and could be the other; else empty."""
    strays: Sequence[Stray]
    """Texts without which another column would hold numbers; none in formats that give every column a type."""
    unread: Sequence[Unread]
    """Columns of texts such as 3,14 or 5%; none in formats that give every column a type."""
    assumed: Sequence[str]
    """Sentences about what was found out about the text, and could be otherwise: its encoding, decimal commas."""

    @property
    def whole(self) -> Collection[int]:
        """Positions of the columns of numbers that are all written as whole ones, or have such a type. Their fills are
        to be whole too: see `rounded`."""

    @property
    def raw(self) -> bytes:
        """The file as it was read."""

    def gaps(self, column: int) -> int:
        """How many values of any column, numbers or not, are missing."""

    def cells(self, column: int) -> list[Any]:
        """The values of any column as Python has them: texts, numbers, dates; None where one is missing."""

    def as_columns(
        self, positions: Sequence[int], numbers: Mapping[int, Array], forms: Mapping[int, str] = NO_FORMS
    ) -> Any:
        """Some columns as a table that `LowRankImputer` takes, with these numbers (n_rows,) at their positions; None
        where a format has nothing but numbers. ``forms`` are those in which another file has written dates, or true and
        false, at some positions; only texts leave open what they are."""

    def answered(self, lots: Sequence[Any]) -> Any:
        """A column as the model has answered it for lots of rows of `as_columns`, one after another, for a `Fill`."""

    def place(self, row: int) -> str:
        """Where a person finds a row of `numbers` in the file, in words, counted from 1."""

    def encode(self, columns: Sequence[OutputColumn]) -> Iterable[bytes]:
        """A file of the same format with these columns, in parts: a long text need not be in memory twice. Every value
        that is not filled comes out as it was read."""

    def encode_new(self, columns: Sequence[NewColumn]) -> bytes:
        """A file of the same format, and written in the same way, with other rows."""


class ReadOptions(NamedTuple):
    """What a reader may need besides the content."""

    ending: str = ""
    """Of the file's name, in lower case with its dot."""
    delimiter: str | None = None
    """Between the cells of a text; None: found from its first lines."""
    header: bool | None = None
    """Whether the first line of a text holds the names of the columns; None: found from the first lines."""
    missing: tuple[str, ...] = ()
    """More texts and numbers that mark a gap. In `Table.numbers` the numbers are taken out for every format; a format
    needs them only where they change what it does otherwise."""
    decimal: str | None = None
    """The decimal mark of a text; None: a point, unless commas can be nothing else."""
    thousands: str | None = None
    """What stands between thousands in a text; None: nothing, unless marks can be nothing else."""
    encoding: str | None = None
    """Of a text; None: found from its bytes."""


class Format(NamedTuple):
    """A file format: its endings, and how its content is read."""

    name: str
    endings: tuple[str, ...]
    read: Callable[[bytes, ReadOptions], Table]
    """Raises a `TableError` whose message continues the sentence "FILE cannot be used: it …"."""


def without_infinities(values: Array, missing: Sequence[str]) -> Array:
    """The values with NaN for the infinities among the marks of gaps; values itself where no mark is infinite.

    >>> without_infinities(np.array([1.0, np.inf, -np.inf]), ["-9999", "inf", "n.a."]).tolist()
    [1.0, nan, -inf]
    """
    marks = [value for text in missing if (value := as_number(text)) is not None and math.isinf(value)]
    return np.where(np.isin(values, marks), np.nan, values) if marks and values.dtype.kind == "f" else values


def as_number(text: str) -> float | None:
    """The number that a text says; None where it says none."""
    try:
        return float(text)
    except ValueError:
        return None


def marks_of(missing: Sequence[str], kind: np.dtype[Any]) -> Array:
    """The numbers among marks of gaps as a type of numbers has them: float32 values equal marks rounded like them.

    >>> marks_of(["-999", "x", "1e40"], np.dtype(np.float32)).tolist()  # one is too large for any of these numbers
    [-999.0]
    """
    marks = np.array([value for text in missing if (value := as_number(text)) is not None], dtype=np.float64)
    if kind.kind != "f":
        return marks
    with np.errstate(over="ignore"):
        found: Array = marks.astype(kind)
    possible: Array = np.isfinite(found) == np.isfinite(marks)
    same: Array = found[possible]
    return same


def overlaid(fill: Fill, known: Array) -> Array:
    """The known values of a column, and the filled ones in its gaps (float64)."""
    return np.where(fill.gaps, fill.values, known.astype(np.float64))


def rounded(filled: Array, bounds: Bounds | None, whole: Collection[int]) -> tuple[Array, Bounds | None]:
    """Fills rounded in these columns, and bounds rounded outwards.

    >>> filled, bounds = rounded(np.array([[2.6, 2.6]]), Bounds(np.array([[1.2, 1.2]]), np.array([[3.4, 3.4]])), [0])
    >>> filled.tolist(), bounds.lower.tolist(), bounds.upper.tolist()
    ([[3.0, 2.6]], [[1.0, 1.2]], [[4.0, 3.4]])
    """
    at = sorted(whole)
    if not at:
        return filled, bounds
    sides = [(filled, np.rint), *(zip(bounds, (np.floor, np.ceil), strict=True) if bounds else ())]
    found = []
    for values, to_whole in sides:
        values = np.array(values)
        values[:, at] = to_whole(values[:, at])
        found.append(values)
    return found[0], Bounds(*found[1:]) if bounds else None


def within(values: Array, kind: np.dtype[Any]) -> Array:
    """The values, cut to what a type of whole numbers can hold; floats hold all. NaN stays.

    >>> within(np.array([-3.0, 300.0]), np.dtype("u1")).tolist()
    [0.0, 255.0]
    """
    if kind.kind not in "iu" or values.dtype.kind != "f":
        return values
    most = 2.0**53  # beyond it floats are no longer exact, and the greatest integers would not fit
    return np.clip(values, max(float(np.iinfo(kind).min), -most), min(float(np.iinfo(kind).max), most))


def infinities(names: Sequence[str], columns: Iterable[Array]) -> list[Stray]:
    """What there is to say of columns of floats that would be numbers but for infinities.

    >>> infinities(["a", "b"], np.array([[1.0, np.inf, 2.0], [1.0, 2.0, 3.0]]))[0][:4]
    ('a', 'inf', 1, 2)
    """
    found = []
    for name, values in zip(names, columns, strict=True):
        at = np.flatnonzero(np.isinf(values))
        if len(at) and len(at) < np.isfinite(values).sum():
            texts, first, times = np.unique(values[at], return_index=True, return_counts=True)
            (n, k), *others = sorted(((int(n), k) for k, n in enumerate(times)), reverse=True)
            more = tuple((str(texts[k]), n) for n, k in others)
            line = int(at[first[k]]) + 1
            found.append(Stray(name, str(texts[k]), n, line, more, len(texts), "row"))
    return found
