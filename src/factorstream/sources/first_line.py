"""Whether the first line of a text holds the names of its columns, or is a row of data already."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple, cast

from .cells import Cells, rewritten
from .date_forms import is_date
from .timeline import LEAST_ROWS, counted_on

__all__ = ["FirstLine", "first_line"]


class FirstLine(NamedTuple):
    """What the first line is."""

    header: bool
    """Whether it holds names."""
    remark: str = ""
    """A sentence where that was assumed and could be otherwise."""


def first_line(first: Sequence[str], second: Sequence[str] | None, cells: Cells, header: bool | None) -> FirstLine:
    """Decide from the cells of the first two lines; ``header`` is what the user has said, None for nothing.

    A line with words is names. A line of numbers, gaps and dates with at least one number is data; but it is names if
    its numbers go up by equal steps, as numbers of columns, years or wavelengths do, and those of the second line do
    not.

    >>> first_line(["a", "2"], ["3", "4"], Cells(), None)
    FirstLine(header=True, remark='')
    >>> first_line(["5.1", ""], ["3", "4"], Cells(), None).header
    False
    >>> first_line(["", "0", "1", "2"], ["0", "5.1", "3", "4"], Cells(), None).header
    True
    """
    if header is not None:
        return FirstLine(header)
    known = [cell for cell in first if not cells.is_gap(cell)]
    numbers = [cell for cell in known if cells.number(cell) is not None or rewritten(cells.text(cell)) is not None]
    if not numbers or not all(cell in numbers or is_date(cells.text(cell)) for cell in known):
        return FirstLine(True, _doubt([cells.number(cell) for cell in numbers]))
    if _go_up(first, cells) and second is not None and not _go_up(second, cells):
        why = "its numbers go up by equal steps"
        return FirstLine(True, f"The first line was taken as names, because {why}; pass --no-header if it is data.")
    return FirstLine(False, "The first line was taken as data, because it has no words; pass --header if it is names.")


def _doubt(values: Sequence[float | None]) -> str:
    """What to say of a line with words if its numbers are hardly names: they do not go up, or are few and no years."""
    up = None not in values and all(a < b for a, b in pairwise(cast("Sequence[float]", values)))
    if up and (len(values) >= LEAST_ROWS or all(value % 1 == 0 for value in values if value is not None)):
        return ""
    return "The first line was taken as names, because it has words; pass --no-header if it is data."


def _go_up(line: Sequence[str], cells: Cells) -> bool:
    """Whether the numbers of a line go up by equal steps; the cell above a column of row names may be empty."""
    values = [cells.number(cell) for cell in line]
    values = values[1:] if values[0] is None else values
    return None not in values and bool(counted_on(values, 1))
