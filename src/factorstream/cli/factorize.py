"""`factorstream factorize`: the components of a file, and how much of each is in every row."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..files import make_folder
from ..text import counted, listed
from ._caveats import say_caveats
from ._command import STANDARD, Words, command
from ._files import check_output, check_picture, read_model, save_model, write, write_picture
from ._options import (
    FILE,
    model_option,
    most_components_option,
    plot_option,
    reading_options,
    refuse_settings,
    robust_option,
    save_option,
    seed_option,
)
from ._report import Subject, check_report, report_option, report_table, write_report_page

if TYPE_CHECKING:
    from ..jobs.factors import Factors

__all__ = ["COMMAND"]


@command("factorize", "write components and coefficients to files")
@click.argument("source", type=FILE, metavar="IN")
@click.option(
    "-o", "--output", type=FILE, default=Path("factors"), show_default=True, metavar="DIR", help="folder for the files"
)
@most_components_option
@robust_option
@plot_option
@reading_options
@seed_option
@model_option
@save_option
@report_option
def COMMAND(
    words: Words,
    source: Path,
    output: Path,
    components: int | str,
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
    """Write DIR/components, DIR/coefficients and DIR/mean, in the format of IN.

    coefficients @ components + mean is what the model says of every entry, known or not. Components are along their
    principal axes, the one that explains most first, and the largest loading of each is positive, so that two runs can
    be compared. Columns of text are copied beside the coefficients; NPY files have the numbers alone.
    """
    from ..jobs.factors import FactorSettings, factorize_file
    from ..jobs.reading import Reading

    refuse_settings(model_path, components=components != "auto", robust=robust)
    make_folder(output)
    if save_path is not None:
        check_output(save_path, option="--save")
    check_report(report_path)
    check_picture(picture)
    reading = Reading(delimiter, header, missing)
    settings = FactorSettings(components, robust, seed, save_path is not None, reading, words.verbose)
    with words.phases() as begin:
        model = None if model_path is None else read_model(model_path)
        found = factorize_file(source, settings, begin, model)
        begin("writing")
        ending = ".csv" if source == STANDARD else "".join(source.suffixes[-2 if source.suffix == ".gz" else -1 :])
        files = {output / f"{name}{ending}": content for name, content in found.files().items()}
        for path, content in files.items():
            write(path, content)
        save_model(save_path, found.model, found.given.names)
    _tell(words, found, list(files))
    if picture is not None:
        from .. import plot
        from ..sources.columns import use_names

        write_picture(picture, plot.components(use_names(found.model, found.given.names), "loadings"))
        words.note(f"Wrote {picture}.")
    given = found.given
    subject = Subject(source, reading, found.model, given.X, given.names, None, model_path)
    parts = [] if report_path is None else [report_table("Components", found.table())]
    write_report_page(words, report_path, subject, parts=parts)


def _tell(words: Words, found: Factors, files: list[Path]) -> None:
    words.fact(
        files=list(map(str, files)),
        model=type(found.model).__name__,
        components=len(found.components),
        explained=found.explained.tolist(),
    )
    shares = ", ".join(f"{share:.0%}" for share in found.explained[:5])
    explain = f" explain {shares}{' …' if len(found.explained) > 5 else ''} of the variance" if shares else ""
    words.note(f"{counted(len(found.components), 'component')}{explain}; wrote {listed(files)}.")
    say_caveats(words, found.given)
