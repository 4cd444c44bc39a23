"""`factorstream detect`: find the strange rows of a file."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..text import counted, listed
from ._caveats import say_caveats, say_without_numbers
from ._command import STANDARD, BadInputError, Words, command
from ._files import check_output, read_model, save_model, write
from ._job import JobOptions, job_options
from ._options import COMPONENTS, FILE, refuse_settings, seed_option, whole_number
from ._report import Subject, write_report_page
from ._tables import print_columns

if TYPE_CHECKING:
    from ..jobs.detection import Detection

__all__ = ["COMMAND"]

EVENTS_TOLD = 10
"""Events of time steps that are told in words."""
SCORING = ("DictionaryFilter", "BayesianFactorization", "SequenceFilter")
"""Classes of models that score rows."""


@command("detect", "find strange rows or time steps")
@click.argument("source", type=FILE, metavar="IN")
@click.option("--sequence", is_flag=True, help="rows are time steps in order: compare each with its forecast")
@click.option(
    "-n",
    "--top",
    type=whole_number(),
    default=10,
    show_default=True,
    metavar="N",
    help="how many to name, with the columns to blame",
)
@click.option(
    "-o",
    "--output",
    type=FILE,
    default=STANDARD,
    metavar="OUT",
    help="a .csv or .tsv file for all rows with their scores and alarms, the strangest first (default: the table of "
    "the N strangest to stdout, as CSV where that is no terminal)",
)
@click.option("--components", type=COMPONENTS, metavar="N", help="most components to use (default: 5, in time 10)")
@click.option(
    "--robust", is_flag=True, help="with --sequence: noise with heavy tails (default: where the rows ask for it)"
)
@seed_option
@job_options
def COMMAND(
    words: Words,
    source: Path,
    sequence: bool,
    top: int,
    output: Path,
    components: int | str | None,
    robust: bool,
    seed: int,
    options: JobOptions,
) -> None:
    """List the strangest rows of IN, the strangest first, and the columns that make them so.

    A row is strange if its values do not go together as those of the other rows do, even where each of them alone is
    unsuspicious. Its score is about N(0, 1) for ordinary rows, whatever their gaps: 3 is one row in 700. With
    --sequence a row is compared with what the rows before it let expect, and alarms are raised where scores stay too
    high or too low, or a column stays off. Beside each column to blame is by how many standard deviations it is off; of
    alarms, over the rows that have led to it. Events say which columns have moved, by how much and since when, and
    which values were outliers, which came and went. Lines of a text are counted as editors do, the line of names being
    the first; rows of other files are counted from 1. A column of texts that are all different, or one that counts
    rows, stands beside them.

    Learn from rows that you take as ordinary (--save), and look at others (--model), if you can. A model of a sequence
    takes IN as a sequence of its own, whenever its rows were.
    """
    from ..jobs.detection import DetectionSettings, detect_file, ranking_of, table_of

    model_path = options.model_path
    refuse_settings(model_path, components=components, robust=robust, sequence=sequence)
    if robust and not sequence:
        raise click.UsageError("--robust is for --sequence; leave it out, or add --sequence")
    _check_text(output)
    options.check()
    words.data_on_stdout = output == STANDARD and not words.as_json
    words.fact(input=str(source))
    number = components if isinstance(components, int) else None
    settings = DetectionSettings(top, sequence, number, robust, seed, options.reading, words.verbose)
    with words.phases() as begin:
        model = None if model_path is None else read_model(model_path, *SCORING)
        found = detect_file(source, settings, begin, model)
        save_model(options.save_path, found.model, found.given.names, found.given.when if model is None else None)
    if output == STANDARD:
        if not words.as_json:
            print_columns(table_of(found), "strange rows")
    else:
        from ..sources.delimited import write_delimited
        from ..sources.tables import delimiter_of

        write(output, write_delimited(ranking_of(found), delimiter_of(output, None) or ","))
    _tell(words, found, output, model_path)
    options.draw(words, lambda: _picture(found))
    if options.report_path is not None:
        from ..jobs.reporting import detection_told

        when = found.given.when if found.sums is not None else None
        subject = Subject.of(source, options.reading, found.model, found.X, found.given, when, model_path)
        write_report_page(words, options.report_path, subject, job=detection_told(found))


def _check_text(output: Path) -> None:
    """Refuse an output that could not be written, or whose name promises another kind of file than text."""
    from ..sources.tables import OTHER_KINDS, TEXT, ending_of, format_of

    if output == STANDARD:
        return
    if (ending := ending_of(output)) in OTHER_KINDS or format_of(output) != TEXT:
        raise BadInputError(f"{output} has the ending {ending}, and detect writes text; name a .csv or .tsv file.")
    check_output(output)


def _picture(found: Detection) -> Any:
    from ..jobs.pictures import draw_detection

    return draw_detection(found)


def _tell(words: Words, found: Detection, output: Path, model_path: Path | None) -> None:
    from ..jobs.happenings import happened

    given, kind, word = found.given, type(found.model).__name__, found.places.word
    events = happened(found)
    words.fact(
        model=kind,
        rows=found.n_rows,
        alarms=len(found.alarms),
        alarm_places=[{word: one.place, "when": one.when or None} for one in found.alarms],
        events=[
            {"kind": one.kind, "since": one.since, "since_when": one.since_when or None, "found": one.found}
            | {"found_when": one.found_when or None, "columns": dict(one.columns)}
            for one in events
        ],
        strange=[
            {word: one.place, "when": one.when or None, "called": one.called or None, "score": one.score}
            | {"infinite": math.isinf(one.score), "alarm": one.alarm, "columns": dict(one.blame)}
            for one in found.rows
        ],
    )
    alarms = f", {counted(len(found.alarms), 'alarm')}" if found.sums is not None else ""
    by = f"by a {kind}" if model_path is None else f"by the {kind} of {model_path}"
    wrote = "" if output == STANDARD else f"; wrote {output}"
    words.note(f"Scored {counted(found.n_rows, 'row')} {by}{alarms}{wrote}.")
    for one in events[:EVENTS_TOLD]:
        words.note(f"Event: {one.told(word)}.")
    if len(events) > EVENTS_TOLD:
        words.note(f"{counted(len(events) - EVENTS_TOLD, 'more event')}; --json or --report FILE.html has all.")
    named = {one.row for one in found.rows}
    rest = [
        f"{word} {one.place}" + (f" ({label})" if (label := one.when or one.called) else "")
        for one in found.alarms
        if one.row not in named
    ]
    if rest and output == STANDARD:
        words.note(f"More alarms: {listed(rest)}; -o FILE.csv lists all rows.")
    if found.seen:
        words.caveat("The model was fitted to these very rows: odd rows that a model has seen look less odd.")
    say_caveats(words, given, in_time=found.sums is not None)
    say_without_numbers(words, given)
