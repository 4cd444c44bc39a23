"""`factorstream impute`: fill the numeric gaps of a file."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..files import check_writable, write_atomic
from ..text import counted, listed
from ._command import Command, fraction, whole_number

if TYPE_CHECKING:
    from ..completion import Completion

__all__ = ["COMMAND"]

DESCRIPTION = """\
Fill the gaps in the columns of numbers of a CSV, TSV, Parquet or NPY file. A column holds numbers if all its cells
are finite numbers or gaps (empty, NA, NaN, null, none, ?, ...). Columns of numbers without gaps help to fill the
others. Everything that is not a gap in a column of numbers is written as it was read, in the same order.
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("input", type=Path, metavar="IN", help=".csv, .tsv or other text; .parquet; .npy")
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="OUT", help="a file of the same kind; may be IN itself"
    )
    parser.add_argument(
        "--level",
        type=fraction("a level"),
        metavar="L",
        help="also write columns NAME_lower and NAME_upper after each filled column NAME: the bounds that hold "
        "the true value with this probability (0 < L < 1); both are the value itself where it is known, and empty "
        "where a column has too few known values to say",
    )
    parser.add_argument(
        "--components",
        type=_components,
        default="auto",
        metavar="N",
        help="most components to use, or auto (default: %(default)s)",
    )
    parser.add_argument("--robust", action="store_true", help="let gross outliers lose their weight")
    parser.add_argument(
        "--delimiter",
        type=_delimiter,
        metavar="D",
        help="between cells of text: one character, or tab (default: found)",
    )
    parser.add_argument(
        "--missing",
        action="append",
        type=_mark,
        default=[],
        metavar="VALUE",
        help="a number or text that marks a gap as well, such as -9999; may be given more than once (write "
        "--missing=-9999 where a minus sign comes first)",
    )
    parser.add_argument("--no-header", action="store_true", help="the first line of a text is data, not names")
    parser.add_argument("--seed", type=_seed, default=0, metavar="S", help="of the fit (default: %(default)s)")


def _run(arguments: argparse.Namespace) -> int:
    from ..completion import Settings, complete_file
    from ..sources.tables import TableError

    settings = Settings(
        level=arguments.level,
        components=arguments.components,
        robust=arguments.robust,
        seed=arguments.seed,
        delimiter=arguments.delimiter,
        header=not arguments.no_header,
        missing=tuple(arguments.missing),
    )
    try:
        _check_output(arguments.input, arguments.output)
        with _progress() as progress:
            completion = complete_file(arguments.input, settings, progress)
            progress("writing", 0.97)
            _write(arguments.output, completion.content)
    except TableError as problem:
        print(f"factorstream: {problem}", file=sys.stderr)
        return 2
    for note in _notes(completion, arguments.input, arguments.output):
        print(f"factorstream: {note}", file=sys.stderr)
    return 0


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


def _check_output(source: Path, target: Path) -> None:
    """Refuse an output that could not be written, before the work."""
    from ..sources.tables import TableError, format_of

    try:
        if target.is_dir():
            raise TableError(f"{target} is a folder; --output needs a file.")
        if not target.parent.is_dir():
            raise TableError(f"The folder {target.parent} does not exist; make it first.")
        if format_of(source) != format_of(target):
            raise TableError(f"{target} is not of the same kind as {source}; give it the same ending.")
        check_writable(target)
    except OSError as problem:
        why = problem.strerror or problem
        raise TableError(f"{target} cannot be written ({why}); choose another --output.") from None


def _write(path: Path, content: bytes) -> None:
    from ..sources.tables import TableError

    try:
        write_atomic(path, content)
    except OSError as problem:
        raise TableError(f"{path} cannot be written: {problem.strerror or problem}.") from None


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


def _components(text: str) -> int | str:
    return text if text == "auto" else whole_number(text, "is neither auto nor a whole number of at least 1")


def _seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= 2**32:  # what NumPy's RandomState takes
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 to 2**32 - 1")
    return int(text)


def _mark(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("an empty cell is a gap anyway; name a number or a text")
    return text


def _delimiter(text: str) -> str:
    value = {"tab": "\t", "\\t": "\t"}.get(text, text)
    if len(value) != 1 or value in '"\r\n':
        raise argparse.ArgumentTypeError(f"{text!r} is not one character (or tab)")
    return value


COMMAND = Command("impute", "fill the numeric gaps of a file", DESCRIPTION, _add_arguments, _run)
