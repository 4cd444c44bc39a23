"""Files that are either complete or not there."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from pathlib import Path

__all__ = ["UnusableOutputError", "check_writable", "make_folder", "write_atomic"]


class UnusableOutputError(OSError):
    """Nothing can be written where it was asked for; the message says what to do."""


def write_atomic(path: Path, content: str | bytes) -> Path:
    """Write a file through a temporary neighbour and `os.replace`, so that no reader sees half of it.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> write_atomic(folder / "table.md", "| a |").read_text()
    '| a |'
    """
    data = content.encode() if isinstance(content, str) else content
    path = Path(os.path.realpath(path))  # a link stays a link
    if path.exists() and not path.is_file():  # a pipe or a device cannot be replaced
        path.write_bytes(data)
        return path
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        os.chmod(name, stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise
    return path


def check_writable(path: Path) -> None:
    """Raise the `OSError` that `write_atomic` would end in for want of permission or of a folder."""
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}."):
        pass


def make_folder(folder: Path) -> None:
    """Make the folder of ``--output`` where it is not there; `UnusableOutputError` if no file can be written in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        check_writable(folder / "report.html")
    except FileExistsError:
        raise UnusableOutputError(f"{folder} is a file; --output needs a folder.") from None
    except OSError as problem:
        raise UnusableOutputError(
            f"The folder {folder} cannot be written ({problem.strerror or problem}); choose another with --output."
        ) from None


def _umask() -> int:
    """The permissions a plain `open` would withhold; there is no way to ask but to set and reset."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
