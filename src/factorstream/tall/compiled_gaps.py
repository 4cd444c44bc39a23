"""Blocks of rows with gaps under a fixed dictionary, compiled: the twins of functions in ``projecting_products``.

All work on the features from ``start`` to ``stop``, a few at a time, and for each few on all rows: their part of C is
then read from memory once. The dictionary's rows at the gaps are gathered, so that BLAS multiplies them. Every function
returns 1, as ``compiling.call`` wants it.
"""

from __future__ import annotations

import numpy as np

from ..cores.loops import loops

CACHED = 2**16
"""Numbers of C that all rows of a block use while they are in cache: half a megabyte, a quarter of a core's second
cache on recent processors. Speed and rounding only."""

MULTIPLIED = 128
"""Rows of C that are multiplied at once: many enough for BLAS, few enough to stay in cache. Not tuned; speed and
rounding only."""


@loops
def indices(missing, wanted, start, stop, index):  # type: ignore[no-untyped-def]
    """Into ``index`` those of the features from ``start`` to ``stop`` at which ``missing`` is as wanted; how many."""
    n = 0
    for j in range(start, stop):
        index[n] = j
        n += missing[j] == wanted
    return n


@loops
def gather(C, index, n, rows):  # type: ignore[no-untyped-def]
    """The first n rows in ``index`` of C, as far as there are columns for them."""
    for i in range(n):
        row = C[index[i]]
        for k in range(rows.shape[1]):
            rows[i, k] = row[k]


@loops
def grams(C, missing, of_missing, sums, start, stop):  # type: ignore[no-untyped-def]
    """``projecting_products.grams`` of these features, added to ``sums``."""
    q = C.shape[1]
    step = max(CACHED // q, 1)
    rows, product, index = np.empty((MULTIPLIED, q)), np.empty((q, q)), np.empty(step + 1, np.intp)
    for a in range(start, stop, step):
        for b in range(len(missing)):
            total = sums[b]
            found = indices(missing[b], of_missing[b], a, min(a + step, stop), index)
            for first in range(0, found, MULTIPLIED):
                n = min(MULTIPLIED, found - first)
                gather(C, index[first:], n, rows)
                np.dot(rows[:n].T, rows[:n], product)
                for i in range(q):
                    for k in range(q):
                        total[i, k] += product[i, k]
    return 1


@loops
def set_variances(out, missing, C, F, common, group, ratio, scale, start, stop):  # type: ignore[no-untyped-def]
    """``projecting_products.set_variances``; ``group``, ``ratio`` and ``scale`` are empty where there are none."""
    r = F.shape[1]
    step = max(CACHED // C.shape[1], 1)
    rows, product, index = np.empty((MULTIPLIED, r)), np.empty((MULTIPLIED, r)), np.empty(step + 1, np.intp)
    for a in range(start, stop, step):
        for b in range(len(missing)):
            found = indices(missing[b], True, a, min(a + step, stop), index)
            for first in range(0, found, MULTIPLIED):
                n = min(MULTIPLIED, found - first)
                gather(C, index[first:], n, rows)
                np.dot(rows[:n], F[b], product[:n])
                for i in range(n):
                    j, total = index[first + i], 0.0
                    for k in range(r):
                        total += product[i, k] * product[i, k]
                    shared = common[b, group[j] if len(group) else 0]
                    if len(ratio):
                        shared *= ratio[j]
                    out[b, j] = (shared + total) * (scale[j] if len(scale) else 1.0)
    return 1


@loops
def set_gaps(out, C, mu, X, unit, start, stop):  # type: ignore[no-untyped-def]
    """``projecting_products.set_gaps``; X (B × q) ends in zeros, and ``unit`` is empty where there is none."""
    step = max(CACHED // max(C.shape[1], len(X)), 1)
    room = np.empty((len(X), step), C.dtype)
    for a in range(start, stop, step):
        n = min(step, stop - a)
        predicted = room if n == step else np.empty((len(X), n), C.dtype)
        np.dot(X, C[a : a + n].T, predicted)
        for b in range(len(X)):
            for j in range(n):
                value, filled = out[b, a + j], predicted[b, j] + mu[a + j]
                if len(unit):
                    filled *= unit[a + j]
                out[b, a + j] = filled if value != value else value
    return 1


@loops
def without_gaps(Y, origin, block, missing, start, stop):  # type: ignore[no-untyped-def]
    """``projecting_products.block_without_gaps`` into ``block`` and ``missing``."""
    for b in range(len(Y)):
        for j in range(start, stop):
            value = Y[b, j]
            gap = value != value
            missing[b, j] = gap
            block[b, j] = 0.0 if gap else value - origin[j]
    return 1
