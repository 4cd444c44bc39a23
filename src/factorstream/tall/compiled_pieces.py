"""One piece of the features while rows with gaps go through the filter: what the threads of ``divided_rows`` do.

A row moves the features that it has, and the next one needs sums over all features: the products of its missing rows of
C with each other, and of its values with C. Both are done here to a few rows of C at a time, which stay in the cache:
C comes from memory once per row. What is small is done between two such rounds (``compiled_between``).

The sums of a piece have the rows

    0 … q − 1   products of the gathered rows of C with each other, the lower triangle
    q           Cᵀy of the coming row; then ‖y‖²
    q + 1       how many features want room for themselves, and for how many the levels are out of date
    q + 2 + k   of the features of the groups that are shared, k = 0, 1, …: Σ c_i e_i of the row that moves them; then
                Σ e_i², and how many the coming row misses
"""

from __future__ import annotations

import numpy as np

from ..cores.loops import loops
from .compiled_groups import HIGH, LOW, SHARE, SQUARES
from .loops import TILE, add_products, dot, into_tiles

AT_ONCE = 64
"""Features that are worked on at a time. Not tuned: with some forty components they fill half of the first cache; speed
and rounding only."""

GATHERED = 512
"""Rows whose products are taken at once: with some forty components they are 160 KiB, which a second cache holds. Not
tuned; speed and rounding only."""


@loops
def count_observed(Y, first, last, sums):  # type: ignore[no-untyped-def]
    """How many of the features of the piece each row of Y has."""
    for s in range(len(Y)):
        n = 0
        for j in range(first, last):
            n += Y[s, j] == Y[s, j]
        sums[s] = n
    return 0


@loops
def found_in(y, first, last, seen, missing_idx):  # type: ignore[no-untyped-def]
    """Where y is observed and where it is NaN, between two features; how many of each. No branches."""
    n = n_missing = 0
    for j in range(first, last):
        missing = y[j] != y[j]
        seen[n], missing_idx[n_missing] = j, j
        n += not missing
        n_missing += missing
    return n, n_missing


@loops
def residuals(C, seen, n, y, z, e):  # type: ignore[no-untyped-def]
    """e_i = y_i − c_iᵀz of n features."""
    q, fours = C.shape[1], n - n % 4
    for i in range(0, fours, 4):
        j0, j1, j2, j3 = seen[i], seen[i + 1], seen[i + 2], seen[i + 3]
        c0, c1, c2, c3 = C[j0], C[j1], C[j2], C[j3]
        e0 = e1 = e2 = e3 = 0.0
        for k in range(q):
            e0 += c0[k] * z[k]
            e1 += c1[k] * z[k]
            e2 += c2[k] * z[k]
            e3 += c3[k] * z[k]
        e[i], e[i + 1], e[i + 2], e[i + 3] = y[j0] - e0, y[j1] - e1, y[j2] - e2, y[j3] - e3
    for i in range(fours, n):
        e[i] = y[seen[i]] - dot(C[seen[i]], z, q)


@loops
def move(C, seen, n, e, g):  # type: ignore[no-untyped-def]
    """c_i ← c_i + e_i g; Σ e_i²."""
    q, ee = C.shape[1], 0.0
    for i in range(n):
        row, by = C[seen[i]], e[i]
        ee += by * by
        for k in range(q):
            row[k] += by * g[k]
    return ee


@loops
def move_each(C, seen, n, e, group, facts, lines, sums):  # type: ignore[no-untyped-def]
    """The same where each feature moves by the gain of its group; what is summed by group goes into ``sums``, and of a
    feature of its own into ``facts`` and ``lines``."""
    q = C.shape[1]
    first, n_shared = q + 2, len(sums) - q - 2
    for i in range(n):
        c, k, by = seen[i], group[seen[i]], e[i]
        if k < n_shared:
            sums[first + k, q] += by * by
            for j in range(q):
                sums[first + k, j] += by * C[c, j]
                C[c, j] += by * lines[1, k, j]
        else:
            facts[SQUARES, k] = by * by
            for j in range(q):
                lines[2, k, j] = by * C[c, j]
                C[c, j] += by * lines[1, k, j]


@loops
def add_cross(C, seen, n, y, sums):  # type: ignore[no-untyped-def]
    """sums ← sums + Σ y_i c_i; then ‖y‖²."""
    q, fours, yy = C.shape[1], n - n % 4, 0.0
    for i in range(0, fours, 4):
        j0, j1, j2, j3 = seen[i], seen[i + 1], seen[i + 2], seen[i + 3]
        c0, c1, c2, c3 = C[j0], C[j1], C[j2], C[j3]
        y0, y1, y2, y3 = y[j0], y[j1], y[j2], y[j3]
        yy += y0 * y0 + y1 * y1 + y2 * y2 + y3 * y3
        for k in range(q):
            sums[k] += y0 * c0[k] + y1 * c1[k] + y2 * c2[k] + y3 * c3[k]
    for i in range(fours, n):
        yi = y[seen[i]]
        yy += yi * yi
        for k in range(q):
            sums[k] += yi * C[seen[i], k]
    sums[q] += yy


