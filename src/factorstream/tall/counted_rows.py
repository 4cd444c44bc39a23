"""The engine for a filter in which every feature has its own doubt: row after row, in NumPy, at every place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ..core.filter import groups as grouping
from ..core.filter.counted import CountedStep, drifted, find, gram_change, learned
from ..core.filter.groups import Groups
from ..core.filter.masked import observed_gram
from ..core.filter.model import FilterModel
from ..core.filter.state import FilterRecord, FilterState, SmallState
from ..core.linalg import Array, matrix_root
from ..core.place import Place, Tall
from . import counted_products as products
from .engine import Filtered, RowBlock, record_of, refreshed, writable
from .products import residual, row_products
from .rows_numpy import ObservedRow, observed_rows


class CountedRows(NamedTuple):
    """Row after row."""

    place: Place
    model: FilterModel
    given: Tall
    """The caller's C, which stays as it is."""

    def run(self, state: FilterState, blocks: Iterable[RowBlock]) -> Filtered:
        """See ``engine.Engine``."""
        state = writable(self.place, state, self.given)
        m, records = self.place.total(len, state.C), []
        for rows in blocks:
            for row in observed_rows(self.place, rows, m):
                state, record = self.row(state, row, m)
                records.append(record)
        return Filtered(state, records)

    def row(self, state: FilterState, row: ObservedRow, m: int) -> tuple[FilterState, FilterRecord]:
        """One sample of m features; C and the matrices of the state are changed in place."""
        place, model, C = self.place, self.model, state.C
        assert state.groups is not None  # for the type checker: this engine is for nothing else
        y, missing_idx, n = row
        groups = state.groups
        if n < m and is_time(state.small.k):
            missing = place.each(products.missing_of, groups.seen, missing_idx)
            groups = with_room(place, groups, missing, state.unseen, state.small.S, model)
        small, groups, share = drifted(refreshed(place, state.small, C), groups, model.drift)
        n_groups, n_levels = len(groups.shares) + 1, groups.n_levels
        counts = place.total(products.group_sizes, groups.group, missing_idx, n_groups)
        G = observed_gram(place, C, small.G, missing_idx, m - n, m)
        b, yy = place.total(row_products, C, y)
        step = find(small, groups, model, G, b, yy, counts)
        e = place.each(residual, C, step.z, y, missing_idx)
        of = by_group(place, e, groups.group, n_levels, counts)
        small, ee = with_gram(place, small, step, C, of, b - G.dot(step.z))
        C = place.each(products.moved, C, *of, step.gains)
        record = record_of(float(ee.sum()), n, step.doubt / (small.lam + step.doubt))
        small, groups, weight = learned(small, groups, model, step, ee)
        groups = groups._replace(seen=place.each(products.counted, groups.seen, missing_idx, share, weight))
        groups = regrouped(place, groups, small, model.r)
        return state._replace(C=C, small=small, groups=groups), record


class Residuals(NamedTuple):
    """The residuals of a sample, by the groups of its features."""

    e: Tall
    """e_i = y_i − c_iᵀz, zero where there was no value."""
    group: Tall
    """The numbers of the features' groups."""
    n_levels: int
    """Up to which number groups may have many features."""
    many: Array
    """Which of these have observed features."""
    W: Tall
    """The residuals of each of those in a column of their own, zeros elsewhere."""


def by_group(place: Place, e: Tall, group: Tall, n_levels: int, counts: Array) -> Residuals:
    """Residuals e by group, of which so many features were observed."""
    many = np.flatnonzero(counts[: n_levels + 1])
    return Residuals(e, group, n_levels, many, place.each(products.columns, e, group, many))


def with_gram(
    place: Place, small: SmallState, step: CountedStep, C: Tall, of: Residuals, h: Array
) -> tuple[SmallState, Array]:
    """The state with CᵀC as it is once C has moved for a sample's residuals, and Σ e_i² per group; h = Σ c_i e_i."""
    n_groups = len(step.gains)
    ee = place.total(products.group_squares, of.e, of.group, n_groups)
    own = n_groups > of.n_levels + 1
    H = place.total(products.group_products, C, of.W) if own or len(of.many) > 1 else h[None]
    change = gram_change(step, H, ee, of.many)
    if own:
        change += place.total(products.own_gram_change, C, of.e, of.group, of.n_levels, step.gains)
    return small._replace(G=np.asfortranarray(small.G + change)), ee


def is_time(k: int) -> bool:
    """Whether groups are looked at before or after sample k."""
    return k <= grouping.EVERY_ROW or k % grouping.EVERY == 0


def with_room(place: Place, groups: Groups, missing: Tall, unseen: Tall | None, S: Array, model: FilterModel) -> Groups:
    """The groups once young features that miss this sample have one of their own, where there is room for all of them.

    Until now such a feature had the history of its group; from here on it has another one. If there is too little room,
    features of their own that are no longer young give theirs up.
    """
    wanting = place.each(products.wanting_own, groups.seen, groups.group, missing, groups.n_levels, model.r)
    if unseen is not None:
        wanting = place.each(products.not_unseen, wanting, unseen)
    wanted = place.total(np.count_nonzero, wanting)
    if wanted == 0:
        return groups
    features = np.flatnonzero(place.get(wanting, 0))
    seen, group = place.get(groups.seen, 0), place.get(groups.group, 0)
    most = grouping.room(len(seen), model.q)
    taken = len(groups.shares) - groups.n_levels
    if taken and wanted > most - taken:
        group, groups = grouping.releveled(seen, groups._replace(group=group), S, model.r, mature_too=True)
        groups = groups._replace(group=place.put(group, 0))
        taken = len(groups.shares) - groups.n_levels
    if wanted > most - taken:
        return groups
    roots = grouping.stack(S, groups)[group[features]]
    group, groups = grouping.with_own(group, groups, features, roots)
    return groups._replace(group=place.put(group, 0))


def with_newcomers(place: Place, groups: Groups, new: Tall, small: SmallState, model: FilterModel) -> Groups:
    """The groups once features that have their first value now have one of their own, where there is room.

    ``new`` says which (m, boolean). Nothing is known of them but the prior; and their mean, which is counted from the
    first value, is off by as much as a value is from its mean.
    """
    features = np.flatnonzero(place.get(new, 0))
    taken = len(groups.shares) - groups.n_levels
    if len(features) == 0 or len(features) > grouping.room(place.total(len, groups.seen), model.q) - taken:
        return groups
    V0 = groups.prior @ groups.prior.T
    if model.has_mean:
        V0[-1, -1] = np.trace(V0[:-1, :-1]) + small.lam
    roots = np.repeat(matrix_root(V0)[None], len(features), axis=0)
    group, groups = grouping.with_own(place.get(groups.group, 0), groups, features, roots)
    return groups._replace(group=place.put(group, 0))


def regrouped(place: Place, groups: Groups, small: SmallState, r: int) -> Groups:
    """The groups with levels chosen anew, if it is time."""
    if not is_time(small.k):
        return groups
    group = place.get(groups.group, 0)
    group, groups = grouping.releveled(place.get(groups.seen, 0), groups._replace(group=group), small.S, r)
    return groups._replace(group=place.put(group, 0))
