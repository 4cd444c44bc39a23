"""Learn what an imputer knows of a table beyond one factorisation."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..arrays import is_here
from ..core.linalg import Array, is_sparse
from ..core.place import HERE
from ..core.tables.combining import LeftOut, factors, log_sizes, share_of_second, share_of_sizes, shares
from ..core.tables.kernel_ridge import KernelBasis, joined_targets, kernel_basis
from ..core.tables.marginals import normal_marginals, straight_marginals
from ..progress import Step
from ..tall.places import place_to_start
from ..tall.rows import Rows
from ._bayesian_run import BayesianRun
from ._category_columns import MOST_ROWS, Group
from ._columns import first_rows_and_rare
from ._table_groups import learn_group
from ._table_left_out import TableToAsk
from ._table_model import ColumnModel, Correction, Reading, TableModel, features, midway, mixed, scores_of
from ._table_trees import grow

LEAST_ROWS, MOST_COLUMNS = 50, 100
"""Rows from which on, and columns up to which, a table is more than one factorisation. Not tuned: what is left out of
fewer rows says little, and the time for corrections grows with the square of the columns."""

MOST_ENCODED = 200
"""The same limit for columns of numbers where categories have several each. Not tuned: the time for the readings grows
with its third power."""

LEAST_OBSERVED = 30
"""Observed entries from which on a column gets a correction and shares of its own: fewer are told by the first reading.
Derived: the least of five folds with two leaves of three."""

MOST_PULL = 0.5
"""Share of its own prediction up to which an entry's pull is taken off. Not tuned: reached in the smallest tables
only."""

LEAST_STEADIER = 0.5
"""Share of the variance of left-out errors that noise of single trees does not account for, at least. Not tuned: not
reached in the real tables."""


class TablePlan(NamedTuple):
    """What is to be learned of a table."""

    linear: bool
    normal: bool
    correct: bool
    calibrate: bool

    @classmethod
    def of(cls, marginals: str, residual: str | None, robust: bool, calibrate: bool) -> TablePlan:
        """By the parameters of the imputer. With robust noise "auto" is the factorisation alone: outliers would
        decide."""
        normal = marginals == "normal" or (marginals == "auto" and not robust)
        return cls(marginals != "normal", normal, residual is not None and not robust, calibrate)

    def suits(self, X: Rows, groups: tuple[Group, ...] = ()) -> bool:
        """Whether rows are a table that is not too wide or too short for this, in one array."""
        n, m = X.shape
        units = m - sum(len(group.columns) - 1 for group in groups)
        wanted = (self.normal or self.correct) and n >= LEAST_ROWS and 2 <= units <= MOST_COLUMNS
        wanted = wanted and m <= MOST_ENCODED
        return wanted and not is_sparse(X) and not (is_here(X) and place_to_start(X) is not HERE)

    def learn(
        self,
        X: Array,
        fit: Callable[[Array, Step], BayesianRun],
        seed: int,
        step: Step,
        groups: tuple[Group, ...] = (),
    ) -> TableModel:
        """Fit every reading of standardised columns X (n, m), then what is beyond them; ``step`` is told from 0 to
        1. ``groups`` are columns of categories."""
        kinds = [straight_marginals(X.shape[1])] * self.linear + [normal_marginals(X)] * self.normal
        share = 1.0 / (len(kinds) + self.correct)
        readings = tuple(
            Reading(kind, fit(scores_of(kind, X), within(step, k * share, share))) for k, kind in enumerate(kinds)
        )
        step(len(kinds) * share)
        return learn_table(readings, X, correct=self.correct, calibrate=self.calibrate, seed=seed, groups=groups)


def learn_table(
    readings: tuple[Reading, ...],
    X: Array,
    *,
    correct: bool,
    calibrate: bool,
    seed: int,
    groups: tuple[Group, ...] = (),
) -> TableModel:
    """Ask the readings, fitted to X (n, m), for entries left out, and learn every column from that."""
    if len(X) > MOST_ROWS:
        X = X[first_rows_and_rare(X, np.random.default_rng(seed).permutation(len(X)), MOST_ROWS)]
    table = TableToAsk(readings, X, groups)
    categories = {int(j) for group in groups for j in group.columns}
    columns = [
        None if j in categories else _learn_column(table, X, j, correct, np.random.default_rng([seed, j]))
        for j in range(X.shape[1])
    ]
    often = np.count_nonzero(table.seen, axis=0) >= LEAST_OBSERVED
    found = []
    for group in groups:
        first = int(group.columns[0])
        rng = np.random.default_rng([seed, first])
        found.append(learn_group(table, X, group, correct and bool(often[first]), rng))
    return TableModel(readings, tuple(columns), calibrate, tuple(found))


def _learn_column(table: TableToAsk, X: Array, j: int, correct: bool, rng: np.random.Generator) -> ColumnModel:
    readings, left = table.readings, table.left_out([j], rng)
    x = X[left.rows, j]
    means = np.column_stack(
        [
            reading.marginals.mean(j, fills[:, j], np.sqrt(variance[:, 0]))
            for reading, fills, variance in zip(readings, left.fills, left.variances, strict=True)
        ]
    )
    two, enough = len(readings) > 1, len(x) >= LEAST_OBSERVED  # of the rows that were drawn
    share = share_of_second(x, means[:, 0], means[:, -1]) if two and enough else float(not two)
    law = readings[-1].marginals
    value, score, truth = mixed(means, share), left.G[:, j], law.score(j, x)
    found, noise = None, np.zeros(2)
    if correct and enough:
        error = np.column_stack([x - value, truth - score])
        found = _learn_correction(features(left.G, means), error, rng)
        more, noise = found.left_out, found.noise
        value, score = value + more[:, 0], score + more[:, 1]
    by_scores = _told_by_scores(x, value, law.value(j, score)) if two and enough else not (two or law.straight)
    which, off = (-1, law.score_left_out(j, x) - score) if by_scores else (0, x - value)
    steadier = np.sqrt(max(1.0 - noise[which] / np.mean(off**2), LEAST_STEADIER)) if off.any() else 1.0
    pull = np.minimum(left.pulls[which][:, 0], MOST_PULL)
    std = np.sqrt(left.variances[which][:, 0])
    away = steadier * off / (1.0 - pull) / std
    if found is None or not away.any():
        return ColumnModel(share, by_scores, None if found is None else found.correction, np.sort(away))
    correction, away = _with_sizes(found, away, std)
    return ColumnModel(share, by_scores, correction, np.sort(away))


def _told_by_scores(x: Array, value: Array, median: Array) -> bool:
    """Whether the median of a law in scores makes fills of left-out entries x better, in absolute errors."""
    return bool(np.mean(np.abs(x - midway(value, median))) <= np.mean(np.abs(x - value)))


class _Learned(NamedTuple):
    """A correction, and what it says of rows that it was learned without."""

    correction: Correction
    basis: KernelBasis
    left_out: Array  # (n, 2)
    noise: Array  # (2,) variances by which ``left_out`` is noisier than what all trees say together


def _learn_correction(F: Array, error: Array, rng: np.random.Generator) -> _Learned:
    """Functions of features F (n, p) for what is wrong with values and scores (n, 2)."""
    basis = kernel_basis(F, rng)
    kernel, grown = basis.fit(error), grow(F, error, rng)
    by = np.column_stack(
        [
            shares(error[:, t], LeftOut(kernel.left_out[:, t], grown.left_out[:, t], float(grown.noise[t])))
            for t in range(error.shape[1])
        ]
    )
    left_out = by[0] * kernel.left_out + by[1] * grown.left_out
    return _Learned(Correction(kernel.model, grown.forest, by), basis, left_out, by[1] ** 2 * grown.noise)


def _with_sizes(found: _Learned, away: Array, std: Array) -> tuple[Correction, Array]:
    """The correction with a function for how far off entries are, given distances (n,) of left-out ones in their
    standard deviations (n,); and these distances in the deviations that it makes of them."""
    sizes = found.basis.fit(log_sizes(away)[:, None])
    share = share_of_sizes(away, std, sizes.left_out[:, 0])
    if share == 0.0:
        return found.correction, away
    kernel = joined_targets(found.correction.kernel, sizes.model)
    return found.correction._replace(kernel=kernel, local=share), away / factors(sizes.left_out[:, 0], share)


def within(step: Step, begun: float, share: float) -> Step:
    """Tell ``step`` how far a part of the work has come: a share of the whole, after what had been done before it."""

    def tell(done: float, note: str = "") -> None:
        step(begun + share * done, note)

    return tell
