"""`factorstream impute`: fill the numeric gaps of a file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .estimators.imputer import FilterImputer
    from .sources.tables import Bounds, Table

__all__ = ["add_impute", "impute"]

CELLS_AT_ONCE = 1_000_000
"""Entries filled between two steps of the progress bar."""

Step = Callable[[str, float], None]
"""Takes what is going on, and how much of everything is done."""

DESCRIPTION = """\
Fill the gaps in the columns of numbers of a CSV, TSV, Parquet or NPY file. A column holds numbers if all its cells
are finite numbers or gaps (empty, NA, NaN, null, none, ?, ...). Columns of numbers without gaps help to fill the
others. Everything that is not a gap in a column of numbers is written as it was read, in the same order.
"""


def add_impute(commands: Any) -> None:
    """Add the command to the subparsers of the command line."""
    parser = commands.add_parser("impute", help="fill the numeric gaps of a file", description=DESCRIPTION)
    parser.add_argument("input", type=Path, metavar="IN", help=".csv, .tsv or other text; .parquet; .npy")
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="OUT", help="a file of the same kind; may be IN itself"
    )
    parser.add_argument(
        "--level",
        type=_level,
        metavar="L",
        help="also write columns NAME_lower and NAME_upper after each filled column NAME: the bounds that hold "
        "the true value with this probability (0 < L < 1); both are the value itself where it is known",
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
    parser.add_argument("--no-header", action="store_true", help="the first line of a text is data, not names")
    parser.add_argument("--seed", type=_seed, default=0, metavar="S", help="of the fit (default: %(default)s)")


def impute(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit code: 0 done, 2 a file or a setting that cannot be used."""
    from .sources.tables import TableError, read_table

    try:
        _check_output(arguments.input, arguments.output)
        with _progress() as step:
            step("reading", 0.0)
            table = read_table(arguments.input, arguments.delimiter, not arguments.no_header)
            notes = list(_impute(table, arguments, step))
    except TableError as problem:
        notes, code = [str(problem)], 2
    else:
        code = 0
    for note in notes:
        print(f"factorstream: {note}", file=sys.stderr)
    return code


def _impute(table: Table, arguments: argparse.Namespace, step: Step) -> Iterator[str]:
    """Fill and write; yields what there is to say about it."""
    import numpy as np

    from .sources.tables import TableError

    if table.header_of_numbers:
        yield f"The first line of {arguments.input} is all numbers; if it is data, pass --no-header."
    if not table.numeric:
        raise TableError(f"{arguments.input} cannot be used: it has no column of numbers.")
    gaps = np.isnan(table.numbers)
    if not gaps.any():
        _write(arguments.output, table.raw)
        yield f"There is no gap in the columns of numbers; {arguments.output} is a copy of {arguments.input}."
    else:
        _check_names(table, gaps, arguments.level)
        filled, bounds, imputer, note = _complete(table.numbers, arguments, step)
        step("writing", 0.95)
        _write(arguments.output, table.encode(filled, bounds))
        yield from note
        yield (
            f"Filled {_counted(int(gaps.sum()), 'gap')} in {_counted(int(gaps.any(axis=0).sum()), 'column')} "
            f"({_counted(imputer.n_components_, 'component')}); wrote {arguments.output}."
        )
    left = [name for j, name in enumerate(table.names) if j not in set(table.numeric) and table.gaps(j)]
    if left:
        yield f"Gaps left as they are in columns that are not finite numbers: {_listed(left)}."


