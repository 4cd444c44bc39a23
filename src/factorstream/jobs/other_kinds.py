"""Which columns of a file hold no numbers and are used as well: labels, true and false, dates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..estimators._mixed.cells import DAY, DURATION, PLAIN, TIME, TRUTH, frame_of
from ..estimators._mixed.encoding import Encoding, is_number
from ..estimators._mixed.kinds import CarriedColumn, CategoryColumn, Column, kind_of
from ..estimators._source_rows import MAPPED
from ..sources.columns import take_columns
from ..sources.date_forms import other_order, same_order
from ..sources.table import NO_FORMS, Array, Table, TableError
from ..sources.text_columns import TextColumns
from ..text import capitalised, column_names, counted, listed, named_column

__all__ = ["AllKinds", "columns_of_model", "kinds_in"]

SAME_NAMES, TOO_LARGE = "the file has two columns of one name", "the table is too large for other columns than numbers"
"""Why no column of labels or dates is used."""


class AllKinds(NamedTuple):
    """The columns of a file that a model learns from, or is asked about, numbers and others."""

    columns: Any
    """They as a table for the model."""
    positions: list[int]
    """Of each in the file."""
    gaps: dict[int, Array]
    """By position, which rows (n,) of a column that is no number are missing; only columns that are filled."""
    what: dict[int, str]
    """By position, what such a column is, in a few words."""
    remarks: list[str]
    """Sentences about how these columns were read."""

    @property
    def n_gaps(self) -> int:
        """Gaps in columns that are no numbers."""
        return sum(int(gaps.sum()) for gaps in self.gaps.values())

    @property
    def n_columns(self) -> int:
        """Columns that are no numbers and have gaps."""
        return sum(bool(gaps.any()) for gaps in self.gaps.values())


def kinds_in(table: Table, X: Array, without: Sequence[int | None]) -> tuple[AllKinds | None, dict[str, str]]:
    """All kinds of columns, where other ones than numbers are used, and by name why others are not.

    ``X`` are the columns of numbers, and ``without`` positions of others that are not looked at. Which are used is what
    `LowRankImputer` decides of a table of pandas.
    """
    odd = {one.column for one in table.strays} | {one.column for one in table.unread}
    every = range(len(table.names))
    some = [j for j in every if j not in (*table.numeric, *without) and table.names[j] not in odd]
    positions = sorted([*table.numeric, *some])
    columns = table.as_columns(positions, dict(zip(table.numeric, X.T, strict=True))) if some else None
    frame = frame_of(columns)
    if columns is None or frame is None:
        return None, {}
    at = {j: k for k, j in enumerate(positions)}
    some = [j for j in some if frame.held(at[j]) not in PLAIN and not frame.cells(at[j]).missing.all()]
    kinds = {j: kind_of(frame.cells(at[j])) for j in some}
    carried = {table.names[j]: one.why for j, one in kinds.items() if isinstance(one, CarriedColumn)}
    used = {j: one for j, one in kinds.items() if not isinstance(one, CarriedColumn)}
    names = [table.names[j] for j in (*table.numeric, *used)]
    refused = SAME_NAMES if len(set(names)) < len(names) else TOO_LARGE if frame.mapped > MAPPED else ""
    if refused:
        carried |= dict.fromkeys((table.names[j] for j in used), refused)
    if refused or not used:
        return None, carried
    kept = [j for j in positions if j in used or j in table.numeric]
    return _all_kinds(table, columns.select([at[j] for j in kept]), kept, used), carried


def columns_of_model(table: Table, model: Any) -> tuple[AllKinds, list[str]]:
    """The columns of a model that knows other kinds, and the names of columns of numbers that it does not know.

    Raises
    ------
    TableError
        Where the table does not have them; the message continues "FILE cannot be used: ".
    """
    encoding: Encoding = model.state_.encoding
    absent = [name for name in encoding.names if name not in table.names]
    if absent:
        raise TableError(f"it lacks columns that the model knows: {column_names(absent)}")
    numbers = [name for name in encoding.names if name not in encoding.others]
    unknown = [table.names[j] for j in table.numeric if table.names[j] not in numbers]
    if numbers:
        take_columns(table, numbers, len(numbers))
    else:
        table.numbers, table.numeric = table.numbers[:, :0], []
    positions = [table.names.index(name) for name in encoding.names]
    values = np.asarray(table.numbers, dtype=np.float64)
    known = dict(zip(positions, encoding.columns, strict=True))
    forms = {j: one.form for j, one in known.items() if not isinstance(one, CarriedColumn)}
    columns = table.as_columns(positions, dict(zip(table.numeric, values.T, strict=True)), forms)
    if columns is None:
        raise TableError(f"it has numbers only, and the model knows {column_names(encoding.others)} as something else")
    others = {j: one for j, one in known.items() if not is_number(one) and not isinstance(one, CarriedColumn)}
    return _all_kinds(table, columns, positions, others, forms), unknown


def _all_kinds(
    table: Table, columns: Any, positions: list[int], used: Mapping[int, Column], forms: Mapping[int, str] = NO_FORMS
) -> AllKinds:
    frame = frame_of(columns)
    assert frame is not None  # a table that a format has made for it
    gaps = {j: frame.cells(positions.index(j)).missing for j in used}
    what = {j: _in_words(one) for j, one in used.items()}
    return AllKinds(columns, positions, gaps, what, _in_doubt(table, columns, positions, forms))


def _in_words(column: Column) -> str:
    if isinstance(column, CategoryColumn):
        return "true and false" if column.held == TRUTH else counted(len(column.levels), "label")
    held = getattr(column, "held", "")
    return {DAY: "dates", TIME: "dates with times", DURATION: "durations"}.get(held, str(held))


def _in_doubt(table: Table, columns: Any, positions: Sequence[int], forms: Mapping[int, str]) -> list[str]:
    """What could be meant otherwise in a text: dates such as 01/02/2024 throughout, and gaps such as none.

    Dates that are read as in the file of the fit, by its ``forms``, are not in doubt.
    """
    said = []
    for k, j in enumerate(positions if isinstance(columns, TextColumns) else ()):
        column, name = columns.column(k), table.names[j]
        settled = not column.form or (j in forms and same_order(column.form, forms[j]))
        cells = [] if settled else [cell for cell in table.cells(j) if cell is not None]
        if cells and (found := other_order(cells, column.form)) is not None:
            order, cell, other = found
            which = capitalised(named_column(name))
            said.append(f"{which} was read as {order}; if {cell} means {other:%Y-%m-%d}, write it so.")
        if column.marks:
            marks = listed(map(repr, column.marks))
            said.append(f"Gaps in {named_column(name)} are also {marks}; if that is a label, write another word.")
    return said
