"""Columns and marks of gaps as they are given to `open_rows`."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from typing import Any

import numpy as np

from ..table import TableError

__all__ = ["given_columns", "given_marks"]


def given_columns(columns: Iterable[Any] | None) -> tuple[str | int, ...] | None:
    """Names and positions of columns; truth values are neither.

    >>> import numpy as np
    >>> given_columns(["heat", np.int64(3)])
    ('heat', 3)
    >>> given_columns([True, False])
    Traceback (most recent call last):
    factorstream.sources.table.TableError: Columns are named, or counted from 0; True is neither.
    """
    if columns is None:
        return None
    found = tuple(map(_column, _listed(columns, "columns")))
    twice = [one for one in found if found.count(one) > 1]
    if twice:
        raise TableError(f"Column {twice[0]} is chosen twice.")
    return found


def given_marks(missing: Iterable[Any]) -> tuple[str, ...]:
    """Marks of gaps as texts.

    >>> given_marks(["n/a", -999, -999.0, 1e20])
    ('n/a', '-999', '-999', '1e+20')
    """
    return tuple(map(_mark, _listed(missing, "missing")))


def _listed(given: Iterable[Any], name: str) -> Iterable[Any]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TableError(f"Give {name} as a list, and not as {given!r} alone.")
    return given


def _column(one: Any) -> str | int:
    if isinstance(one, str):
        return one
    if not isinstance(one, bool | np.bool_):
        try:
            return index(one)
        except TypeError:
            pass
    raise TableError(f"Columns are named, or counted from 0; {one!r} is neither.")


def _mark(one: Any) -> str:
    return one if isinstance(one, str) else f"{one:.17g}" if isinstance(one, float) else str(one)