@loops
def room_for_tiles(q):  # type: ignore[no-untyped-def]
    """Tiles for the gathered rows, and one for their products (see ``loops.into_tiles``)."""
    tiles = np.empty(((q - 1) // TILE + 2, GATHERED, TILE))
    tiles[-2] = 0.0  # the columns beyond the last
    return tiles


@loops
def shared_piece(C, Y, before, after, by_missing, z, g, first, last, sums):  # type: ignore[no-untyped-def]
    """Move the features from ``first`` to ``last`` by row ``before`` of Y, then take sums for row ``after``.

    z are the coefficients and g the gain of the row before; −1 stands for no such row. The rows of C that are gathered
    are those that are missing in the row after, or the observed ones.
    """
    q, at = C.shape[1], 0
    seen, missing_idx, e = np.empty(AT_ONCE, np.intp), np.empty(AT_ONCE, np.intp), np.empty(AT_ONCE)
    tiles = room_for_tiles(q)
    sums[:] = 0.0
    for start in range(first, last, AT_ONCE):
        stop = min(start + AT_ONCE, last)
        if before >= 0:
            n, _ = found_in(Y[before], start, stop, seen, missing_idx)
            residuals(C, seen, n, Y[before], z, e)
            move(C, seen, n, e, g)
        if after >= 0:
            n, n_missing = found_in(Y[after], start, stop, seen, missing_idx)
            add_cross(C, seen, n, Y[after], sums[q])
            at = gather(C, missing_idx if by_missing else seen, n_missing if by_missing else n, tiles, at, sums)
    if at > 0:
        add_products(tiles, at, sums[:q])
    return 0


@loops
def gather(C, index, n, tiles, at, sums):  # type: ignore[no-untyped-def]
    """n more rows into the tiles, in which there are ``at``; once there is no room, their products into ``sums``."""
    if at + n > GATHERED:
        add_products(tiles, at, sums[: C.shape[1]])
        at = 0
    into_tiles(C, index, 0, n, tiles, at)
    return at + n


@loops
def counted_piece(  # type: ignore[no-untyped-def]
    C, Y, before, after, by_missing, z, own, heard, numbers, time, first, last, sums
):
    """The same where every feature has its own doubt (``compiled_counted``): each moves by the gain of its group.

    Also counts in how many samples the features were seen; and, if it is ``time`` to look at the groups, how many
    features want others. ``heard`` says which features of their own the row after has (one for each group).
    """
    q, at = C.shape[1], 0
    group, counts, facts, lines = own.group, own.counts, own.facts, own.lines
    alike, n_shared, left, weight = facts.shape[1] == 1, len(sums) - q - 2, numbers[5], numbers[6]
    seen, missing_idx, e = np.empty(AT_ONCE, np.intp), np.empty(AT_ONCE, np.intp), np.empty(AT_ONCE)
    tiles = room_for_tiles(q)
    sums[:] = 0.0
    for start in range(first, last, AT_ONCE):
        stop = min(start + AT_ONCE, last)
        if before >= 0:
            n, _ = found_in(Y[before], start, stop, seen, missing_idx)
            residuals(C, seen, n, Y[before], z, e)
            if alike:
                sums[q + 2, q] += move(C, seen, n, e, lines[1, 0])
            else:
                move_each(C, seen, n, e, group, facts, lines, sums)
            tally(counts, Y[before], start, stop, left, weight)
            if time:
                sums[q + 1, 1] += out_of_date(own, start, stop, numbers[4])
        if after >= 0:
            n, n_missing = found_in(Y[after], start, stop, seen, missing_idx)
            add_cross(C, seen, n, Y[after], sums[q])
            at = gather(C, missing_idx if by_missing else seen, n_missing if by_missing else n, tiles, at, sums)
            if time:
                sums[q + 1, 0] += wanting_room(own, missing_idx, n_missing)
            if not alike:
                mark(group, seen, n, missing_idx, n_missing, heard, n_shared, sums)
    if at > 0:
        add_products(tiles, at, sums[:q])
    return 0


@loops
def tally(counts, y, start, stop, left, weight):  # type: ignore[no-untyped-def]
    """``compiled_counted_rows.tally`` for some features, without a branch: several of them at once."""
    for j in range(start, stop):
        counts[j] = left * counts[j] + (weight if y[j] == y[j] else 0.0)


@loops
def mark(group, seen, n, missing_idx, n_missing, heard, n_shared, sums):  # type: ignore[no-untyped-def]
    """How many features of each group the row misses; whether it has those of their own, one by one."""
    first, last = len(sums) - n_shared, sums.shape[1] - 1
    for i in range(n_missing):
        k = group[missing_idx[i]]
        if k < n_shared:
            sums[first + k, last] += 1.0
        else:
            heard[k] = 0.0
    for i in range(n if n_shared < len(heard) else 0):
        k = group[seen[i]]
        if k >= n_shared:
            heard[k] = 1.0


@loops
def wanting_room(own, missing_idx, n_missing):  # type: ignore[no-untyped-def]
    """How many of these features are young and share a group (``compiled_groups.asks_for_room``)."""
    wanting = 0
    for i in range(n_missing):
        j = missing_idx[i]
        wanting += own.counts[j] < own.young and own.facts[SHARE, own.group[j]] > 0.0 and not own.unseen[j]
    return wanting


@loops
def out_of_date(own, start, stop, n):  # type: ignore[no-untyped-def]
    """How many of these features have a share of n samples that asks for another group (``compiled_groups``)."""
    wrong, counts, facts = 0, own.counts, own.facts
    for j in range(start, stop):
        k, seen = own.group[j], counts[j]
        alone = facts[SHARE, k] == 0.0
        wrong += seen > facts[HIGH, k] * n and not (alone and seen < own.young)
        wrong += (alone and seen >= own.settled) or seen <= facts[LOW, k] * n
    return wrong
