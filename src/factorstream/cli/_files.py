"""Files that commands read and write: results, saved models, and standard output in place of a file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from ..files import check_writable, write_atomic
from ._command import STANDARD, BadInputError

__all__ = ["called", "check_output", "read_model", "save_model", "write"]


def called(path: Path) -> str:
    """A file in a sentence.

    >>> called(Path("in.csv")), called(STANDARD)
    ('in.csv', 'standard input')
    """
    return "standard input" if path == STANDARD else str(path)


def check_output(target: Path, source: Path | None = None, option: str = "--output") -> None:
    """Refuse an output that could not be written, before the work; with a source it must be of the same kind."""
    if target == STANDARD:
        return
    try:
        if target.is_dir():
            raise BadInputError(f"{target} is a folder; {option} needs a file.")
        if not target.parent.is_dir():
            raise BadInputError(f"The folder {target.parent} does not exist; make it first.")
        if source is not None:
            _check_same_kind(source, target)
        check_writable(target)
    except OSError as problem:
        why = problem.strerror or problem
        raise BadInputError(f"{target} cannot be written ({why}); choose another {option}.") from None


def _check_same_kind(source: Path, target: Path) -> None:
    from ..sources.tables import format_of

    if format_of(source) != format_of(target):
        raise BadInputError(f"{target} is not of the same kind as {source}; give it the same ending.")


def write(path: Path, content: bytes) -> None:
    """Write a file completely or not at all; or all of the content to standard output."""
    if path == STANDARD:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    try:
        write_atomic(path, content)
    except OSError as problem:
        raise BadInputError(f"{path} cannot be written: {problem.strerror or problem}.") from None


def read_model(path: Path, *kinds: str) -> Any:
    """The model in a file, which must be of one of these classes, if any are named."""
    from ..persist import load

    try:
        model = load(path)
    except FileNotFoundError:
        raise BadInputError(f"{path} does not exist; --save writes such a file.") from None
    except OSError as problem:
        raise BadInputError(f"{path} cannot be read: {problem.strerror or problem}.") from None
    if kinds and type(model).__name__ not in kinds:
        raise BadInputError(f"{path} holds a {type(model).__name__}, and this needs a {' or a '.join(kinds)}.")
    return model


def save_model(path: Path, model: Any) -> None:
    """Write a model to a file that ``--model`` and `factorstream.load` read."""
    try:
        model.save(path)
    except OSError as problem:
        raise BadInputError(
            f"{path} cannot be written: {problem.strerror or problem}; choose another --save."
        ) from None
