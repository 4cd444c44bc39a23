"""Rows with gaps through the filter where there are so many features that threads share them: one round per row.

In a round every piece of the features is moved by one row and summed for the next (``compiled_pieces``), by whichever
thread takes it; what is small is done between two rounds (``compiled_between``), by one thread. The pieces follow from
the size of C, and their sums are added in order: the same bits come out whatever the number of threads. The functions
here take the place of ``compiled.filter_rows`` and ``compiled_counted_rows.filter_rows``, whose arguments they have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..core.filter.groups import EVERY
from ..core.linalg import Array
from ..cores import PASS, each_of, pieces
from ..cores.compiling import HalfDone
from .counted_rows import is_time

if TYPE_CHECKING:
    from .compiled_groups import Grouped
    from .compiled_steps import Rules


def is_worth_it(C: Array) -> bool:
    """Whether there are enough features to be shared."""
    return len(_parts(C)) > 1


def _parts(C: Array) -> list[slice]:
    return pieces(len(C), PASS * C.size)


AHEAD = EVERY
"""Rows whose features are counted at once. Derived: after so many rows groups may be chosen anew, and the rest of the
rows then come again; speed only."""


class _Rounds:
    """The pieces, and the rows as far as they have something observed."""

    def __init__(self, C: Array, Y: Array, n_observed: Array, n_shared: int) -> None:
        from .compiled_steps import space

        q = C.shape[1]
        self.Y, self.n_observed, self.parts = Y, n_observed, _parts(C)
        self.of_pieces = np.empty((len(self.parts), q + 2 + n_shared, q + 2))
        self.sums = np.empty(self.of_pieces.shape[1:])
        self.room, self.line, _ = space(1, q)
        self.begun = False

    def rows(self) -> Iterator[tuple[int, int, int]]:
        """The row before, −1 for the first; the row; how many features it has."""
        before, known = -1, 0
        for s in range(len(self.Y)):
            if s == known:
                known = min(s + AHEAD, len(self.Y))
                self._count(s, known)
            if self.n_observed[s]:
                yield before, s, int(self.n_observed[s])
                before = s

    def _count(self, start: int, stop: int) -> None:
        """How many features some rows have."""
        from .compiled_pieces import count_observed

        Y, found = self.Y[start:stop], np.empty((len(self.parts), stop - start))

        def look(p: int) -> None:
            count_observed(Y, self.parts[p].start, self.parts[p].stop, found[p])

        each_of(look, list(range(len(self.parts))))
        self.n_observed[start:stop] = found.sum(axis=0)

    def round(self, one: Callable[[int, int, Array], object]) -> None:
        """Do something to every piece, given where it begins and ends and room for its sums; then add these up."""

        def of_piece(p: int) -> None:
            one(self.parts[p].start, self.parts[p].stop, self.of_pieces[p])

        try:
            each_of(of_piece, list(range(len(self.parts))))
        except Exception as failure:
            if self.begun and not isinstance(failure, MemoryError):
                raise HalfDone(f"A piece of the features could not be moved ({failure}); fit again.") from failure
            raise
        self.begun = True  # the first round has moved nothing
        np.add.reduce(self.of_pieces, axis=0, out=self.sums)  # one piece after another


def filter_rows(
    C: Array,
    Y: Array,
    matrices: Array,
    xbar: Array,
    numbers: Array,
    rules: Rules,
    innovation: Array,
    n_observed: Array,
    share: Array,
) -> int:
    """As ``compiled.filter_rows``."""
    from .compiled_between import next_row
    from .compiled_pieces import shared_piece

    m = len(C)
    rounds = _Rounds(C, Y, n_observed, 0)
    room, line = rounds.room, rounds.line
    z, g = line[2], line[3]

    def go(before: int, after: int, by_missing: bool) -> None:
        rounds.round(lambda *piece: shared_piece(C, Y, before, after, by_missing, z, g, *piece))

    last = -1
    for before, s, n in rounds.rows():
        go(before, s, m - n < n)
        if not next_row(rounds.sums, n, m - n, s, matrices, xbar, numbers, rules, room, line, innovation, share):
            return s
        last = s
    if last >= 0:
        go(last, -1, False)
    return len(Y)


def filter_counted_rows(
    C: Array,
    Y: Array,
    looked: bool,
    own: Grouped,
    why: Array,
    matrices: Array,
    xbar: Array,
    numbers: Array,
    rules: Rules,
    innovation: Array,
    n_observed: Array,
    share: Array,
) -> int:
    """As ``compiled_counted_rows.filter_rows``."""
    from .compiled_between import GO_ON, HAND_BACK, next_counted_row
    from .compiled_counted_rows import LEVELS
    from .compiled_pieces import counted_piece

    m, n_groups = len(C), own.facts.shape[1]
    rounds = _Rounds(C, Y, n_observed, n_groups - own.n_own)
    alone, renumber = _of_their_own(own)
    room, line, kept, heard = rounds.room, rounds.line, np.zeros(3), np.zeros(n_groups)
    small = kept, alone, heard, own, matrices, xbar, numbers, rules, room, line, innovation, n_observed, share

    def go(before: int, after: int, by_missing: bool) -> int:
        """A round, and what is done after it; why not to go on."""
        time = is_time(int(numbers[3]) + (before >= 0))
        rounds.round(
            lambda *piece: counted_piece(C, Y, before, after, by_missing, line[2], own, heard, numbers, time, *piece)
        )
        looks = time, renumber, not (looked and after == 0)
        return int(next_counted_row(C, Y, rounds.sums, before, after, looks, *small))

    last = -1
    for before, s, n in rounds.rows():
        stopped = go(before, s, m - n < n)
        if stopped != GO_ON:
            why[0] = 0 if stopped == HAND_BACK else stopped
            return before + 1 if stopped == LEVELS else s
        last = s
    if last >= 0 and go(last, -1, False) != GO_ON:
        why[0] = LEVELS
        return last + 1
    return len(Y)


def _of_their_own(own: Grouped) -> tuple[Array, bool]:
    """The features of their own, in the order of their groups; whether groups have to be numbered anew at any rate.

    That is where they are not in the order of the features, or where a level is empty.
    """
    from .compiled_groups import SIZE

    first = own.facts.shape[1] - own.n_own
    features = np.flatnonzero(own.group >= first)
    order = np.argsort(own.group[features])
    unordered = bool((order[1:] < order[:-1]).any())
    return features[order], unordered or bool((own.facts[SIZE, 1:] == 0.0).any())
