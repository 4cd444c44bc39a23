"""`factorstream demo`: a first look that needs no data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..extras import MissingExtraError, require
from ..files import make_folder
from ..text import counted
from ._command import Words, command
from ._files import check_picture, save_model, write, write_picture
from ._options import FILE, seed_option
from ._report import Subject, write_report_page

if TYPE_CHECKING:
    from ..jobs.demonstration import Wines

__all__ = ["COMMAND"]

LEVEL = 0.95
"""Probability of the bounds. Not tuned: what people expect."""


AS_IN_THE_REPORT = (
    "The report knows nothing of the removed values: it hides others and fits again without them, so that its numbers "
    "differ a little.\n"
)


@command("demo", "fill a table of wines, and say what to open: needs no data")
@click.option(
    "-o", "--output", type=FILE, default=Path("demo"), show_default=True, metavar="DIR", help="folder for the files"
)
@seed_option
def COMMAND(words: Words, output: Path, seed: int) -> None:
    """Remove a fifth of the values of 178 wines, fill them, and compare with what was removed."""
    from ..completion import Settings, complete_file
    from ..jobs.demonstration import judge, loads, wines
    from ..jobs.filling import fill, interval
    from ..jobs.reading import Reading

    make_folder(output)
    gappy, filled, model_file = (output / name for name in ("wine.csv", "wine_filled.csv", "wine.factorstream"))
    table = wines(seed)
    write(gappy, table.content())
    done = complete_file(gappy, Settings(level=LEVEL, seed=seed, keep_model=True, verbose=words.verbose))
    write(filled, done.parts())
    save_model(model_file, done.model, done.names)
    known = table.known()
    answer = fill(done.model, known), *interval(done.model, known, LEVEL)
    found = judge(table, *answer)
    series = output / "load.csv"
    write(series, loads(seed))
    files, page = [filled, gappy, model_file, series], None
    if _installed("matplotlib"):
        picture = output / "wine.png"
        check_picture(picture)
        write_picture(picture, _drawn(table, answer))
        files.insert(0, picture)
        if _installed("jinja2"):
            page = output / "report.html"
            subject = Subject(gappy, Reading(), done.model, known, done.names, every_column=True)
            write_report_page(words, page, subject, level=LEVEL)
            files.insert(0, page)
    words.fact(files=list(map(str, files)), gaps_filled=done.n_gaps, components=done.n_components, **found._asdict())
    words.show(
        f"Removed {counted(done.n_gaps, 'value')} of 178 wines, and filled them with {done.n_components} components.\n"
        f"Error of the filled values, in standard deviations of their column: {found.error:.2f}; "
        f"column means as fills: {found.error_of_means:.2f}.\n"
        f"Of the {LEVEL:.0%} intervals, {found.held:.0%} hold the removed value.\n"
        f"{AS_IN_THE_REPORT if page is not None else ''}\n"
        f"Open {files[0]}. Also written: {', '.join(map(str, files[1:]))}.\n\n"
        "Then try:\n"
        f"  factorstream info {filled}\n"
        f"  factorstream impute {gappy} -o {output / 'again.csv'} --model {model_file}\n"
        f"  factorstream detect {gappy} -n 5\n"
        f"  factorstream factorize {gappy} -o {output / 'factors'}\n"
        f"  factorstream forecast {series} -n 24"
    )


def _installed(package: str) -> bool:
    try:
        require(package)
    except MissingExtraError:
        return False
    return True


ROWS_DRAWN, COLUMNS_DRAWN = 60, (0, 3, 6, 9)
"""What the picture shows of the table: enough to see gaps and bands, by eye."""


def _drawn(table: Wines, answer: tuple[Any, Any, Any]) -> Any:
    """Some columns with their fills, bounds, and the values that were removed."""
    from .. import plot

    rows = slice(0, ROWS_DRAWN)
    parts = tuple(part[rows] for part in answer)
    axes = plot.series(parts, table.known()[rows], columns=list(COLUMNS_DRAWN), truth=table.values[rows])
    for ax, j in zip(axes, COLUMNS_DRAWN, strict=True):
        ax.set_title(table.names[j], loc="left", fontsize=10)
    return axes
