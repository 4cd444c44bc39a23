"""One row after another where every feature has its own doubt, compiled: the twin of ``counted_rows``.

What is rare stays there: a row that cannot be done here is handed back with nothing changed, and groups are chosen anew
by ``core.filter.groups``; the loops stop where that would change something. A dictionary that drifts is not known here.
The arguments are those of ``compiled_steps``; ``numbers`` has the weighted number of samples as a fifth entry.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from ..core.linalg import Array
from .compiled_steps import EPS, coefficients, learn_prior, look_at, normal_equations, sample_weight, space
from .loops import loops

LEVELS, ROOM = 1, 2
"""Why the loops stopped: levels change after the last row; features want room before the next one. 0: NumPy has to do
the next row, or there is none."""

EVERY_ROW, EVERY, TRUST_POWER = 64, 16, 4.0
"""As in ``core.filter``, once more: the cache of compiled code would miss a change (a test compares them)."""


class Grouped(NamedTuple):
    """``Groups`` as the loops need them, for K groups and group 0. The arrays change in place."""

    group: Array
    """The number of each feature's group (m)."""
    seen: Array
    """Weighted number of samples in which each feature was observed (m)."""
    unseen: Array
    """Features that have had no value yet (m, boolean)."""
    sizes: Array
    """How many features each group has (K + 1)."""
    shares: Array
    """1, the shares of the levels, and 0 for features of their own (K + 1)."""
    low: Array
    """A level is for features seen in more than this share of the samples (K + 1) …"""
    high: Array
    """… and in no more than this one; a feature of its own that is no longer young stays so up to there."""
    roots: Array
    """Sᵀ of each group (K + 1 × q × q)."""
    V: Array
    """SSᵀ of each group (K + 1 × q × q)."""
    lines: Array
    """Room for vectors of each group: Sᵀz, its gain, Σ c_i e_i (3 × K + 1 × q)."""
    sums: Array
    """Room for numbers of each group: observed features, zᵀVz or what is expected of it, Σ e_i², w (4 × K + 1)."""
    n_own: int
    """How many features have a group of their own."""
    most: int
    """How many may have one."""
    young: float
    """A feature is young that was seen in fewer samples."""


@loops
def is_time(k):  # type: ignore[no-untyped-def]
    """As in ``counted_rows`` (a test compares them)."""
    return k <= EVERY_ROW or k % EVERY == 0


@loops
def n_wanting(own, idx, n):  # type: ignore[no-untyped-def]
    """How many of the first n features in ``idx`` want a group of their own, if they miss a sample."""
    count = 0
    for i in range(n):
        j = idx[i]
        count += own.seen[j] < own.young and own.shares[own.group[j]] > 0.0 and not own.unseen[j]
    return count


@loops
def asks_for_room(own, wanting):  # type: ignore[no-untyped-def]
    """Whether ``counted_rows.with_room`` may change something for so many features."""
    return wanting > 0 and (own.n_own > 0 or wanting <= own.most)


@loops
def out_of_date(own, n):  # type: ignore[no-untyped-def]
    """Whether ``groups.releveled`` would change something after n samples."""
    seen, group, last = own.seen, own.group, 0
    for i in range(len(seen)):
        k = group[i]
        alone = own.shares[k] == 0.0
        if alone and k < last:
            return True  # features of their own are numbered in their order
        last = k if alone else last
        if seen[i] > own.high[k] * n and not (alone and seen[i] < own.young):
            return True
        if seen[i] <= own.low[k] * n:
            return True
    return len(own.sizes) > 1 and np.min(own.sizes[1:]) == 0.0  # a level that nobody is at is closed


@loops
def median_doubt(own, n):  # type: ignore[no-untyped-def]
    """``groups.weighted_median`` of zᵀVz over the n observed features."""
    sums = own.sums
    for k in range(sums.shape[1]):
        if sums[0, k] == n:
            return sums[1, k]
    below = 0.0
    for k in np.argsort(sums[1]):
        below += sums[0, k]
        if below >= 0.5 * n:
            return sums[1, k]
    return 0.0


@loops
def count(own, seen, n):  # type: ignore[no-untyped-def]
    """Observed features by group."""
    sums, group = own.sums, own.group
    for k in range(sums.shape[1]):
        sums[0, k] = own.sizes[k] if n == len(group) else 0.0
    if n < len(group):
        for i in range(n):
            sums[0, group[seen[i]]] += 1.0


