"""Files that are too large to be read at once: which they are, and what `impute` does with them. Prints nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ..core.variational.conformal import CalibrationError
from ..estimators._checkpoint import CheckpointError
from ..estimators.low_rank_imputer import LowRankImputer
from ..progress import Step, say_nothing
from ..sources.endings import BLOCKWISE, ending_of
from ..sources.rows.opening import format_of, open_sink
from ..sources.rows.source import Source, whole_columns_of
from ..sources.table import TableError
from .large import WrittenRows, fill_source
from .large_surveys import names_of, open_measured, remarks_on
from .quiet import LEFT_OUT, quietly
from .reading import FITTING, Reading, Steps, named
from .suspects import Suspect

__all__ = [
    "LARGE", "LargeFilling", "LargeSettings", "copy_rows", "fill_large_file", "fit_source", "goes_by_blocks",
    "problem_said",
]  # fmt: skip

LARGE = 2**27
"""Bytes from which on a file is read block by block: 128 MiB, for which a text that is read at once takes one or two
gigabytes of memory. Not tuned: what is found by blocks is the same up to the rows that a fit begins with."""


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
    remarks: list[str]
    """Sentences about how the file was read, and columns that were taken as text, left out, or have no values."""
    suspects: Sequence[Suspect] = ()
    """Numbers that were taken as data though they are far from the rest of their columns."""
    whole: Sequence[str] = ()
    """Columns of whole numbers whose fills were rounded."""
    gaps_beside: Mapping[str, int] = MappingProxyType({})
    """Other columns with gaps, which stay, and how many; of formats that tell it at once."""
    calibrated: bool = True
    """False where bounds were wanted but the table is too small to calibrate them: they are the model's own."""


def goes_by_blocks(path: Path) -> bool:
    """Whether a file is one to be read block by block: a large one, parts in a folder, or a format of many arrays."""
    if ending_of(path) in BLOCKWISE:
        return True
    try:
        if path.is_dir():
            return format_of(path) == "parquet"
        return path.is_file() and path.stat().st_size > LARGE and format_of(path) is not None
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
        columns = np.flatnonzero(found.gaps & (found.n_known > 0 if model is None else True))
        given, calibrated = model, True
        if model is None and (len(columns) or keep_model):
            tell(FITTING)
            model = fit_source(source, settings)
        tell("filling")
        bounded = columns.tolist() if level is not None else []
        if bounded:
            _check_names(source, bounded)
        if len(columns):
            resume = settings.checkpoint is not None
            try:
                written = fill_source(model, source, out, level, bounded, step, resume=resume)
            except CalibrationError:
                if given is not None:
                    raise
                model, calibrated = fit_source(source, settings._replace(calibrate=False, checkpoint=None)), False
                written = fill_source(model, source, out, level, bounded, step, resume=resume)
        else:
            written = copy_rows(source, out)
    except (ValueError, MemoryError) as problem:
        raise problem_said(path, problem) from None
    names = names_of(source)
    whole = [names[j] for j in columns if j in whole_columns_of(source)] if len(columns) else []
    beside = {name: n for name, n in found.gaps_beside.items() if n}
    said = remarks_on(source, found)
    return LargeFilling(
        written, len(columns), model, names, found.counting, said, found.suspects, whole, beside, calibrated
    )


def problem_said(path: Path, problem: Exception) -> TableError:
    """What is wrong with a file, in a sentence that names it."""
    if isinstance(problem, CheckpointError):
        return TableError(str(problem))
    if isinstance(problem, TableError) and str(problem).endswith("."):
        return problem
    return TableError(f"{named(path)} cannot be used: {str(problem).rstrip('.')}.")


def _check_names(source: Source, bounded: Sequence[int]) -> None:
    """Refuse to write a second column of a name."""
    names = names_of(source)
    taken = {f"{names[j]}_{side}" for j in bounded for side in ("lower", "upper")} & set(names)
    if taken:
        raise TableError(f"There is a column {min(taken)} already; rename it, or leave out --level.")


def fit_source(source: Source, settings: LargeSettings, **others: Any) -> LowRankImputer:
    """A model of all rows; ``others`` are parameters of it that are no settings of a command."""
    model = LowRankImputer(
        settings.components,
        **others,
        robust=settings.robust,
        calibrate=settings.calibrate,
        random_state=settings.seed,
        verbose=settings.verbose,
    )
    with quietly(*LEFT_OUT):
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
