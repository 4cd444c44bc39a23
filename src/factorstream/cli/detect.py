"""`factorstream detect`: find the strange rows of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..text import counted
from ._caveats import say_caveats
from ._command import STANDARD, Words, command
from ._files import check_output, check_picture, read_model, save_model, write, write_picture
from ._options import (
    COMPONENTS,
    FILE,
    model_option,
    plot_option,
    reading_options,
    refuse_settings,
    save_option,
    seed_option,
    whole_number,
)
from ._report import Subject, check_report, report_option, report_table, write_report_page
from ._tables import print_columns

if TYPE_CHECKING:
    from ..jobs.detection import Detection

__all__ = ["COMMAND"]

SCORING = ("DictionaryFilter", "BayesianFactorization", "SequenceFilter")
"""Classes of models that score rows."""


@command("detect", "find strange rows or time steps")
@click.argument("source", type=FILE, metavar="IN")
@click.option("--sequence", is_flag=True, help="rows are time steps in order: compare each with its forecast")
@click.option("-n", "--top", type=whole_number(), default=10, show_default=True, metavar="N", help="how many to name")
@click.option(
    "-o",
    "--output",
    type=FILE,
    default=STANDARD,
    metavar="OUT",
    help="a .csv or .tsv file for the table (default: stdout, as CSV where that is no terminal)",
)
@click.option("--components", type=COMPONENTS, metavar="N", help="most components to use (default: 5, in time 10)")
@click.option("--robust", is_flag=True, help="with --sequence: single outliers raise no alarms")
@plot_option
@reading_options
@seed_option
@model_option
@save_option
@report_option
def COMMAND(
    words: Words,
    source: Path,
    sequence: bool,
    top: int,
    output: Path,
    components: int | str | None,
    robust: bool,
    picture: Path | None,
    delimiter: str | None,
    missing: tuple[str, ...],
    header: bool | None,
    seed: int,
    model_path: Path | None,
    save_path: Path | None,
    report_path: Path | None,
) -> None:
    """List the strangest rows of IN, the strangest first, and the columns that make them so.

    A row is strange if its values do not go together as those of the other rows do, even where each of them alone is
    unsuspicious. Its score is minus its log-density per known value. With --sequence a row is compared with what the
    rows before it let expect: its score is about N(0, 1) while nothing has changed and at most 4, and alarms are raised
    where scores stay too high or too low. Beside each column to blame is by how many standard deviations it is off.

    Learn from rows that you take as ordinary (--save), and look at others (--model), if you can.
    """
    from ..jobs.detection import DetectionSettings, detect_file, table_of
    from ..jobs.reading import Reading

    refuse_settings(model_path, components=components, robust=robust, sequence=sequence)
    if robust and not sequence:
        raise click.UsageError("--robust is for --sequence; leave it out, or add --sequence")
    check_output(output)
    if save_path is not None:
        check_output(save_path, option="--save")
    check_report(report_path)
    check_picture(picture)
    words.data_on_stdout = output == STANDARD and not words.as_json
    words.fact(input=str(source))
    number = components if isinstance(components, int) else None
    reading = Reading(delimiter, header, missing)
    settings = DetectionSettings(top, sequence, number, robust, seed, reading, words.verbose)
    with words.phases() as begin:
        model = None if model_path is None else read_model(model_path, *SCORING)
        found = detect_file(source, settings, begin, model)
        save_model(save_path, found.model, found.given.names)
    columns = table_of(found)
    if output == STANDARD:
        if not words.as_json:
            print_columns(columns, "strange rows")
    else:
        from ..sources.delimited import write_delimited
        from ..sources.tables import delimiter_of

        write(output, write_delimited(columns, delimiter_of(output, None) or ","))
    if picture is not None:
        from .. import plot

        write_picture(picture, plot.innovations(found.model, found.X, n_marked=len(found.rows)))
    _tell(words, found, output, picture)
    when = found.given.when if type(found.model).__name__ == "SequenceFilter" else None
    subject = Subject(source, reading, found.model, found.X, found.given.names, when, model_path)
    parts = [] if report_path is None else [report_table("Strange rows", columns)]
    write_report_page(words, report_path, subject, parts=parts)


def _tell(words: Words, found: Detection, output: Path, picture: Path | None) -> None:
    given, kind = found.given, type(found.model).__name__
    words.fact(
        model=kind,
        rows=found.n_rows,
        alarms=found.n_alarms,
        strange=[
            {"row": one.row + 1, "place": one.place, "when": one.when or None, "score": one.score, "alarm": one.alarm}
            | {"columns": dict(one.blame)}
            for one in found.rows
        ],
    )
    alarms = f", {counted(found.n_alarms, 'alarm')}" if kind == "SequenceFilter" else ""
    files = [str(path) for path in (None if output == STANDARD else output, picture) if path is not None]
    wrote = f"; wrote {' and '.join(files)}" if files else ""
    words.note(f"Scored {counted(found.n_rows, 'row')} by a {kind}{alarms}{wrote}.")
    say_caveats(words, given, in_time=kind == "SequenceFilter")
