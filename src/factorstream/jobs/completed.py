"""What a file is whose gaps are filled, and what there is to say about it: some of it before anything is filled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.absurd_rows import absurd_entries
from ..sources.table import Array
from ..sources.tables import Table
from ..sources.timeline import Timeline
from .columns_used import ColumnUse, columns_used
from .places import Places
from .reading import Given
from .remarks import empty_columns
from .suspects import Suspect, suspects_in

__all__ = ["Absurd", "Completion", "facts", "with_absurd"]


class Absurd(NamedTuple):
    """Numbers of a column that are out of all proportion to the others, and had no part in filling the gaps."""

    column: str
    value: float
    """The first of them."""
    times: int
    """How many there are."""
    place: str
    """Where the first is in the file, in words."""


class Completion(NamedTuple):
    """A filled file, and what there is to say about it."""

    parts: Callable[[], Iterable[bytes]]
    """Makes the file with its gaps filled, one part after another: all together would take as much room as the file.
    The very file where the columns of numbers have no gaps."""
    n_gaps: int
    """Gaps that were filled."""
    n_columns: int
    """Columns that had them."""
    n_components: int
    """Components of the factorisation that filled them."""
    calibrated: bool
    """False where bounds were wanted but the table is too small to calibrate them: they are the model's own."""
    remarks: list[str]
    """Sentences about how the file was read; for sequences about its dates too."""
    counting: list[str]
    """Columns of numbers that count rows or years; they had no part in it."""
    other_gaps: list[str]
    """Columns that are not numbers and have gaps, which stay."""
    one_value: list[str]
    """Columns that get no bounds, because only one of their values is known."""
    few_equal_values: list[str]
    """Columns that get no bounds, because their known values are all equal, and too few for bounds of this level."""
    suspects: list[Suspect]
    """Numbers that were taken as data, and may stand for gaps."""
    identifiers: Sequence[str]
    """Columns that were taken as measurements, and may name the rows; not looked for in sequences."""
    absurd: list[Absurd]
    """Values that were taken as missing while filling the gaps; they stay in the file."""
    unknown: list[str]
    """Columns with gaps that stay, because the model that was given does not know them."""
    steps_left_out: int
    """Time steps without a row; the model of a sequence took them as rows without data."""
    n_below: int = 0
    """Fills below the lowest value of their column; not counted for a model that was fitted to other rows."""
    n_above: int = 0
    """Fills above the greatest."""
    model: Any = None
    """The model that filled the gaps; None where there was nothing to fill."""
    names: Sequence[str] = ()
    """Of its features."""
    X: Array | None = None
    """What it was asked to fill: the columns of numbers, with rows of NaN where a time step is left out."""
    when: Timeline | None = None
    """Of sequences: when the rows are."""
    others: Sequence[str] = ()
    """Columns that are not finite numbers; they are as they were."""
    places: Places | None = None
    """Where the rows of X are in the file; None where ``when`` tells, or nobody will ask."""
    set_aside: Sequence[str] = ()
    """Columns that were left out because the user has said so."""
    whole: Sequence[str] = ()
    """Columns of whole numbers whose fills were rounded."""
    uses: Sequence[ColumnUse] = ()
    """What became of every column of the file."""
    other_kinds: Mapping[str, str] = {}
    """Columns of labels and dates that were used and filled beside numbers, and what each holds."""
    carried: Mapping[str, str] = {}
    """Other columns that could have been, and why they were not."""
    labels: tuple[str, list[Any]] | None = None
    """The name and the cells of the column that says which row is which, where the user has named one."""

    @property
    def content(self) -> bytes:
        """All ``parts``."""
        return b"".join(self.parts())


def facts(given: Given, gaps: Array, *, sequence: bool) -> Completion:
    """What can be said before anything is filled; ``gaps`` are those of the columns of numbers."""
    table = given.table
    others = sorted(set(range(len(table.names))) - set(table.numeric))
    named_rows = [] if given.call is None else [table.names[given.call]]
    used = [] if given.kinds is None else [table.names[j] for j in given.kinds.gaps]
    known = {*given.counting, *given.unknown, *given.set_aside, *named_rows, *used}
    said = {*known, *given.carried, *empty_columns(table), *(one.column for one in table.unread)}
    no_numbers = [j for j in others if table.names[j] not in known]
    unknown = [name for name in given.unknown if table.gaps(table.names.index(name))]
    return Completion(
        parts=lambda: [table.raw],
        n_gaps=int(gaps.sum()) + (0 if given.kinds is None else given.kinds.n_gaps),
        n_columns=int(gaps.any(axis=0).sum()) + (0 if given.kinds is None else given.kinds.n_columns),
        n_components=0,
        calibrated=True,
        remarks=[*given.remarks, *(given.date_remarks if sequence else ())],
        counting=given.counting,
        other_gaps=[table.names[j] for j in others if table.gaps(j) and table.names[j] not in said],
        one_value=[],
        few_equal_values=[],
        suspects=suspects_in(table.numbers, given.names),
        identifiers=() if sequence else given.identifiers,
        absurd=[],
        unknown=unknown,
        steps_left_out=given.when.n_left_out if sequence and given.when is not None else 0,
        others=[table.names[j] for j in no_numbers],
        set_aside=given.set_aside,
        uses=columns_used(given),
        carried=given.carried,
        other_kinds={} if given.kinds is None else {table.names[j]: what for j, what in given.kinds.what.items()},
        labels=None if given.call is None else (table.names[given.call], table.cells(given.call)),
    )


def with_absurd(found: Completion, table: Table) -> Completion:
    """The facts with the values that the fit will take as missing, which are suspects no more."""
    entries = absurd_entries(table.numbers)
    absurd, values = [], set()
    for j in np.unique(entries.column).tolist():
        name, here = table.names[table.numeric[j]], entries.column == j
        first = int(np.argmax(here))
        value, times = float(entries.value[first]), int(np.count_nonzero(here))
        absurd.append(Absurd(name, value, times, table.place(int(entries.row[first]))))
        values |= {(name, float(value)) for value in entries.value[here]}
    suspects = [one for one in found.suspects if (one.column, one.value) not in values]
    return found._replace(absurd=absurd, suspects=suspects)
