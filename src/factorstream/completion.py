"""Fill the gaps of a table in a file: read, fit, fill, and encode again. Writes nothing and prints nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .core.variational.conformal import CalibrationError
from .jobs.completed import Completion, facts, with_absurd
from .jobs.filling import fill, fill_between, fitted, n_beyond, n_known
from .jobs.filling_kinds import SET, FilledKinds, fill_kinds
from .jobs.other_kinds import AllKinds
from .jobs.places import places_of
from .jobs.reading import Given, Reading, named, read_given
from .jobs.remarks import of_one_row
from .sources.table import Array, OtherFill, rounded
from .sources.tables import Bounds, Table, TableError, encode_parts
from .sources.timeline import Timeline, refuse_newest_first
from .sources.writing import NO_OTHERS

__all__ = ["Settings", "complete_file"]

NOT_REPORTED = "reports are for numbers; without --report these are used and filled"

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
    numbers_only: bool = False
    """Whether columns of labels and dates are left as they are. Sequences always leave them."""
    for_report: bool = False
    """Whether a report will be written, which is for tables of numbers: such columns are left then, and named."""


class _Filled(NamedTuple):
    values: Array
    bounds: Bounds | None
    calibrated: bool
    model: Any
    others: Mapping[int, OtherFill] = NO_OTHERS
    """By position, columns that are no numbers and have gaps."""


def complete_file(
    path: Path, settings: Settings, progress: Progress = lambda what, share: None, model: Any = None
) -> Completion:
    """Fill the gaps of a CSV, TSV, Parquet or NPY file, in columns of numbers, labels, true and false, and dates.

    A model that was fitted before fills those columns that it knows; otherwise one is fitted to the file.

    Raises
    ------
    TableError
        When the file cannot be read or filled; the message says why in one sentence.
    """
    progress("reading", 0.0)
    all_kinds = model is None and not settings.numbers_only and not settings.sequence
    given = read_given(path, settings.reading, model, all_kinds=all_kinds)
    if settings.for_report and given.kinds is not None:
        left = dict.fromkeys((given.table.names[j] for j in given.kinds.what), NOT_REPORTED)
        given = given._replace(kinds=None, carried={**given.carried, **left})
    table, X = given.table, given.X
    when = given.when if settings.sequence else None
    if settings.sequence:
        refuse_newest_first(table, named(path))
    gaps = np.isnan(X)
    found = facts(given, gaps, sequence=settings.sequence)
    if model is None and (alone := of_one_row(table)):
        found = found._replace(remarks=[*found.remarks, alone])
    if not found.n_gaps and not settings.keep_model:
        return found
    if settings.level is not None:
        _check_names(table, gaps, given.kinds)
    found = with_absurd(found, table)
    try:
        filled = _complete(given, settings, progress, model, when)
    except (ValueError, MemoryError) as problem:  # more components than memory has room for
        raise TableError(f"{named(path)} cannot be used: {str(problem).rstrip('.')}.") from None
    bounds = filled.bounds
    if bounds is not None:
        unbounded, known = np.isinf(bounds.lower).any(axis=0), _n_known(filled.model, given)
        found = found._replace(
            one_value=[table.names[table.numeric[j]] for j in np.flatnonzero(unbounded & (known == 1))],
            few_equal_values=[table.names[table.numeric[j]] for j in np.flatnonzero(unbounded & (known > 1))],
        )
        for bound in bounds:
            bound[np.isinf(bound)] = np.nan
    whole = [at for at, j in enumerate(table.numeric) if j in table.whole and gaps[:, at].any()]
    values, bounds = rounded(filled.values, bounds, whole)
    below, above = (0, 0) if model is not None else _n_beyond(X, values)
    return found._replace(
        whole=[table.names[table.numeric[at]] for at in whole],
        n_below=below,
        n_above=above,
        parts=partial(encode_parts, table, values, bounds, filled.others) if found.n_gaps else found.parts,
        n_components=filled.model.n_components_,
        calibrated=filled.calibrated,
        model=filled.model,
        names=given.names if given.kinds is None else [table.names[j] for j in given.kinds.positions],
        X=X if when is None else when.spread(X),
        when=when,
        places=places_of(table) if when is None and settings.keep_model else None,
    )


def _n_beyond(X: Array, filled: Array) -> tuple[int, int]:
    """How many fills are below and above all known values of their columns."""
    known = ~np.isnan(X)
    low = np.min(X, axis=0, where=known, initial=np.inf)
    high = np.max(X, axis=0, where=known, initial=-np.inf)
    return n_beyond(filled, ~known, low, high)


def _complete(given: Given, settings: Settings, progress: Progress, model: Any, when: Timeline | None) -> _Filled:
    """The gaps filled, with bounds if a level is given."""
    at = slice(None) if when is None else when.steps
    rows: Any = given.X if when is None else when.spread(given.X)
    rows = rows if given.kinds is None else given.kinds.columns

    def told(model: Any) -> FilledKinds:
        if given.kinds is not None:
            return fill_kinds(model, given.kinds, given.table, settings.level, progress)
        if settings.level is None:
            return FilledKinds(fill(model, rows, progress), None, {})
        return FilledKinds(*fill_between(model, rows, settings.level, progress), {})

    calibrate = settings.level is not None or settings.keep_model
    was_there = model is not None
    if not was_there:
        progress("fitting", 0.1)
        model = _new(rows, settings, calibrate=calibrate)
    calibrated = settings.level is None or bool(model.get_params(deep=False).get("calibrate", True))
    try:
        found = told(model)
    except CalibrationError:
        if was_there:
            raise
        model, calibrated = _new(rows, settings, calibrate=False), False
        found = told(model)
    bounds = found.bounds and Bounds(*(part[at] for part in found.bounds))
    return _Filled(found.numbers[at], bounds, calibrated, model, found.others)


def _n_known(model: Any, given: Given) -> Array:
    """How many values of each column of numbers a model was fitted to."""
    known = n_known(model)
    if given.kinds is None:
        return known
    return known[[given.kinds.positions.index(j) for j in given.table.numeric]]


def _new(X: Any, settings: Settings, *, calibrate: bool) -> Any:
    return fitted(
        X,
        settings.components,
        settings.robust,
        calibrate,
        settings.seed,
        sequence=settings.sequence,
        verbose=settings.verbose,
    )


def _check_names(table: Table, gaps: Array, kinds: AllKinds | None) -> None:
    """Refuse to write a second column of a name."""
    numbers = [table.names[j] for at, j in enumerate(table.numeric) if gaps[:, at].any()]
    others = [] if kinds is None else [table.names[j] for j, missing in kinds.gaps.items() if missing.any()]
    if len({*numbers, *others}) < len(numbers) + len(others):
        raise TableError("Two columns to fill have the same name; rename one, or leave out --level.")
    ends = [(name, end) for name in (*numbers, *others) for end in Bounds._fields]
    taken = {f"{name}_{end}" for name, end in (*ends, *((name, SET) for name in others))} & set(table.names)
    if taken:
        raise TableError(f"There is a column {min(taken)} already; rename it, or leave out --level.")
