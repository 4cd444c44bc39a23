"""Rows through the filter with one covariance per feature, compiled: ``compiled_counted`` for one row after another.

What is rare stays in NumPy: a row that cannot be done here is handed back with nothing changed, and groups are chosen
anew by ``core.filter.groups``; the loops stop where that would change something. ``counted_rows`` and
``counted_sparse`` are the twins.
"""

from __future__ import annotations

import numpy as np

from ..cores.loops import loops
from .compiled_counted import conclude, move, weigh
from .compiled_groups import asks_for_room, count, is_time, out_of_date
from .compiled_steps import look_at, normal_equations, space

LEVELS, ROOM, NEW = 1, 2, 3
"""Why the loops stopped: levels change after the last row; before the next one features want room, or have their first
value. 0: NumPy has to do the next row, or there is none."""


@loops
def filter_row(  # type: ignore[no-untyped-def]
    C,
    seen,
    y,
    n,
    missing_idx,
    n_missing,
    matrices,
    xbar,
    numbers,
    rules,
    group,
    facts,
    active,
    covariances,
    lines,
    room,
    line,
    tiles,
):
    """``CountedRows.row`` with the groups as they are; ‖e‖² and the dictionary's share, or −1 with nothing changed."""
    if not normal_equations(C, seen, y, n, missing_idx, n_missing, matrices[0], room[0], line[0], tiles):
        return -1.0, 0.0
    n_active = count(group, facts, active, seen, n)
    fitted, prior_noise, lam_k, doubt = weigh(
        C, seen, y, n, n, n_active, matrices, xbar, numbers, rules, group, facts, active, covariances, lines, room, line
    )
    if fitted < 0.0:
        return -1.0, 0.0
    part = doubt / (numbers[0] + doubt)
    move(C, seen, y, n, line[2], line[1], group, facts, active, n_active, lines)
    ee = conclude(
        n,
        n_active,
        fitted,
        prior_noise,
        lam_k,
        matrices,
        xbar,
        numbers,
        rules,
        facts,
        active,
        covariances,
        lines,
        room,
        line,
    )
    return ee, part


@loops
def tally(counts, seen, n, left, weight):  # type: ignore[no-untyped-def]
    """``counted_products.counted``: in how many samples each feature was seen, after this one."""
    if left < 1.0:
        for i in range(len(counts)):
            counts[i] *= left
    for i in range(n):
        counts[seen[i]] += weight


@loops
def filter_rows(C, Y, looked, own, why, matrices, xbar, numbers, rules, innovation, n_observed, share):  # type: ignore[no-untyped-def]
    """As ``compiled.filter_rows``; ``why`` (1) says why it stopped, ``looked`` that row 0 has all the room it gets."""
    m, q = C.shape
    room, line, tiles = space(m, q)
    seen, missing_idx, y = np.empty(m, np.intp), np.empty(m, np.intp), np.empty(m)
    group, facts, active, covariances, lines = own.group, own.facts, own.active, own.covariances, own.lines
    for s in range(len(Y)):
        n, n_missing = look_at(Y[s], seen, y, missing_idx)
        n_observed[s] = n
        if n > 0:
            look = n < m and is_time(numbers[3]) and not (looked and s == 0)
            if look and asks_for_room(own, seen, n):
                why[0] = ROOM
                return s
            ee, part = filter_row(
                C,
                seen,
                y,
                n,
                missing_idx,
                n_missing,
                matrices,
                xbar,
                numbers,
                rules,
                group,
                facts,
                active,
                covariances,
                lines,
                room,
                line,
                tiles,
            )
            if ee < 0.0:
                return s
            innovation[s], share[s] = ee, part
            tally(own.counts, seen, n, numbers[5], numbers[6])
            if is_time(numbers[3]) and out_of_date(own, numbers[4]):
                why[0] = LEVELS
                return s + 1
    return len(Y)


@loops
def filter_sparse_rows(  # type: ignore[no-untyped-def]
    C,
    indptr,
    indices,
    data,
    origin,
    looked,
    own,
    why,
    matrices,
    xbar,
    numbers,
    rules,
    innovation,
    n_observed,
    share,
):
    """The same for rows whose stored entries are the observed ones, not centred."""
    m, q = C.shape
    room, line, tiles = space(m, q)
    most = np.max(np.diff(indptr))
    seen, y = np.empty(most, np.intp), np.empty(most)
    group, facts, active, covariances, lines = own.group, own.facts, own.active, own.covariances, own.lines
    for s in range(len(indptr) - 1):
        n, first, n_new = indptr[s + 1] - indptr[s], indptr[s], 0
        n_observed[s] = n
        if n > 0:
            for i in range(n):
                seen[i], y[i] = indices[first + i], data[first + i] - origin[indices[first + i]]
                n_new += own.unseen[seen[i]]
            if n_new > 0:
                why[0] = NEW
                return s
            look = is_time(numbers[3]) and not (looked and s == 0)
            if look and asks_for_room(own, seen, n):
                why[0] = ROOM
                return s
            ee, part = filter_row(
                C,
                seen,
                y,
                n,
                seen,
                m + n,  # so many that the observed features are always the fewer
                matrices,
                xbar,
                numbers,
                rules,
                group,
                facts,
                active,
                covariances,
                lines,
                room,
                line,
                tiles,
            )
            if ee < 0.0:
                return s
            innovation[s], share[s] = ee, part
            tally(own.counts, seen, n, numbers[5], numbers[6])
            if is_time(numbers[3]) and out_of_date(own, numbers[4]):
                why[0] = LEVELS
                return s + 1
    return len(indptr) - 1
