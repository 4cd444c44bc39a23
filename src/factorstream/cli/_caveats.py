"""What commands say about columns that had no part in their work, or a smaller one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..text import listed
from ._command import Words

if TYPE_CHECKING:
    from ..jobs.reading import Given

__all__ = ["say_caveats"]


def say_caveats(words: Words, given: Given, *, counting: bool = True) -> None:
    """Say which columns of a table were left out and why, and where values were."""
    if counting and given.counting:
        words.caveat(f"Columns that count rows or years were left out: {listed(given.counting)}.")
    if given.unknown:
        words.caveat(f"Columns that the model does not know were left out: {listed(given.unknown)}.")
    if given.absurd:
        words.caveat(
            f"Absurd values, out of all proportion to the others, had no part in the fit: {listed(given.absurd)}; "
            "correct them, or pass --missing=VALUE if they mark gaps."
        )
