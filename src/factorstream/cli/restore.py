"""`factorstream restore`: fill the damaged pixels of pictures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ._command import BadInputError, Words, command
from ._options import FILE, Parsed, seed_option
from ._pictures import Job, restore_file, restore_folder
from ._report import check_report, command_line, report_option

if TYPE_CHECKING:
    from ..report.picture_report import Restored

__all__ = ["COMMAND"]


def _value(text: str) -> tuple[float, ...]:
    """A grey level, or the numbers of a colour.

    >>> _value("255"), _value("255,0,255")
    ((255.0,), (255.0, 0.0, 255.0))
    """
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise ValueError(f"{text!r} is neither a number nor one for each channel, such as 255,0,255") from None


@command("restore", "fill the damaged pixels of pictures or frames")
@click.argument("source", type=FILE, metavar="IN")
@click.option(
    "-o", "--output", type=FILE, required=True, metavar="OUT", help="a picture or stack; a folder where IN is one"
)
@click.option(
    "--mask",
    type=FILE,
    metavar="M",
    help="a picture of the same size that is white where pixels are damaged; or a stack or a folder with one for each",
)
@click.option(
    "--value",
    type=Parsed("value", _value),
    metavar="V",
    help="pixels of this grey level or colour are damaged: 0, or 255,0,255",
)
@click.option("--std", type=FILE, metavar="S.npy", help="also write the standard deviation of every filled pixel")
@seed_option
@report_option
def COMMAND(
    words: Words,
    source: Path,
    output: Path,
    mask: Path | None,
    value: tuple[float, ...] | None,
    std: Path | None,
    seed: int,
    report_path: Path | None,
) -> None:
    """Fill the damaged pixels of IN: a picture, a stack of pictures or the frames of a video, or a folder of pictures.

    PNG, JPEG, TIFF, GIF, BMP and WebP are read and written, and NumPy's .npy; TIFF, GIF and .npy may have several
    pictures. Damaged is what --mask or --value say, NaN, and without either what is fully transparent. Pictures of one
    size in a folder are taken as a stack in the order of their names. Several ways to fill are tried on pixels that are
    known; the best of them is used, and said. Pictures of a folder that have no damage are copied.
    """
    from ..images.files import PictureError

    if mask is not None and value is not None:
        raise BadInputError("--mask and --value both say what is damaged; give one of them.")
    if std is not None and std.suffix.lower() != ".npy":
        raise BadInputError(f"{std} has another ending; --std writes a .npy file.")
    check_report(report_path)
    try:
        job = Job(source, output, mask, value, std, seed)
        restored = restore_folder(words, job) if source.is_dir() else restore_file(words, job)
    except PictureError as problem:
        raise BadInputError(str(problem)) from None
    if report_path is not None:
        _report(words, report_path, source, restored, _code(source, mask, value, seed))


def _code(source: Path, mask: Path | None, value: tuple[float, ...] | None, seed: int) -> str:
    """The lines of Python that do it again; none where files or their transparency have to be joined first."""
    from ..images.files import read_pictures

    masks = mask is not None and mask.is_dir()
    if source.is_dir() or masks or (file := read_pictures(source)).has_alpha:
        return ""
    function = "restore_frames" if file.is_stack else "restore_picture"
    damage = repr(value) if mask is None else f"read_mask(Path({mask.as_posix()!r}))"
    lines = [
        "from pathlib import Path",
        f"from factorstream.images import {function}",
        f"from factorstream.images.files import {'' if mask is None else 'read_mask, '}read_pictures",
        "",
        f"pixels = read_pictures(Path({source.as_posix()!r})).pixels",
        f"restored = {function}(pixels, {damage}, random_state={seed})",
    ]
    return "\n".join([*lines, "", ""])


def _report(words: Words, path: Path, source: Path, restored: list[Restored], code: str) -> None:
    from ..report.picture_report import write_picture_report

    typed = command_line()
    write_picture_report(
        path, restored, source=source.name, settings={"command": typed}, code=f"{code}# From a shell:\n# {typed}"
    )
    words.fact(report=str(path))
    words.note(f"Wrote {path}.")
