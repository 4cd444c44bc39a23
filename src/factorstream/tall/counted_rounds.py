"""Rows with gaps on a device, in rounds (see ``rounds``), where every feature has its own doubt.

Each feature moves by the gain of its level. Where features have groups of their own, ``counted_rows`` takes the rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ..arrays import count_by_number, namespace, picked, to_host
from ..core.filter.counted import CountedStep, condition, learned, step_of, weighted_root
from ..core.filter.groups import Counts, Stacked
from ..core.filter.model import FilterModel
from ..core.filter.recursion import absorb, belief, move_gram, normal_equations
from ..core.filter.state import FilterRecord, FilterState, SmallState
from ..core.linalg import Array
from ..core.place import Place, Tall
from . import rounds as by_rounds
from .counted_rows import CountedRows, is_time, regrouped, with_room, with_stack
from .engine import Filtered, RowBlock, record_of, refreshed
from .levels import sizes_by_group
from .products import copied, is_missing
from .round_products import Numbers, Sums
from .rounds import Before, Rounds, Row, rows_of

GROUPS = (8, 16, 32)
"""For how many groups there are sums, with rows of zeros for those that are not there. Derived: a GPU multiplies
matrices of 16 rows at least, every group has two, and there are 17 levels at most."""

HANDED_OVER = 16
"""Rows that go another way before rounds are tried again. Derived: groups are chosen anew after so many
(``core.filter.groups.EVERY``); speed only."""


def applies(C: Tall, model: FilterModel) -> bool:
    """Whether rows should go in rounds: a dictionary that drifts is left to ``counted_rows``."""
    return model.drift is None and by_rounds.applies(C)


class Levels(NamedTuple):
    """The groups of a row, all of which are levels."""

    group: Tall
    """The numbers of the features' groups (m)."""
    roots: Stacked
    sizes: Counts
    largest: int
    """The number of the group that has most features."""


class Pending(NamedTuple):
    """A row whose coefficients are known, but not yet what is learned from it: C has still to move."""

    before: Before
    n: int
    asks: Asks | None
    """None where it has been learned from already."""


class Asks(NamedTuple):
    """What has to be known of a row to learn from it, beside the sums of its round."""

    step: CountedStep
    counts: Counts
    h: Array
    """Σ c_i e_i over all features."""


