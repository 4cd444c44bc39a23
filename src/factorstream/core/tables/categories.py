"""From predicted indicators of a category to probabilities that can be believed, and to sets.

A category with K classes is K columns of zeros and ones (one column where K = 2). What a linear model predicts of them
is nearly a probability: it can be negative, and may be too bold or too shy. With predictions q_k, at least LEAST and
scaled to the sum 1, and the shares s_k of the classes, an entry is of class k with the probability

    p_k = (1 - f) q_k^t / Σ_l q_l^t + f s_k

The sharpness t and the floor f are those under which entries that were left out are most probable. Which classes make
a set is told by the same entries: it has every class whose probability is at least that which the true classes of a
share ``level`` of them had (split conformal), and the most probable one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..linalg import Array
from .combining import OWN_SCORES

LEAST = 1e-3
"""Least prediction of a class before the sum is made 1. Not tuned: the log-likelihood of removed entries of 60 real
tables is the same to 0.3% with 0.01."""

SHARPNESSES = (0.5, 0.7, 1.0, 1.4, 2.0)
"""Values of t to choose from. Not tuned: steps of √2 around 1."""

FLOORS = (0.01, 0.03, 0.1, 0.3)
"""Values of f to choose from. Not tuned: steps of √10; never 0, for no class is impossible."""

PREFERENCE = 2.0
"""What a step of the sharpness away from 1 has to gain in log-likelihood. Not tuned: what one more parameter that is
fitted gains by chance, up to twice its deviation."""


class CategoryLink(NamedTuple):
    """How predictions of one category's columns become probabilities of its classes."""

    columns: Array  # positions of its columns
    centre: Array  # (columns) what they are centred on
    unit: Array  # (columns) what they are divided by
    shares: Array  # (K,) of the classes
    sharpness: float
    floor: float
    scores: Array  # sorted: one minus the probability of the true class, of entries left out

    def probabilities(self, Z: Array) -> Array:
        """Probabilities (n, K) for predictions Z (n, columns) of standardised columns."""
        return sharpened(indicators(Z * self.unit + self.centre), self.shares, self.sharpness, self.floor)

    def standardised(self, P: Array) -> Array:
        """Columns (…, columns) for numbers of the classes (…, K)."""
        out: Array = ((P[..., 1:] if len(self.columns) == 1 else P) - self.centre) / self.unit
        return out


def indicators(columns: Array) -> Array:
    """Numbers of all K classes (n, K) from their columns, of which two classes have one."""
    return np.column_stack([1.0 - columns, columns]) if columns.shape[1] == 1 else columns


def sharpened(Q: Array, shares: Array, sharpness: float, floor: float) -> Array:
    """The formula above, for predictions Q (n, K)."""
    Q = np.maximum(Q, LEAST)
    Q = (Q / Q.max(axis=1, keepdims=True)) ** sharpness
    out: Array = (1.0 - floor) * Q / Q.sum(axis=1, keepdims=True) + floor * shares
    return out


def learn_link(columns: Array, centre: Array, unit: Array, shares: Array, Z: Array, classes: Array) -> CategoryLink:
    """Learn from what is predicted (n, columns) of entries left out, in standardised columns, and their classes (n,).

    Without any entry predictions are mixed half and half with the shares.
    """
    Q, rows = indicators(Z * unit + centre), np.arange(len(Z))
    best, chosen = -np.inf, (1.0, 0.5)
    for sharpness in SHARPNESSES if len(Z) else ():
        price = PREFERENCE * abs(np.log(sharpness)) / np.log(SHARPNESSES[3])
        for floor in FLOORS:
            gain = float(np.log(sharpened(Q, shares, sharpness, floor)[rows, classes]).sum()) - price
            if gain > best:
                best, chosen = gain, (sharpness, floor)
    found = sharpened(Q, shares, *chosen)[rows, classes]
    return CategoryLink(columns, centre, unit, shares, *chosen, np.sort(1.0 - found))


def sets(P: Array, least: float) -> Array:
    """Which classes are in the sets (n, K): those at least so probable, and the most probable one."""
    chosen: Array = np.minimum(least, P.max(axis=1, keepdims=True)) <= P
    return chosen


def enough_of_them(P: Array, level: float) -> Array:
    """The same without calibration: as few classes as have the probability ``level`` together."""
    order = np.argsort(-P, axis=1, kind="stable")
    before = np.cumsum(np.take_along_axis(P, order, axis=1), axis=1)
    before = np.column_stack([np.zeros(len(P)), before[:, :-1]])
    chosen = np.zeros(P.shape, dtype=bool)
    np.put_along_axis(chosen, order, before < level, axis=1)
    return chosen


def drawn_classes(P: Array, U: Array) -> Array:
    """Classes (d, n) with probabilities P (n, K) from uniform numbers U (d, n, columns) of the classes' columns.

    The most probable class is drawn where its own number is high. Where it is not, the number is uniform below that
    limit, and chooses among the others.
    """
    n, K = P.shape
    best, rows = P.argmax(axis=1), np.arange(n)
    if U.shape[2] == 1:  # two classes: the number is that of the second
        return (U[:, :, 0] > 1.0 - P[:, 1]).astype(np.int64)
    least = 1.0 - P[rows, best]
    u = U[:, rows, best]
    others = P.copy()
    others[rows, best] = 0.0
    up_to = np.cumsum(others, axis=1)
    among = np.minimum((u[:, :, None] >= up_to).sum(axis=2), K - 1)
    chosen: Array = np.where(u > least, best, among)
    return chosen


def least_probability(own: Array, every: Array, level: float) -> float:
    """How probable the classes of a set are at least; ``own`` and ``every``: sorted scores of a category and of all.

    Quantiles of both are mixed by how many entries the category has.
    """
    share = len(own) / (len(own) + OWN_SCORES)
    return 1.0 - share * _quantile(own, level) - (1.0 - share) * _quantile(every, level)


def _quantile(scores: Array, level: float) -> float:
    rank = int(np.ceil((len(scores) + 1) * level))
    return float(scores[rank - 1]) if rank <= len(scores) else 1.0
