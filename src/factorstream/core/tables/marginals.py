"""From values to scores and back: one increasing, piecewise linear map for every column.

A column of a table may be skewed, bounded or heavy-tailed. Its *scores* are what a normal variable would be in its
place: the value with the share u of the others below it has the score Φ⁻¹(u) (a Gaussian copula). A column that is
taken as it is has itself for its scores.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from ..linalg import Array

MOST_KNOTS = 1000
"""Knots of one map at most, at equal distances of their scores. Derived: those of a million values are within 5 of the
mean, so that neighbours are a hundredth of a standard deviation apart."""

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(9)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
"""Nodes for means over a normal law. Not tuned: fills of the real tables move by less than 0.1% between 7 and 15."""

TAIL = 0.1
"""Share of the knots whose slope the map has beyond them. Not tuned: a round number."""


LEAST_KNOTS = 10
"""Knots from which on a map has ends that can be told without the last of them. Not tuned: a round number."""


class Marginals(NamedTuple):
    """The maps of all columns, one after another."""

    values: Array  # knots, increasing in every column
    scores: Array  # theirs, increasing
    starts: Array  # (m + 1,) where a column's knots begin
    straight: bool  # scores are the values

    def knots(self, j: int) -> tuple[Array, Array]:
        """Values and scores of the knots of one column."""
        some = slice(int(self.starts[j]), int(self.starts[j + 1]))
        return self.values[some], self.scores[some]

    def score(self, j: int, x: Array) -> Array:
        """Scores of values of column j; NaN stays NaN."""
        value, score = self.knots(j)
        if self.straight:
            return x
        return np.where(np.isnan(x), np.nan, np.interp(x, value, score))

    def score_left_out(self, j: int, x: Array) -> Array:
        """Scores of values that were seen, as if each had not been: the least and the greatest lie beyond all others.

        These have the score at which the map of the others arrives when it goes on as ``value`` does.
        """
        found = self.score(j, x)
        value, score = self.knots(j)
        last = len(value) - 1
        if self.straight or last < LEAST_KNOTS:
            return found
        n = max(1, round(TAIL * last))
        for end, next_to_it, inner in ((0, 1, 1 + n), (last, last - 1, last - 1 - n)):
            at = np.flatnonzero(x == value[end])
            if at.size == 1:
                slope = (value[inner] - value[next_to_it]) / (score[inner] - score[next_to_it])
                found[at] = score[next_to_it] + (value[end] - value[next_to_it]) / slope
        return found

    def value(self, j: int, z: Array) -> Array:
        """Values with these scores. Beyond the knots the map goes on: a new value may lie beyond all that were seen."""
        if self.straight:
            return z
        value, score = self.knots(j)
        last = len(value) - 1
        n = max(1, round(TAIL * last))
        low = (value[n] - value[0]) / (score[n] - score[0])
        high = (value[last] - value[last - n]) / (score[last] - score[last - n])
        inside: Array = np.interp(z, score, value)
        inside += low * np.minimum(z - score[0], 0.0) + high * np.maximum(z - score[last], 0.0)
        return inside

    def mean(self, j: int, z: Array, std: Array) -> Array:
        """Mean of the values whose scores have the law N(z, std²); how far it is from the median is told within the
        knots."""
        if self.straight:
            return z
        value, score = self.knots(j)
        at: Array = np.array([np.interp(z + std * node, score, value) for node in NODES])
        away: Array = np.einsum("k,kn->n", WEIGHTS, at)  # in one order for every entry, whatever their number
        return self.value(j, z) + away - np.interp(z, score, value)

    def std(self, j: int, z: Array, std: Array) -> Array:
        """Standard deviation of the values whose scores have the law N(z, std²)."""
        at = np.array([self.value(j, z + std * node) for node in NODES])
        mean = np.einsum("k,kn->n", WEIGHTS, at)
        square: Array = np.einsum("k,kn->n", WEIGHTS, (at - mean) ** 2)
        return np.sqrt(square)


def normal_marginals(X: Array) -> Marginals:
    """Normal scores of every column of X (n, m), each of which has at least two different values; NaN where missing.

    Of n values the k-th different one, with b values below it and c equal ones, has the score Φ⁻¹((b + c/2) / n), up
    to the same shift and scale for all of a column.
    """
    return _joined([_normal_knots(column[~np.isnan(column)]) for column in X.T], straight=False)


def straight_marginals(m: int) -> Marginals:
    """Columns as they are: a score is the value."""
    return _joined([(np.array([0.0, 1.0]), np.array([0.0, 1.0]))] * m, straight=True)


def _normal_knots(x: Array) -> tuple[Array, Array]:
    """Different values and their scores, which are moved and scaled to the mean 0 and the variance 1 of all."""
    value, below, count = np.unique(np.sort(x), return_index=True, return_counts=True)
    score = ndtri((below + 0.5 * count) / len(x))
    score -= np.average(score, weights=count)
    score /= np.sqrt(np.average(score**2, weights=count))
    if len(value) > MOST_KNOTS:
        some = np.unique(np.searchsorted(score, np.linspace(score[0], score[-1], MOST_KNOTS)))
        value, score = value[some], score[some]
    return value, score


def _joined(knots: list[tuple[Array, Array]], straight: bool) -> Marginals:
    starts = np.cumsum([0, *(len(value) for value, _ in knots)])
    values, scores = (np.concatenate([pair[k] for pair in knots]).astype(np.float64) for k in (0, 1))
    return Marginals(values, scores, starts, straight)