class CountedRounds(NamedTuple):
    """Row after row."""

    place: Place
    model: FilterModel

    def run(self, state: FilterState, blocks: Iterable[RowBlock]) -> Filtered:
        """See ``engine.Engine``; the given C is left as it was."""
        groups = state.groups
        assert groups is not None  # for the type checker: this engine is for nothing else
        rounds, records = Rounds(state.C), list[FilterRecord]()
        state = state._replace(C=rounds.C, groups=groups._replace(seen=self.place.each(copied, groups.seen)))
        for rows in blocks:
            all_rows, at = rows_of(self.place, rows, rounds.m), 0
            while at < rows.n:
                state, at = self._as_far_as_it_goes(rounds, state, all_rows, at, records)
                if at < rows.n:
                    state, at = self._handed_over(rounds, state, rows, at, records)
        return Filtered(state, records)

    def _handed_over(
        self, rounds: Rounds, state: FilterState, rows: RowBlock, at: int, records: list[FilterRecord]
    ) -> tuple[FilterState, int]:
        """Some rows by ``counted_rows``."""
        stop = min(at + HANDED_OVER, rows.n)
        assert state.groups is not None  # for the type checker
        kept = state.groups.seen  # where rounds count, recorded ones too
        state, new = CountedRows(self.place, self.model, None).run(state, [RowBlock(rows.Y[at:stop, :], stop - at)])
        assert state.groups is not None
        kept[...] = state.groups.seen
        state = state._replace(groups=state.groups._replace(seen=kept))
        records += new
        rounds.take(state.C)
        return state._replace(C=rounds.C), stop

    def _as_far_as_it_goes(
        self, rounds: Rounds, state: FilterState, rows: list[Row | None], at: int, records: list[FilterRecord]
    ) -> tuple[FilterState, int]:
        """The state after the rows up to the first for which features have groups of their own; its number."""
        place, model = self.place, self.model
        pending: Pending | None = None
        known: Levels | None = None
        for j in range(at, len(rows)):
            row = rows[j]
            if row is None:
                continue
            following = next((later for later in rows[j + 1 :] if later is not None), None)
            state, sums = self._concluded(rounds, state, pending, (row, following, len(rows) - j - 1), records, known)
            pending, groups = None, state.groups
            assert groups is not None  # for the type checker
            if row.n < rounds.m and is_time(state.small.k):
                missing = place.each(is_missing, row.y)
                groups = with_room(place, groups, missing, state.unseen, state.small.S, model)
                state = state._replace(groups=groups)
            if len(groups.shares) > groups.n_levels:
                return state, j
            heard: Array | None = sums.heard
            if known is None or known.group is not groups.group:
                heard = None
                small, groups, roots = with_stack(state.small, groups)
                state = state._replace(small=small, groups=groups)
                known = Levels(groups.group, roots, *sizes_by_group(place, groups.group, roots.n_groups))
            state = state._replace(small=refreshed(place, state.small, rounds.C))
            state, pending = self._step(rounds, state, known, row, sums, heard, records)
        if pending is not None:
            state, _ = self._concluded(rounds, state, pending, (None, None, 0), records, known)
        return state, len(rows)

    def _concluded(
        self,
        rounds: Rounds,
        state: FilterState,
        pending: Pending | None,
        after: tuple[Row | None, Row | None, int],
        records: list[FilterRecord],
        known: Levels | None,
    ) -> tuple[FilterState, Sums]:
        """The state after the row that is pending, whose round also has the sums for the first row ``after``; these.

        With the two rows ``after`` comes how many there are left.
        """
        rounds.start(None if pending is None else pending.before, *after[:2], left=after[2])
        if pending is None:
            return state, rounds.sums()
        small, groups, asks = state.small, state.groups, pending.asks
        assert groups is not None  # for the type checker
        assert known is not None
        if asks is not None:
            condition(known.roots, asks.step, asks.counts)  # while the device is at work
        sums = rounds.sums()
        if asks is not None:
            small, record = _learned(small, self.model, known, pending, asks, sums)
            records.append(record)
        groups = groups._replace(n=groups.n + pending.before.numbers.weight)
        return state._replace(small=small, groups=regrouped(self.place, groups, small, self.model.r)), sums

    def _step(
        self,
        rounds: Rounds,
        state: FilterState,
        levels: Levels,
        row: Row,
        sums: Sums,
        heard: Array | None,
        records: list[FilterRecord],
    ) -> tuple[FilterState, Pending]:
        """The row's coefficients and gains; ``heard`` is how many features of each group it has, if that is known."""
        small, groups, model, roots = state.small, state.groups, self.model, levels.roots
        assert groups is not None  # for the type checker
        G, b, yy = rounds.equations(sums, row, small.G)
        if roots.n_groups == 1:
            small, done = absorb(small, model, G, b, yy, row.n)
            records.append(record_of(done.ee, row.n, done.share))
            numbers = Numbers(done.x, np.asarray(done.g)[None], done.weight)
            return state._replace(small=small), Pending(Before(row.y, numbers, None, groups.seen), row.n, None)
        counts = _observed(levels, row, rounds.m, heard)
        prior = belief(small, model, weighted_root(roots, counts, None))
        step = step_of(small, model, roots, counts, model.step.find(normal_equations(model, G, b, yy, row.n), prior))
        weight = small.lam / step.lam
        if counts.only is not None:
            numbers, group = Numbers(step.z, step.gains[counts.only][None], weight), None
        else:
            K = next(size for size in GROUPS if size >= roots.n_groups)
            gains = np.zeros((K, model.q))
            gains[: roots.n_groups] = step.gains
            numbers, group = Numbers(step.z, gains, weight), levels.group
        before = Before(row.y, numbers, group, groups.seen)
        return state, Pending(before, row.n, Asks(step, counts, b - G.dot(step.z)))


def _observed(levels: Levels, row: Row, m: int, heard: Array | None) -> Counts:
    """How many features of each group the row has."""
    sizes, _, only = levels.sizes
    if row.n == m:
        return levels.sizes
    by_group = np.zeros(len(sizes))
    if only is not None:
        by_group[only] = row.n
    elif heard is not None and len(heard):
        by_group[:] = heard[: len(sizes)]
    else:
        xp = namespace(row.y)
        observed = xp.nonzero(~xp.isnan(row.y))[0]
        by_group[:] = to_host(count_by_number(picked(levels.group, observed), len(sizes)))
    return Counts(by_group, row.n, only)


def _learned(
    small: SmallState, model: FilterModel, levels: Levels, pending: Pending, asks: Asks, sums: Sums
) -> tuple[SmallState, FilterRecord]:
    """What a row has taught, given the sums of its round; G changes in place."""
    step, counts, h = asks
    share = step.doubt / (small.lam + step.doubt)
    if counts.only is not None:
        ee = float(sums.errors[0])
        move_gram(small.G, h, ee, step.gains[counts.only])
        return learned(small, model, step, counts, ee), record_of(ee, pending.n, share)
    n_groups, largest = levels.roots.n_groups, levels.largest
    errors, pulls = sums.errors[:n_groups], sums.pulls[:n_groups].copy()
    pulls[largest] += h - pulls.sum(axis=0)  # of all features it is known exactly
    M = (pulls + 0.5 * errors[:, None] * step.gains).T @ step.gains
    small.G[...] += M + M.T
    return learned(small, model, step, counts, errors), record_of(float(errors.sum()), pending.n, share)
