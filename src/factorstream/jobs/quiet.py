"""Warnings that commands say better are not shown by them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["LEFT_OUT", "quietly"]

SAID_BETTER = ("X has an absurd value", "Bounds are infinite", "No pixel has the value")
"""How warnings begin that are not shown: commands say the same in other words, with the names of columns or files."""


LEFT_OUT = (
    "Column",
    "Dropping features without any observed value",
    "(Comma|Point|Space|Apostrophe)s were",
    "The text is",
)
"""The same of fits to files: columns that were not taken as numbers, count rows, or have no values; how it was read."""


@contextmanager
def quietly(*also: str) -> Iterator[None]:
    """Show no warnings that commands say better; ``also`` are the beginnings of some more."""
    with warnings.catch_warnings():
        for beginning in (*SAID_BETTER, *also):
            warnings.filterwarnings("ignore", beginning)
        yield
