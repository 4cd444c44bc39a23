"""The option ``--report`` of the commands that have a table and a model: one page about both."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ..extras import require
from ..text import column_names
from ._command import BadInputError, Words
from ._files import check_output
from ._options import FILE

if TYPE_CHECKING:
    from ..jobs.columns_used import ColumnUse
    from ..jobs.places import Places
    from ..jobs.reading import Given, Reading
    from ..report.model_report import Job
    from ..sources.table import Array
    from ..sources.timeline import Timeline

__all__ = ["Subject", "check_report", "command_line", "report_option", "write_report_page"]

IMPORTS = {
    "np.": "import numpy as np",
    "Choice(": "from factorstream.jobs.choice import Choice",
    "principal_axes(": "from factorstream import principal_axes",
    "row_scores(": "from factorstream.jobs.strangeness import row_scores",
    "take_times(": "from factorstream.jobs.clock import take_times",
}
"""What the lines of jobs need, by what they use."""

report_option = click.option(
    "--report", "report_path", type=FILE, metavar="R.html", help="write a page about what was done and how good it is"
)


class Subject(NamedTuple):
    """What a report is about."""

    source: Path
    reading: Reading
    model: Any
    X: Array
    """What the model was fitted to or asked about."""
    names: Sequence[str]
    """Of its columns."""
    when: Timeline | None = None
    """When its rows are; None where nothing says it."""
    model_path: Path | None = None
    """Where the model was read from; None where it was fitted to X."""
    every_column: bool = False
    """Whether X are all columns of numbers, those that count rows too."""
    others: Sequence[str] = ()
    """Columns of the file that are not finite numbers."""
    places: Places | None = None
    """Where its rows are in the file, if no time steps are left out; None: nobody knows."""
    uses: Sequence[ColumnUse] = ()
    """What became of every column of the file."""
    labels: tuple[str, list[Any]] | None = None
    """The name and the cells of the column that says which row is which, where the user has named one."""

    @classmethod
    def of(
        cls,
        source: Path,
        reading: Reading,
        model: Any,
        X: Array,
        given: Given,
        when: Timeline | None,
        model_path: Path | None,
    ) -> Subject:
        """What a job was about that has read a file."""
        from ..jobs.columns_used import columns_used
        from ..jobs.places import places_of

        table, call = given.table, given.call
        labels = None if call is None else (table.names[call], table.cells(call))
        places = places_of(given.table) if when is None else None
        uses = columns_used(given)
        return cls(source, reading, model, X, given.names, when, model_path, places=places, uses=uses, labels=labels)


def check_report(path: Path | None) -> None:
    """Refuse a report that could not be written, before the work."""
    if path is not None:
        check_output(path, option="--report")
        if path.suffix.lower() not in (".html", ".htm"):
            raise BadInputError(f"{path} has another ending; --report writes a .html file.")
        require("jinja2", "matplotlib")


def write_report_page(
    words: Words, path: Path, subject: Subject, *, level: float | None = None, job: Job | None = None
) -> None:
    """Write the page; what was said so far is in it. Without a job, gaps were filled."""
    from ..jobs.columns_used import table_of_uses
    from ..report.model_report import Told, write_report
    from ..report.page import plain
    from ..sources.columns import take_names, use_names

    if not hasattr(subject.model, "predict_interval"):
        raise BadInputError(f"A {type(subject.model).__name__} has no intervals to report on; leave out --report.")
    X = _table(subject)
    told = Told(
        columns=subject.names if _is_plain(X) else (),
        source="standard input" if str(subject.source) == "-" else subject.source.name,
        done=[plain(note) for note in words.notes[:1]],
        left_out=[plain(text) for text in (*_no_numbers(subject.others), *words.caveats)],
        settings={"command": command_line()},
        code=_code(subject, level or 0.95, job),
        job=job,
        columns_used=table_of_uses(list(subject.uses)) if subject.uses else None,
    )
    with words.phases() as begin:
        begin("measuring for the report")
        if not _is_plain(X):
            use_names(subject.model, subject.names)
        try:
            write_report(path, subject.model, X, level=level or 0.95, told=told)
        except ValueError as problem:
            raise BadInputError(f"No report can be written: {str(problem).rstrip('.')}.") from None
        finally:
            take_names(subject.model)
    words.fact(report=str(path))
    words.note(f"Wrote {path}.")


def _no_numbers(columns: Sequence[str]) -> list[str]:
    """What is said of columns that are no numbers.

    >>> _no_numbers([]), _no_numbers(["name", "town"])
    ([], ['Columns that are not finite numbers had no part in it: name, town.'])
    """
    return [f"Columns that are not finite numbers had no part in it: {column_names(columns, 20)}."] if columns else []


def _table(subject: Subject) -> Any:
    """X with the names of its columns and its dates, where pandas is there to hold them."""
    try:
        import pandas
    except ImportError:
        return subject.X
    index = None
    if subject.labels is not None and len(subject.labels[1]) == len(subject.X):
        name, cells = subject.labels
        index = pandas.Index(["" if cell is None else cell for cell in cells], name=name)
    elif subject.places is not None:
        index = pandas.Index(subject.places.numbers, name=subject.places.word)
    if subject.when is not None and subject.when.is_dated:
        index = pandas.DatetimeIndex(subject.when.all_steps(len(subject.X)))
    elif subject.when is not None:
        index = pandas.Index(subject.when.all_steps(len(subject.X)))
    return pandas.DataFrame(subject.X, columns=list(subject.names), index=index)


def _is_plain(X: Any) -> bool:
    return type(X).__module__.partition(".")[0] == "numpy"


def command_line() -> str:
    """What was typed, as a shell would take it."""
    typed: Sequence[str] = click.get_current_context().find_root().meta.get("factorstream.typed", ())
    return shlex.join(["factorstream", *typed])


def _code(subject: Subject, level: float, job: Job | None) -> str:
    """The lines of Python that do it again."""
    from ..report.lines import constructed

    name, reading = type(subject.model).__name__, subject.reading
    path = f"Path({subject.source.as_posix()!r})"
    loaded = subject.model_path is not None
    lines = ["from pathlib import Path", f"from factorstream import {'load' if loaded else name}"]
    if subject.every_column:
        lines += ["from factorstream.sources.tables import read_table", ""]
        lines += [f"X = read_table({', '.join([path, *_options(reading)])}).numbers"]
    else:
        lines += ["from factorstream.jobs.reading import Reading, read_given", ""]
        lines += [f"model = load({subject.model_path.as_posix()!r})"] if subject.model_path is not None else []
        lines += [f"given = read_given({path}, Reading({', '.join(_options(reading))}){', model' if loaded else ''})"]
        spread = subject.when is not None and subject.when.n_left_out
        lines += ["X = given.when.spread(given.X)  # with rows for the steps left out" if spread else "X = given.X"]
    lines += [] if loaded else [f"model = {constructed(subject.model)}.fit(X)"]
    fill = "transform" if hasattr(subject.model, "add_indicator") else "impute"
    filling = [f"filled = model.{fill}(X)", f"lower, upper = model.predict_interval(X, level={level!r})"]
    lines += filling if job is None else job.lines
    used = [statement for name, statement in IMPORTS.items() if any(name in line for line in lines)]
    lines[1:1] = used
    return "\n".join([*lines, "", f"# From a shell: {command_line()}"])


def _options(reading: Reading) -> list[str]:
    """How the file was read, where that is not how files are read anyway."""
    usual = type(reading)()._asdict()
    return [f"{name}={value!r}" for name, value in reading._asdict().items() if value != usual[name]]
