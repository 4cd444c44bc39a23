"""What long work over many rows remembers, so that it can go on where it was stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

__all__ = ["FORGETFUL", "Forgetful", "Memory"]

Found = TypeVar("Found")
Part = TypeVar("Part")


class Memory(Protocol):
    """Work goes through it in the same order every time. What was found before a stop is not found again."""

    def once(self, name: str, find: Callable[[], Found]) -> Found:
        """What has that name; it is found where nothing has."""

    def put(self, name: str, value: Found) -> Found:
        """Let a value have that name from now on; returns it."""

    def over(
        self, name: str, parts: Callable[[], Iterable[Part]], add: Callable[[Found, Part], Found], start: Found
    ) -> Found:
        """One pass: ``add`` every part to ``start``, or go on with what was added up before a stop.

        No two passes of the work have the same name.
        """


class Forgetful:
    """Remembers nothing."""

    def once(self, name: str, find: Callable[[], Found]) -> Found:
        """What is found."""
        return find()

    def put(self, name: str, value: Found) -> Found:
        """The value."""
        return value

    def over(
        self, name: str, parts: Callable[[], Iterable[Part]], add: Callable[[Found, Part], Found], start: Found
    ) -> Found:
        """The sum of all parts."""
        for part in parts():
            start = add(start, part)
        return start


FORGETFUL = Forgetful()
"""For work that begins anew when it was stopped. Not a setting: it has no state."""
