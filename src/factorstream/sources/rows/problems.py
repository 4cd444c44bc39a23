"""Say which file a problem is in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ...text import listed
from ..table import TableError

__all__ = ["choose_one", "named", "whole_sentences"]


@contextmanager
def whole_sentences(where: str) -> Iterator[None]:
    """Make whole sentences of what readers find wrong; these begin with "it", or name a line or a column."""
    try:
        yield
    except TableError as problem:
        if str(problem).endswith("."):
            raise
        raise TableError(f"{where} cannot be used: {problem}.") from None


@contextmanager
def named(where: str) -> Iterator[None]:
    """The same of a file, of which the system can also say that it cannot be read.

    >>> with named("x.npy"):
    ...     raise TableError("it is empty")
    Traceback (most recent call last):
    factorstream.sources.table.TableError: x.npy cannot be used: it is empty.
    """
    try:
        with whole_sentences(where):
            yield
    except FileNotFoundError:
        raise TableError(f"{where} does not exist.") from None
    except OSError as problem:
        raise TableError(f"{where} cannot be read: {problem.strerror or problem}.") from None


def choose_one(arrays: str, known: Sequence[str]) -> str:
    """What is said of a file that has several arrays, or none, when none of them is named.

    >>> choose_one("arrays", ["X", "Y"])
    'it has the arrays X, Y; name one of them, as open_rows(path, dataset="X") or --dataset X'
    """
    if not known:
        return f"it has no {arrays} with rows and columns"
    one = known[0]
    return (
        f'it has the {arrays} {listed(known)}; name one of them, as open_rows(path, dataset="{one}") or --dataset {one}'
    )
