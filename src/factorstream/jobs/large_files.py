"""Files that are too large to be read at once: which they are, and what `impute` does with them. Prints nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ..estimators._checkpoint import CheckpointError
from ..estimators._source_rows import checked
from ..estimators.low_rank_imputer import LowRankImputer
from ..progress import Step, say_nothing
from ..sources.endings import BLOCKWISE, ending_of
from ..sources.rows.counting import Counting
from ..sources.rows.opening import format_of, open_rows, open_sink
from ..sources.rows.source import OtherColumns, Source, assumed_of, gaps_beside, others_of, whole_columns_of
from ..sources.table import Array, TableError
from ..sources.text_remarks import not_written_plainly, one_stray, why_no_numbers
from ..tall.rows import dense
from ..text import left_out_as_asked, named_column
from .choice import Choice, chosen_positions
from .large import WrittenRows, columns_of, fill_source, positions_in, same_form
from .quiet import LEFT_OUT, quietly
from .reading import FITTING, Reading, Steps, named
from .remarks import as_options, not_filled
from .suspects import Extremes, Suspect

__all__ = [
    "LARGE", "LargeFilling", "LargeSettings", "copy_rows", "fill_large_file", "fit_source", "goes_by_blocks",
    "names_of", "open_measured", "problem_said", "remarks_on",
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
    """Numbers that were taken as data, and may stand for gaps."""
    whole: Sequence[str] = ()
    """Columns of whole numbers whose fills were rounded."""
    gaps_beside: Mapping[str, int] = MappingProxyType({})
    """Other columns with gaps, which stay, and how many; of formats that tell it at once."""


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
    names = names_of(source)
    whole = [names[j] for j in columns if j in whole_columns_of(source)] if len(columns) else []
    beside = {name: n for name, n in found.gaps_beside.items() if n}
    return LargeFilling(
        written, len(columns), model, names, found.counting, remarks_on(source, found), found.suspects, whole, beside
    )


def problem_said(path: Path, problem: Exception) -> TableError:
    """What is wrong with a file, in a sentence that names it."""
    if isinstance(problem, CheckpointError):
        return TableError(str(problem))
    if isinstance(problem, TableError) and str(problem).endswith("."):
        return problem
    return TableError(f"{named(path)} cannot be used: {str(problem).rstrip('.')}.")


class _Survey(NamedTuple):
    """What one pass over a file tells of its columns."""

    gaps: Array
    """Which have gaps (boolean)."""
    n_known: Array
    """How many values they have."""
    deviation: Array
    """Of their values, NaN left out."""
    counting: list[str]
    """The names of those that were left out because they count rows."""
    suspects: list[Suspect]
    """Numbers that probably stand for missing values."""
    others: OtherColumns = OtherColumns()
    """The columns beside those of numbers, as far as the file tells."""
    assumed: Sequence[str] = ()
    """Sentences about what was found out about a text, and could be otherwise."""
    set_aside: Sequence[str] = ()
    """Columns that were left out because the user has said so."""
    gaps_beside: Mapping[str, int] = MappingProxyType({})
    """How many gaps the columns beside those of numbers have, but for those of which the user has said something."""

    def without_gaps_of(self, columns: Collection[str]) -> _Survey:
        """The same, and nothing of the gaps of some columns beside those of numbers."""
        return self._replace(gaps_beside={name: n for name, n in self.gaps_beside.items() if name not in columns})


def open_measured(path: Path, reading: Reading, tell: Steps, model: Any) -> tuple[Source, _Survey]:
    """The rows with the columns that measure something, or that the model knows."""
    tell("reading")
    how = {**reading.how, "dataset": reading.dataset}
    if model is not None:
        source = columns_of(model, path, **how)
        found, names = _survey(source)[0], list[str](getattr(source, "all_names", ()))
        call = chosen_positions(reading.choice, names)[2] if names else None
        return source, found if call is None else found.without_gaps_of({names[call]})
    whole = open_rows(path, **how)
    if reading.choice.is_any:
        return _open_chosen(path, whole, reading.choice, how)
    found, counts = _survey(whole)
    found = found._replace(counting=list(others_of(whole).counting))
    if not len(counts):
        return whole, found
    stay = np.setdiff1d(np.arange(whole.n_columns), counts)
    if not len(stay):
        raise TableError("it has no column of numbers but those that count its rows")
    names, positions = names_of(whole), positions_in(whole)
    source = open_rows(path, columns=[positions[j] for j in stay], **same_form(whole, how))
    gaps, n_known, deviation = (part[stay] for part in found[:3])
    left = [one for one in found.suspects if one.column in names_of(source)]
    return source, found._replace(
        gaps=gaps, n_known=n_known, deviation=deviation, counting=[names[j] for j in counts], suspects=left
    )


def _open_chosen(path: Path, whole: Source, choice: Choice, how: dict[str, Any]) -> tuple[Source, _Survey]:
    """The rows with those columns that the user wants; ``whole`` has all columns of numbers."""
    names = list(getattr(whole, "all_names", names_of(whole)))
    wanted, without, call = chosen_positions(choice, names)
    others, positions = others_of(whole), positions_in(whole)
    for j in wanted or ():
        if j not in positions and names[j] not in others.counting:
            why = why_no_numbers(
                [one for one in others.strays if one.column == names[j]],
                [one for one in others.unread if one.column == names[j]],
            )
            raise TableError(f"{named_column(names[j])} holds no numbers{f' ({why[0]})' if why else ''}")
    stay = [j for j in (positions if wanted is None else sorted(wanted)) if j not in (*without, call)]
    if not stay:
        raise TableError("it has no column of numbers among those to be used")
    source = open_rows(path, columns=stay, **same_form(whole, how))
    found, _ = _survey(source)
    aside = [j for j in range(len(names)) if j != call and (j in without or (wanted is not None and j not in wanted))]
    gone = {names[j] for j in (*aside, *(() if call is None else (call,)))}
    others = others._replace(
        strays=tuple(one for one in others.strays if one.column not in gone),
        unread=tuple(one for one in others.unread if one.column not in gone),
    )
    counting = [name for name in others.counting if name not in gone and name not in names_of(source)]
    return source, found.without_gaps_of(gone)._replace(
        counting=counting, others=others, assumed=assumed_of(whole), set_aside=[names[j] for j in aside]
    )


def _survey(source: Source) -> tuple[_Survey, Array]:
    """What the columns are like, and the positions of those that count rows."""
    m = source.n_columns
    gaps, n, total, square = np.zeros(m, dtype=bool), np.zeros(m), np.zeros(m), np.zeros(m)
    first: Array | None = None
    counting, extremes, others = Counting(m), Extremes(m), others_of(source)
    beside = np.zeros(len(others.names), dtype=np.int64)
    for block in source.blocks():
        values = dense(checked(block)).astype(np.float64, copy=False)
        beside += np.array(gaps_beside(source, block), dtype=np.int64)
        gaps |= np.isnan(values).any(axis=0)
        first = values[0] if first is None else first
        counting.add(values)
        extremes.add(values)
        away = np.where(np.isnan(values), 0.0, values - np.nan_to_num(first))
        n, total, square = n + (~np.isnan(values)).sum(axis=0), total + away.sum(axis=0), square + (away**2).sum(axis=0)
    if first is None:
        raise TableError("it has no rows")
    known = np.maximum(n, 1.0)
    deviation = np.sqrt(np.maximum(square / known - (total / known) ** 2, 0.0))
    suspects = extremes.suspects(names_of(source))
    stay = dict(zip(others.names, beside.tolist(), strict=True))
    found = _Survey(gaps, n, deviation, [], suspects, others, assumed_of(source), gaps_beside=stay)
    return found, counting.found()


def remarks_on(source: Source, found: _Survey) -> list[str]:
    """Sentences about columns that were not taken as numbers, or have no values."""
    others, said = found.others, list(found.assumed)
    said += [one_stray(stray, as_options) for stray in others.strays]
    said += [not_written_plainly(one) for one in others.unread]
    if found.set_aside:
        said.append(left_out_as_asked(found.set_aside))
    if empty := [name for name, known in zip(names_of(source), found.n_known, strict=True) if not known]:
        said.append(not_filled(empty))
    return said


def names_of(source: Source) -> list[str]:
    """The names of the columns of numbers, which have numbers where they have no names."""
    return list(source.names) if source.names else [f"column {j + 1}" for j in range(source.n_columns)]


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
