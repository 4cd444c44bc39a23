"""What the points in columns of numbers may be: decimal points, or marks between thousands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..text import named_column
from .cells import MINUS, Cells, may_be_thousands
from .number_form import NOTHING_ASKED, Asked, Doubt, Points
from .table import TableError

__all__ = ["points_of", "refuse_or_say"]

SHORT = 3
"""Digits of a whole number without a point, where points stand between thousands. Derived: a longer one has a point."""
CUTS_DECIMAL_COMMAS = (";", "\t")
"""What is between cells where people write decimal commas, and points between thousands."""


def points_of(rows: Iterable[Sequence[str]], columns: Sequence[int], names: Sequence[str], cells: Cells) -> Points:
    """Columns of numbers by what their points may be, as in 1.200 or in 3.14; gaps and texts do not count.

    Rows are asked for until some point of every column can only be a decimal one.

    >>> points_of([["1.128", "1.5"], ["n.a.", "2"], ["892", "3"]], [0, 1], ["sales", "heat"], Cells())
    Points(thousands=['sales'], decimal=['heat'], doubts=[Doubt(column='sales', pointed='1.128', whole='892')])
    """
    left, decimal = list(columns), set[int]()
    pointed, short, long = dict[int, str](), dict[int, str](), set[int]()
    for row in rows:
        if not left:
            break
        for j in left:
            cell = row[j]
            if "." in cell:
                text = cells.text(cell)
                if cells.is_gap(cell) or (cells.as_written(cell) is None and not may_be_thousands([text])):
                    continue  # n.a. and the like
                pointed.setdefault(j, text)
                if not may_be_thousands([text]):
                    decimal.add(j)
            elif cell and j not in long and (j not in short or len(cell) > SHORT) and cells.number(cell) is not None:
                text = cells.text(cell)
                if len(text.lstrip("+-" + MINUS)) > SHORT:
                    long.add(j)
                else:
                    short[j] = text
        if decimal:
            left = [j for j in left if j not in decimal]
    thousands = [j for j in columns if j in pointed and j not in decimal]
    return Points(
        [names[j] for j in thousands],
        [names[j] for j in columns if j in decimal],
        [Doubt(names[j], pointed[j], short[j]) for j in thousands if j in short and j not in long],
    )


def refuse_or_say(points: Points, delimiter: str, asked: Asked) -> list[str]:
    """Sentences about columns that may be misread, because their points may stand between thousands.

    Raises
    ------
    TableError
        Where cells are cut as they are where decimal commas are written; the message continues "FILE cannot be used: ".
    """
    if not points.doubts or asked != NOTHING_ASKED:
        return []
    column, pointed, whole = points.doubts[0]
    has = f"{named_column(column)} has both {pointed} and {whole}"
    if delimiter in CUTS_DECIMAL_COMMAS:
        raise TableError(
            f"{has}, so that its points may stand between thousands; pass --thousands point if they do, or --decimal "
            "point if they are decimal points"
        )
    said = "Points were taken as decimal points, and may stand between thousands"
    return [f"{said}: {has}; pass --thousands point if they do."]
