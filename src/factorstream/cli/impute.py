"""`factorstream impute`: fill the gaps of a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..text import counted
from ._command import STANDARD, BadInputError, Words, command
from ._files import check_dataset, check_output, check_table, read_model, save_model, write, written_to
from ._impute_notes import impute_caveats, impute_summary, large_caveats, marks_of_limits, online_caveats
from ._options import (
    FILE,
    checkpoint_option,
    dataset_option,
    fraction,
    model_option,
    most_components_option,
    reading_options,
    refuse_same,
    refuse_settings,
    robust_option,
    save_option,
    seed_option,
)
from ._report import Subject, check_report, report_option, write_report_page

if TYPE_CHECKING:
    from ..completion import Settings
    from ..jobs.online import OnlineFilling
    from ..jobs.reading import Reading
    from ..progress import Step

__all__ = ["COMMAND"]


@command("impute", "fill the gaps of a file")
@click.argument("source", type=FILE, metavar="IN")
@click.option(
    "-o", "--output", type=FILE, required=True, metavar="OUT", help="a file of the same kind; may be IN itself, or -"
)
@click.option(
    "--level",
    type=fraction("a level"),
    metavar="L",
    help="also write columns NAME_lower and NAME_upper after each filled column NAME: the bounds that hold the true "
    "value with this probability (0 < L < 1); both are the value itself where it is known, and empty where a column "
    "has too few known values to say; after a column of labels, NAME_set: the labels that hold the true one",
)
@click.option(
    "--online",
    is_flag=True,
    help="row by row, in constant memory: each row is filled with what the rows so far have taught, and written as "
    "soon as it is read (text only)",
)
@click.option(
    "--sequence", is_flag=True, help="rows are time steps in order: fill them by what comes before and after them too"
)
@click.option(
    "--numbers-only",
    is_flag=True,
    help="leave columns of labels, true and false, and dates as they are, and fill the others without them",
)
@most_components_option
@robust_option
@reading_options
@dataset_option
@seed_option
@model_option
@save_option
@report_option
@checkpoint_option
def COMMAND(
    words: Words,
    source: Path,
    output: Path,
    level: float | None,
    online: bool,
    sequence: bool,
    numbers_only: bool,
    components: int | str,
    robust: bool,
    reading: Reading,
    dataset: str | None,
    seed: int,
    model_path: Path | None,
    save_path: Path | None,
    report_path: Path | None,
    checkpoint: Path | None,
) -> None:
    """Fill the gaps of IN, a CSV, TSV, Parquet, NPY, NPZ, Arrow, Feather, HDF5 or Zarr file; - is standard input.

    A column holds numbers if all its cells are finite numbers or gaps (empty, NA, NaN, null, none, ?, ...). Columns
    whose texts come again and again, true and false, and dates are filled as well. Columns without gaps help to fill
    the others, except those that count rows or years by equal steps. Names, identifiers and free text are left as they
    are. Everything that is not a gap is written as it was read, in the same order.

    Files above 128 MiB, and all NPZ, Arrow, Feather, HDF5 and Zarr files, are read several times, block by block, and
    need not fit into memory. Of these, of streams (--online), of sequences and beside --report, numbers alone are used
    and filled.
    """
    from ..completion import Settings, complete_file

    if online and report_path is not None:
        raise click.UsageError("--online keeps no rows to report on; leave out --report or --online")
    if checkpoint is not None and (online or sequence or report_path is not None or STANDARD in (source, output)):
        raise click.UsageError("--checkpoint is for files, without --online, --sequence and --report; leave it out")
    data = {"IN": source, "--output": output}
    refuse_same("--save", save_path, **data)
    refuse_same("--checkpoint", checkpoint, **data, **{"--save": save_path, "--model": model_path})
    if online and (sequence or robust):
        raise click.UsageError(f"--online has no {'--sequence' if sequence else '--robust'}; leave out one of them")
    refuse_settings(
        model_path,
        components=components != "auto",
        robust=robust,
        sequence=sequence,
        **{"numbers-only": numbers_only},
    )
    check_dataset(source, dataset)
    check_table(output, source)
    if save_path is not None:
        check_output(save_path, option="--save")
    check_report(report_path)
    words.data_on_stdout = output == STANDARD
    words.fact(input=str(source), output=str(output), level=level)
    settings = Settings(
        level,
        components,
        robust,
        seed,
        reading._replace(dataset=dataset),
        sequence,
        keep_model=save_path is not None or report_path is not None,
        verbose=words.verbose,
        numbers_only=numbers_only,
        for_report=report_path is not None,
    )
    if online:
        _go_online(words, source, output, settings, model_path, save_path)
        return
    at_once = not (report_path is not None or sequence or checkpoint is not None or _by_blocks(source, None))
    model = None if model_path is None else read_model(model_path, *FILLING, all_kinds=at_once)
    if checkpoint is not None and type(model).__name__ == "SequenceFilter":
        raise click.UsageError(
            "--checkpoint cannot go with a SequenceFilter, which fills all rows at once; leave it out"
        )
    by_blocks = checkpoint is not None or _by_blocks(source, model)
    if not sequence and report_path is None and output != STANDARD and by_blocks:
        _fill_large(words, source, output, settings, model, save_path, checkpoint)
        return
    with words.phases() as begin:
        if model is not None and type(model).__name__ == "SequenceFilter":
            settings = settings._replace(sequence=True)
        completion = complete_file(source, settings, lambda what, share: begin(what), model)
        begin("writing")
        write(output, completion.parts())
        save_model(save_path, completion.model, completion.names, None if model_path else completion.when)
    words.fact(
        gaps_filled=completion.n_gaps,
        columns_filled=completion.n_columns,
        components=completion.n_components,
        fills_below_all_seen=completion.n_below,
        fills_above_all_seen=completion.n_above,
        used={one.column: one.why for one in completion.uses if one.used},
        left_out={one.column: one.why for one in completion.uses if not one.used},
        suspected_marks=[one._asdict() for one in completion.suspects],
        suspected_identifiers=list(completion.identifiers),
        model=None if completion.model is None else type(completion.model).__name__,
    )
    words.note(impute_summary(completion, source, output))
    for caveat in (*impute_caveats(completion), *marks_of_limits(reading.missing)):
        words.caveat(caveat)
    if report_path is not None:
        if completion.model is None or completion.X is None:
            raise BadInputError("There is no gap to report on; leave out --report.")
        subject = Subject(
            source,
            settings.reading,
            completion.model,
            completion.X,
            completion.names,
            completion.when,
            model_path,
            others=completion.others,
            places=completion.places,
            uses=completion.uses,
            labels=completion.labels,
        )
        write_report_page(words, report_path, subject, level=level)


FILLING = ("LowRankImputer", "DictionaryFilter", "BayesianFactorization", "SequenceFilter")
"""Classes of models that fill gaps with intervals."""


def _by_blocks(source: Path, model: Any) -> bool:
    """Whether a file is not read at once; sequences are, whatever their length."""
    from ..jobs.large_files import goes_by_blocks

    return type(model).__name__ != "SequenceFilter" and goes_by_blocks(source)


def _fill_large(
    words: Words,
    source: Path,
    output: Path,
    settings: Settings,
    model: Any,
    save_path: Path | None,
    checkpoint: Path | None,
) -> None:
    from ..jobs.large_files import LargeSettings, fill_large_file

    how = LargeSettings(
        settings.components,
        settings.robust,
        settings.seed,
        settings.level is not None or settings.keep_model,
        settings.reading,
        settings.verbose,
        checkpoint,
    )
    with words.phases() as begin:
        found = fill_large_file(source, output, settings.level, how, begin, model, save_path is not None)
        save_model(save_path, found.model, found.names)
    if checkpoint is not None:
        checkpoint.unlink(missing_ok=True)
    written, n_components = found.written, 0 if found.model is None else found.model.n_components_
    words.fact(
        rows=written.n_rows,
        gaps_filled=written.n_gaps,
        gaps_left=written.n_left + sum(found.gaps_beside.values()),
        columns_filled=found.n_columns,
        components=n_components,
        model=None if found.model is None else type(found.model).__name__,
    )
    words.note(
        f"Filled {counted(written.n_gaps, 'gap')} in {counted(found.n_columns, 'column')} of "
        f"{counted(written.n_rows, 'row')} ({counted(n_components, 'component')}), which were read block by block; "
        f"wrote {written_to(output)}."
    )
    for caveat in (*large_caveats(found, given=model is not None), *marks_of_limits(settings.reading.missing)):
        words.caveat(caveat)


def _go_online(
    words: Words, source: Path, output: Path, settings: Settings, model_path: Path | None, save_path: Path | None
) -> None:
    from ..jobs.online import OnlineFilling, settle_form
    from ..jobs.reading import named
    from ..sources.number_form import Asked
    from ..sources.stream import TextStream
    from ..sources.table import TableError
    from ..sources.tables import delimiter_of, open_lines

    model = None if model_path is None else read_model(model_path, "DictionaryFilter")
    number = settings.components if isinstance(settings.components, int) else None
    with open_lines(source) as lines, words.progress("filling rows") as step:
        try:
            reading = settings.reading
            asked = Asked(reading.decimal, reading.thousands)
            stream = TextStream(
                lines,
                delimiter_of(source, reading.delimiter),
                reading.header,
                reading.missing,
                form=asked.form,
                encoding=reading.encoding,
            )
            about_form = settle_form(stream, asked)
            filling = OnlineFilling(
                stream,
                level=settings.level,
                components=number,
                seed=settings.seed,
                model=model,
                choice=reading.choice,
            )
            for remark in filter(None, (stream.first_line, stream.delimiter_remark, about_form)):
                words.caveat(remark)
            write(output, _counted(filling, step))
        except TableError as problem:
            raise TableError(f"{named(source)} cannot be used: {problem}.") from None
    save_model(save_path, filling.model, filling.names)
    counts = filling.counts
    words.fact(
        rows=counts.rows, gaps_filled=counts.filled, gaps_left=counts.left + counts.counting, model="DictionaryFilter"
    )
    words.note(
        f"Filled {counted(counts.filled, 'gap')} in {counted(counts.rows, 'row')}, one by one; "
        f"wrote {written_to(output)}."
    )
    for caveat in (*online_caveats(filling, stream.encoding_remark), *marks_of_limits(settings.reading.missing)):
        words.caveat(caveat)


def _counted(filling: OnlineFilling, step: Step) -> Iterator[bytes]:
    """The lines, with word of how many rows there were."""
    for line in filling.lines():
        yield line
        step(filling.counts.rows)
