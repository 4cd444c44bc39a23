"""What is small of a row with gaps whose features are divided into pieces: between two rounds of ``compiled_pieces``.

The row before has moved the features, and is concluded here; then the coefficients and gains of the next one are found.
``sums`` are those of all pieces together.
"""

from __future__ import annotations

from ..cores.loops import loops
from .compiled import absorb
from .compiled_counted import conclude, weigh
from .compiled_groups import OBSERVED, SQUARES, learning
from .compiled_steps import completed


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
def conclude_row(sums, s, n_observed, kept, own, matrices, xbar, numbers, rules, room, line, innovation):  # type: ignore[no-untyped-def]
    """Learns from row s, by which the last round has moved C."""
    facts, lines, active, q = own.facts, own.lines, own.active, len(line[0])
    n_shared = len(sums) - q - 2
    if facts.shape[1] == 1:
        lines[2, 0] = line[1]
        facts[SQUARES, 0] = sums[q + 2, q]
    else:
        for k in range(n_shared):
            lines[2, k] = sums[q + 2 + k, :q]
            facts[SQUARES, k] = sums[q + 2 + k, q]
    fitted, prior_noise, lam_k = kept[0], kept[1], kept[2]
    n_active = learning(facts, active)
    innovation[s] = conclude(
        n_observed[s],
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
        own.covariances,
        lines,
        room,
        line,
    )


@loops
def next_counted_row(  # type: ignore[no-untyped-def]
    C, y, sums, n, n_missing, s, kept, alone, heard, own, matrices, xbar, numbers, rules, room, line, share
):
    """The coefficients and the gains of row s, with the values y; False with nothing changed.

    ``alone`` are the features of their own, in the order of their groups, ``heard`` says which of them are observed.
    """
    facts, q = own.facts, C.shape[1]
    n_shared = len(sums) - q - 2
    if not equations_of(sums, n, n_missing, matrices, room, line):
        return False
    for k in range(n_shared):
        facts[OBSERVED, k] = n if facts.shape[1] == 1 else sums[q + 2 + k, q + 1]
    seen, values, n_listed = alone.copy(), y[alone], 0
    for i in range(len(alone)):
        facts[OBSERVED, n_shared + i] = heard[n_shared + i]
        seen[n_listed], values[n_listed] = alone[i], y[alone[i]]
        n_listed += heard[n_shared + i] > 0.0
    n_active = learning(facts, own.active)
    fitted, prior_noise, lam_k, doubt = weigh(
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
    kept[0], kept[1], kept[2] = fitted, prior_noise, lam_k
    share[s] = doubt / (numbers[0] + doubt)
    return fitted >= 0.0
