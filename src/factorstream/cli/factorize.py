"""`factorstream factorize`: the components of a file, and how much of each is in every row."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..files import check_new_folder, make_folder
from ..text import counted, left_out_counting, listed, without_components
from ._caveats import say_caveats
from ._command import STANDARD, Words, command
from ._files import check_dataset, read_model, save_model, write
from ._job import JobOptions, job_options
from ._options import (
    FILE,
    checkpoint_option,
    dataset_option,
    most_components_option,
    refuse_same,
    refuse_settings,
    robust_option,
    seed_option,
)
from ._report import Subject, write_report_page

if TYPE_CHECKING:
    from ..jobs.factors import Factors
    from ..jobs.large_factors import LargeFactors
    from ..jobs.large_files import LargeSettings

__all__ = ["COMMAND"]


@command("factorize", "write components and coefficients to files")
@click.argument("source", type=FILE, metavar="IN")
@click.option(
    "-o", "--output", type=FILE, default=Path("factors"), show_default=True, metavar="DIR", help="folder for the files"
)
@most_components_option
@robust_option
@seed_option
@checkpoint_option
@dataset_option
@job_options
def COMMAND(
    words: Words,
    source: Path,
    output: Path,
    components: int | str,
    robust: bool,
    seed: int,
    checkpoint: Path | None,
    dataset: str | None,
    options: JobOptions,
) -> None:
    """Write DIR/components, DIR/coefficients and DIR/mean, in the format of IN.

    coefficients @ components + mean is what the model says of every entry, known or not. Components are along their
    principal axes, the one that explains most first, and the largest loading of each is positive, so that two runs can
    be compared. Columns of text are copied beside the coefficients; NPY files have the numbers alone. Files above
    128 MiB, and all NPZ, Arrow, Feather, HDF5 and Zarr files, are read several times, block by block, and need not fit
    into memory; their columns of text are not copied.
    """
    from ..jobs.factors import FactorSettings, factorize_file
    from ..jobs.large_files import LargeSettings, goes_by_blocks

    model_path, save_path = options.model_path, options.save_path
    refuse_settings(model_path, components=components != "auto", robust=robust)
    check_dataset(source, dataset)
    check_new_folder(output)
    options.check()
    reading = options.reading._replace(dataset=dataset)
    shown = options.report_path is not None or options.picture is not None
    if checkpoint is not None and (shown or source == STANDARD):
        raise click.UsageError("--checkpoint is for files, without --report and pictures; leave it out")
    refuse_same("--checkpoint", checkpoint, IN=source, **{"--save": save_path, "--model": model_path})
    refuse_same("--save", save_path, IN=source)
    model = None if model_path is None else read_model(model_path)
    if not shown and (checkpoint is not None or goes_by_blocks(source)):
        _factorize_large(
            words,
            source,
            output,
            LargeSettings(components, robust, seed, save_path is not None, reading, words.verbose, checkpoint),
            model,
            save_path,
        )
        return
    settings = FactorSettings(components, robust, seed, save_path is not None, options.reading, words.verbose)
    with words.phases() as begin:
        found = factorize_file(source, settings, begin, model)
        begin("writing")
        ending = ".csv" if source == STANDARD else "".join(source.suffixes[-2 if source.suffix == ".gz" else -1 :])
        files = {output / f"{name}{ending}": content for name, content in found.files().items()}
        make_folder(output)
        for path, content in files.items():
            write(path, content)
        save_model(save_path, found.model, found.given.names)
    _tell(words, found, list(files))
    options.draw(words, lambda: _picture(found))
    if options.report_path is not None:
        from ..jobs.reporting import factors_told

        subject = Subject.of(source, options.reading, found.model, found.given.X, found.given, None, model_path)
        write_report_page(words, options.report_path, subject, job=factors_told(found))


def _factorize_large(
    words: Words, source: Path, output: Path, settings: LargeSettings, model: Any, save_path: Path | None
) -> None:
    from ..jobs.large_factors import factorize_large_file

    with words.phases() as begin:
        found = factorize_large_file(source, output, settings, begin, model)
        save_model(save_path, found.model, found.names)
    if settings.checkpoint is not None:
        settings.checkpoint.unlink(missing_ok=True)
    _tell_components(words, found, found.files)
    for remark in found.remarks:
        words.caveat(remark)
    if found.counting:
        words.caveat(left_out_counting(found.counting))


def _picture(found: Factors) -> Any:
    from ..jobs.pictures import draw_factors

    return draw_factors(found)


def _tell(words: Words, found: Factors, files: list[Path]) -> None:
    _tell_components(words, found, files)
    say_caveats(words, found.given)


def _tell_components(words: Words, found: Factors | LargeFactors, files: list[Path]) -> None:
    words.fact(
        files=list(map(str, files)),
        model=type(found.model).__name__,
        components=len(found.components),
        explained=found.explained.tolist(),
    )
    shares = ", ".join(f"{share:.0%}" for share in found.explained[:5])
    verb = "explains" if len(found.components) == 1 else "explain"
    explain = f" {verb} {shares}{' …' if len(found.explained) > 5 else ''} of the variance" if shares else ""
    words.note(f"{counted(len(found.components), 'component')}{explain}; wrote {listed(files)}.")
    if not len(found.components):
        robust = bool(found.model.get_params(deep=False).get("robust"))
        words.caveat(without_components(type(found.model).__name__, "entry", robust=robust))
