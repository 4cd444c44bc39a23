"""One pass over a file that is read block by block: which columns measure something, and what they are like."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ..core.linalg import is_sparse
from ..estimators._source_rows import checked
from ..sources.rows.counting import Counting
from ..sources.rows.opening import open_rows
from ..sources.rows.source import Block, OtherColumns, Source, assumed_of, gaps_beside, others_of
from ..sources.table import Array, Stray, TableError
from ..sources.text_remarks import not_written_plainly, one_stray, why_no_numbers
from ..tall.rows import dense
from ..text import left_out_as_asked, named_column
from .choice import Choice, chosen_positions
from .large import columns_of, positions_in, same_form
from .reading import Reading, Steps
from .remarks import as_options, not_filled
from .suspects import Extremes, Suspect

__all__ = ["Survey", "names_of", "open_measured", "remarks_on"]


class Survey(NamedTuple):
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

    def without_gaps_of(self, columns: Collection[str]) -> Survey:
        """The same, and nothing of the gaps of some columns beside those of numbers."""
        return self._replace(gaps_beside={name: n for name, n in self.gaps_beside.items() if name not in columns})


def open_measured(path: Path, reading: Reading, tell: Steps, model: Any) -> tuple[Source, Survey]:
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
    infinite = _Infinities()
    found, counts = _survey(whole, infinite)
    found = found._replace(counting=list(others_of(whole).counting))
    strays = infinite.strays(names_of(whole))
    if not len(counts) and not strays:
        return whole, found
    stay = np.setdiff1d(np.arange(whole.n_columns), [*counts, *strays])
    if not len(stay):
        why = why_no_numbers(list(strays.values()), ())
        but = f" ({why[0]})" if why else " but those that count its rows"
        raise TableError(f"it has no column of numbers{but}")
    names, positions = names_of(whole), positions_in(whole)
    source = open_rows(path, columns=[positions[j] for j in stay], **same_form(whole, how))
    gaps, n_known, deviation = (part[stay] for part in found[:3])
    left = [one for one in found.suspects if one.column in names_of(source)]
    return source, found._replace(
        gaps=gaps,
        n_known=n_known,
        deviation=deviation,
        counting=[*found.counting, *(names[j] for j in counts)],
        suspects=left,
        others=found.others._replace(strays=(*found.others.strays, *strays.values())),
    )


def _open_chosen(path: Path, whole: Source, choice: Choice, how: dict[str, Any]) -> tuple[Source, Survey]:
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


class _Infinities:
    """Columns that would be numbers but for infinities, while blocks of rows pass."""

    def __init__(self) -> None:
        self._found: dict[int, dict[str, list[int]]] = {}
        """Of each column what its infinities are written as, how often they come, and the first row of them."""

    def taken_out(self, block: Block) -> Array:
        """The rows of a block (n, m) with gaps in the place of infinities; those of sparse blocks are refused."""
        if is_sparse(block.values):
            return dense(checked(block))
        values: Array = block.values
        at = np.isinf(values)
        if not at.any():
            return values
        for row, j in zip(*np.nonzero(at), strict=True):
            seen = self._found.setdefault(int(j), {}).setdefault(str(values[row, j]), [0, block.first + int(row)])
            seen[0] += 1
        return np.where(at, np.nan, values)

    def strays(self, names: Sequence[str]) -> dict[int, Stray]:
        """What is to be said of them, by column; rows count from 1."""
        said = {}
        for j, texts in sorted(self._found.items()):
            (text, (n, first)), *others = sorted(texts.items(), key=lambda one: -one[1][0])
            more = tuple((other, times) for other, (times, _) in others)
            said[j] = Stray(names[j], text, n, first + 1, more, len(texts), "row")
        return said


def _survey(source: Source, infinite: _Infinities | None = None) -> tuple[Survey, Array]:
    """What the columns are like, and the positions of those that count rows. Without ``infinite`` rows with infinities
    are refused."""
    m = source.n_columns
    gaps, n, total, square = np.zeros(m, dtype=bool), np.zeros(m), np.zeros(m), np.zeros(m)
    first: Array | None = None
    counting, extremes, others = Counting(m), Extremes(m), others_of(source)
    beside = np.zeros(len(others.names), dtype=np.int64)
    for block in source.blocks():
        finite = dense(checked(block)) if infinite is None else infinite.taken_out(block)
        values = finite.astype(np.float64, copy=False)
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
    found = Survey(gaps, n, deviation, [], suspects, others, assumed_of(source), gaps_beside=stay)
    return found, counting.found()


def remarks_on(source: Source, found: Survey) -> list[str]:
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
