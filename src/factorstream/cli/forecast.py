"""`factorstream forecast`: continue the series of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..text import counted, listed
from ._caveats import say_caveats
from ._command import STANDARD, Words, command
from ._files import check_output, check_picture, read_model, save_model, write, write_picture, written_to
from ._options import (
    COMPONENTS,
    FILE,
    fraction,
    model_option,
    plot_option,
    reading_options,
    refuse_settings,
    robust_option,
    save_option,
    whole_number,
)
from ._report import Subject, check_report, report_option, report_table, write_report_page

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
@plot_option
@reading_options
@model_option
@save_option
@report_option
def COMMAND(
    words: Words,
    source: Path | None,
    steps: int,
    output: Path,
    level: float,
    components: int | str | None,
    robust: bool,
    picture: Path | None,
    delimiter: str | None,
    missing: tuple[str, ...],
    header: bool | None,
    model_path: Path | None,
    save_path: Path | None,
    report_path: Path | None,
) -> None:
    """Continue the columns of numbers of IN, whose rows are time steps in order; NaN and gaps are no obstacle.

    A column of dates, years or numbers of rows that goes up by equal steps is continued as it is, and steps without a
    row count as gaps. With --model the rows of IN come after those that the model has seen; without IN the forecast
    begins after these.
    """
    from ..jobs.forecasting import ForecastSettings, forecast_file, forecast_model
    from ..jobs.reading import Reading

    refuse_settings(model_path, components=components, robust=robust)
    if source is None and model_path is None:
        raise click.UsageError("name a file IN, or a --model")
    if source is None and report_path is not None:
        raise click.UsageError("--report needs the rows of a file IN")
    check_output(output, source)
    if save_path is not None:
        check_output(save_path, option="--save")
    check_report(report_path)
    check_picture(picture)
    words.data_on_stdout = output == STANDARD
    words.fact(input=None if source is None else str(source), output=str(output), steps=steps, level=level)
    number = components if isinstance(components, int) else None
    settings = ForecastSettings(steps, level, number, robust, Reading(delimiter, header, missing), words.verbose)
    with words.phases() as begin:
        model: Any = None if model_path is None else read_model(model_path, "SequenceFilter")
        found = forecast_model(model, settings) if source is None else forecast_file(source, settings, begin, model)
        begin("writing")
        write(output, found.content)
        save_model(save_path, found.model, found.names)
    _tell(words, found, output, steps)
    if picture is not None:
        from .. import plot

        axes = plot.forecast(found.model, steps, found.X)
        for ax, name in zip(axes, found.names, strict=False):
            ax.set_title(name, loc="left", fontsize=10)
        write_picture(picture, axes)
        words.note(f"Wrote {picture}.")
    if report_path is not None and source is not None and found.X is not None and found.given is not None:
        parts = [report_table("The rows to come", found.columns)]
        subject = Subject(source, settings.reading, found.model, found.X, found.names, found.given.when, model_path)
        write_report_page(words, report_path, subject, level=level, parts=parts)


def _tell(words: Words, found: Forecast, output: Path, steps: int) -> None:
    import numpy as np

    given = found.given
    when = None if given is None or given.when is None else given.table.names[given.when.column]
    words.fact(columns=found.names, time_column=when, components=int(found.model.n_components_))
    words.note(
        f"Forecast {counted(steps, 'row')} of {counted(len(found.names), 'column')} "
        f"({counted(int(found.model.n_components_), 'component')}); wrote {written_to(output)}."
    )
    unbounded = [name for name, std in zip(found.names, found.std.T, strict=True) if not np.isfinite(std).all()]
    if unbounded:
        words.caveat(f"Bounds are left empty where one value of a column is known, or none: {listed(unbounded)}.")
    if given is None:
        return
    if given.when is not None and given.when.n_left_out:
        words.caveat(
            f"{counted(given.when.n_left_out, 'step')} of column {when} without a row counted as rows without data."
        )
    say_caveats(words, given, counting=False, in_time=True)  # these are continued
    left_out = [
        name
        for j, name in enumerate(given.table.names)
        if j not in given.table.numeric and name not in given.counting and name != when
    ]
    if left_out:
        words.caveat(f"Columns without numbers were left out: {listed(left_out)}.")