def _complete(
    X: NDArray[Any], arguments: argparse.Namespace, step: Step
) -> tuple[NDArray[Any], Bounds | None, FilterImputer, list[str]]:
    """The filled X, the bounds if a level was asked for, the fitted imputer, and what there is to say."""
    from .estimators.imputer import FilterImputer
    from .sources.tables import TableError

    imputer = FilterImputer(
        arguments.components,
        robust=arguments.robust,
        calibrate=arguments.level is not None,
        random_state=arguments.seed,
    )
    step("fitting", 0.1)
    try:
        imputer.fit(X)
    except (ValueError, MemoryError) as problem:  # more components than memory has room for
        raise TableError(f"{arguments.input} cannot be used: {str(problem).rstrip('.')}.") from None
    filled = _by_blocks(imputer.transform, X, step, "filling", 0.7)[0]
    if arguments.level is None:
        return filled, None, imputer, []
    try:
        return filled, _bounds(imputer, X, arguments.level, step), imputer, []
    except ValueError:  # too few entries to calibrate on: the level itself has been checked
        imputer.set_params(calibrate=False).fit(X)
        filled = imputer.transform(X)
        note = "The table is too small to calibrate the bounds at this level; they are the model's own."
        return filled, _bounds(imputer, X, arguments.level, step), imputer, [note]


def _bounds(imputer: FilterImputer, X: NDArray[Any], level: float, step: Step) -> Bounds:
    from .sources.tables import Bounds

    return Bounds(*_by_blocks(lambda rows: imputer.predict_interval(rows, level), X, step, "bounding", 0.8))


def _by_blocks(
    answer: Callable[[NDArray[Any]], Any], X: NDArray[Any], step: Step, what: str, start: float
) -> list[NDArray[Any]]:
    """``answer`` over blocks of rows, one array (or tuple of arrays) for each, joined."""
    import numpy as np

    size = max(1, CELLS_AT_ONCE // X.shape[1])
    parts: list[tuple[NDArray[Any], ...]] = []
    for first in range(0, len(X), size):
        step(what, start + 0.1 * first / len(X))
        found = answer(X[first : first + size])
        parts.append(found if isinstance(found, tuple) else (found,))
    return [np.concatenate(column) for column in zip(*parts, strict=True)]


def _check_output(source: Path, target: Path) -> None:
    from .report.files import check_writable
    from .sources.tables import TableError, kind_of

    try:
        if target.is_dir():
            raise TableError(f"{target} is a folder; --output needs a file.")
        if not target.parent.is_dir():
            raise TableError(f"The folder {target.parent} does not exist; make it first.")
        if kind_of(source) != kind_of(target):
            raise TableError(f"{target} is not of the same kind as {source}; give it the same ending.")
        check_writable(target)
    except OSError as problem:
        why = problem.strerror or problem
        raise TableError(f"{target} cannot be written ({why}); choose another --output.") from None


def _check_names(table: Table, gaps: NDArray[Any], level: float | None) -> None:
    """Refuse to write a second column of a name."""
    from .sources.tables import TableError

    filled = [table.names[j] for at, j in enumerate(table.numeric) if gaps[:, at].any()]
    taken = {f"{name}_{side}" for name in filled for side in ("lower", "upper")} & set(table.names)
    if level is not None and len(set(filled)) < len(filled):
        raise TableError("Two columns to fill have the same name; rename one, or leave out --level.")
    if level is not None and taken:
        raise TableError(f"There is a column {min(taken)} already; rename it, or leave out --level.")


def _write(path: Path, content: bytes) -> None:
    from .report.files import write_atomic
    from .sources.tables import TableError

    try:
        write_atomic(path, content)
    except OSError as problem:
        raise TableError(f"{path} cannot be written: {problem.strerror or problem}.") from None


@contextmanager
def _progress() -> Iterator[Step]:
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


def _counted(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def _listed(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _level(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a level between 0 and 1")
    return value


def _components(text: str) -> int | str:
    if text == "auto":
        return text
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is neither auto nor a whole number of at least 1")
    return int(text)


def _seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 to 2**32 - 1")
    return int(text)


def _delimiter(text: str) -> str:
    value = {"tab": "\t", "\\t": "\t"}.get(text, text)
    if len(value) != 1 or value in '"\r\n':
        raise argparse.ArgumentTypeError(f"{text!r} is not one character (or tab)")
    return value
