"""Which columns of a file have a part in the work: all, those that were named, or all but some."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import NamedTuple

from ..sources.table import TableError
from ..text import column_names, counted

__all__ = ["Choice", "chosen_positions", "position_of"]


class Choice(NamedTuple):
    """What was asked for, each a name or the position of a column, counted from 1."""

    columns: tuple[str, ...] = ()
    """Those to use; empty: all."""
    exclude: tuple[str, ...] = ()
    """Those not to use."""
    id: str | None = None
    """The column that says which row is which; it is never used."""

    @property
    def is_any(self) -> bool:
        """Whether anything was asked for."""
        return self != Choice()


NEAR = 0.65
"""Share of equal letters from which on a name is near to what was asked for, as difflib counts them. Not tuned: "aa"
and "a" have 0.67, "nope" and "income" 0.6."""


def position_of(asked: str, names: Sequence[str]) -> int:
    """The position of a column, counted from 0, by its name or its position from 1.

    >>> position_of("2", ["heat", "rain"]), position_of("heat", ["heat", "rain"])
    (1, 0)

    Raises
    ------
    TableError
        If there is none; the message continues "FILE cannot be used: ".
    """
    if asked in names:
        if list(names).count(asked) > 1:
            raise TableError(f"two of its columns are named {asked}; name the one you mean by its position, from 1 on")
        return list(names).index(asked)
    if asked.isdecimal() and 1 <= int(asked) <= len(names):
        return int(asked) - 1
    if asked.isdecimal():
        raise TableError(f"it has no column {asked}, by name or position; it has {counted(len(names), 'column')}")
    close = get_close_matches(asked.lower(), {name.lower() for name in names}, n=3, cutoff=NEAR)
    near = [name for word in close for name in names if name.lower() == word]
    nearest = f"the nearest {'name is' if len(near) == 1 else 'names are'} {', '.join(near[:3])}"
    hint = nearest if near else f"it has {column_names(names, 8)}"
    raise TableError(f"it has no column {asked}; {hint}")


def chosen_positions(choice: Choice, names: Sequence[str]) -> tuple[list[int] | None, list[int], int | None]:
    """The positions of the columns to use (None: all), of those not to use, and of the one that names rows."""
    several = [position_of(one, names) for asked in choice.columns for one in _split(asked, names)]
    without = [position_of(one, names) for asked in choice.exclude for one in _split(asked, names)]
    call = None if choice.id is None else position_of(choice.id, names)
    both = {*several} & ({*without} | ({call} if call is not None else set()))
    if both:
        raise TableError(f"column {names[min(both)]} is both to be used and not; name it once")
    return several if choice.columns else None, without, call


def _split(asked: str, names: Sequence[str]) -> list[str]:
    """Names with commas between them; a name that has one itself is one."""
    if asked in names:
        return [asked]
    return [part.strip() for part in asked.split(",") if part.strip()]
