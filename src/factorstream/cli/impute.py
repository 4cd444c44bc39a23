"""`factorstream impute`: fill the numeric gaps of a file."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..text import counted, listed
from ._command import Words, command
from ._files import check_output, write
from ._options import FILE, fraction, reading_options, seed_option, whole_number

if TYPE_CHECKING:
    from ..completion import Completion

__all__ = ["COMMAND"]

COMPONENTS = whole_number("is neither auto nor a whole number of at least 1", auto="auto")


@command("impute", "fill the numeric gaps of a file")
@click.argument("source", type=FILE, metavar="IN")
@click.option(
    "-o", "--output", type=FILE, required=True, metavar="OUT", help="a file of the same kind; may be IN itself"
)
@click.option(
    "--level",
    type=fraction("a level"),
    metavar="L",
    help="also write columns NAME_lower and NAME_upper after each filled column NAME: the bounds that hold the true "
    "value with this probability (0 < L < 1); both are the value itself where it is known, and empty where a column "
    "has too few known values to say",
)
@click.option(
    "--components",
    type=COMPONENTS,
    default="auto",
    show_default=True,
    metavar="N",
    help="most components to use, or auto",
)
@click.option("--robust", is_flag=True, help="let gross outliers lose their weight")
@reading_options
@seed_option
def COMMAND(
    words: Words,
    source: Path,
    output: Path,
    level: float | None,
    components: int | str,
    robust: bool,
    delimiter: str | None,
    missing: tuple[str, ...],
    no_header: bool,
    seed: int,
) -> None:
    """Fill the gaps in the columns of numbers of IN, a CSV, TSV, Parquet or NPY file.

    A column holds numbers if all its cells are finite numbers or gaps (empty, NA, NaN, null, none, ?, ...). Columns of
    numbers without gaps help to fill the others. Everything that is not a gap in a column of numbers is written as it
    was read, in the same order.
    """
    from ..completion import Settings, complete_file

    settings = Settings(level, components, robust, seed, delimiter, not no_header, missing)
    check_output(output, source)
    with _progress() as progress:
        completion = complete_file(source, settings, progress)
        progress("writing", 0.97)
        write(output, completion.content)
    for note in _notes(completion, source, output):
        words.note(note)


def _notes(completion: Completion, source: Path, target: Path) -> Iterator[str]:
    """What there is to say, one sentence each."""
    if completion.header_of_numbers:
        yield f"The first line of {source} is all numbers; if it is data, pass --no-header."
    if not completion.n_gaps:
        yield f"There is no gap in the columns of numbers; {target} is a copy of {source}."
    else:
        if not completion.calibrated:
            yield "The table is too small to calibrate the bounds at this level; they are the model's own."
        if completion.one_value:
            yield (
                "Bounds are left empty where one value of a column is known, which does not say how far others lie: "
                f"{listed(completion.one_value)}."
            )
        if completion.few_equal_values:
            yield (
                "Bounds are left empty where the known values of a column are all equal, and too few for this level: "
                f"{listed(completion.few_equal_values)}."
            )
        yield (
            f"Filled {counted(completion.n_gaps, 'gap')} in {counted(completion.n_columns, 'column')} "
            f"({counted(completion.n_components, 'component')}); wrote {target}."
        )
    for column, value, times, place in completion.absurd:
        if times == 1:
            what, where = "an absurd value", f"{place} has {value:.15g}{_known(value)}"
            remedy = f"it, or pass --missing={value:.15g} if it marks a gap"
        else:
            what, where = f"{times} absurd values", f"the first, in {place}, is {value:.15g}{_known(value)}"
            remedy = "them, or pass --missing=VALUE for each that marks a gap"
        yield f"{_named(column)} has {what}, which had no part in filling the gaps: {where}; correct {remedy}."
    for column, value, times in completion.suspects:
        yield (
            f"{_named(column)} has the value {value:.15g} {counted(times, 'time')}, far from its other values; it "
            f"stays in the file, and if it marks a gap, pass --missing={value:.15g}."
        )
    for column, text, count, line in completion.strays:
        where = f"line {line} has" if count == 1 else f"{count} cells, the first in line {line}, have"
        yield (
            f"{_named(column)} was left as it is, because one text in it is no finite number: {where} {text!r:.50}; "
            f"correct it, or pass --missing={shlex.quote(text)} if it marks a gap."
        )
    if completion.decimal_commas:
        which = listed(completion.decimal_commas)
        yield f"Columns with decimal commas were left as they are; write 1.5 instead of 1,5: {which}."
    if completion.other_gaps:
        yield f"Gaps left as they are in columns that are not finite numbers: {listed(completion.other_gaps)}."


def _named(column: str) -> str:
    """A column at the beginning of a sentence; where there are no names it is called "column 3" already."""
    return f"Column {column.removeprefix('column ')}"


def _known(value: float) -> str:
    """What a fill value stands for, in brackets; nothing of other values."""
    from ..core.fill_values import meaning

    known = meaning(value)
    return f" ({known})" if known else ""


@contextmanager
def _progress() -> Iterator[Callable[[str, float], None]]:
    """A progress bar on a terminal where rich is installed; silence elsewhere."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
    except ImportError:
        Console = None  # type: ignore[assignment,misc]
    if Console is None or not sys.stderr.isatty():
        yield lambda what, share: None
        return
    columns = (SpinnerColumn(), BarColumn(24), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("starting", total=1.0)
        yield lambda what, share: progress.update(task, completed=share, description=what)
