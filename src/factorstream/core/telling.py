"""What a fit tells whoever waits for it, sweep by sweep."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

__all__ = ["Sweep", "Tell", "silent"]


class Sweep(NamedTuple):
    """One sweep of a fit that is still going on."""

    number: int
    """Counted from 1."""
    most: int
    """Sweeps that the fit may make."""
    n_rows: int
    """Rows that it goes over: what a sweep costs grows with them."""
    gain: float | None
    """What it added to the bound, in nats per observed entry; None for the first."""
    n_components: int


Tell = Callable[[Sweep], None]
"""Is told of every sweep; changes nothing."""


def silent(sweep: Sweep) -> None:
    """For fits that nobody waits for."""
