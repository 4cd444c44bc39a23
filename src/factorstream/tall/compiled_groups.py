"""The groups of features in compiled loops: what they are there, and when they have to be chosen anew.

The twin of ``core.filter.groups``, which chooses them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core.linalg import Array
from ..cores.loops import inlined, loops
from .loops import cholesky, dot, inverse

EVERY_ROW, EVERY, TRUST_POWER = 64, 16, 4.0
"""Copies of the constants with these names in ``core.filter``, because the cache of compiled code would not notice a
change there. A test compares them."""

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
    covariances: Array
    """The transposed square root Sᵀ of each group's covariance V = SSᵀ, and V itself (2 × K + 1 × q × q). With a drift
    there is room for both once more."""
    lines: Array
    """Room for vectors of each group: Sᵀz, its gain, Σ c_i e_i (3 × K + 1 × q)."""
    active: Array
    """Room for the numbers of groups (K + 1)."""
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
def asks_for_room(own, seen, n):  # type: ignore[no-untyped-def]
    """Whether ``counted_rows.with_room`` may change something for features that miss a sample; n are ``seen`` in it."""
    group, counts, unseen, facts, wanting = own.group, own.counts, own.unseen, own.facts, 0
    for j in range(len(group)):  # all that are young and share a group, less those that are seen
        wanting += counts[j] < own.young and facts[SHARE, group[j]] > 0.0 and not unseen[j]
    for i in range(n if wanting > 0 else 0):
        j = seen[i]
        wanting -= counts[j] < own.young and facts[SHARE, group[j]] > 0.0 and not unseen[j]
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
def count(group, facts, active, seen, n):  # type: ignore[no-untyped-def]
    """Observed features by group; into ``active`` the groups that learn from the sample, and how many they are."""
    n_groups, complete = facts.shape[1], n == len(group)
    for k in range(n_groups):
        facts[OBSERVED, k] = facts[SIZE, k] if complete else 0.0
    if n_groups == 1:
        facts[OBSERVED, 0] = n
    elif not complete:
        for i in range(n):
            facts[OBSERVED, group[seen[i]]] += 1.0
    return learning(facts, active)


@inlined
def learning(facts, active):  # type: ignore[no-untyped-def]
    """Into ``active`` the groups that learn from a sample, and how many they are."""
    n_active = 0
    for k in range(facts.shape[1]):
        active[n_active] = k
        n_active += facts[OBSERVED, k] > 0.0 or facts[SHARE, k] > 0.0
    return n_active


@loops
def median_doubt(facts, active, n_active, n):  # type: ignore[no-untyped-def]
    """``groups.weighted_median`` of zᵀVz over the n observed features."""
    for a in range(n_active):
        if facts[OBSERVED, active[a]] == n:
            return facts[DOUBT, active[a]]
    doubts, below = np.empty(n_active), 0.0
    for a in range(n_active):
        doubts[a] = facts[DOUBT, active[a]]
    for a in np.argsort(doubts):
        below += facts[OBSERVED, active[a]]
        if below >= 0.5 * n:
            return doubts[a]
    return 0.0


@loops
def drifted(facts, covariances, n, matrices, lam, noise, r, room):  # type: ignore[no-untyped-def]
    """``counted.drifted``: the grown covariances into the second half of the array; the share left of counts, or −1."""
    q, L, F, W, Q = len(room[0]), room[1], room[2], room[3], room[4]
    if not cholesky(matrices[2], L, r, 0.0):
        return -1.0
    F[:] = 0.0
    inverse(L, F, r)
    for i in range(r, q):
        F[i, i] = 1.0
    multiply(F, matrices[3], W, q)
    for i in range(q):
        for j in range(q):
            Q[i, j] = lam / noise * dot(W[i], F[j], q)
    for k in range(facts.shape[1]):
        silent = facts[SHARE, k] == 0.0 and facts[OBSERVED, k] == 0.0
        away = 1.0 + r / n if silent else 1.0
        St, grown, V = covariances[0, k], covariances[2, k], covariances[3, k]
        for i in range(q):
            for j in range(q):
                V[i, j] = away * Q[i, j]
            for s in range(q):
                for j in range(q):
                    V[i, j] += St[s, i] * St[s, j]
        if not cholesky(V, L, q, 0.0):
            return -1.0
        for i in range(q):
            for j in range(q):
                grown[i, j] = L[j, i] if i <= j else 0.0
        if k == 0:
            left = kept_share(L, V, Q, F, W)
    return left


@loops
def kept_share(L, V, Q, F, W):  # type: ignore[no-untyped-def]
    """``groups.kept_share`` after V, with the Cholesky factor L, has grown by Q; F and W are used up."""
    q, total = len(L), 0.0
    inverse(L, F, q)  # V⁻¹ = FFᵀ
    for i in range(q):
        for j in range(q):
            W[i, j] = V[i, j] - Q[i, j]
    for i in range(q):
        for j in range(q):
            total += W[i, j] * dot(F[i], F[j], q)
    return total / q


@loops
def multiply(A, B, out, q):  # type: ignore[no-untyped-def]
    """AB for q × q matrices."""
    for i in range(q):
        for k in range(q):
            out[i, k] = 0.0
        for j in range(q):
            for k in range(q):
                out[i, k] += A[i, j] * B[j, k]
