"""What `factorstream impute` says about a file that it has filled."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ..text import capitalised, column_names, counted, named_column, without_components
from ._caveats import left_out_counting, outside
from ._command import STANDARD
from ._files import written_to

if TYPE_CHECKING:
    from ..completion import Completion

__all__ = ["impute_caveats", "impute_summary"]


def impute_summary(completion: Completion, source: Path, target: Path) -> str:
    """What was done, in a sentence."""
    if not completion.n_gaps:
        read = "standard input" if source == STANDARD else source
        return f"There is no gap in the columns of numbers; {written_to(target)} is a copy of {read}."
    return (
        f"Filled {counted(completion.n_gaps, 'gap')} in {counted(completion.n_columns, 'column')} "
        f"({counted(completion.n_components, 'component')}); wrote {written_to(target)}."
    )


def impute_caveats(completion: Completion) -> Iterator[str]:
    """What was left out or is not as it could be, one sentence each."""
    yield from completion.remarks
    if completion.counting:
        yield left_out_counting(completion.counting)
    if below := outside(completion.n_below, completion.n_above):
        yield below
    if completion.n_gaps and not completion.n_components:
        robust = bool(completion.model.get_params(deep=False).get("robust"))
        yield without_components(type(completion.model).__name__, robust=robust)
    if completion.n_gaps and not completion.calibrated:
        yield "The table is too small to calibrate the bounds at this level; they are the model's own."
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
            remedy = f"it, or pass --missing={value:.15g} if it marks a gap"
        else:
            what, where = f"{times} absurd values", f"the first, in {place}, is {value:.15g}{_known(value)}"
            remedy = "them, or pass --missing=VALUE for each that marks a gap"
        name = capitalised(named_column(column))
        yield f"{name} has {what}, which had no part in filling the gaps: {where}; correct {remedy}."
    for column, value, times in completion.suspects:
        name = capitalised(named_column(column))
        yield (
            f"{name} has the value {value:.15g} {counted(times, 'time')}, far from its other values; "
            f"it stays in the file, and if it marks a gap, pass --missing={value:.15g}."
        )
    if completion.other_gaps:
        yield f"Gaps left as they are in columns that are not finite numbers: {column_names(completion.other_gaps)}."


def _known(value: float) -> str:
    """What a fill value stands for, in brackets; nothing of other values."""
    from ..core.fill_values import meaning

    known = meaning(value)
    return f" ({known})" if known else ""
