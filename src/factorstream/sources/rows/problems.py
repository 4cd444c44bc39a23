"""Say which file a problem is in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..table import TableError

__all__ = ["named"]


@contextmanager
def named(where: str) -> Iterator[None]:
    """Make whole sentences of the problems of a file; those of a reader begin with "it", or name a line or a column.

    >>> with named("x.npy"):
    ...     raise TableError("it is empty")
    Traceback (most recent call last):
    factorstream.sources.table.TableError: x.npy cannot be used: it is empty.
    """
    try:
        yield
    except TableError as problem:
        if str(problem).endswith("."):
            raise
        raise TableError(f"{where} cannot be used: {problem}.") from None
    except FileNotFoundError:
        raise TableError(f"{where} does not exist.") from None
    except OSError as problem:
        raise TableError(f"{where} cannot be read: {problem.strerror or problem}.") from None
