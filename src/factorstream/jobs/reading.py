"""A table as the jobs need it: its measured columns, when its rows are, and the model it goes with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..core.absurd_rows import absurd_entries
from ..sources.columns import drop_columns, feature_names, take_columns, take_names
from ..sources.date_remarks import date_remarks
from ..sources.table import Array, Table, TableError
from ..sources.tables import read_table
from ..sources.timeline import Timeline, counting_columns, followed, timeline
from ..text import named_column
from .choice import Choice, chosen_positions
from .clock import MOST_STEPS, known_times
from .identifiers import identifiers_in
from .remarks import named, refuse_decimal_commas, remarks, why_no_numbers

if TYPE_CHECKING:
    from .other_kinds import AllKinds

__all__ = ["FITTING", "MOST_STATES", "Given", "Reading", "Steps", "named", "read_given"]

Steps = Callable[[str], None]
"""Called with the name of every step of the work when it begins. Fits say themselves how far they are (``verbose``)."""

FITTING = "fitting"
"""The name of the step in which a model is fitted."""


MOST_STATES = 10
"""States that a `SequenceFilter` has where their number is not given, if there are as many rows: its own default."""


class Reading(NamedTuple):
    """How to read a file."""

    delimiter: str | None = None
    """Between the cells of a text; None: found from its first lines."""
    header: bool | None = None
    """Whether the first line of a text holds the names of the columns; None: found from the first lines."""
    missing: tuple[str, ...] = ()
    """Texts and numbers that mark a gap besides those that always do."""
    dataset: str | None = None
    """Which array of a file that has several; such files are read block by block."""
    decimal: str | None = None
    """The decimal mark of a text; None: a point, unless commas can be nothing else."""
    thousands: str | None = None
    """What stands between thousands in a text; None: nothing, unless marks can be nothing else."""
    encoding: str | None = None
    """Of a text; None: found from its bytes."""
    choice: Choice = Choice()
    """Which columns to use."""

    @property
    def how(self) -> dict[str, Any]:
        """How to read any file, as `read_table` and `open_rows` take it."""
        return {name: value for name, value in self._asdict().items() if name not in ("dataset", "choice")}


class Given(NamedTuple):
    """What was read."""

    table: Table
    """Its ``numbers`` are the measured columns: those of the model where there is one."""
    X: Array
    """They as float64."""
    names: list[str]
    """Of the measured columns."""
    when: Timeline | None
    """When the rows are, in the steps of the model's own rows where it knows these and they lie on them.
    ``when.spread(X)`` puts a row of NaN where a time step is left out. None: nothing says it."""
    counting: list[str]
    """Columns of numbers that count rows or years; they were left out."""
    unknown: list[str]
    """Columns of numbers that the model does not know."""
    set_aside: list[str]
    """Columns that were left out because the user has said so."""
    call: int | None
    """Position of the column that says which row is which, where the user has named one."""
    absurd: list[str]
    """Columns with values out of all proportion to the others, which fits take as missing."""
    remarks: list[str]
    """Sentences about how the file was read: what was assumed, and which columns were taken as text."""
    date_remarks: list[str]
    """Sentences about when the rows are, for work that takes them in time: dates that cannot be used, or no dates."""
    kinds: AllKinds | None = None
    """All kinds of columns, where others than numbers are used as well."""
    carried: Mapping[str, str] = {}
    """Why columns of labels and dates are not used, by name; where such columns are used at all."""
    identifiers: Sequence[str] = ()
    """Columns of numbers that probably name the rows, but are used as measurements, because no option says otherwise.
    Empty where a model is given, which has chosen its columns."""


def read_given(path: Path, reading: Reading, model: Any = None, *, all_kinds: bool = False) -> Given:
    """Read from a file the columns that measure something: those a model knows, or all but those that count rows.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    reading : Reading
        How to read it.
    model : fitted estimator, default=None
        What will be asked about the table. The names of its features are taken off it: it is asked about an array.
    all_kinds : bool, default=False
        Whether labels, true and false, and dates are used beside numbers.

    Returns
    -------
    Given
        ``given.X`` is the array.

    Raises
    ------
    TableError
        If the file cannot be read, would be misread (decimal commas), or lacks columns of the model; one sentence says
        why.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "days.csv"
    >>> _ = path.write_text("day,heat\\n2024-05-01,21.5\\n2024-05-02,\\n2024-05-04,19\\n")
    >>> given = read_given(path, Reading())
    >>> given.names, given.X.ravel().tolist()
    (['heat'], [21.5, nan, 19.0])
    >>> given.when.spread(given.X).ravel().tolist()  # with a row for the day that is left out
    [21.5, nan, nan, 19.0]
    """
    table = read_table(path, **reading.how)
    refuse_decimal_commas(table, path)
    when = timeline(table)
    unknown: list[str] = []
    about_dates = date_remarks(table, when)
    counting, aside, call = _not_used(table, reading, path, all_kinds=all_kinds)
    kinds: AllKinds | None = None
    carried: dict[str, str] = {}
    if model is None:
        names = [table.names[j] for j in counting]
        drop_columns(table, [*counting, *aside])
        when = None if when is not None and when.column in table.numeric else when
        if all_kinds:
            from .other_kinds import kinds_in  # it comes with the estimators, which not all commands need

            left = [*aside, call, None if when is None or reading.choice.columns else when.column]
            kinds, carried = kinds_in(table, np.asarray(table.numbers, dtype=np.float64), left)
            _refuse_to_carry(path, reading, carried)
        if not table.numeric and kinds is None:
            but = " but those that count its rows" if names else " among those to be used" if aside else ""
            raise TableError(f"{named(path)} cannot be used: it has no column of numbers{but}{why_no_numbers(table)}.")
    else:
        known = take_names(model)
        encoding = getattr(getattr(model, "state_", None), "encoding", None)
        if others := encoding is not None and not encoding.of_numbers:
            known = list(map(str, model.state_.encoding.names))
        names = [table.names[j] for j in counting if known is not None and table.names[j] not in known]
        try:
            if others:
                from .other_kinds import columns_of_model

                kinds, unknown = columns_of_model(table, model)
            else:
                unknown = take_columns(table, known, model.n_features_in_)
            unknown = [name for name in unknown if name not in names]
        except TableError as problem:
            raise TableError(f"{named(path)} cannot be used: {problem}.") from None
        when = None if when is not None and when.column in table.numeric else when
        clock = known_times(model)
        if clock is not None and (found := followed(table, clock, MOST_STEPS)) is not None:
            when, about_dates = found, date_remarks(table, found)
            unknown = [name for name in unknown if name != found.name]
    X = np.ascontiguousarray(table.numbers, dtype=np.float64)
    features = feature_names(table)
    absurd = [features[j] for j in np.unique(absurd_entries(X).column).tolist()]
    set_aside = [table.names[j] for j in aside]
    filled = [] if kinds is None else [table.names[j] for j in kinds.gaps]
    said = remarks(table, without={*set_aside, *filled, *([] if call is None else [table.names[call]])})
    said += [] if kinds is None else kinds.remarks
    doubtful = identifiers_in(X, features) if model is None and not reading.choice.columns else []
    about = (said, about_dates, kinds, carried, doubtful)
    return Given(table, X, features, when, names, unknown, set_aside, call, absurd, *about)


def _refuse_to_carry(path: Path, reading: Reading, carried: Mapping[str, str]) -> None:
    """Raise a sentence where a column that was asked for by name is none to be filled."""
    if reading.choice.columns and carried:
        name, why = next(iter(carried.items()))
        what = f"{named_column(name)} holds no numbers, and nothing else that is filled ({why})"
        raise TableError(f"{named(path)} cannot be used: {what}.")


def _not_used(
    table: Table, reading: Reading, path: Path, *, all_kinds: bool
) -> tuple[list[int], list[int], int | None]:
    """Positions of the columns that count rows, of those the user leaves out, and of the one that names rows."""
    try:
        wanted, without, call = chosen_positions(reading.choice, table.names)
        odd = {one.column for one in table.strays} | {one.column for one in table.unread}
        for j in wanted or ():
            if j not in table.numeric and (not all_kinds or table.names[j] in odd):
                why = why_no_numbers(table, table.names[j])
                raise TableError(f"{named_column(table.names[j])} holds no numbers{why}")
    except TableError as problem:
        raise TableError(f"{named(path)} cannot be used: {problem}.") from None
    every = range(len(table.names))
    aside = [j for j in every if j != call and (j in without or (wanted is not None and j not in wanted))]
    counting = [j for j in counting_columns(table) if j not in (*aside, call, *(wanted or ()))]
    if call is not None:
        drop_columns(table, [call])
    return counting, aside, call
