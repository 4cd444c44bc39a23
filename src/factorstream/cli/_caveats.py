"""What commands say about columns that had no part in their work, or a smaller one."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..text import (
    capitalised,
    column_names,
    counted,
    left_out_as_asked,
    left_out_counting,
    named_column,
    without_numbers,
)
from ._command import Words

if TYPE_CHECKING:
    from ..jobs.reading import Given
    from ..jobs.suspects import Suspect

__all__ = ["naming_rows", "outside", "say_caveats", "say_without_numbers", "suspicious"]


def say_caveats(words: Words, given: Given, *, counting: bool = True, in_time: bool = False) -> None:
    """Say how a table was read, and which columns were left out and why.

    ``counting`` says whether columns that count rows were left out too. With ``in_time`` the rows are time steps, and
    doubts about their dates are said.
    """
    for remark in (*given.remarks, *(given.date_remarks if in_time else ())):
        words.caveat(remark)
    if counting and given.counting:
        words.caveat(left_out_counting(given.counting))
    if given.set_aside:
        words.caveat(left_out_as_asked(given.set_aside))
    if given.unknown:
        words.caveat(f"Columns that the model does not know were left out: {column_names(given.unknown)}.")
    if given.absurd:
        words.caveat(
            f"Absurd values, out of all proportion to the others, had no part in the fit: "
            f"{column_names(given.absurd)}; correct them, or pass --na VALUE if they mark gaps."
        )

    from ..jobs.suspects import suspects_in

    for caveat in suspicious([one for one in suspects_in(given.X, given.names) if one.column not in given.absurd]):
        words.caveat(caveat)
    if given.identifiers and not in_time:
        words.caveat(naming_rows(given.identifiers, named=given.call is not None))


def say_without_numbers(words: Words, given: Given) -> None:
    """Say which columns were left out because they hold no numbers; that of time is no such column."""
    from ..jobs.remarks import empty_columns

    table, when = given.table, None if given.when is None else given.when.column
    called = [] if given.call is None else [table.names[given.call]]
    known = {*given.counting, *given.unknown, *given.set_aside, *called, *empty_columns(table)}  # said elsewhere
    names = [name for j, name in enumerate(table.names) if j not in (*table.numeric, when) and name not in known]
    if names:
        words.caveat(without_numbers(names))


def suspicious(suspects: Sequence[Suspect]) -> Iterator[str]:
    """What is said of numbers that probably mark gaps, one sentence for each number."""
    for value in dict.fromkeys(one.value for one in suspects):
        found = [one for one in suspects if one.value == value]
        times = sum(one.times for one in found)
        if len(found) == 1:
            have = f"{capitalised(named_column(found[0].column))} has the value {value:.15g} {counted(times, 'time')}"
            where = "unlike its other values"
        else:
            names = column_names(one.column for one in found)
            have = f"{len(found)} columns have the value {value:.15g}, {counted(times, 'time')} together"
            where = f"unlike their other values ({names})"
        yield f"{have}, {where}; it was taken as a number, and if it marks a gap, pass --na {value:.15g}."


def naming_rows(columns: Sequence[str], *, named: bool) -> str:
    """What is said of columns that probably name the rows; ``named`` says whether another one was said to do so.

    >>> naming_rows(["a"], named=False)
    'Column a has another whole number in every row and was used as a measurement; if it names the rows, pass --id a.'
    """
    one = len(columns) == 1
    have = "has another whole number in every row and was" if one else "have other whole numbers in every row and were"
    what = "a measurement; if it names" if one else "measurements; if they name"
    option = "--id" if one and not named else "--exclude"
    return (
        f"{'Column' if one else 'Columns'} {column_names(columns)} {have} used as {what} the rows, pass {option} "
        f"{shlex.quote(','.join(columns))}."
    )


def outside(n_below: int, n_above: int, so_far: str = "") -> str:
    """What is said of fills beyond all values of their columns; nothing where there are none.

    >>> outside(12, 1)
    '12 fills are below the lowest value seen in their column, and 1 above the greatest.'
    """
    parts = [f"below the lowest value seen{so_far}", f"above the greatest{'' if n_below else f' value seen{so_far}'}"]
    counts = [(n, part) for n, part in zip((n_below, n_above), parts, strict=True) if n]
    if not counts:
        return ""
    (n, part), *more = counts
    one = n == 1
    first = f"{n} {'fill is' if one else 'fills are'} {part} in {'its' if one else 'their'} column"
    return first + "".join(f", and {n} {part}" for n, part in more) + "."
