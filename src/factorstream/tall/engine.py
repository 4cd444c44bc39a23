"""What an engine is: one way in which a run of rows goes through the filter.

``filtering`` chooses an engine once per call, and the engine then takes block after block. There are:

=====================  ==========================================================================
``blocks``             runs of complete rows at once, by BLAS; the rows between them by another engine
``rows_numpy``         one row after another, in NumPy
``lagging``            one row after another on a device, where the dictionary follows some rows later
``rounds``             the same in rounds of one pass each, by kernels for GPUs
``rows_compiled``      one row after another, in compiled loops, for features of this process
``sparse_numpy``       sparse rows in NumPy
``sparse_compiled``    sparse rows in compiled loops, for features of this process
``counted_rows``       one row after another where every feature has its own doubt
``counted_rounds``     the same in rounds
``counted_sparse``     ``counted_rows`` for sparse rows
``counted_compiled``   these two in compiled loops, for features of this process
=====================  ==========================================================================

Compiled loops leave rare rows to NumPy. :func:`compiled_or_numpy` is the one way in which that happens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from ..core.filter.state import FilterRecord, FilterState, SmallState
from ..core.linalg import Array, gram
from ..core.place import Place, Tall
from .products import copied

REFRESH = 256
"""Samples after which G is computed from C again, so that rounding cannot build up in its updates.

Not tuned: a round number at which computing G is a small part of the work."""

Carry = TypeVar("Carry")


class RowBlock(NamedTuple):
    """Consecutive rows on their way through the filter."""

    Y: Tall
    """Their values (n × m): dense ones less the origin, NaN = missing; sparse ones as given, stored = observed."""
    n: int
    """How many they are."""
    missing: Tall | None = None
    """Where a dense Y is NaN (n × m, boolean), if somebody has looked already and found gaps."""


class Filtered(NamedTuple):
    """Where a run of rows has led; also what is carried from row to row within it."""

    state: FilterState
    records: list[FilterRecord]


class Engine(Protocol):
    """One way for rows through the filter."""

    def run(self, state: FilterState, blocks: Iterable[RowBlock]) -> Filtered:
        """Filter the rows of all blocks; those with nothing observed change nothing.

        The matrices of ``state.small`` are changed in place. The arrays with a feature axis that the caller of
        ``filtering`` has given stay as they are: see :func:`writable`. All blocks in one call, so that no caller
        holds on to a dictionary that is out of date.
        """


def writable(place: Place, state: FilterState, given: Tall) -> FilterState:
    """The state with a C that may be changed in place: a copy, if it is still the caller's ``given`` dictionary."""
    if state.C is not given:
        return state
    return FilterState(place.each(copied, state.C), state.origin, state.unseen, state.small, state.groups)


def refreshed(place: Place, small: SmallState, C: Tall, G: Array | None = None) -> SmallState:
    """The state with G computed from C again, if it is time; it may be known already."""
    if small.age < REFRESH:
        return small
    return small._replace(G=np.asfortranarray(place.total(gram, C) if G is None else G), age=0)


def record_of(ee: float, n: int, share: float) -> FilterRecord:
    """The record of a single sample."""
    return FilterRecord(np.array([ee]), np.array([float(n)]), np.array([share]))


class Backoff:
    """Exponential back-off after a hand-back: how many rows NumPy does before compiled code is tried again.

    Rows that are handed back often come in groups (a feature of huge scale is missing for a while), and every try
    costs a call. Not tuned: twice as many each time up to 128, and one again after 16 compiled rows in sequence.
    """

    def __init__(self) -> None:
        self.length, self.left = 1, 0

    def start(self, n_done: int) -> None:
        """A row was handed back after ``n_done`` that were not."""
        self.length = 1 if n_done >= 16 else min(2 * self.length, 128)
        self.left = self.length - 1

    def over(self) -> bool:
        """Whether to try compiled code at the next row; counts the rows."""
        self.left -= 1
        return self.left < 0


def compiled_or_numpy(
    n: int,
    carry: Carry,
    compiled: Callable[[Carry, slice], tuple[Carry, int]],
    numpy: Callable[[Carry, int], Carry],
) -> Carry:
    """Take n rows in order, by compiled code as far as it goes.

    ``compiled(carry, rows)`` returns how many of these rows it has done: where not all, the next one is handed back,
    with nothing changed by it, and ``numpy(carry, k)`` does row k. ``carry`` is passed from one to the next.
    """
    at, backoff = 0, Backoff()
    while at < n:
        if backoff.over():
            stop = min(at + REFRESH, n)
            carry, done = compiled(carry, slice(at, stop))
            at += done
            if at == stop:
                continue
            backoff.start(done)
        carry = numpy(carry, at)
        at += 1
    return carry
