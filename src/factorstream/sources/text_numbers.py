"""The numbers of a text: all cells of a lot of lines at once where they are plain, one by one where they are not."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from .cells import Cells, quoted
from .lines import other_width
from .number_form import PLAIN
from .table import Array, OutputColumn, TableError
from .text_lines import TextLines

__all__ = ["NumbersFound", "filled_cells", "numbers_in", "taking"]

_PLAIN = re.compile(r"[+-]?(?:[1-9.]|0(?!\d))|nan$")
"""How a cell begins that says a number wherever ``float`` reads one: 00123 is a code. NaN stands for a gap."""


class NumbersFound(NamedTuple):
    """What the rows of a text say."""

    columns: list[int]
    """Those with nothing but numbers and gaps, and at least one number."""
    values: Array
    """Theirs (n, len(columns)), NaN in the gaps."""
    odd: dict[int, int]
    """The first row whose cell is neither, of the other columns that have one."""


def numbers_in(lines: TextLines, rows: Array, width: int, how: Cells) -> NumbersFound:
    """Read the cells of these lines, each of which must have ``width``, as ``how`` reads them."""
    plain_gaps = {way(text): "nan" for text in how.gaps for way in (str, str.upper, str.capitalize)} | {"NaN": "nan"}
    left, parts = list(range(width)), []
    odd: dict[int, int] = {}
    for first, lot in lines.lots(rows, width):
        _check_widths(lines, rows[first:], lot, width)
        take = taking(left, width)
        found = _at_once(list(chain.from_iterable(map(take, lot))), plain_gaps, how) if left else np.empty(0)
        if found is None:
            found = np.empty((len(left), len(lot)))
            for j, cells, values in zip(left, zip(*map(take, lot), strict=True), found, strict=True):
                quick = _at_once(cells, plain_gaps, how)
                if quick is not None:
                    values[:] = quick
                elif None in (said := how.values(cells)):
                    odd[j] = first + said.index(None)
                else:
                    values[:] = said
            found = found.T
        parts.append((left, found.reshape(len(lot), len(left))))
        left = [j for j in left if j not in odd]
    values = _joined(parts, left, len(rows))
    some = np.asarray(~np.isnan(values).all(axis=0))
    known = [j for j, any_number in zip(left, some, strict=True) if any_number]
    return NumbersFound(known, values if some.all() else values[:, some], odd)


def _check_widths(lines: TextLines, rows: Array, lot: list[list[str]], width: int) -> None:
    for k, cells in zip(rows, lot, strict=False):
        if len(cells) != width:
            raise TableError(other_width(lines.number(int(k)), cells, width))


def _at_once(cells: Sequence[str], plain_gaps: dict[str, str], how: Cells) -> Array | None:
    """What plain cells say, NaN of gaps; None where one of them has to be looked at alone."""
    if how.form != PLAIN:
        return None
    texts = [plain_gaps.get(cell, cell) for cell in cells]
    if not all(map(_PLAIN.match, {text[:3] for text in texts})):
        return None
    try:
        values = np.array([float(text) for text in texts])
    except ValueError:
        return None
    if np.isinf(values).any() or "_" in "".join(texts):
        return None
    if how.marks:
        values[np.isin(values, list(how.marks))] = np.nan
    return values


def _joined(parts: list[tuple[list[int], Array]], columns: list[int], n: int) -> Array:
    """Some columns of all parts, which are taken away one by one: both together would need twice the room."""
    values: Array = np.empty((n, len(columns)))
    last = n
    while parts:
        of, found = parts.pop()
        first = last - len(found)
        places = {j: at for at, j in enumerate(of)}
        values[first:last] = found if of == columns else found[:, [places[j] for j in columns]]
        last = first
    return values


def taking(columns: Sequence[int], width: int) -> Callable[[Sequence[str]], Sequence[str]]:
    """A quick way to take some of the ``width`` cells of a line."""
    if list(columns) == list(range(width)):
        return lambda cells: cells
    if len(columns) == 1:
        return lambda cells: (cells[columns[0]],)
    take: Any = itemgetter(*columns) if columns else lambda cells: ()
    return take  # type: ignore[no-any-return]


def filled_cells(
    lot: list[list[str]], columns: Sequence[OutputColumn], first: int, how: Cells, delimiter: str
) -> list[list[str]]:
    """The cells of output columns in a lot of lines, the ``first`` of which is this row."""
    take = taking([column.position for column in columns], len(lot[0]))
    out = [list(take(cells)) for cells in lot]
    some = slice(first, first + len(lot))
    filled = [(at, column.fill) for at, column in enumerate(columns) if column.fill is not None]
    texts = [(at, fill) for at, fill in filled if fill.values.dtype == object]
    for at, fill in texts:
        values = fill.values[some]
        for k in np.flatnonzero(fill.gaps[some]).tolist():
            out[k][at] = quoted(values[k], delimiter)
    numbers = [(at, fill) for at, fill in filled if fill.values.dtype != object]
    if numbers:
        gaps = np.array([fill.gaps[some] for _, fill in numbers])
        written = how.all_written(np.array([fill.values[some] for _, fill in numbers])[gaps], delimiter)
        which, rows = np.nonzero(gaps)
        places = np.array([at for at, _ in numbers])[which]
        for k, j, text in zip(rows.tolist(), places.tolist(), written, strict=True):
            out[k][j] = text
    return out
