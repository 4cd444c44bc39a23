"""Several models of one sequence, weighed for every column by how they fill hidden observed entries.

A model is of the values or of their normal scores. What they say of a missing entry is mixed in the data's values: its
mean, and every quantile, is the weighted mean of theirs. Two models that err in different directions are so better
together than the better one of them, and one that is worse in a column has little weight there.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from ..linalg import Array
from .choose import MIN_Z, clearly
from .model import SequenceModel
from .scores import Scores

EQUAL_COUNT = 300.0
"""Hidden entries that speak for equal weights of all models. Not tuned: thirty hidden runs."""
COMMON_COUNT = 1000.0
"""Hidden entries of a column that count as much as the weights of all columns together. Not tuned: a hundred hidden
runs; entries of one run say the same again."""
LEAST_SHARE = 0.05
"""Mean weight below which a model is left out, as a fit costs more than it brings. Not tuned: a round number."""
LEAST_GAIN = 0.001
"""Part of the errors below which nothing is gained. Not tuned: a round number, far above rounding."""
FURTHEST = 64.0
"""Standard deviations to which the size of an error is told. Derived: no quantile is ever that far out."""
HALVINGS = 30
"""Halvings of that distance, which tell it to 1e-7. Derived."""


class Reading(NamedTuple):
    """A model of scores."""

    scores: Scores
    model: SequenceModel


class Told(NamedTuple):
    """What K readings say of n entries, in the order of their columns: a normal law of every score."""

    column: Array  # (n,)
    scores: tuple[Scores, ...]
    z: Array  # (K, n)
    std: Array  # (K, n)

    def means(self) -> Array:
        """The mean of every value (K, n)."""
        return np.array([s.mean(self.column, z, std) for s, z, std in zip(self.scores, self.z, self.std, strict=True)])

    def spreads(self) -> Array:
        """The standard deviation of every value (K, n)."""
        return np.array([s.std(self.column, z, std) for s, z, std in zip(self.scores, self.z, self.std, strict=True)])

    def at(self, sizes: Array) -> Array:
        """Values (K, n) as many standard deviations of the scores from their middle."""
        return np.array(
            [s.value(self.column, z + sizes * std) for s, z, std in zip(self.scores, self.z, self.std, strict=True)]
        )

    def mixed(self, said: Array, weights: Array) -> Array:
        """The mean (n,) of what is said (K, n), by the weights (m, K) of the columns."""
        return np.asarray(np.einsum("kn,nk->n", said, weights[self.column]))

    def sizes(self, truth: Array, weights: Array) -> Array:
        """How many standard deviations of the scores lie between the middle and the truth (n,): by halving."""
        side = np.where(truth >= self.mixed(self.at(np.zeros(len(truth))), weights), 1.0, -1.0)
        low, high = np.zeros(len(truth)), np.full(len(truth), FURTHEST)
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            beyond = side * (self.mixed(self.at(side * middle), weights) - truth) >= 0.0
            low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
        return high


def weights_of(errors: Array, column: Array, m: int) -> Array:
    """Weights (m, K), not negative and with the sum 1, under which the mixed error is least, by errors (K, n) of
    entries of these columns (n,).

    The weights of all columns together are drawn to equal ones, those of a column to these.
    """
    K, n = errors.shape
    G = errors @ errors.T
    size = np.trace(G) / K
    if size == 0.0:
        return np.full((m, K), 1.0 / K)
    common = (G + EQUAL_COUNT * size / n * np.eye(K)) / n
    weights = np.tile(_least(common), (m, 1))
    for j in np.unique(column):
        own = errors[:, column == j]
        of_it = own @ own.T
        ratio = np.trace(of_it) / own.shape[1] / np.trace(common)
        if ratio > 0.0:  # not a constant
            weights[j] = _least(of_it / ratio + COMMON_COUNT * common)
    return weights


def _least(M: Array) -> Array:
    """The w with the least wᵀM w among those with w >= 0 and the sum 1: the best of those of every support."""
    K = len(M)
    M = M / np.trace(M) + 1e-12 * np.eye(K)
    best, found = np.inf, np.full(K, 1.0 / K)
    for size in range(1, K + 1):
        for some in map(list, combinations(range(K), size)):
            w = np.linalg.solve(M[np.ix_(some, some)], np.ones(size))
            if (w >= 0.0).all() and 1.0 / w.sum() < best:
                best, found = 1.0 / float(w.sum()), np.zeros(K)
                found[some] = w / w.sum()
    return found


def worth_it(errors: Array, column: Array, run: Array, m: int) -> bool:
    """Whether errors (K, n) are clearly less mixed than those of the first reading alone.

    Every other run is judged with the weights that the rest asks for. `run`: the number of each entry's hidden run,
    those of the columns one after another (see `held_out`).
    """
    half = run // m % 2 == 0
    if half.all() or not half.any():
        return False
    mixed = np.empty(len(column))
    for judged in (half, ~half):
        weights = weights_of(errors[:, ~judged], column[~judged], m)
        mixed[judged] = np.einsum("kn,nk->n", errors[:, judged], weights[column[judged]])
    _, number = np.unique(run, return_inverse=True)
    alone, together = (np.sqrt(np.bincount(number, weights=e**2)) for e in (errors[0], mixed))
    return clearly(alone - (1.0 + LEAST_GAIN) * together, MIN_Z)


def kept(weights: Array) -> Sequence[int]:
    """The readings with weight enough (m, K); the best one at least."""
    share = weights.mean(axis=0)
    return [k for k in range(len(share)) if share[k] >= min(LEAST_SHARE, share.max())]
