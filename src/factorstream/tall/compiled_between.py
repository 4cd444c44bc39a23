"""What is small of a row with gaps whose features are divided into pieces: between two rounds of ``compiled_pieces``.

The row before has moved the features, and is concluded here; then the coefficients and gains of the next one are found.
``sums`` are those of all pieces together.
"""

from __future__ import annotations

import numpy as np

from ..cores.loops import loops
from .compiled import absorb
from .compiled_counted import conclude, weigh
from .compiled_counted_rows import LEVELS, ROOM
from .compiled_groups import OBSERVED, SIZE, SQUARES, learning
from .compiled_steps import completed

GO_ON, HAND_BACK = 0, -1
"""What there is to do after a row, beside LEVELS and ROOM: the next round, or the row once more by NumPy."""


@loops
def equations_of(sums, n, n_missing, matrices, room, line):  # type: ignore[no-untyped-def]
    """C_ΩᵀC_Ω and C_Ωᵀy_Ω of a row into room[0] and line[0], from all sums; False where digits are lost."""
    q = len(line[0])
    room[0] = sums[:q, :q]
    line[0] = sums[q, :q]
    return completed(room[0], matrices[0], n_missing, n_missing < n)


@loops
def next_row(sums, n, n_missing, s, matrices, xbar, numbers, rules, room, line, innovation, share):  # type: ignore[no-untyped-def]
    """Row s through the filter, but for C, which moves with the next round; False with nothing changed."""
    if not equations_of(sums, n, n_missing, matrices, room, line):
        return False
    ee, part = absorb(n, sums[len(line[0]), len(line[0])], matrices, xbar, numbers, rules, room, line)
    innovation[s], share[s] = max(ee, 0.0), part
    return ee >= 0.0


@loops
def next_counted_row(  # type: ignore[no-untyped-def]
    C,
    Y,
    sums,
    before,
    after,
    looks,
    kept,
    alone,
    heard,
    own,
    matrices,
    xbar,
    numbers,
    rules,
    room,
    line,
    innovation,
    n_observed,
    share,
):
    """Learn from row ``before`` of Y, by which the last round has moved C; then find what row ``after`` asks for.

    −1 stands for no such row. ``looks`` says whether it is time to look if groups are up to date, whether they are not
    at any rate, and whether to look who wants room. ``kept`` is what ``compiled_counted.weigh`` returned. ``alone`` are
    the features of their own, in the order of their groups; ``heard`` says which of these groups row ``after`` has.

    Returns GO_ON, or why not: LEVELS, ROOM, or HAND_BACK, with nothing changed by row ``after``.
    """
    q, m, (time, renumber, ask) = C.shape[1], C.shape[0], looks
    if before >= 0:
        innovation[before] = conclude_row(
            sums, n_observed[before], kept, own, matrices, xbar, numbers, rules, room, line
        )
        if time and (renumber or sums[q + 1, 1] > 0.0):
            return LEVELS
    if after < 0:
        return GO_ON
    if time and ask and sums[q + 1, 0] > 0.0 and (own.n_own > 0 or sums[q + 1, 0] <= own.most):
        return ROOM
    n, y, facts, n_shared = n_observed[after], Y[after], own.facts, len(sums) - q - 2
    if not equations_of(sums, n, m - n, matrices, room, line):
        return HAND_BACK
    for k in range(n_shared):
        facts[OBSERVED, k] = n if facts.shape[1] == 1 else facts[SIZE, k] - sums[q + 2 + k, q + 1]
    seen, values, n_listed = np.empty(len(alone), np.intp), np.empty(len(alone)), 0
    for i in range(len(alone)):
        facts[OBSERVED, n_shared + i] = heard[n_shared + i]
        seen[n_listed], values[n_listed] = alone[i], y[alone[i]]
        n_listed += heard[n_shared + i] > 0.0
    n_active = learning(facts, own.active)
    kept[0], kept[1], kept[2], doubt = weigh(
        C,
        seen,
        values,
        n_listed,
        n,
        n_active,
        matrices,
        xbar,
        numbers,
        rules,
        own.group,
        facts,
        own.active,
        own.covariances,
        own.lines,
        room,
        line,
    )
    share[after] = doubt / (numbers[0] + doubt)
    return GO_ON if kept[0] >= 0.0 else HAND_BACK


@loops
def conclude_row(sums, n, kept, own, matrices, xbar, numbers, rules, room, line):  # type: ignore[no-untyped-def]
    """``compiled_counted.conclude`` for a row of n observed features, given the sums of the round that moved C."""
    facts, lines, q = own.facts, own.lines, len(line[0])
    if facts.shape[1] == 1:
        lines[2, 0] = line[1]
        facts[SQUARES, 0] = sums[q + 2, q]
    else:
        for k in range(len(sums) - q - 2):
            lines[2, k] = sums[q + 2 + k, :q]
            facts[SQUARES, k] = sums[q + 2 + k, q]
    return conclude(
        n,
        learning(facts, own.active),
        kept[0],
        kept[1],
        kept[2],
        matrices,
        xbar,
        numbers,
        rules,
        facts,
        own.active,
        own.covariances,
        lines,
        room,
        line,
    )
