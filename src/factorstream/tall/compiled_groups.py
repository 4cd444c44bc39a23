"""The groups of features in compiled loops: what they are there, and when they have to be chosen anew.

The twin of ``core.filter.groups``, which chooses them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core.linalg import Array
from .loops import loops

EVERY_ROW, EVERY, TRUST_POWER = 64, 16, 4.0
"""The constants of these names in ``core.filter``. They are repeated here because the cache of compiled code would not
notice if they changed there; a test compares them."""

SIZE, SHARE, LOW, HIGH, OBSERVED, DOUBT, SQUARES, TRUST = range(8)
"""The rows of ``facts``: a group's number of features; 1, a level's share, or 0 for a feature of its own; the shares of
``groups.level_bounds``; and, of one sample, how many features were observed, zᵀVz or what is expected of it, Σ e_i²,
and w, what a value counts in the search for x."""


class Grouped(NamedTuple):
    """``Groups`` as the loops need them, for K groups and group 0. The arrays change in place."""

    group: Array
    """The number of each feature's group (m)."""
    counts: Array
    """Weighted number of samples in which each feature was observed (m)."""
    unseen: Array
    """Features that have had no value yet (m, boolean)."""
    facts: Array
    """Numbers of each group (8 × K + 1)."""
    roots: Array
    """The transposed square root Sᵀ of each group's covariance V = SSᵀ (K + 1 × q × q)."""
    V: Array
    """The covariance of each group (K + 1 × q × q)."""
    lines: Array
    """Room for vectors of each group: Sᵀz, its gain, Σ c_i e_i (3 × K + 1 × q)."""
    n_own: int
    """How many features have a group of their own."""
    most: int
    """How many may have one."""
    young: float
    """A feature is young that was seen in fewer samples."""
    settled: float
    """A feature of its own that was seen in as many may join a level."""


@loops
def is_time(k):  # type: ignore[no-untyped-def]
    """As in ``counted_rows`` (a test compares them)."""
    return k <= EVERY_ROW or k % EVERY == 0


@loops
def asks_for_room(own, missing_idx, n_missing):  # type: ignore[no-untyped-def]
    """Whether ``counted_rows.with_room`` may change something for features that miss a sample."""
    wanting = 0
    for i in range(n_missing):
        j = missing_idx[i]
        wanting += own.counts[j] < own.young and own.facts[SHARE, own.group[j]] > 0.0 and not own.unseen[j]
    return wanting > 0 and (own.n_own > 0 or wanting <= own.most)


@loops
def out_of_date(own, n):  # type: ignore[no-untyped-def]
    """Whether ``groups.releveled`` may change something after n samples."""
    group, counts, facts, last = own.group, own.counts, own.facts, 0
    for i in range(len(group)):
        k = group[i]
        alone = facts[SHARE, k] == 0.0
        if alone and k < last:
            return True  # features of their own are numbered in their order
        last = k if alone else last
        if counts[i] > facts[HIGH, k] * n and not (alone and counts[i] < own.young):
            return True
        if alone and counts[i] >= own.settled:
            return True
        if counts[i] <= facts[LOW, k] * n:
            return True
    empty = 0
    for k in range(1, facts.shape[1]):
        empty += facts[SIZE, k] == 0.0
    return empty > 0  # a level that nobody is at is closed


@loops
def count(group, facts, seen, n):  # type: ignore[no-untyped-def]
    """Observed features by group."""
    n_groups, complete = facts.shape[1], n == len(group)
    for k in range(n_groups):
        facts[OBSERVED, k] = facts[SIZE, k] if complete else 0.0
    if n_groups == 1:
        facts[OBSERVED, 0] = n
    elif not complete:
        for i in range(n):
            facts[OBSERVED, group[seen[i]]] += 1.0


@loops
def median_doubt(facts, n):  # type: ignore[no-untyped-def]
    """``groups.weighted_median`` of zᵀVz over the n observed features."""
    for k in range(facts.shape[1]):
        if facts[OBSERVED, k] == n:
            return facts[DOUBT, k]
    below = 0.0
    for k in np.argsort(facts[DOUBT]):
        below += facts[OBSERVED, k]
        if below >= 0.5 * n:
            return facts[DOUBT, k]
    return 0.0
