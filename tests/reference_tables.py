"""Naive twins of what is learned of tables: everything is counted, or solved once more, and nothing is shared."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
from scipy.stats import gamma


def as_likely_by_chance(seen):
    """How likely it is that columns are missing together as much as here: moments by all orders of the rows."""
    columns = [x for x in seen.T.astype(float) if x.min() < x.max()]
    found, mean, variance = 0.0, 0.0, 0.0
    for x, y in combinations(columns, 2):
        squares = [np.corrcoef(x, y[list(order)])[0, 1] ** 2 for order in permutations(range(len(x)))]
        found, mean, variance = found + squares[0], mean + np.mean(squares), variance + np.var(squares)
    return gamma(mean**2 / variance, scale=variance / mean).sf(found)


def fewest_lost(seen, rows, donors):
    """Entries that are missing after the donors' gaps were divided among the rows in the best of all ways."""

    def lost(order):
        return sum(int((~seen[i] | ~seen[k]).sum()) for i, k in zip(rows, order, strict=True))

    return min(lost(order) for order in permutations(donors))


def kernel_ridge_left_out(G, y, lengths, ridges, n_folds):
    """What kernel ridge regression of y (n,) on G (n, p) says of every row: each setting is solved without the row, and
    the setting is the best one in the rows of the other folds. Last, the best setting of all rows."""
    n, p = G.shape
    settings = [(length, ridge) for length in lengths for ridge in ridges]
    said = np.empty((len(settings), n))
    for c, (length, ridge) in enumerate(settings):
        K = np.array([[np.exp(-np.sum((a - b) ** 2) / (2 * length**2 * p)) for b in G] for a in G])
        for i in range(n):
            rest = [k for k in range(n) if k != i]
            said[c, i] = K[i, rest] @ np.linalg.solve(K[np.ix_(rest, rest)] + ridge * np.eye(n - 1), y[rest])
    out = np.empty(n)
    for i in range(n):
        others = [k for k in range(n) if k % n_folds != i % n_folds]
        out[i] = said[np.argmin([np.sum((y - s)[others] ** 2) for s in said]), i]
    return out, settings[np.argmin([np.sum((y - s) ** 2) for s in said])]
