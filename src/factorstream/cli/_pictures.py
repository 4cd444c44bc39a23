"""What `factorstream restore` does with pictures: their masks, single files, folders, and what is said of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..files import check_new_folder, make_folder
from ..text import counted, listed
from ._command import BadInputError, Words
from ._files import check_output, write

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..images import Restoration
    from ..images.files import PictureFile
    from ..report.picture_report import Restored

__all__ = ["Job", "restore_file", "restore_folder"]

NO_DAMAGE = "No pixel is marked as damaged; name a mask with --mask, or the colour of damaged pixels with --value."


class Job(NamedTuple):
    """What is asked for."""

    source: Path
    output: Path
    mask: Path | None
    value: tuple[float, ...] | None
    """The grey level or colour of damaged pixels."""
    std: Path | None
    """Where standard deviations go."""
    seed: int


def restore_file(words: Words, job: Job) -> list[Restored]:
    """Restore one picture, or the pictures of one file together."""
    from ..images.files import encode, read_pictures

    check_output(job.output)
    if job.std is not None:
        check_output(job.std, option="--std")
    file = read_pictures(job.source)
    encode(file.pixels[:1] if file.is_stack else file.pixels, job.output, file.is_stack, file.about)  # may be refused
    restored = _restore(words, file, _damage_of_file(job, file), job.seed)
    if not restored.n_filled:
        raise BadInputError(NO_DAMAGE)
    write(job.output, encode(restored.pixels, job.output, file.is_stack, file.about))
    if job.std is not None:
        _write_std(job.std, restored.std)
    n_pictures = len(file.pixels) if file.is_stack else 1
    words.fact(output=str(job.output), pictures=n_pictures, **_facts(restored))
    _say_errors(words, restored)
    filled, of = counted(restored.n_filled, "pixel"), counted(n_pictures, "picture")
    words.note(f"Filled {filled} of {of} by {restored.method}; wrote {job.output}.")
    name = job.source.name
    names = [f"{name}, frame {k}" for k in range(n_pictures)] if file.is_stack else [name]
    return [_restored(names, file, restored)]


def restore_folder(words: Words, job: Job) -> list[Restored]:
    """Restore the pictures of a folder, together where they have one size; those without damage are copied.

    Nothing is written, nor is the folder for it made, before all pictures are restored.
    """
    from ..images.files import is_picture, read_pictures

    paths = sorted(path for path in job.source.iterdir() if path.is_file() and is_picture(path))
    if not paths:
        raise BadInputError(f"{job.source} has no picture in it.")
    check_new_folder(job.output)
    if job.std is not None:
        check_output(job.std, option="--std")
    files = [read_pictures(path) for path in paths]
    stacks = [path for path, file in zip(paths, files, strict=True) if file.is_stack]
    if stacks:
        raise BadInputError(f"{stacks[0]} has several pictures; restore it on its own.")
    of_one_size = len({(file.pixels.shape, file.pixels.dtype) for file in files}) == 1
    if job.std is not None and not of_one_size:
        raise BadInputError("--std needs pictures of one size; restore those of each size in a folder of its own.")
    damages = _damages_of_folder(job, paths)
    if of_one_size:
        whole = files[0]._replace(pixels=_stacked([file.pixels for file in files]), is_stack=True)
        done = [_restore(words, whole, damages[0] if job.mask is None else _stacked(damages), job.seed)]
        singles = _singles(done[0])
    else:
        each = zip(paths, files, damages, strict=True)
        done = singles = [_restore(words, file, damage, job.seed, f"{path.name}: ") for path, file, damage in each]
    if not any(restored.n_filled for restored in done):
        raise BadInputError(NO_DAMAGE)
    _write_folder(job, paths, files, singles)
    _say_folder(words, job, paths, singles, done[0] if of_one_size else None)
    if of_one_size:
        return [_restored([path.name for path in paths], whole, done[0])]
    several = zip(paths, files, singles, strict=True)
    return [_restored([path.name], file, single) for path, file, single in several if single.n_filled]


def _write_folder(job: Job, paths: list[Path], files: list[PictureFile], singles: list[Restoration]) -> None:
    import numpy as np

    from ..images.files import encode

    contents = [
        encode(single.pixels, job.output / path.name, False, file.about) if single.n_filled else path.read_bytes()
        for path, file, single in zip(paths, files, singles, strict=True)
    ]
    make_folder(job.output)
    for path, content in zip(paths, contents, strict=True):
        write(job.output / path.name, content)
    if job.std is not None:
        _write_std(job.std, np.stack([single.std for single in singles]))


# ---------------------------------------------------------------- masks


def _damage_of_file(job: Job, file: PictureFile) -> Any:
    """What is damaged in one file: a mask or a value."""
    from ..images.files import is_picture, read_mask

    if job.mask is None:
        return job.value
    if not job.mask.is_dir():
        return read_mask(job.mask)
    if not file.is_stack:
        return read_mask(_mask_of(job.source, job.mask))
    paths = sorted(path for path in job.mask.iterdir() if path.is_file() and is_picture(path))
    if len(paths) != len(file.pixels):
        raise BadInputError(
            f"{job.mask} has {counted(len(paths), 'mask')}, and {job.source} {counted(len(file.pixels), 'picture')}; "
            "give one mask for each, in the order of their names."
        )
    return _stacked([read_mask(path) for path in paths])


def _damages_of_folder(job: Job, paths: list[Path]) -> list[Any]:
    """What is damaged in every picture of a folder: masks, or the same value for all."""
    from ..images.files import read_mask

    if job.mask is None:
        return [job.value] * len(paths)
    if job.mask.is_dir():
        return [read_mask(_mask_of(path, job.mask)) for path in paths]
    mask = read_mask(job.mask)
    if mask.ndim == 2:
        return [mask] * len(paths)
    if len(mask) != len(paths):
        raise BadInputError(
            f"{job.mask} has {counted(len(mask), 'mask')}, and {job.source} {counted(len(paths), 'picture')}; "
            "give one mask for each, in the order of their names."
        )
    return list(mask)


def _mask_of(path: Path, folder: Path) -> Path:
    """The mask of one picture: that of its name in a folder, whatever its ending."""
    found = sorted(each for each in folder.iterdir() if each.stem == path.stem)
    if not found:
        raise BadInputError(f"{folder} has no mask for {path.name}; give it the same name.")
    return found[0]


def _stacked(arrays: list[NDArray[Any]]) -> NDArray[Any]:
    import numpy as np

    if len({array.shape for array in arrays}) > 1:
        raise BadInputError("The masks have several sizes; give each picture one of its own size.")
    return np.stack(arrays)


# ---------------------------------------------------------------- one restoration


def _restore(words: Words, file: PictureFile, damage: Any, seed: int, prefix: str = "") -> Restoration:
    """Restore one picture or a stack; ``prefix`` says in an error which it was."""
    import numpy as np

    from ..images import restore_frames, restore_picture
    from ..images._pixels import marked_by
    from ..jobs.quiet import quietly

    pixels, of_colours = file.pixels, None
    if damage is None and file.has_alpha and (pixels[..., -1] == 0).any():
        damage = "alpha"
    elif isinstance(damage, tuple) and file.has_alpha and len(damage) == pixels.shape[-1] - 1:
        of_colours = np.array(damage)
    restore = restore_frames if file.is_stack else restore_picture
    try:
        with quietly():
            if of_colours is not None:
                damage = marked_by(of_colours, pixels[..., :-1])
            return restore(pixels, damage, random_state=seed, verbose=int(not words.quiet))
    except ValueError as problem:
        raise BadInputError(f"{prefix}{problem}") from None


def _singles(done: Restoration) -> list[Restoration]:
    """The pictures of a stack one by one, each with the number of its own filled pixels."""
    return [
        done._replace(pixels=pixels, std=std, damaged=damaged, n_filled=_n_pixels(damaged))
        for pixels, std, damaged in zip(done.pixels, done.std, done.damaged, strict=True)
    ]


def _n_pixels(damaged: NDArray[Any]) -> int:
    """Pixels of one picture that are damaged, in one of their channels or in all."""
    return int((damaged.any(axis=-1) if damaged.ndim == 3 else damaged).sum())


def _write_std(path: Path, std: NDArray[Any]) -> None:
    import io

    import numpy as np

    content = io.BytesIO()
    np.save(content, std)
    write(path, content.getvalue())


# ---------------------------------------------------------------- what is said


def _facts(restored: Restoration) -> dict[str, Any]:
    """What programs are told of a restoration."""
    return {
        "method": restored.method if restored.n_filled else None,
        "errors": restored.errors if restored.n_filled else {},
        "n_filled": restored.n_filled,
    }


def _say_errors(words: Words, restored: Restoration, of: str = "") -> None:
    tried = ", ".join(f"{name} {error:.3g}" for name, error in restored.errors.items())
    if tried:
        words.note(f"Root mean squared errors on hidden pixels{of}: {tried}.")


def _say_folder(
    words: Words, job: Job, paths: list[Path], singles: list[Restoration], together: Restoration | None
) -> None:
    """What was done with the pictures of a folder; ``together``: they were restored at once, as one stack."""
    damaged = [(path.name, single) for path, single in zip(paths, singles, strict=True) if single.n_filled]
    intact = [path.name for path, single in zip(paths, singles, strict=True) if not single.n_filled]
    files = [{"name": path.name, **_facts(single)} for path, single in zip(paths, singles, strict=True)]
    if together is not None:
        words.fact(output=str(job.output), pictures=len(paths), files=files, **_facts(together))
        _say_errors(words, together)
        n_filled, way = together.n_filled, f" by {together.method}"
    else:
        n_filled, way = sum(single.n_filled for _, single in damaged), ""
        words.fact(output=str(job.output), pictures=len(paths), files=files, n_filled=n_filled)
        for name, single in damaged:
            _say_errors(words, single, f" of {name}")
            words.note(f"Filled {counted(single.n_filled, 'pixel')} of {name} by {single.method}.")
    filled, of = counted(n_filled, "pixel"), counted(len(damaged), "picture")
    words.note(f"Filled {filled} of {of}{way}; wrote {job.output}.")
    if intact:
        words.caveat(f"Copied {counted(len(intact), 'picture')} without damage unchanged: {listed(intact)}.")


def _restored(names: list[str], file: PictureFile, done: Restoration) -> Restored:
    """What a report says of pictures that were restored together."""
    from ..report.picture_report import Restored

    arrays = (file.pixels, done.pixels, done.std, done.damaged)
    before, after, std, damaged = (each if file.is_stack else each[None] for each in arrays)
    return Restored(names, before, after, std, damaged, done.method, done.errors, done.n_filled)
