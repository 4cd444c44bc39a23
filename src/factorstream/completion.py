"""Fill the gaps of a table in a file: read, fit, fill, and encode again. Writes nothing and prints nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .core.absurd_rows import absurd_entries
from .core.fill_values import is_fill
from .core.variational.conformal import CalibrationError
from .jobs.filling import fill, fitted, interval, n_beyond, n_known
from .jobs.places import Places, places_of
from .jobs.reading import Given, Reading, named, read_given
from .jobs.remarks import empty_columns
from .sources.table import Array
from .sources.tables import Bounds, Table, TableError, encode
from .sources.timeline import Timeline, refuse_newest_first

__all__ = ["Absurd", "Completion", "Settings", "Suspect", "complete_file"]

FAR = 3.0
"""Ranges of a column's other values by which a fill value must lie outside them to be pointed out. Not tuned; it shapes
a hint and no number: the -9999 of a thermometer is hundreds of ranges off, the 999 of an age of people nine."""

Progress = Callable[[str, float], None]
"""Called with the name of the present step and the share of the work that is done."""


class Settings(NamedTuple):
    """How to read and fill a file."""

    level: float | None = None
    """Probability of the bounds that are written beside the filled values; None for no bounds."""
    components: int | str = "auto"
    robust: bool = False
    seed: int = 0
    reading: Reading = Reading()
    sequence: bool = False
    """Whether rows are time steps in order, which are filled by what comes before and after them as well."""
    keep_model: bool = False
    """Whether the model will be used again: it is then fitted even where there is no gap, and calibrated."""
    verbose: int = 0
    """Whether a fit shows how far it is."""


class Suspect(NamedTuple):
    """A number that probably stands for a missing value."""

    column: str
    value: float
    times: int
    """How often the column has it."""


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

    content: bytes
    """The file with its gaps filled; the very file where the columns of numbers have none."""
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
    """Columns whose bounds are empty because one value of them is known."""
    few_equal_values: list[str]
    """Columns whose bounds are empty because their known values are all equal, and too few for the level."""
    suspects: list[Suspect]
    """Fill values that were taken as data though they are far from the rest of their columns."""
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
    """Where the rows of X are in the file; None where ``when`` tells."""


class _Filled(NamedTuple):
    values: Array
    bounds: Bounds | None
    calibrated: bool
    model: Any


def complete_file(
    path: Path, settings: Settings, progress: Progress = lambda what, share: None, model: Any = None
) -> Completion:
    """Fill the gaps in the columns of numbers of a CSV, TSV, Parquet or NPY file.

    A model that was fitted before fills those columns that it knows; otherwise one is fitted to the file.

    Raises
    ------
    TableError
        When the file cannot be read or filled; the message says why in one sentence.
    """
    progress("reading", 0.0)
    given = read_given(path, settings.reading, model)
    table, X = given.table, given.X
    when = given.when if settings.sequence else None
    if settings.sequence:
        refuse_newest_first(table, named(path))
    gaps = np.isnan(X)
    found = _facts(given, gaps, settings)
    if not found.n_gaps and not settings.keep_model:
        return found
    if settings.level is not None:
        _check_names(table, gaps)
    found = _with_absurd(found, table)
    try:
        filled = _complete(X, settings, progress, model, when)
    except (ValueError, MemoryError) as problem:  # more components than memory has room for
        raise TableError(f"{named(path)} cannot be used: {str(problem).rstrip('.')}.") from None
    progress("encoding", 0.95)
    bounds = filled.bounds
    if bounds is not None:
        unbounded, known = np.isinf(bounds.lower).any(axis=0), n_known(filled.model)
        found = found._replace(
            one_value=[table.names[table.numeric[j]] for j in np.flatnonzero(unbounded & (known == 1))],
            few_equal_values=[table.names[table.numeric[j]] for j in np.flatnonzero(unbounded & (known > 1))],
        )
        bounds = Bounds(*(np.where(np.isinf(bound), np.nan, bound) for bound in bounds))
    below, above = (0, 0) if model is not None else _n_beyond(X, filled.values)
    return found._replace(
        n_below=below,
        n_above=above,
        content=encode(table, filled.values, bounds) if found.n_gaps else table.raw,
        n_components=filled.model.n_components_,
        calibrated=filled.calibrated,
        model=filled.model,
        names=given.names,
        X=X if when is None else when.spread(X),
        when=when,
        places=places_of(table) if when is None else None,
    )


def _facts(given: Given, gaps: Array, settings: Settings) -> Completion:
    """What can be said before anything is filled."""
    table = given.table
    others = sorted(set(range(len(table.names))) - set(table.numeric))
    said = {*given.counting, *given.unknown, *empty_columns(table), *(one.column for one in table.unread)}
    no_numbers = [j for j in others if table.names[j] not in (*given.counting, *given.unknown)]
    unknown = [name for name in given.unknown if table.gaps(table.names.index(name))]
    return Completion(
        content=table.raw,
        n_gaps=int(gaps.sum()),
        n_columns=int(gaps.any(axis=0).sum()),
        n_components=0,
        calibrated=True,
        remarks=[*given.remarks, *(given.date_remarks if settings.sequence else ())],
        counting=given.counting,
        other_gaps=[table.names[j] for j in others if table.gaps(j) and table.names[j] not in said],
        one_value=[],
        few_equal_values=[],
        suspects=list(_suspects(table)),
        absurd=[],
        unknown=unknown,
        steps_left_out=given.when.n_left_out if settings.sequence and given.when is not None else 0,
        others=[table.names[j] for j in no_numbers],
    )


def _n_beyond(X: Array, filled: Array) -> tuple[int, int]:
    """How many fills are below and above all known values of their columns."""
    known = ~np.isnan(X)
    low = np.min(X, axis=0, where=known, initial=np.inf)
    high = np.max(X, axis=0, where=known, initial=-np.inf)
    return n_beyond(filled, ~known, low, high)


def _complete(X: Array, settings: Settings, progress: Progress, model: Any, when: Timeline | None) -> _Filled:
    """X with its gaps filled, and its bounds if a level is given."""
    at = slice(None) if when is None else when.steps
    rows = X if when is None else when.spread(X)
    given = model is not None
    calibrate = settings.level is not None or settings.keep_model
    if not given:
        progress("fitting", 0.1)
        model = _new(rows, settings, calibrate=calibrate)
    bounds, calibrated = None, True
    if settings.level is not None:
        try:
            bounds = interval(model, rows, settings.level, progress)
            calibrated = bool(model.get_params(deep=False).get("calibrate", True))
        except CalibrationError:
            if given:
                raise
            model, calibrated = _new(rows, settings, calibrate=False), False
            bounds = interval(model, rows, settings.level, progress)
        bounds = Bounds(*(part[at] for part in bounds))
    return _Filled(fill(model, rows, progress)[at], bounds, calibrated, model)


def _new(X: Array, settings: Settings, *, calibrate: bool) -> Any:
    return fitted(
        X,
        settings.components,
        settings.robust,
        calibrate,
        settings.seed,
        sequence=settings.sequence,
        verbose=settings.verbose,
    )


def _with_absurd(found: Completion, table: Table) -> Completion:
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


def _suspects(table: Table) -> Iterator[Suspect]:
    """Well-known fill values, by columns, that lie outside their column's other values by FAR of their range."""
    for position, values in zip(table.numeric, table.numbers.T, strict=True):
        known = values[~np.isnan(values)].astype(np.float64)
        fill = is_fill(known)
        rest = known[~fill]
        if not fill.any() or len(rest) < 2:
            continue
        low, high = float(rest.min()), float(rest.max())
        far = FAR * (high - low)
        for value, count in zip(*np.unique(known[fill], return_counts=True), strict=True):
            if value < low - far or value > high + far:
                yield Suspect(table.names[position], float(value), int(count))


def _check_names(table: Table, gaps: Array) -> None:
    """Refuse to write a second column of a name."""
    filled = [table.names[j] for at, j in enumerate(table.numeric) if gaps[:, at].any()]
    if len(set(filled)) < len(filled):
        raise TableError("Two columns to fill have the same name; rename one, or leave out --level.")
    taken = {f"{name}_{side}" for name in filled for side in Bounds._fields} & set(table.names)
    if taken:
        raise TableError(f"There is a column {min(taken)} already; rename it, or leave out --level.")
