"""Files that commands read and write: results, saved models, and standard output in place of a file."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..extras import require
from ..files import check_writable, write_atomic
from ..text import listed
from ._command import STANDARD, BadInputError

if TYPE_CHECKING:
    from ..sources.timeline import Timeline

__all__ = [
    "check_dataset",
    "check_output",
    "check_picture",
    "check_table",
    "read_model",
    "save_model",
    "write",
    "write_picture",
    "written_to",
]


def written_to(path: Path) -> str:
    """Where results are, in a sentence.

    >>> written_to(Path("out.csv")), written_to(STANDARD)
    ('out.csv', 'standard output')
    """
    return "standard output" if path == STANDARD else str(path)


def check_table(target: Path, source: Path | None = None) -> None:
    """Refuse a table that could not be written, before the work; with a source it must be of the same kind."""
    from ..sources.endings import BLOCKWISE, ending_of
    from ..sources.tables import OTHER_KINDS

    if target == STANDARD:
        return
    if (ending := ending_of(target)) in (OTHER_KINDS if source is None else OTHER_KINDS - BLOCKWISE):
        raise BadInputError(
            f"{target} has the ending {ending}, which is not written; name a .csv, .tsv, .parquet or .npy file."
        )
    check_output(target)
    if source is not None and _kind(source) != _kind(target):
        raise BadInputError(f"{target} is not of the same kind as {source}; give it the same ending.")


def _kind(path: Path) -> str | None:
    """The format that a file's name promises."""
    from ..sources.endings import BLOCKWISE, ending_of
    from ..sources.rows.opening import format_of as format_of_blocks
    from ..sources.tables import format_of

    return format_of_blocks(path) if ending_of(path) in BLOCKWISE else format_of(path).name


def check_dataset(source: Path, dataset: str | None) -> None:
    """Refuse the name of an array where a file has one table."""
    from ..sources.rows.opening import WITH_SEVERAL, format_of

    if dataset is not None and format_of(source) not in WITH_SEVERAL:
        raise BadInputError(
            f"--dataset names an array of a .npz, .h5 or .zarr file, and {source} is none; leave it out."
        )


def check_output(target: Path, option: str = "--output") -> None:
    """Refuse an output that could not be written, before the work; messages name the option."""
    try:
        if target.is_dir() and not _is_store(target):
            raise BadInputError(f"{target} is a folder; {option} needs a file.")
        if not target.parent.is_dir():
            raise BadInputError(f"The folder {target.parent} does not exist; make it first.")
        check_writable(target)
    except OSError as problem:
        why = problem.strerror or problem
        raise BadInputError(f"{target} cannot be written ({why}); choose another {option}.") from None


def _is_store(folder: Path) -> bool:
    """Whether a folder is a Zarr store by name and content, which may be written again."""
    from ..sources.rows.folders import is_zarr

    return folder.suffix.lower() == ".zarr" and is_zarr(folder)


def write(path: Path, content: bytes | Iterable[bytes]) -> None:
    """Write a file completely or not at all; or the content to standard output, each of its parts at once."""
    if path == STANDARD:
        if sys.stdout is None:
            raise BadInputError("Standard output is closed; name a file with --output.")
        for part in [content] if isinstance(content, bytes) else content:
            sys.stdout.buffer.write(part)
            sys.stdout.buffer.flush()
        return
    try:
        write_atomic(path, _packed(content) if path.suffix.lower() == ".gz" else content)
    except OSError as problem:
        raise BadInputError(f"{path} cannot be written: {problem.strerror or problem}.") from None


def _packed(content: bytes | Iterable[bytes]) -> Iterator[bytes]:
    """The content as gzip packs it, without a time in it: the same content makes the same file."""
    packing = zlib.compressobj(wbits=31)  # the format of gzip, with the largest window
    for part in [content] if isinstance(content, bytes) else content:
        yield packing.compress(part)
    yield packing.flush()


def read_model(path: Path, *kinds: str, all_kinds: bool = False) -> Any:
    """The model in a file, which must be of one of these classes, if any are named; ``all_kinds`` says whether it may
    be one of columns that are no numbers."""
    from ..estimators._mixed.encoding import other_columns
    from ..persist import load

    try:
        model = load(path)
    except FileNotFoundError:
        raise BadInputError(f"{path} does not exist; --save writes such a file.") from None
    except OSError as problem:
        raise BadInputError(f"{path} cannot be read: {problem.strerror or problem}.") from None
    if kinds and type(model).__name__ not in kinds:
        raise BadInputError(f"{path} holds a {type(model).__name__}, and this needs a {' or a '.join(kinds)}.")
    others = other_columns(model)
    if others and not all_kinds:
        raise BadInputError(
            f"{path} holds a model that was fitted to columns of other kinds than numbers "
            f"({listed(map(repr, others))}), which only impute fills, at once and without --report; fit one with "
            "--numbers-only, or load it in Python."
        )
    return model


def save_model(path: Path | None, model: Any, names: Sequence[str], when: Timeline | None = None) -> None:
    """Write a model with the names of its features to a file for ``--model``; nothing where no file is named.

    A model of a sequence also keeps ``when`` the rows were that it has taken in.
    """
    if path is None:
        return
    from ..jobs.clock import keep_times
    from ..sources.columns import take_names, use_names

    keep_times(model, when, list(names))
    try:
        use_names(model, names).save(path)
        take_names(model)
    except OSError as problem:
        raise BadInputError(
            f"{path} cannot be written: {problem.strerror or problem}; choose another --save."
        ) from None


def check_picture(path: Path | None) -> None:
    """Refuse a picture that could not be drawn or written, before the work."""
    if path is None:
        return
    require("matplotlib", extra="plot")
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.use("agg")  # no window

    known = Figure().canvas.get_supported_filetypes()
    if path.suffix.lower().removeprefix(".") not in known:
        raise BadInputError(f"{path} has no ending of a picture; --plot writes .png, .svg and .pdf.")
    check_output(path, option="--plot")


def write_picture(path: Path, axes: Any) -> None:
    """Write the picture that was drawn on these axes, completely or not at all."""
    import io

    import matplotlib.pyplot as plt
    import numpy as np

    axes = np.asarray(axes)
    figure = axes.ravel()[0].figure
    content = io.BytesIO()
    figure.savefig(content, format=path.suffix.lower().removeprefix("."), dpi=150)  # sharp on a screen of today
    plt.close(figure)
    write(path, content.getvalue())
