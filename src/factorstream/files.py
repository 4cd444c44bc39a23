"""Write files so that each is either complete or not there."""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "UnusableOutputError",
    "check_folder",
    "check_new_folder",
    "check_writable",
    "follow_links",
    "make_folder",
    "naming",
    "put_in_place",
    "write_atomic",
]


TEMPORARY = ".new"
"""The ending of temporary files."""


class UnusableOutputError(OSError):
    """Nothing can be written where it was asked for; the message says what to do."""


def write_atomic(path: Path, content: str | bytes | Iterable[bytes | memoryview]) -> Path:
    """Write a file so that a reader, or a power cut, finds the old content or the new one and no mixture.

    The content goes to a temporary file in the same folder, is synced to the disk and then renamed. A link is
    followed and stays a link; a file that is replaced keeps its permissions. Several parts of a content are written
    one after another. What a process has left that was killed while it wrote the same file is removed. Returns the path
    that was written.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> write_atomic(folder / "table.md", "| a |").read_text()
    '| a |'
    """
    data = content.encode() if isinstance(content, str) else content
    parts = [data] if isinstance(data, bytes) else data
    path = follow_links(path)
    if path.exists() and not path.is_file():  # a pipe or a device cannot be replaced
        with path.open("wb") as file:
            file.writelines(parts)
        return path
    check_folder(path)
    _remove_left(path)
    new = _new_temporary(path)
    try:
        temporary = Path(new.name)
        with new:
            if path.exists():  # before there is anything to read in it
                temporary.chmod(stat.S_IMODE(path.stat().st_mode))
            new.writelines(parts)
            new.flush()
            os.fsync(new.fileno())
            if fcntl is not None:
                os.replace(temporary, path)
        if fcntl is None:  # Windows renames no file that is open
            os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(new.name)
        raise
    _sync_folder(path.parent)
    return path


def _new_temporary(path: Path) -> BinaryIO:
    """A new file beside a path, locked for as long as it is open: nobody else removes it."""
    while True:
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}{TEMPORARY}")
        try:
            file = temporary.open("xb")  # the usual permissions
            if fcntl is None:
                return file
            fcntl.flock(file, fcntl.LOCK_EX)
            if temporary.exists():  # else somebody took it for one that was left, before it was locked
                return file
            file.close()
        except KeyboardInterrupt:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise


def _remove_left(path: Path) -> None:
    """Remove temporary files of this path that processes left which were killed; those in use are locked."""
    if fcntl is None:
        return
    for left in path.parent.glob(f".{glob.escape(path.name)}.*{TEMPORARY}"):
        with contextlib.suppress(OSError), left.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            left.unlink()


def put_in_place(draft: Path, path: Path) -> Path:
    """Give a finished draft, a file or a folder on the same disk, its name, in place of what had it.

    A file is replaced at once, and keeps its permissions. A folder cannot be: the old one is moved aside first, and
    removed when the new one is there.
    """
    if draft.is_dir():
        old = path.with_name(f".{path.name}.{secrets.token_hex(4)}.old")
        if path.exists():
            os.replace(path, old)
        os.replace(draft, path)
        _sync_folder(path.parent)
        shutil.rmtree(old, ignore_errors=True)
        return path
    if path.exists():
        draft.chmod(stat.S_IMODE(path.stat().st_mode))
    with draft.open("rb") as file:
        os.fsync(file.fileno())
    os.replace(draft, path)
    _sync_folder(path.parent)
    return path


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Let errors of the system say which file they are about, where they do not: a full disk does not.

    >>> with naming(Path("rows.npy")):
    ...     raise OSError(errno.ENOSPC, "No space left on device")
    Traceback (most recent call last):
    OSError: [Errno 28] No space left on device: 'rows.npy'
    """
    try:
        yield
    except OSError as problem:
        if problem.filename is None and problem.errno is not None:
            problem.filename = str(path)
        raise


def check_folder(path: Path) -> None:
    """Refuse a path whose folder is not there."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent} to write {path.name} to; make it first.")


def check_writable(path: Path) -> None:
    """Raise the `OSError` that `write_atomic` would end in for want of permission or of a folder."""
    path = follow_links(path)
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


def check_new_folder(folder: Path) -> None:
    """Refuse a folder of ``--output`` that could not be made or written, without making it."""
    there = folder.absolute()
    while not there.exists():
        there = there.parent
    make_folder(there)  # it is there: this only checks


def follow_links(path: Path) -> Path:
    """The file that a path leads to; links that lead back to themselves are refused, not replaced."""
    target = Path(os.path.realpath(path))
    if target.is_symlink():  # realpath gives up on a loop and returns one of its links
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    return target


def _sync_folder(folder: Path) -> None:
    """Make a rename in the folder outlast a power cut, where the system allows it (Windows opens no folders)."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
