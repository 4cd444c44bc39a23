"""`factorstream restore`: fill the damaged pixels of pictures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..files import make_folder
from ..text import counted
from ._command import BadInputError, Words, command
from ._files import check_output, write
from ._options import FILE, Parsed, seed_option
from ._report import check_report, command_line, report_option

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..images import Restoration
    from ..images.files import PictureFile
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
    known; the best of them is used, and said.
    """
    from ..images.files import PictureError

    if mask is not None and value is not None:
        raise BadInputError("--mask and --value both say what is damaged; give one of them.")
    if std is not None and std.suffix.lower() != ".npy":
        raise BadInputError(f"{std} has another ending; --std writes a .npy file.")
    check_report(report_path)
    try:
        if source.is_dir():
            restored = _restore_folder(words, source, output, mask, value, std, seed)
        else:
            restored = _restore_file(words, source, output, mask, value, std, seed)
    except PictureError as problem:
        raise BadInputError(str(problem)) from None
    if report_path is not None:
        _report(words, report_path, source, restored, _code(source, mask, value, seed))


def _restore_file(
    words: Words,
    source: Path,
    output: Path,
    mask: Path | None,
    value: tuple[float, ...] | None,
    std: Path | None,
    seed: int,
) -> list[Restored]:
    from ..images.files import encode, read_mask, read_pictures

    check_output(output)
    if std is not None:
        check_output(std, option="--std")
    file = read_pictures(source)
    encode(file.pixels[:1] if file.is_stack else file.pixels, output, file.is_stack, file.about)  # may be refused
    damage = read_mask(mask) if mask is not None else value
    restored = _restore(words, file, damage, seed)
    write(output, encode(restored.pixels, output, file.is_stack, file.about))
    if std is not None:
        _write_std(std, restored.std)
    _say(words, restored, output, _n_frames(file))
    names = [f"{source.name}, frame {k}" for k in range(len(file.pixels))] if file.is_stack else [source.name]
    return [_restored(names, file, restored)]


def _restore_folder(
    words: Words,
    source: Path,
    output: Path,
    mask: Path | None,
    value: tuple[float, ...] | None,
    std: Path | None,
    seed: int,
) -> list[Restored]:
    import numpy as np

    from ..images.files import encode, is_picture, read_mask, read_pictures

    paths = sorted(path for path in source.iterdir() if path.is_file() and is_picture(path))
    if not paths:
        raise BadInputError(f"{source} has no picture in it.")
    make_folder(output)
    files = [read_pictures(path) for path in paths]
    stacks = [path for path, file in zip(paths, files, strict=True) if file.is_stack]
    if stacks:
        raise BadInputError(f"{stacks[0]} has several pictures; restore it on its own.")
    kinds = {(file.pixels.shape, file.pixels.dtype) for file in files}
    damages: list[Any] = [value if mask is None else read_mask(_mask_of(path, mask)) for path in paths]
    if len(kinds) == 1:
        whole = _as_stack(files)
        damage = np.stack(damages) if mask is not None else value
        restored = [_restore(words, whole, damage, seed)]
        pixels, stds = list(restored[0].pixels), list(restored[0].std)
    else:
        if std is not None:
            raise BadInputError("--std needs pictures of one size; restore those of each size in a folder of its own.")
        restored = [_restore(words, file, damage, seed) for file, damage in zip(files, damages, strict=True)]
        pixels, stds = [each.pixels for each in restored], []
    contents = [
        encode(each, output / path.name, False, file.about)
        for each, path, file in zip(pixels, paths, files, strict=True)
    ]
    for path, content in zip(paths, contents, strict=True):
        write(output / path.name, content)
    if std is not None:
        _write_std(std, np.stack(stds))
    for each in restored:
        _say(words, each, output, len(paths))
    if len(kinds) == 1:
        return [_restored([path.name for path in paths], whole, restored[0])]
    return [_restored([path.name], file, each) for path, file, each in zip(paths, files, restored, strict=True)]


def _as_stack(files: list[PictureFile]) -> PictureFile:
    import numpy as np

    return files[0]._replace(pixels=np.stack([file.pixels for file in files]), is_stack=True)


def _mask_of(path: Path, mask: Path) -> Path:
    """The mask of one picture: the same for all, or the one of its name, whatever its ending, in a folder."""
    if not mask.is_dir():
        return mask
    found = sorted(each for each in mask.iterdir() if each.stem == path.stem)
    if not found:
        raise BadInputError(f"{mask} has no mask for {path.name}; give it the same name.")
    return found[0]


def _restore(words: Words, file: PictureFile, damage: Any, seed: int) -> Restoration:
    import numpy as np

    from ..images import restore_frames, restore_picture

    pixels = file.pixels
    if damage is None and file.has_alpha and (pixels[..., -1] == 0).any():
        damage = "alpha"
    elif isinstance(damage, tuple) and file.has_alpha and len(damage) == pixels.shape[-1] - 1:
        damage = (pixels[..., :-1] == np.array(damage)).all(axis=-1)
    restore = restore_frames if file.is_stack else restore_picture
    try:
        restored = restore(pixels, damage, random_state=seed, verbose=int(not words.quiet))
    except ValueError as problem:
        raise BadInputError(str(problem)) from None
    if not restored.n_filled:
        raise BadInputError(
            "No pixel is marked as damaged; name a mask with --mask, or the colour of damaged pixels with --value."
        )
    return restored


def _n_frames(file: PictureFile) -> int:
    return len(file.pixels) if file.is_stack else 1


def _write_std(path: Path, std: NDArray[Any]) -> None:
    import io

    import numpy as np

    content = io.BytesIO()
    np.save(content, std)
    write(path, content.getvalue())


def _say(words: Words, restored: Restoration, output: Path, n_pictures: int) -> None:
    """What was done, in words and for programs."""
    facts = restored._asdict()
    words.fact(
        output=str(output), pictures=n_pictures, **{name: facts[name] for name in ("method", "errors", "n_filled")}
    )
    tried = ", ".join(f"{name} {error:.3g}" for name, error in restored.errors.items())
    if tried:
        words.note(f"Root mean squared errors on hidden pixels: {tried}.")
    filled, of = counted(restored.n_filled, "pixel"), counted(n_pictures, "picture")
    words.note(f"Filled {filled} of {of} by {restored.method}; wrote {output}.")


def _restored(names: list[str], file: PictureFile, done: Restoration) -> Restored:
    """What a report says of pictures that were restored together."""
    from ..report.picture_report import Restored

    before, after, std = (part if file.is_stack else part[None] for part in (file.pixels, done.pixels, done.std))
    return Restored(names, before, after, std, done.method, done.errors, done.n_filled)


def _code(source: Path, mask: Path | None, value: tuple[float, ...] | None, seed: int) -> str:
    """The lines of Python that do it again; none where files or their transparency have to be joined first."""
    from ..images.files import read_pictures

    if source.is_dir() or (file := read_pictures(source)).has_alpha:
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
