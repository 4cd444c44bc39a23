"""Gaps that come together, and rows as they would be if one of their entries were missing as it is in other rows.

An entry that is left out alone has its neighbours to be told by. Where a column tends to be missing together with
others, a real gap has not. So an entry is then left out together with those that another row misses beside it.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import gammaincc

from ..linalg import Array

BY_CHANCE = 1e-3
"""Gaps come together if columns that are missing independently of each other would look as much alike with less than
this probability. Not tuned: a usual level for many looks at many tables."""

MATCHED = 50
"""Rows at a time that donors are divided among. Not tuned: with more, rows lose little less, and the time for the
division grows with its square."""


def come_together(seen: Array) -> bool:
    """Whether columns are missing together more, or less, often than by chance, by the entries that are seen (n, m).

    Chance puts the gaps of every column in a random order of the n > 3 rows. The squared correlation r² of two columns
    has then the mean 1 / (n - 1) and, with the columns' excess kurtoses g and h in Fisher's k-statistics (Pitman,
    1937),

        E r⁴ = 3 / (n² - 1) (1 + (n - 2)(n - 3) g h / (3 n (n - 1)²))

    Different pairs are not correlated, so that means and variances add up. Their sum is taken to have a gamma law with
    this mean and variance: a chi-squared law, unless gaps are so few that a single row makes r² large.
    """
    some = seen[:, ~seen.all(axis=0) & seen.any(axis=0)].astype(np.float64)
    n, m = some.shape
    if m < 2:
        return False
    Z = some - some.mean(axis=0)
    Z /= np.sqrt(np.sum(Z * Z, axis=0))
    pairs = np.triu_indices(m, 1)
    g = (n - 1) / ((n - 2) * (n - 3)) * ((n + 1) * n * np.sum(Z**4, axis=0) - 3 * (n - 1))
    fourth = 3 / (n * n - 1) * (1 + (n - 2) * (n - 3) / (3 * n * (n - 1) ** 2) * np.outer(g, g)[pairs])
    mean, variance = len(fourth) / (n - 1), np.sum(fourth - 1 / (n - 1) ** 2)
    by_chance = gammaincc(mean**2 / variance, np.sum((Z.T @ Z)[pairs] ** 2) * mean / variance)
    return bool(by_chance < BY_CHANCE)


def as_where_missing(seen: Array, j: int, rng: np.random.Generator) -> Array:
    """Entries (n, m) to be taken as missing where column j is to be told, given those that are seen (n, m).

    Every row that has an entry in column j gets the gaps of a row that has none, the donor, beside its own. Donors are
    drawn at random, then divided among the rows so that own gaps lie within the donor's as far as possible: rows are to
    have gaps like the donors', and not those of two rows. Without donors rows stay as they are. Cost n m MATCHED.
    """
    missing: Array = ~seen
    donors = np.flatnonzero(missing[:, j])
    rows = rng.permutation(np.flatnonzero(seen[:, j]))
    if not donors.size:
        return missing
    drawn = donors[rng.integers(donors.size, size=rows.size)]
    own, kept = missing.astype(np.float64), seen.astype(np.float64)
    for k in range(0, rows.size, MATCHED):
        some = slice(k, k + MATCHED)
        _, order = linear_sum_assignment(own[rows[some]] @ kept[drawn[some]].T)
        drawn[some] = drawn[some][order]
    out = missing.copy()
    out[rows] |= missing[drawn]
    return out
