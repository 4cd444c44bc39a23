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

from ..core.linalg import Array
from ..cores import PASS, each_of, pieces
from .counted_rows import is_time

if TYPE_CHECKING:
    from .compiled_groups import Grouped
    from .compiled_steps import Rules


def is_worth_it(C: Array) -> bool:
    """Whether there are enough features to be shared."""
    return len(_parts(C)) > 1


def _parts(C: Array) -> list[slice]:
    return pieces(len(C), PASS * C.size)


class _Rounds:
    """The pieces, and the rows as far as they have something observed."""

    def __init__(self, C: Array, Y: Array, n_observed: Array, n_shared: int) -> None:
        from .compiled_pieces import count_observed
        from .compiled_steps import space

        q = C.shape[1]
        self.parts = _parts(C)
        self.of_pieces = np.empty((len(self.parts), q + 2 + n_shared, q + 2))
        self.sums = np.empty(self.of_pieces.shape[1:])
        observed = np.empty((len(self.parts), len(Y)))

        def look(p: int) -> None:
            count_observed(Y, self.parts[p].start, self.parts[p].stop, observed[p])

        each_of(look, list(range(len(self.parts))))
        n_observed[:] = observed.sum(axis=0)
        self.n_observed = n_observed
        self.room, self.line, _ = space(1, q)

    def rows(self) -> Iterator[tuple[int, int, int]]:
        """The row before, −1 for the first; the row; how many features it has."""
        before = -1
        for s in np.flatnonzero(self.n_observed).tolist():
            yield before, s, int(self.n_observed[s])
            before = s

    def round(self, one: Callable[[int, int, Array], object]) -> None:
        """Do something to every piece, given where it begins and ends and room for its sums; then add these up."""

        def of_piece(p: int) -> None:
            one(self.parts[p].start, self.parts[p].stop, self.of_pieces[p])

        each_of(of_piece, list(range(len(self.parts))))
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
    from .compiled_between import conclude_row, next_counted_row
    from .compiled_counted_rows import LEVELS, ROOM
    from .compiled_pieces import counted_piece

    (m, q), n_groups = C.shape, own.facts.shape[1]
    rounds = _Rounds(C, Y, n_observed, n_groups - own.n_own)
    alone, renumbered = _of_their_own(own)
    room, line, sums, kept, heard = rounds.room, rounds.line, rounds.sums, np.zeros(3), np.zeros(n_groups)
    z, small = line[2], (matrices, xbar, numbers, rules, room, line)

    def go(before: int, after: int, by_missing: bool) -> tuple[bool, float]:
        """A round, and the end of the row before; whether the levels are out of date, and how many want room."""
        time = is_time(int(numbers[3]) + (before >= 0))
        rounds.round(
            lambda *piece: counted_piece(C, Y, before, after, by_missing, z, own, heard, numbers, time, *piece)
        )
        if before >= 0:
            conclude_row(sums, before, n_observed, kept, own, *small, innovation)
        wanting, wrong = sums[q + 1, :2].tolist()
        return time and before >= 0 and (renumbered or wrong > 0.0), wanting if time else 0.0

    last = -1
    for before, s, n in rounds.rows():
        late, wanting = go(before, s, m - n < n)
        if late:
            why[0] = LEVELS
            return before + 1
        if wanting > 0.0 and not (looked and s == 0) and (own.n_own > 0 or wanting <= own.most):
            why[0] = ROOM
            return s
        if not next_counted_row(C, Y[s], sums, n, m - n, s, kept, alone, heard, own, *small, share):
            return s
        last = s
    if last >= 0 and go(last, -1, False)[0]:
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