@loops
def trust(own, n, lam, T, xbar):  # type: ignore[no-untyped-def]
    """What a value of each group counts in the search for x, as in ``counted.trust``; whether all are 1."""
    sums, V, r = own.sums, own.V, len(xbar)
    for k in range(sums.shape[1]):
        sums[3, k] = 1.0
    if own.n_own == 0:
        return True
    with_mean = V.shape[1] > r
    for k in range(sums.shape[1]):
        sums[1, k] = 0.0
        if sums[0, k] > 0.0:
            total = V[k, r, r] if with_mean else 0.0
            for i in range(r):
                for j in range(r):
                    total += V[k, i, j] * (T[i, j] + xbar[i] * xbar[j])
                if with_mean:
                    total += 2.0 * V[k, i, r] * xbar[i]
            sums[1, k] = total
    middle, alike = median_doubt(own, n), True
    for k in range(sums.shape[1]):
        if sums[0, k] > 0.0 and own.shares[k] == 0.0 and sums[1, k] > middle:
            sums[3, k] = ((lam + middle) / (lam + sums[1, k])) ** TRUST_POWER
            alike = False
    return alike


@loops
def doubted(own, C, seen, y, n, alike, G, b, D):  # type: ignore[no-untyped-def]
    """G ← G + D and b ← b − Σ (1 − w_i) c_i y_i over the observed features, D = Σ w_i V_i − Σ (1 − w_i) c_i c_iᵀ."""
    sums, V, q = own.sums, own.V, len(G)
    first = True
    for k in range(sums.shape[1]):
        heard = sums[0, k] * sums[3, k]
        if heard > 0.0:
            for i in range(q):
                for j in range(q):
                    D[i, j] = heard * V[k, i, j] + (0.0 if first else D[i, j])
            first = False
    for s in range(0 if alike else n):
        less = 1.0 - sums[3, own.group[seen[s]]]
        if less > 0.0:
            c = C[seen[s]]
            for i in range(q):
                b[i] -= less * y[s] * c[i]
                for j in range(q):
                    D[i, j] -= less * c[i] * c[j]
    for i in range(q):
        for j in range(q):
            G[i, j] += D[i, j]


@loops
def find_gains(own, z, lam, fitted, n):  # type: ignore[no-untyped-def]
    """The gains of the groups that learn from a sample; λ_k and the median doubt (``counted.find``)."""
    sums, shares, roots, lines, q = own.sums, own.shares, own.roots, own.lines, len(z)
    for k in range(len(shares)):
        if sums[0, k] > 0.0 or shares[k] > 0.0:
            total = 0.0
            for j in range(q):
                lines[1, k, j] = 0.0
            for i in range(q):
                f = 0.0
                for j in range(q):
                    f += roots[k, i, j] * z[j]
                lines[0, k, i] = f
                total += f * f
                for j in range(q):
                    lines[1, k, j] += f * roots[k, i, j]
            sums[1, k] = total
    doubt = median_doubt(own, n)
    lam_k = lam * (1.0 + fitted / n) + doubt  # ``state.sample_noise``
    for k in range(len(shares)):
        if sums[0, k] > 0.0 or shares[k] > 0.0:
            scale = 1.0 / (lam_k + sums[1, k])
            for j in range(q):
                lines[1, k, j] *= scale
    return lam_k, doubt


@loops
def move(C, seen, y, n, z, h, G, own):  # type: ignore[no-untyped-def]
    """C and G = CᵀC after the sample (``counted_rows.moved``), and Σ e_i² by group; h = Σ c_i e_i is used up."""
    sums, group, lines, q = own.sums, own.group, own.lines, len(z)
    largest = np.argmax(own.sizes)
    for k in range(sums.shape[1]):
        sums[2, k] = 0.0
        for j in range(q):
            lines[2, k, j] = 0.0
    for i in range(n):
        c, k, e = seen[i], group[seen[i]], y[i]
        for j in range(q):
            e -= C[c, j] * z[j]
        sums[2, k] += e * e
        if k != largest:
            for j in range(q):
                lines[2, k, j] += e * C[c, j]
        for j in range(q):
            C[c, j] += e * lines[1, k, j]
    for k in range(sums.shape[1]):
        if k != largest and sums[0, k] > 0.0:
            for j in range(q):
                h[j] -= lines[2, k, j]
    for j in range(q):
        lines[2, largest, j] = h[j]
    for k in range(sums.shape[1]):
        if sums[0, k] > 0.0:
            for j in range(q):
                lines[2, k, j] += 0.5 * sums[2, k] * lines[1, k, j]
            for i in range(q):
                for j in range(q):
                    G[i, j] += lines[2, k, i] * lines[1, k, j] + lines[1, k, i] * lines[2, k, j]


