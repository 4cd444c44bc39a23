"""Compiled loops for the filter with one covariance per feature: the steps of what ``counted_rows`` does with a row.

The groups are as they are; ``compiled_counted_rows`` takes row after row. The arguments are those of
``compiled_steps``, and the fields of ``compiled_groups.Grouped``, which is taken apart once per call: to hand the tuple
on takes longer than the work. ``numbers`` ends in the weighted number of samples, and what the last sample left of all
counts and counted itself. ``active`` are the numbers of the ``n_active`` groups that learn from a sample: group 0, all
levels, and features of their own that were observed.
"""

from __future__ import annotations

from math import sqrt

from ..cores.loops import inlined, loops
from .compiled_groups import DOUBT, OBSERVED, SHARE, SQUARES, TRUST, TRUST_POWER, drifted, median_doubt
from .compiled_steps import EPS, coefficients, learn_prior, sample_weight
from .loops import dot


@inlined
def trust(facts, active, n_active, V, n, lam, T, xbar):  # type: ignore[no-untyped-def]
    """What a value of each group counts in the search for x, as in ``counted.trust``; whether all are 1."""
    r, any_own = len(xbar), False
    for a in range(n_active):
        facts[TRUST, active[a]] = 1.0
        any_own |= facts[SHARE, active[a]] == 0.0
    if not any_own:
        return True
    with_mean = V.shape[1] > r
    for a in range(n_active):
        k = active[a]
        total = V[k, r, r] if with_mean else 0.0
        for i in range(r):
            for j in range(r):
                total += V[k, i, j] * (T[i, j] + xbar[i] * xbar[j])
            if with_mean:
                total += 2.0 * V[k, i, r] * xbar[i]
        facts[DOUBT, k] = total
    middle, alike = median_doubt(facts, active, n_active, n), True
    for a in range(n_active):
        k = active[a]
        if facts[SHARE, k] == 0.0 and facts[DOUBT, k] > middle:
            facts[TRUST, k] = ((lam + middle) / (lam + facts[DOUBT, k])) ** TRUST_POWER
            alike = False
    return alike


@loops
def doubted(C, seen, y, n, group, facts, active, n_active, V, alike, G, b, D):  # type: ignore[no-untyped-def]
    """G ← G + D and b ← b − Σ (1 − w_i) c_i y_i over the observed features, D = Σ w_i V_i − Σ (1 − w_i) c_i c_iᵀ."""
    q = len(G)
    D[:] = 0.0
    for a in range(n_active):
        k = active[a]
        heard = facts[OBSERVED, k] * facts[TRUST, k]
        if heard > 0.0:
            for i in range(q):
                for j in range(q):
                    D[i, j] += heard * V[k, i, j]
    for s in range(0 if alike else n):
        c, less = seen[s], 1.0 - facts[TRUST, group[seen[s]]]
        if less > 0.0:
            for i in range(q):
                b[i] -= less * y[s] * C[c, i]
                for j in range(q):
                    D[i, j] -= less * C[c, i] * C[c, j]
    for i in range(q):
        for j in range(q):
            G[i, j] += D[i, j]


@inlined
def find_gains(facts, active, n_active, roots, V, lines, z, lam, fitted, n):  # type: ignore[no-untyped-def]
    """The gains of the groups that learn from a sample; λ_k and the median doubt (``counted.step_of``)."""
    q = len(z)
    for a in range(n_active):
        k, total = active[a], 0.0
        for i in range(q):
            f = g = 0.0
            for j in range(q):
                f += roots[k, i, j] * z[j]
                g += V[k, i, j] * z[j]
            lines[0, k, i], lines[1, k, i] = f, g
            total += f * f
        facts[DOUBT, k] = total
    doubt = median_doubt(facts, active, n_active, n)
    lam_k = lam * (1.0 + fitted / n) + doubt  # ``state.sample_noise``
    for a in range(n_active):
        k = active[a]
        scale = 1.0 / (lam_k + facts[DOUBT, k])
        for j in range(q):
            lines[1, k, j] *= scale
    return lam_k, doubt


@loops
def move_all(C, seen, y, n, z, g):  # type: ignore[no-untyped-def]
    """Moves the observed features, all of one group: c_i ← c_i + e_i g. Returns Σ e_i²."""
    q, ee = len(z), 0.0
    for i in range(n):
        row = C[seen[i]]
        e = y[i] - dot(row, z, q)
        ee += e * e
        for j in range(q):
            row[j] += e * g[j]
    return ee


@loops
def move_each(C, seen, y, n, z, facts, lines, group):  # type: ignore[no-untyped-def]
    """The same where they are in several, Σ e_i² and Σ c_i e_i by group. Views of rows would take longer here."""
    q = len(z)
    for i in range(n):
        c, k, e = seen[i], group[seen[i]], y[i]
        for j in range(q):
            e -= C[c, j] * z[j]
        facts[SQUARES, k] += e * e
        for j in range(q):
            lines[2, k, j] += e * C[c, j]
            C[c, j] += e * lines[1, k, j]


