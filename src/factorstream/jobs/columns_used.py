"""What every column of a file was used for, or why it was left out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..report.tables import Cell, Column
from ..report.tables import Table as ReportTable
from ..text import counted
from .reading import Given
from .remarks import empty_columns

__all__ = ["ColumnUse", "columns_used", "table_of_uses"]

MOST = 500
"""Columns that a report lists. Not tuned: more would be read by nobody."""


class ColumnUse(NamedTuple):
    """What became of a column."""

    column: str
    used: bool
    """Whether a model has learned from it, or was asked about it."""
    why: str
    """What for, or why not."""


def columns_used(given: Given) -> list[ColumnUse]:
    """All columns of a file, in their order."""
    table = given.table
    at = {j: k for k, j in enumerate(table.numeric)}
    why_not = dict.fromkeys(empty_columns(table), "holds no value")
    why_not |= {one.column: f"has texts among its numbers, such as {one.text!r:.50}" for one in table.strays}
    why_not |= {one.column: f"has numbers written as {one.text!r:.50}" for one in table.unread}
    why_not |= dict.fromkeys(given.unknown, "is not known to the model")
    why_not |= dict.fromkeys(given.counting, "counts rows or years")
    why_not |= dict.fromkeys(given.set_aside, "was to be left out")
    if given.when is not None:
        why_not[table.names[given.when.column]] = "says when the rows are"
    if given.call is not None:
        why_not[table.names[given.call]] = "names the rows"
    why_not.update(given.carried)
    what = {} if given.kinds is None else given.kinds.what
    gaps = {} if given.kinds is None else given.kinds.gaps
    found = []
    for j, name in enumerate(table.names):
        if j in what:
            found.append(ColumnUse(name, True, _with_gaps(what[j], int(gaps[j].sum()))))
        elif j in at:
            n_gaps = int(np.count_nonzero(np.isnan(given.X[:, at[j]])))
            found.append(ColumnUse(name, True, _with_gaps("numbers", n_gaps)))
        else:
            found.append(ColumnUse(name, False, why_not.get(name, "holds no numbers")))
    return found


def _with_gaps(what: str, n_gaps: int) -> str:
    return f"{what} with {counted(n_gaps, 'gap')}" if n_gaps else what


def table_of_uses(uses: list[ColumnUse]) -> ReportTable:
    """The columns as a table of a report."""
    rows: list[dict[str, Cell]] = [
        {"column": one.column, "used": "used" if one.used else "left out", "why": one.why} for one in uses[:MOST]
    ]
    columns = [Column(key, key, numeric=False) for key in ("column", "used", "why")]
    rest = len(uses) - len(rows)
    notes = [f"{counted(rest, 'more column')} not listed."] if rest else []
    return ReportTable("The columns of the file", columns, rows, notes=notes, sorts=True)
