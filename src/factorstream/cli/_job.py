"""The options that `forecast`, `detect` and `factorize` share: how to read, and what to use and write besides."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ._files import check_output, check_picture, write_picture
from ._options import model_option, plot_option, reading_options, save_option
from ._report import check_report, report_option

if TYPE_CHECKING:
    from ..jobs.reading import Reading
    from ._command import Words

__all__ = ["JobOptions", "job_options"]


class JobOptions(NamedTuple):
    """What was asked for besides what is a command's own."""

    picture: Path | None
    reading: Reading
    """How to read the file."""
    model_path: Path | None
    save_path: Path | None
    report_path: Path | None

    def check(self) -> None:
        """Refuse files that could not be written, before the work."""
        if self.save_path is not None:
            check_output(self.save_path, option="--save")
        check_report(self.report_path)
        check_picture(self.picture)

    def draw(self, words: Words, axes: Callable[[], Any]) -> None:
        """Write the picture, where one is wanted; ``axes`` draws it."""
        if self.picture is not None:
            write_picture(self.picture, axes())
            words.note(f"Wrote {self.picture}.")


def job_options(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command these options; its function gets them as ``options``."""

    @functools.wraps(function)
    def run(words: Words, **arguments: Any) -> None:
        ours = {name: arguments.pop(name) for name in JobOptions._fields}
        function(words, options=JobOptions(**ours), **arguments)

    decorated: Callable[..., None] = reading_options(run)
    for option in (report_option, save_option, model_option, plot_option):
        decorated = option(decorated)
    return decorated
