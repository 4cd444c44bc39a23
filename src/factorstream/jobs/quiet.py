"""Warnings that commands say better are not shown by them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["quietly"]

SAID_BETTER = ("X has an absurd value", "Bounds are infinite", "No pixel has the value")
"""How warnings begin that are not shown: commands say the same in other words, with the names of columns or files."""


@contextmanager
def quietly() -> Iterator[None]:
    """Show no warnings that commands say better."""
    with warnings.catch_warnings():
        for beginning in SAID_BETTER:
            warnings.filterwarnings("ignore", beginning)
        yield
