"""`factorstream forecast`: continue the series of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..text import column_names, counted, named_column, without_components
from ._caveats import say_caveats
from ._command import STANDARD, Words, command
from ._files import check_table, read_model, save_model, write, written_to
from ._job import JobOptions, job_options
from ._options import COMPONENTS, FILE, fraction, refuse_settings, robust_option, whole_number
from ._report import Subject, write_report_page

if TYPE_CHECKING:
    from ..jobs.forecasting import Forecast

__all__ = ["COMMAND"]


@command("forecast", "continue the series of a file, with bounds")
@click.argument("source", type=FILE, metavar="[IN]", required=False)
@click.option("-n", "--steps", type=whole_number(), default=10, show_default=True, metavar="N", help="rows to come")
@click.option(
    "-o", "--output", type=FILE, default=STANDARD, metavar="OUT", help="a file of the same kind (default: stdout)"
)
@click.option(
    "--level",
    type=fraction("a level"),
    default=0.95,
    show_default=True,
    metavar="L",
    help="probability with which the columns NAME_lower and NAME_upper hold the value to come",
)
@click.option("--components", type=COMPONENTS, metavar="N", help="most components that the series share (default: 10)")
@robust_option
@job_options
def COMMAND(
    words: Words,
    source: Path | None,
    steps: int,
    output: Path,
    level: float,
    components: int | str | None,
    robust: bool,
    options: JobOptions,
) -> None:
    """Continue the columns of numbers of IN, whose rows are time steps in order; NaN and gaps are no obstacle.

    What is continued is what the columns share: components that swing or fade, learned from how the columns go together
    and from row to row, and of each column a level that moves slowly. Trend and season are not modelled as such: a line
    that goes up is not drawn on, and the bounds do not allow for it. A column of dates, years or numbers of rows that
    goes up by equal steps is continued as it is, and steps without a row count as gaps.

    With --model the rows of IN come after those that the model has seen. Where both have dates, steps between them
    count as rows without data, and rows that the model has seen are refused; years and numbers of rows are not
    compared. Without IN the forecast begins after the model's own rows.
    """
    from ..jobs.forecasting import ForecastSettings, forecast_file, forecast_model

    model_path, save_path, report_path = options.model_path, options.save_path, options.report_path
    refuse_settings(model_path, components=components, robust=robust)
    if source is None and model_path is None:
        raise click.UsageError("name a file IN, or a --model")
    if source is None and report_path is not None:
        raise click.UsageError("--report needs the rows of a file IN")
    check_table(output, source)
    options.check()
    words.data_on_stdout = output == STANDARD
    words.fact(input=None if source is None else str(source), output=str(output), steps=steps, level=level)
    number = components if isinstance(components, int) else None
    settings = ForecastSettings(steps, level, number, robust, options.reading, words.verbose)
    with words.phases() as begin:
        model: Any = None if model_path is None else read_model(model_path, "SequenceFilter")
        found = forecast_model(model, settings) if source is None else forecast_file(source, settings, begin, model)
        begin("writing")
        write(output, found.content)
        save_model(save_path, found.model, found.names, found.when)
    _tell(words, found, output, steps)
    options.draw(words, lambda: _picture(found, level))
    if report_path is not None and source is not None and found.X is not None and found.given is not None:
        from ..jobs.reporting import forecast_told

        subject = Subject.of(source, options.reading, found.model, found.X, found.given, found.when, model_path)
        write_report_page(
            words, report_path, subject, level=level, job=forecast_told(found, level, loaded=model_path is not None)
        )


def _picture(found: Forecast, level: float) -> Any:
    from ..jobs.pictures import draw_rows_to_come

    return draw_rows_to_come(found, level)


def _tell(words: Words, found: Forecast, output: Path, steps: int) -> None:
    import numpy as np

    given = found.given
    when = None if given is None or given.when is None else given.table.names[given.when.column]
    words.fact(columns=found.names, time_column=when, components=int(found.model.n_components_))
    words.note(
        f"Forecast {counted(steps, 'row')} of {counted(len(found.names), 'column')} "
        f"({counted(int(found.model.n_components_), 'component')}); wrote {written_to(output)}."
    )
    shared = " and what the columns share" if found.model.n_components_ else ""
    words.note(f"Levels{shared} were continued; trend and season are not modelled as such.")
    if not found.model.n_components_:
        words.caveat(without_components("SequenceFilter", "forecast"))
    unbounded = [name for name, bound in zip(found.names, found.lower.T, strict=True) if np.isnan(bound).any()]
    if unbounded:
        words.caveat(f"Bounds are left empty where one value of a column is known, or none: {column_names(unbounded)}.")
    if given is None:
        if found.when is None:
            words.caveat("The model does not know when its rows were; the rows to come follow them, without dates.")
        return
    if found.between is None:
        words.caveat(
            "How many steps lie between the rows of the model and these is not known; they were taken as the next ones."
        )
    elif found.between:
        words.caveat(
            f"{counted(found.between, 'step')} between the rows of the model and these counted as rows without data."
        )
    if given.when is not None and given.when.n_left_out:
        words.caveat(
            f"{counted(given.when.n_left_out, 'step')} of {named_column(when or '')} without a row counted as rows "
            "without data."
        )
    say_caveats(words, given, counting=False, in_time=True)  # these are continued
    from ..jobs.remarks import empty_columns

    known = {*given.counting, *given.unknown, *empty_columns(given.table), when}
    left_out = [name for j, name in enumerate(given.table.names) if j not in given.table.numeric and name not in known]
    if left_out:
        words.caveat(f"Columns without numbers were left out: {column_names(left_out)}.")