@loops
def move(C, seen, y, n, z, h, group, facts, active, n_active, lines):  # type: ignore[no-untyped-def]
    """C after the sample; Σ e_i² and Σ c_i e_i by group, which is h where all observed features are in one."""
    q, only = len(z), -1
    for a in range(n_active):
        k = active[a]
        facts[SQUARES, k] = 0.0
        only = k if facts[OBSERVED, k] == n else only
        for j in range(q):
            lines[2, k, j] = 0.0
    if only >= 0:
        facts[SQUARES, only] = move_all(C, seen, y, n, z, lines[1, only])
        for j in range(q):
            lines[2, only, j] = h[j]
    else:
        move_each(C, seen, y, n, z, facts, lines, group)


@inlined
def move_gram(G, facts, active, n_active, lines):  # type: ignore[no-untyped-def]
    """G = CᵀC after the sample (``counted_rows.moved``)."""
    q = len(G)
    for a in range(n_active):
        k = active[a]
        if facts[OBSERVED, k] > 0.0:
            half = 0.5 * facts[SQUARES, k]
            for j in range(q):
                lines[2, k, j] += half * lines[1, k, j]
            for i in range(q):
                for j in range(q):
                    G[i, j] += lines[2, k, i] * lines[1, k, j] + lines[1, k, i] * lines[2, k, j]


@inlined
def condition(facts, active, n_active, roots, V, lines, lam):  # type: ignore[no-untyped-def]
    """The groups' covariances after the sample (``counted.condition``); λ_k is ``lam``."""
    q = V.shape[1]
    for a in range(n_active):
        k = active[a]
        share = facts[SHARE, k] if facts[SHARE, k] > 0.0 else 1.0
        s, whole = lam + share * facts[DOUBT, k], lam + facts[DOUBT, k]
        part, square = share * whole / (s + sqrt(lam) * sqrt(s)), share * whole * whole / s
        for i in range(q):
            of_f, of_g = part * lines[0, k, i], square * lines[1, k, i]
            for j in range(q):
                roots[k, i, j] -= of_f * lines[1, k, j]
                V[k, i, j] -= of_g * lines[1, k, j]


@inlined
def weigh(  # type: ignore[no-untyped-def]
    C,
    seen,
    y,
    n_listed,
    n,
    n_active,
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
):
    """What the sample asks of the groups, before C moves: z, Σ c_i e_i over all features, and the groups' gains.

    Its normal equations are in room[0] and line[0]. Among its n features, the ``n_listed`` that are ``seen``, with the
    values y, are at least all of their own. Returns the degrees of freedom that x took, or −1 with nothing changed; σ²
    where x came from the prior, or 0; λ_k; and the median doubt.
    """
    q, G, D, b, h, z = C.shape[1], room[0], room[5], line[0], line[1], line[2]
    lam = numbers[0]
    sigma2 = max(numbers[1] / numbers[2], EPS * lam)
    for i in range(q):
        h[i] = b[i]
    left, at = 1.0, 2 if rules.drifts else 0
    roots, V = covariances[at], covariances[at + 1]
    if rules.drifts:
        left = drifted(facts, covariances, n, matrices, lam, sigma2, rules.r, room)
        if left < 0.0:
            return -1.0, 0.0, 0.0, 0.0
    alike = trust(facts, active, n_active, V, n, lam, matrices[2], xbar)
    doubted(C, seen, y, n_listed, group, facts, active, n_active, V, alike, G, b, D)
    fitted, prior_noise = coefficients(n, matrices, xbar, sigma2, rules, room, line)
    if fitted < 0.0:
        return -1.0, 0.0, 0.0, 0.0
    for i in range(q):
        for j in range(q):
            h[i] -= (G[i, j] - D[i, j]) * z[j]
    lam_k, doubt = find_gains(facts, active, n_active, roots, V, lines, z, lam, fitted, n)
    numbers[5], numbers[6] = left, lam / lam_k
    numbers[4] = left * numbers[4] + numbers[6]
    return fitted, prior_noise, lam_k, doubt


@inlined
def conclude(  # type: ignore[no-untyped-def]
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
):
    """What is learned from a sample once C has moved, given what :func:`weigh` returned; ‖e‖²."""
    q, at = len(line[0]), 2 if rules.drifts else 0
    move_gram(matrices[0], facts, active, n_active, lines)
    condition(facts, active, n_active, covariances[at], covariances[at + 1], lines, lam_k)
    if rules.drifts:
        covariances[:2] = covariances[2:]
    ee = learn(facts, active, n_active, n, fitted, numbers, rules)
    if rules.learn_prior:
        learn_prior(line[2], line[4], matrices[2], xbar, sample_weight(numbers[3]), q > rules.r, prior_noise, room)
    numbers[3] += 1.0
    return ee


@inlined
def learn(facts, active, n_active, n, fitted, numbers, rules):  # type: ignore[no-untyped-def]
    """The noise, as in ``counted.learned``; ‖e‖²."""
    ee, from_noise, known, lam = 0.0, 0.0, 0.0, numbers[0]
    for a in range(n_active):
        k = active[a]
        part = 1.0 + facts[DOUBT, k] / lam
        ee += facts[SQUARES, k]
        from_noise += facts[SQUARES, k] / (part * part * part)  # ``state.noise_information`` is the square
        known += facts[OBSERVED, k] / (part * part)
    free = (1.0 - fitted / n) * known
    if rules.learn_noise and free > 0.0:
        weight = sample_weight(numbers[3])
        numbers[1] += weight * (from_noise - numbers[1])
        numbers[2] += weight * (free - numbers[2])
    if rules.track_noise:
        numbers[0] = max(numbers[1] / numbers[2], EPS * lam)
    return ee
