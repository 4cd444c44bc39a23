"""What an imputer knows of a table beyond one factorisation: scores of its columns, and what nonlinear functions add.

A *reading* is a factorisation of the columns' scores: of the values as they are, or of their normal scores. Both
predict a value; how much of each is used is decided for every column by entries left out. What they leave is
corrected by a smooth function and by trees, of all other columns of the row, as far as that helps with entries left
out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from ..core.linalg import Array
from ..core.tables.combining import check_enough, factors, tails
from ..core.tables.forest import Forest, forest_values
from ..core.tables.kernel_ridge import KernelRidge, kernel_values
from ..core.tables.marginals import Marginals
from ._bayesian_run import BayesianRun
from ._table_groups import GroupModel

LEAST_ROOM = 0.05
"""Share of an interval's width that is kept between the fill and its ends: the fill is not quite the middle of the
law that bounds are taken from. Not tuned: it hardly ever matters at levels of 50% and more."""


class Reading(NamedTuple):
    """A factorisation of scores."""

    marginals: Marginals
    run: BayesianRun

    def scores(self, X: Array) -> Array:
        """Scores of values X (n, m); NaN stays NaN."""
        return scores_of(self.marginals, X)

    def predicted(self, X: Array, variance: bool) -> tuple[Array, Array]:
        """The scores of X with its gaps filled in, and their variances: NaN, if these are not wanted."""
        dictionary, scores = self.run.dictionary, self.scores(X)
        if variance:
            return dictionary.predict(scores)
        return dictionary.fill(scores), np.broadcast_to(np.nan, X.shape)


class Correction(NamedTuple):
    """What functions of the other columns add to a prediction: to the value and to its score."""

    kernel: KernelRidge  # with a third function where ``local`` is not zero: how far off entries are
    forest: Forest
    shares: Array  # (2, 2) of both
    local: float = 0.0  # share of the third function in standard deviations


class ColumnModel(NamedTuple):
    """What is known of one column."""

    share: float  # of the last reading in the prediction of a value
    by_scores: bool  # the law of an entry is told in scores of the last reading, or in values by the first
    correction: Correction | None
    away: Array  # sorted: how far the scores of left-out entries were from their predictions, in standard deviations


class Gaps(NamedTuple):
    """What is predicted of the gaps of one column."""

    column: int
    rows: Array  # those with a gap
    value: Array  # the fill
    score: Array  # predicted, in the scores of ``law``
    std: Array  # of the score
    wider: Array  # what it is multiplied by for this entry, already
    law: Marginals


class TableModel(NamedTuple):
    """Readings of standardised columns, and what is known of each of these."""

    readings: tuple[Reading, ...]
    columns: tuple[ColumnModel | None, ...]  # None for those of categories
    calibrated: bool
    groups: tuple[GroupModel, ...] = ()  # the categories

    # ---------------------------------------------------------------- answers

    def fill(self, X: Array) -> Array:
        """X (n, m) with its gaps filled in."""
        out, asked = X.copy(), self._asked(X, spread=False)
        for gaps in self._gaps(X, asked):
            out[gaps.rows, gaps.column] = gaps.value
        for group, rows, said in self._groups(X, asked):
            out[np.ix_(rows, group.link.columns)] = said
        return out

    def predict(self, X: Array) -> tuple[Array, Array]:
        """X with its gaps filled in, and the variance of every filled entry; zero where observed."""
        out, variance, asked = X.copy(), np.zeros(X.shape), self._asked(X)
        for gaps in self._gaps(X, asked):
            j, rows = gaps.column, gaps.rows
            out[rows, j] = gaps.value
            variance[rows, j] = gaps.law.std(j, gaps.score, self._spread(j) * gaps.std) ** 2
        for group, rows, said in self._groups(X, asked):
            some = np.ix_(rows, group.link.columns)
            out[some], variance[some] = said, asked[0][1][some]
        return out, variance

    def bounds(self, X: Array, level: float) -> tuple[Array, Array, Array]:
        """What ``fill`` returns, and bounds that hold an entry with probability ``level``, the fill within them.

        X where observed; gaps of categories have no bounds and stay.
        """
        filled, lower, upper, asked = X.copy(), X.copy(), X.copy(), self._asked(X)
        known = [one.away / _size(one.away) for one in self.columns if one is not None]
        every = np.sort(np.concatenate(known)) if known else np.empty(0)
        for gaps in self._gaps(X, asked):
            j, rows = gaps.column, gaps.rows
            low, high = self._tails(j, every, level)
            below, above = (gaps.law.value(j, gaps.score + tail * gaps.std) for tail in (low, high))
            room = LEAST_ROOM * (above - below)
            filled[rows, j] = gaps.value
            lower[rows, j], upper[rows, j] = np.minimum(below, gaps.value - room), np.maximum(above, gaps.value + room)
        for group, rows, said in self._groups(X, asked):
            filled[np.ix_(rows, group.link.columns)] = said
        return filled, lower, upper

    def draw(self, X: Array, n_draws: int, rng: np.random.Generator) -> Array:
        """Joint draws of the gaps of X: (n_draws, n, m). Entries move together as in the reading that tells their
        law, and those of categories half with each."""
        moved = []
        for reading in self.readings:
            scores, dictionary = reading.scores(X), reading.run.dictionary
            moved.append(dictionary.draw(scores, n_draws, np.random.default_rng(rng.integers(2**31))))
            moved[-1] -= dictionary.fill(scores)
        out, asked = np.repeat(X[None], n_draws, axis=0), self._asked(X)
        for gaps in self._gaps(X, asked):
            j, rows = gaps.column, gaps.rows
            by = moved[-1 if self._column(j).by_scores else 0][:, rows, j]
            by = self._spread(j) * gaps.wider * by
            out[:, rows, j] = gaps.law.value(j, (gaps.score + by).ravel()).reshape(by.shape)
        for group, rows, said in self._groups(X, asked):
            some = (rows[:, None], group.link.columns)
            units = [np.sqrt(variance[some]) for _, variance in asked]
            away = sum(by[:, *some] / unit for by, unit in zip(moved, units, strict=True)) / np.sqrt(len(moved))
            out[:, *some] = said + away * units[0]
        return out

    # ---------------------------------------------------------------- of one column

    def _asked(self, X: Array, *, spread: bool = True) -> list[tuple[Array, Array]]:
        """What every reading says of the scores of X (n, m), and their variances; nothing where X has no gap.

        Without ``spread``, variances may be missing where they are not needed for fills.
        """
        if not np.isnan(X).any():
            return []
        return [reading.predicted(X, spread or not reading.marginals.straight) for reading in self.readings]

    def _gaps(self, X: Array, asked: list[tuple[Array, Array]]) -> Iterator[Gaps]:
        """Predict the gaps of X (n, m), column by column, but for those of categories."""
        if not asked:
            return
        missing, scores = np.isnan(X), asked[-1][0]
        for j in map(int, np.flatnonzero(missing.any(axis=0))):
            rows, known = np.flatnonzero(missing[:, j]), self.columns[j]
            if known is None:
                continue
            means = np.column_stack(
                [
                    reading.marginals.mean(j, found[rows, j], np.sqrt(variance[rows, j]))
                    for reading, (found, variance) in zip(self.readings, asked, strict=True)
                ]
            )
            value, score, wider = self._corrected(j, scores[rows], means)
            which = -1 if known.by_scores else 0
            law, std = self.readings[which].marginals, wider * np.sqrt(asked[which][1][rows, j])
            if known.by_scores:
                value = midway(value, law.value(j, score))
            yield Gaps(j, rows, value, score if known.by_scores else value, std, wider, law)

    def _groups(self, X: Array, asked: list[tuple[Array, Array]]) -> Iterator[tuple[GroupModel, Array, Array]]:
        """Every category with gaps in X (n, m), their rows, and what is predicted of its columns there."""
        for group in self.groups if asked else ():
            rows = np.flatnonzero(np.isnan(X[:, group.link.columns[0]]))
            if rows.size:
                yield group, rows, group.predict(self.readings, [scores[rows] for scores, _ in asked])

    def _column(self, j: int) -> ColumnModel:
        known = self.columns[j]
        assert known is not None  # no column of a category
        return known

    def _corrected(self, j: int, G: Array, means: Array) -> tuple[Array, Array, Array]:
        """Value and score of column j in rows whose scores are G (n, m), given what the readings say of it, and what
        standard deviations are to be multiplied by."""
        known = self._column(j)
        value, score, as_it_is = mixed(means, known.share), G[:, j], np.ones(len(G))
        if known.correction is None:
            return value, score, as_it_is
        kernel, forest, shares, local = known.correction
        F, wider = features(G, means), as_it_is
        more = np.zeros((len(G), 2))
        if shares[0].any() or local:  # else nothing of it is used
            said = kernel_values(kernel, F)
            more += shares[0] * said[:, :2]
            wider = factors(said[:, 2], local) if local else as_it_is
        if shares[1].any():
            more += shares[1] * forest_values(forest, F)
        return value + more[:, 0], score + more[:, 1], wider

    def _tails(self, j: int, every: Array, level: float) -> tuple[float, float]:
        """How far below and above its prediction an entry may lie, in standard deviations of its score.

        ``every`` are the distances of all columns' left-out entries, sorted, those of each column in units of its own.
        """
        if not self.calibrated:
            away = self._column(j).away
            high = float(stdtrit(len(away) - 1.0, 0.5 + 0.5 * level)) * _size(away)
            return -high, high
        check_enough(len(every), level)
        return tails(self._column(j).away, every, level)

    def _spread(self, j: int) -> float:
        """What the standard deviations of a column's scores are to be multiplied by."""
        return _size(self._column(j).away)


def scores_of(marginals: Marginals, X: Array) -> Array:
    """Scores of values X (n, m); NaN stays NaN."""
    return np.column_stack([marginals.score(j, x) for j, x in enumerate(X.T)])


def mixed(means: Array, share: float) -> Array:
    """The first and the last column (n,), mixed by the share of the last."""
    return (1.0 - share) * means[:, 0] + share * means[:, -1]


def midway(mean: Array, median: Array) -> Array:
    """The fill where a law is skewed: neither squared nor absolute errors are much larger than they must be."""
    return 0.5 * (mean + median)


def features(G: Array, means: Array) -> Array:
    """What a correction is a function of: the scores of all columns, its own as predicted, and the predicted values."""
    return np.column_stack([G, means])


def _size(away: Array) -> float:
    return float(np.sqrt(np.mean(away**2)))


TABLE_TYPES = (TableModel, GroupModel, ColumnModel, Correction, KernelRidge, Forest, Reading, Marginals)
"""Every NamedTuple of a table's model. Derived."""
