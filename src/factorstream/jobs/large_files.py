"""Files that are too large to be read at once: which they are, and what `impute` does with them. Prints nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..estimators._checkpoint import CheckpointError
from ..estimators._source_rows import checked
from ..estimators.low_rank_imputer import LowRankImputer
from ..progress import Step, say_nothing
from ..sources.endings import ending_of
from ..sources.rows.opening import open_rows, open_sink
from ..sources.rows.source import Source
from ..sources.table import Array, TableError
from ..sources.timeline import EVEN, LEAST_ROWS
from ..tall.rows import dense
from .large import WrittenRows, columns_of, fill_source
from .quiet import quietly
from .reading import FITTING, Reading, Steps, named

__all__ = [
    "LARGE", "LargeFilling", "LargeSettings", "copy_rows", "fill_large_file", "fit_source", "is_large", "names_of",
    "open_measured", "problem_said",
]  # fmt: skip

LARGE = 2**27
"""Bytes from which on a file is read block by block: 128 MiB, for which a text that is read at once takes one or two
gigabytes of memory. Not tuned: what is found by blocks is the same up to the rows that a fit begins with."""

BY_BLOCKS = (".npy", ".csv", ".tsv", ".tab", ".txt", ".parquet", ".pq")
"""Endings of the files that commands read; packed ones end in .gz besides. Derived: those of ``sources/tables.py``."""


class LargeSettings(NamedTuple):
    """How to read and fit a large file."""

    components: int | str = "auto"
    robust: bool = False
    seed: int = 0
    calibrate: bool = False
    reading: Reading = Reading()
    verbose: int = 0
    """Whether a fit shows how far it is."""
    checkpoint: Path | None = None
    """The file from which a run goes on that was killed; None: it would begin anew."""


class LargeFilling(NamedTuple):
    """A file that was filled, and what there is to say about it."""

    written: WrittenRows
    n_columns: int
    """Columns that had gaps."""
    model: Any
    """None where there was no gap, and none was to be kept."""
    names: list[str]
    """Of its features."""
    counting: list[str]
    """Columns of numbers that count rows; they had no part in it."""


def is_large(path: Path) -> bool:
    """Whether a file is one to be read block by block."""
    try:
        return path.is_file() and path.stat().st_size > LARGE and ending_of(path).removesuffix(".gz") in BY_BLOCKS
    except OSError:  # whoever reads it says what is wrong
        return False


def fill_large_file(
    path: Path,
    out: Path,
    level: float | None,
    settings: LargeSettings,
    tell: Steps = lambda what: None,
    model: Any = None,
    keep_model: bool = False,
    step: Step = say_nothing,
) -> LargeFilling:
    """Fill the gaps in the columns of numbers of a file, and write it as it is read.

    A model that was fitted before fills those columns that it knows; otherwise one is fitted to the file.

    Raises
    ------
    TableError
        When the file cannot be read or filled; the message says why in one sentence.
    """
    try:
        source, found = open_measured(path, settings.reading, tell, model)
        columns = np.flatnonzero(found.gaps)
        if model is None and (len(columns) or keep_model):
            tell(FITTING)
            model = fit_source(source, settings)
        tell("filling")
        bounded = columns.tolist() if level is not None else []
        if bounded:
            _check_names(source, bounded)
        if len(columns):
            resume = settings.checkpoint is not None
            written = fill_source(model, source, out, level, bounded, step, resume=resume)
        else:
            written = copy_rows(source, out)
    except (ValueError, MemoryError) as problem:
        raise problem_said(path, problem) from None
    return LargeFilling(written, len(columns), model, names_of(source), found.counting)


def problem_said(path: Path, problem: Exception) -> TableError:
    """What is wrong with a file, in a sentence that names it."""
    if isinstance(problem, CheckpointError):
        return TableError(str(problem))
    if isinstance(problem, TableError) and str(problem).endswith("."):
        return problem
    return TableError(f"{named(path)} cannot be used: {str(problem).rstrip('.')}.")


# ------------------------------------------------------------------ reading


class _Survey(NamedTuple):
    """What one pass over a file tells of its columns."""

    gaps: Array
    """Which have gaps (boolean)."""
    deviation: Array
    """Of their values, NaN left out."""
    counting: list[str]
    """The names of those that were left out because they count rows."""


def open_measured(path: Path, reading: Reading, tell: Steps, model: Any) -> tuple[Source, _Survey]:
    """The rows with the columns that measure something, or that the model knows."""
    tell("reading")
    how: dict[str, Any] = {"missing": reading.missing}
    if not ending_of(path).endswith((".npy", ".parquet", ".pq")):
        how |= {"delimiter": reading.delimiter, "header": reading.header}
    if model is not None:
        source = columns_of(model, path, **how)
        return source, _survey(source)[0]
    source = open_rows(path, **how)
    found, counts = _survey(source)
    if not counts.any():
        return source, found
    stay = np.flatnonzero(~counts)
    if not len(stay):
        raise TableError("it has no column of numbers but those that count its rows")
    names = names_of(source)
    source = open_rows(path, columns=[names[j] for j in stay] if source.names else stay.tolist(), **how)
    found = _Survey(found.gaps[stay], found.deviation[stay], [names[j] for j in np.flatnonzero(counts)])
    return source, found


def _survey(source: Source) -> tuple[_Survey, Array]:
    """What the columns are like, and which of them go up by equal steps (boolean)."""
    m = source.n_columns
    gaps, n, total, square = np.zeros(m, dtype=bool), np.zeros(m), np.zeros(m), np.zeros(m)
    first: Array | None = None
    last, least, most, rows = np.zeros(m), np.full(m, np.inf), np.full(m, -np.inf), 0
    for values in _numbers(source):
        gaps |= np.isnan(values).any(axis=0)
        origin = values[0] if first is None else first
        steps = np.diff(values if first is None else np.vstack([last, values]), axis=0)
        first, last, rows = origin, values[-1], rows + len(values)
        least = np.fmin(least, np.min(steps, axis=0, initial=np.inf))
        most = np.fmax(most, np.max(steps, axis=0, initial=-np.inf))
        away = np.where(np.isnan(values), 0.0, values - np.nan_to_num(origin))
        n, total, square = n + (~np.isnan(values)).sum(axis=0), total + away.sum(axis=0), square + (away**2).sum(axis=0)
    if first is None:
        raise TableError("it has no rows")
    step = (last - first) / max(rows - 1, 1)
    with np.errstate(invalid="ignore"):
        off = np.maximum(most - step, step - least)
        counts = (rows >= LEAST_ROWS) & ~gaps & (step > 0.0) & (off <= EVEN * step)
    n = np.maximum(n, 1.0)
    deviation = np.sqrt(np.maximum(square / n - (total / n) ** 2, 0.0))
    return _Survey(gaps, deviation, []), counts


def _numbers(source: Source) -> Iterator[Array]:
    for block in source.blocks():
        yield dense(checked(block)).astype(np.float64, copy=False)


def names_of(source: Source) -> list[str]:
    """The names of the columns of numbers, which have numbers where they have no names."""
    return list(source.names) if source.names else [f"column {j + 1}" for j in range(source.n_columns)]


def _check_names(source: Source, bounded: Sequence[int]) -> None:
    """Refuse to write a second column of a name."""
    names = names_of(source)
    taken = {f"{names[j]}_{side}" for j in bounded for side in ("lower", "upper")} & set(names)
    if taken:
        raise TableError(f"There is a column {min(taken)} already; rename it, or leave out --level.")


def fit_source(source: Source, settings: LargeSettings) -> LowRankImputer:
    """A model of all rows."""
    model = LowRankImputer(
        settings.components,
        robust=settings.robust,
        calibrate=settings.calibrate,
        random_state=settings.seed,
        verbose=settings.verbose,
    )
    with quietly():
        model.fit(source, checkpoint=settings.checkpoint)
    model.verbose = 0  # whoever uses it next decides for themselves
    return model


def copy_rows(source: Source, out: Path) -> WrittenRows:
    """Write all rows as they are."""
    n = 0
    with open_sink(out, source) as sink:
        for block in source.blocks():
            sink.write(block)
            n += int(block.values.shape[0])
        return WrittenRows(sink.path, n, 0, 0)
