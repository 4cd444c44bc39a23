"""Whether the first line of a text holds the names of its columns, or is a row of data already."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice, pairwise
from typing import NamedTuple

from .cells import Cells, rewritten
from .date_forms import is_date
from .lines import is_blank
from .table import TableError
from .timeline import LEAST_ROWS, counted_on

__all__ = ["NO_ROWS", "NO_ROWS_OPENED", "ROWS", "FirstLine", "first_line"]

NO_ROWS = "it has no rows below its line of names; pass --no-header if that is data"
NO_ROWS_OPENED = "it has no rows below its line of names; pass header=False to open_rows if that is data"
"""What is said of a text with one line, on the command line and in Python."""
ROWS = 5
"""Rows below a first line without words that are looked at. Not tuned: one gap or one odd cell does not decide, and a
stream does not wait long for them."""
YEARS = (1900, 2100)
"""Whole numbers between these may be years: not tuned, as for days that are written as numbers."""


class FirstLine(NamedTuple):
    """What the first line is."""

    header: bool
    """Whether it holds names."""
    remark: str = ""
    """A sentence where that was assumed and could be otherwise."""


def first_line(lines: Iterable[Sequence[str]], cells: Cells, header: bool | None) -> FirstLine:
    """Decide from the cells of the first lines; ``header`` is what the user has said, None for nothing.

    A line with words is names. A line of numbers, gaps and dates is data, unless the rows below it say otherwise: then
    it has texts where they have numbers, or quotes where they have none, counts the columns from 0 or 1, holds years,
    or goes up by equal steps as wavelengths do. No more lines are asked for than are needed.

    >>> first_line([["a", "2"], ["3", "4"]], Cells(), None)
    FirstLine(header=True, remark='')
    >>> first_line([["5.1", ""], ["3", "4"]], Cells(), None).header
    False
    >>> first_line([["", "0"], ["0", "5.1"], ["1", "3"]], Cells(), None).header
    True
    """
    if header is not None:
        return FirstLine(header)
    lines = iter(lines)
    top = next(lines)
    if top and cells.text(top[0]).lower().startswith("sep=") and not any(map(cells.text, top[1:])):
        raise TableError("it begins with a line sep=, which is for spreadsheets alone; remove that line")
    first = _Line(top, cells)
    if not first.numbers and not first.signed:  # nothing but words, dates and gaps
        return FirstLine(True)
    if first.has_words and not first.signed:
        return FirstLine(True, _doubt(first))
    width = len(first.row)
    below = [row for row in islice((row for row in lines if not is_blank(row, width)), ROWS) if len(row) == width]
    columns = [[row[j] for row in below] for j in range(width)]
    above = [j for j in (*first.signed, *first.dates) if _are_numbers(columns[j], cells)]
    if first.has_words:
        return FirstLine(True, _doubt(first) if set(first.signed).issubset(above) else _names("it has words"))
    if above:
        sure = len(above) == len(first.signed) + len(first.dates) and not first.numbers
        return FirstLine(True, "" if sure else _names("it has texts above numbers"))
    if why := _why_names(first, below, columns, cells):
        return FirstLine(True, _names(why))
    return FirstLine(False, "The first line was taken as data, because it has no words; pass --header if it is names.")


class _Line:
    """The cells of the first line by what they are."""

    def __init__(self, row: Sequence[str], cells: Cells) -> None:
        self.row = row
        known = [(j, cells.text(cell)) for j, cell in enumerate(row) if not cells.is_gap(cell)]
        self.numbers = {j: value for j, _ in known if (value := cells.number(row[j])) is not None}
        """By columns."""
        texts = [(j, text) for j, text in known if j not in self.numbers]
        self.signed = [j for j, text in texts if rewritten(text) is not None]
        """Columns of numbers that are written in other ways, as 5% is."""
        self.dates = [j for j, text in texts if is_date(text)]
        self.has_words = len({*self.signed, *self.dates}) < len(texts)


def _names(why: str) -> str:
    return f"The first line was taken as names, because {why}; pass --no-header if it is data."


def _doubt(first: _Line) -> str:
    """What to say of a line with words if its numbers are hardly names: they do not go up, or are few and no years."""
    values = list(first.numbers.values())
    up = all(a < b for a, b in pairwise(values))
    if up and (len(values) >= LEAST_ROWS or all(value % 1 == 0 for value in values)):
        return ""
    return _names("it has words")


def _are_numbers(column: Sequence[str], cells: Cells) -> bool:
    """Whether there are numbers in a column, and gaps, but nothing else."""
    return all(cells.is_gap(cell) or cells.number(cell) is not None for cell in column) and not all(
        map(cells.is_gap, column)
    )


def _why_names(
    first: _Line, below: Sequence[Sequence[str]], columns: Sequence[Sequence[str]], cells: Cells
) -> str | None:
    """Why a line of numbers, dates and gaps is names; None where it is data."""
    if not below or not first.numbers:
        return None
    if any(_is_quoted(first.row[j]) and not any(map(_is_quoted, columns[j])) for j in first.numbers):
        return "its numbers are in quotes and those below are not"
    index = cells.text(first.row[0]) == "" and not any(map(cells.is_gap, columns[0]))  # names of rows, or their numbers
    row = first.row[index:]
    texts = [cells.text(cell) for cell in row]
    apart = sum(_go_up(line[index:], cells) for line in below) * 2 < len(below)
    if any(texts == list(map(str, range(start, start + len(texts)))) for start in (0, 1)):
        fractions = any("." in cell for column in columns[index:] for cell in column)
        if index or (apart if len(texts) >= LEAST_ROWS else fractions):
            return "it counts the columns"
    numbers = list(first.numbers.values())
    if len(numbers) == len(row) and len(row) + index > 1 and all(a < b for a, b in pairwise(numbers)):
        years = not any(_is_year(cells.number(cell)) for column in columns[index:] for cell in column)
        if years and all(map(_is_year, numbers)):
            return "it holds years"
    return "its numbers go up by equal steps" if apart and _go_up(row, cells) else None


def _is_quoted(cell: str) -> bool:
    return cell.startswith('"')


def _is_year(value: float | None) -> bool:
    return value is not None and value % 1 == 0 and YEARS[0] <= value <= YEARS[1]


def _go_up(row: Sequence[str], cells: Cells) -> bool:
    """Whether the numbers of a line go up by equal steps; the cell above a column of row names may be empty."""
    values = [cells.number(cell) for cell in row]
    values = values[1:] if values and values[0] is None else values
    known = [value for value in values if value is not None]
    return len(known) == len(values) and any(value > known[-1] for value in counted_on(known, 1))
