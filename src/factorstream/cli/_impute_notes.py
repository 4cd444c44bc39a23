"""What `factorstream impute` says about a file that it has filled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..text import (
    capitalised,
    column_names,
    counted,
    left_out_as_asked,
    left_out_counting,
    listed,
    named_column,
    without_components,
)
from ._caveats import naming_rows, outside, suspicious
from ._command import STANDARD
from ._files import written_to

if TYPE_CHECKING:
    from ..jobs.completed import Completion
    from ..jobs.large_files import LargeFilling
    from ..jobs.online import OnlineFilling

__all__ = [
    "carried_along",
    "gaps_stay",
    "impute_caveats",
    "impute_summary",
    "large_caveats",
    "marks_of_limits",
    "online_caveats",
    "rounded_fills",
]

MOST_NAMED = 10
"""Columns that a sentence names. Not tuned: a report and --json name all."""

NUMBERS_ALONE = "Of files that are read block by block, columns of numbers alone are filled."
NOT_CALIBRATED = "The table is too small to calibrate the bounds at this level; they are the model's own."


def impute_summary(completion: Completion, source: Path, target: Path) -> str:
    """What was done, in a sentence."""
    if not completion.n_gaps:
        read = "standard input" if source == STANDARD else source
        of = "columns that are used" if completion.other_kinds else "columns of numbers"
        return f"There is no gap in the {of}; {written_to(target)} is a copy of {read}."
    return (
        f"Filled {counted(completion.n_gaps, 'gap')} in {counted(completion.n_columns, 'column')} "
        f"({counted(completion.n_components, 'component')}); wrote {written_to(target)}."
    )


def impute_caveats(completion: Completion) -> Iterator[str]:
    """What was left out or is not as it could be, one sentence each."""
    yield from completion.remarks
    if completion.other_kinds:
        kinds = [f"{column_names([name])} ({what})" for name, what in completion.other_kinds.items()]
        yield f"Used and filled beside numbers: {listed(kinds, MOST_NAMED)}."
    if completion.carried:
        yield carried_along(completion.carried)
    if completion.counting:
        yield left_out_counting(completion.counting)
    if completion.set_aside:
        yield left_out_as_asked(completion.set_aside)
    if completion.whole:
        yield rounded_fills(completion.whole)
    if below := outside(completion.n_below, completion.n_above):
        yield below
    if completion.n_gaps and not completion.n_components:
        robust = bool(completion.model.get_params(deep=False).get("robust"))
        yield without_components(type(completion.model).__name__, robust=robust)
    if completion.n_gaps and not completion.calibrated:
        yield NOT_CALIBRATED
    if completion.one_value:
        yield (
            "Bounds are left empty where one value of a column is known, which does not say how far others lie: "
            f"{column_names(completion.one_value)}."
        )
    if completion.few_equal_values:
        yield (
            "Bounds are left empty where the known values of a column are all equal, and too few for this level: "
            f"{column_names(completion.few_equal_values)}."
        )
    if completion.steps_left_out:
        yield f"{counted(completion.steps_left_out, 'time step')} without a row counted as rows without data."
    if completion.unknown:
        yield f"Gaps left as they are in columns that the model does not know: {column_names(completion.unknown)}."
    for column, value, times, place in completion.absurd:
        if times == 1:
            what, where = "an absurd value", f"{place} has {value:.15g}{_known(value)}"
            remedy = f"it, or pass --na {value:.15g} if it marks a gap"
        else:
            what, where = f"{times} absurd values", f"the first, in {place}, is {value:.15g}{_known(value)}"
            remedy = "them, or pass --na VALUE for each that marks a gap"
        name = capitalised(named_column(column))
        yield f"{name} has {what}, which had no part in filling the gaps: {where}; correct {remedy}."
    yield from suspicious(completion.suspects)
    if completion.identifiers:
        yield naming_rows(completion.identifiers, named=completion.labels is not None)
    if completion.other_gaps:
        yield f"Gaps left as they are in columns that are not finite numbers: {column_names(completion.other_gaps)}."


def carried_along(carried: Mapping[str, str]) -> str:
    """What is said of columns that are neither used nor filled, for reasons of their own.

    >>> carried_along({"name": "seldom the same value twice", "note": "one value only"})
    'Columns left as they are, gaps included: name (seldom the same value twice); note (one value only).'
    """
    by_reason: dict[str, list[str]] = {}
    for name, why in carried.items():
        by_reason.setdefault(why, []).append(name)
    which = "; ".join(f"{column_names(names, MOST_NAMED)} ({why})" for why, names in by_reason.items())
    return f"Columns left as they are, gaps included: {which}."


def large_caveats(found: LargeFilling, *, given: bool) -> Iterator[str]:
    """The same of a file that was read block by block; ``given`` says whether the model was there before."""
    yield from found.remarks
    if found.counting:
        yield left_out_counting(found.counting)
    if found.whole:
        yield rounded_fills(found.whole)
    if not found.calibrated:
        yield NOT_CALIBRATED
    yield from suspicious(found.suspects)
    if found.gaps_beside:
        yield f"{gaps_stay(found.gaps_beside)} {NUMBERS_ALONE}"
    if found.written.n_left and given:
        yield f"{counted(found.written.n_left, 'gap')} in columns without any value stayed."


def online_caveats(filling: OnlineFilling, encoding: str) -> Iterator[str]:
    """What is said of rows that were filled one by one; ``encoding`` is what there is to say of the text's."""
    from ..jobs.remarks import as_options

    counts = filling.counts
    if filling.counting:
        yield (
            f"Columns that count rows were learned from too, which shows only when all rows have come; leave them out "
            f"by --exclude: {column_names(filling.counting)}."
        )
    if beyond := outside(counts.below, counts.above, " before"):
        yield beyond
    if counts.left:
        yield f"{counted(counts.left, 'gap')} came before the first value of a column, and stayed."
    if counts.counting:
        yield f"{counted(counts.counting, 'gap')} in columns that had counted rows until then stayed."
    if counts.texts:
        yield (
            f"{counted(counts.texts, 'cell')} of columns of numbers had a text, and stayed; the first is "
            f"{filling.first_text}; pass {as_options([filling.first_mark])} if it marks a gap."
        )
    if encoding:
        yield encoding
    if filling.set_aside:
        yield left_out_as_asked(filling.set_aside)
    if filling.rounded:
        yield rounded_fills(sorted(filling.rounded))
    yield from suspicious(filling.suspects)
    if counts.absurd:
        yield f"{counted(counts.absurd, 'row')} had absurd values, which had no part in filling the gaps."


def gaps_stay(columns: Iterable[str]) -> str:
    """What is said of columns that are carried along and have gaps.

    >>> gaps_stay(["name"])
    'Gaps left as they are in columns that had no part in it: name.'
    """
    return f"Gaps left as they are in columns that had no part in it: {column_names(list(columns))}."


def rounded_fills(columns: Sequence[str]) -> str:
    """What is said of columns of whole numbers.

    >>> rounded_fills(["age"])
    'Fills are rounded, and bounds outwards, in columns that hold whole numbers only: age.'
    """
    return f"Fills are rounded, and bounds outwards, in columns that hold whole numbers only: {column_names(columns)}."


def _known(value: float) -> str:
    """What a fill value stands for, in brackets; nothing of other values."""
    from ..core.fill_values import meaning

    known = meaning(value)
    return f" ({known})" if known else ""


def marks_of_limits(marks: Sequence[str]) -> Iterator[str]:
    """What is said once of marks of gaps such as <0.5, which say more than that a value is missing."""
    limits = [mark for mark in marks if mark.strip().startswith(("<", ">"))]
    if limits:
        yield (
            f"Values marked {', '.join(limits)} are known to lie below or above a limit, which fills and bounds do not "
            "know."
        )