@loops
def condition(own, lam):  # type: ignore[no-untyped-def]
    """The groups' covariances after the sample (``counted.learned``); λ_k is ``lam``."""
    sums, roots, V, lines, q = own.sums, own.roots, own.V, own.lines, own.V.shape[1]
    for k in range(len(own.shares)):
        share = own.shares[k] if own.shares[k] > 0.0 else (1.0 if sums[0, k] > 0.0 else 0.0)
        if share > 0.0:
            s, whole = lam + share * sums[1, k], lam + sums[1, k]
            part, square = share * whole / (s + sqrt(lam) * sqrt(s)), share * whole * whole / s
            for i in range(q):
                of_f, of_g = part * lines[0, k, i], square * lines[1, k, i]
                for j in range(q):
                    roots[k, i, j] -= of_f * lines[1, k, j]
                    V[k, i, j] -= of_g * lines[1, k, j]


@loops
def filter_row(C, seen, y, n, missing_idx, n_missing, matrices, xbar, numbers, rules, own, room, line, tiles):  # type: ignore[no-untyped-def]
    """``CountedRows.row`` with the groups as they are; ‖e‖² and the dictionary's share, or −1 with nothing changed."""
    q, G, D, b, h, z = C.shape[1], room[0], room[5], line[0], line[1], line[2]
    if not normal_equations(C, seen, y, n, missing_idx, n_missing, matrices[0], G, b, tiles):
        return -1.0, 0.0
    lam = numbers[0]
    for i in range(q):
        h[i] = b[i]
    count(own, seen, n)
    alike = trust(own, n, lam, matrices[2], xbar)
    doubted(own, C, seen, y, n, alike, G, b, D)
    sigma2 = max(numbers[1] / numbers[2], EPS * lam)
    fitted, prior_noise = coefficients(n, matrices, xbar, sigma2, rules, room, line)
    if fitted < 0.0:
        return -1.0, 0.0
    for i in range(q):
        for j in range(q):
            h[i] -= (G[i, j] - D[i, j]) * z[j]
    lam_k, doubt = find_gains(own, z, lam, fitted, n)
    move(C, seen, y, n, z, h, matrices[0], own)
    condition(own, lam_k)

    ee, from_noise, known = 0.0, 0.0, 0.0
    for k in range(len(own.sizes)):
        if own.sums[0, k] > 0.0:
            part = 1.0 + own.sums[1, k] / lam
            ee += own.sums[2, k]
            from_noise += own.sums[2, k] / (part * part * part)  # ``state.noise_information`` is the square
            known += own.sums[0, k] / (part * part)
    free = (1.0 - fitted / n) * known
    weight = sample_weight(numbers[3])
    if rules.learn_noise and free > 0.0:
        numbers[1] += weight * (from_noise - numbers[1])
        numbers[2] += weight * (free - numbers[2])
    if rules.learn_prior:
        learn_prior(z, line[4], matrices[2], xbar, weight, q > rules.r, prior_noise, room)
    if rules.track_noise:
        numbers[0] = max(numbers[1] / numbers[2], EPS * lam)
    numbers[3] += 1.0
    numbers[4] += lam / lam_k
    counts = own.seen
    for i in range(n):
        counts[seen[i]] += lam / lam_k
    return ee, doubt / (lam + doubt)


@loops
def filter_rows(C, Y, looked, own, why, matrices, xbar, numbers, rules, innovation, n_observed, share):  # type: ignore[no-untyped-def]
    """As ``compiled.filter_rows``; ``why`` (1) says why it stopped, ``looked`` that row 0 has all the room it gets."""
    m, q = C.shape
    room, line, tiles = space(m, q)
    seen, missing_idx, y = np.empty(m, np.intp), np.empty(m, np.intp), np.empty(m)
    for s in range(len(Y)):
        n, n_missing = look_at(Y[s], seen, y, missing_idx)
        n_observed[s] = n
        if n > 0:
            look = n < m and is_time(numbers[3]) and not (looked and s == 0)
            if look and asks_for_room(own, n_wanting(own, missing_idx, n_missing)):
                why[0] = ROOM
                return s
            ee, part = filter_row(
                C, seen, y, n, missing_idx, n_missing, matrices, xbar, numbers, rules, own, room, line, tiles
            )
            if ee < 0.0:
                return s
            innovation[s], share[s] = ee, part
            if is_time(numbers[3]) and out_of_date(own, numbers[4]):
                why[0] = LEVELS
                return s + 1
    return len(Y)
