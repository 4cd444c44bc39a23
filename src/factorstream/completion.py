"""Fill the gaps of a table in a file: read, fit, fill, and encode again. Writes nothing and prints nothing."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .core.absurd_rows import absurd_entries
from .core.fill_values import is_fill
from .core.variational.conformal import CalibrationError
from .estimators.low_rank_imputer import LowRankImputer
from .sources.table import Array, Stray
from .sources.tables import Bounds, Table, TableError, encode, read_table

__all__ = ["Absurd", "Completion", "Settings", "Suspect", "complete_file"]

CELLS_AT_ONCE = 1_000_000
"""Entries filled between two reports of progress: 8 MB of float64. Not tuned; the numbers do not depend on it."""

FAR = 3.0
"""Ranges of a column's other values by which a fill value must lie outside them to be pointed out. Not tuned; it shapes
a hint and no number: the -9999 of a thermometer is hundreds of ranges off, the 999 of an age of people nine."""

ABSURD = "X has an absurd value"
"""How a warning begins that is not shown: `Completion.absurd` says the same with the column's name and the place."""

Progress = Callable[[str, float], None]
"""Called with the name of the present step and the share of the work that is done."""


class Settings(NamedTuple):
    """How to read and fill a file."""

    level: float | None = None
    """Probability of the bounds that are written beside the filled values; None for no bounds."""
    components: int | str = "auto"
    robust: bool = False
    seed: int = 0
    delimiter: str | None = None
    """Between the cells of a text; None: found from its first lines."""
    header: bool = True
    """Whether the first line of a text holds the names of the columns."""
    missing: tuple[str, ...] = ()
    """Texts and numbers that mark a gap besides those that always do."""


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
    header_of_numbers: bool
    """Whether the line of names is all numbers, so that it may well be a row of data."""
    other_gaps: list[str]
    """Columns that are not numbers and have gaps, which stay."""
    one_value: list[str]
    """Columns whose bounds are empty because one value of them is known."""
    few_equal_values: list[str]
    """Columns whose bounds are empty because their known values are all equal, and too few for the level."""
    suspects: list[Suspect]
    """Fill values that were taken as data though they are far from the rest of their columns."""
    strays: Sequence[Stray]
    """Texts without which another column would have been taken as numbers."""
    decimal_commas: Sequence[str]
    """Columns that would have been taken as numbers if their commas were points."""
    absurd: list[Absurd]
    """Values that were taken as missing while filling the gaps; they stay in the file."""


class _UnfitError(ValueError):
    """Nothing could be fitted to the table."""


class _Filled(NamedTuple):
    values: Array
    bounds: Bounds | None
    n_components: int
    calibrated: bool
    n_known: Array  # values that are known of each column


def complete_file(path: Path, settings: Settings, progress: Progress = lambda what, share: None) -> Completion:
    """Fill the gaps in the columns of numbers of a CSV, TSV, Parquet or NPY file.

    Raises
    ------
    TableError
        When the file cannot be read or filled; the message says why in one sentence.
    """
    progress("reading", 0.0)
    table = read_table(path, settings.delimiter, settings.header, settings.missing)
    if not table.numeric:
        why = "".join(f" (line {one.line} of column {one.column} has {one.text!r:.50})" for one in table.strays[:1])
        for name in table.decimal_commas[:1]:
            why = f" (column {name.removeprefix('column ')} has decimal commas; write 1.5 instead of 1,5)"
        raise TableError(f"{path} cannot be used: it has no column of numbers{why}.")
    gaps = np.isnan(table.numbers)
    others = sorted(set(range(len(table.names))) - set(table.numeric))
    found = Completion(
        content=table.raw,
        n_gaps=int(gaps.sum()),
        n_columns=int(gaps.any(axis=0).sum()),
        n_components=0,
        calibrated=True,
        header_of_numbers=table.header_of_numbers,
        other_gaps=[table.names[j] for j in others if table.gaps(j) and table.names[j] not in table.decimal_commas],
        one_value=[],
        few_equal_values=[],
        suspects=list(_suspects(table)),
        strays=table.strays,
        decimal_commas=table.decimal_commas,
        absurd=[],
    )
    if not found.n_gaps:
        return found
    if settings.level is not None:
        _check_names(table, gaps)
    found = _with_absurd(found, table)
    try:
        filled = _complete(np.ascontiguousarray(table.numbers), settings, progress)  # one copy, not one per call
    except _UnfitError as problem:
        raise TableError(f"{path} cannot be used: {str(problem).rstrip('.')}.") from None
    progress("encoding", 0.95)
    bounds = filled.bounds
    if bounds is not None:
        unbounded = np.isinf(bounds.lower).any(axis=0)
        found = found._replace(
            one_value=[table.names[table.numeric[j]] for j in np.flatnonzero(unbounded & (filled.n_known == 1))],
            few_equal_values=[table.names[table.numeric[j]] for j in np.flatnonzero(unbounded & (filled.n_known > 1))],
        )
        bounds = Bounds(*(np.where(np.isinf(bound), np.nan, bound) for bound in bounds))
    return found._replace(
        content=encode(table, filled.values, bounds),
        n_components=filled.n_components,
        calibrated=filled.calibrated,
    )


def _complete(X: Array, settings: Settings, progress: Progress) -> _Filled:
    """X with its gaps filled, and its bounds if a level is given."""
    progress("fitting", 0.1)
    imputer = _fitted(X, settings, calibrate=settings.level is not None)
    bounds, calibrated = None, True
    if settings.level is not None:
        bounds = _bounds(imputer, X, settings.level, progress)
        if bounds is None:
            imputer, calibrated = _fitted(X, settings, calibrate=False), False
            bounds = _bounds(imputer, X, settings.level, progress)
    (values,) = _by_blocks(lambda rows: (imputer.transform(rows),), X, progress, "filling", 0.85)
    return _Filled(values, bounds, imputer.n_components_, calibrated, imputer.n_observed_)


def _fitted(X: Array, settings: Settings, *, calibrate: bool) -> LowRankImputer:
    imputer = LowRankImputer(
        settings.components, robust=settings.robust, calibrate=calibrate, random_state=settings.seed
    )
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ABSURD)
            imputer.fit(X)
    except (ValueError, MemoryError) as problem:  # more components than memory has room for
        raise _UnfitError(str(problem)) from None
    return imputer


def _bounds(imputer: LowRankImputer, X: Array, level: float, progress: Progress) -> Bounds | None:
    """The interval of every entry; None where the fit has too few hidden entries to calibrate one of this level."""
    try:
        return Bounds(*_by_blocks(lambda rows: imputer.predict_interval(rows, level), X, progress, "bounding", 0.75))
    except CalibrationError:
        return None


def _by_blocks(
    answer: Callable[[Array], Sequence[Array]], X: Array, progress: Progress, what: str, start: float
) -> list[Array]:
    """The arrays that ``answer`` returns for blocks of rows, each joined over the blocks."""
    size = max(1, CELLS_AT_ONCE // X.shape[1])
    parts = []
    for first in range(0, len(X), size):
        progress(what, start + 0.1 * first / len(X))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ABSURD)
            parts.append(answer(X[first : first + size]))
    return [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]


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
