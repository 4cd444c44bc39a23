"""Learn what an imputer knows of a table beyond one factorisation."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..arrays import is_here, to_host
from ..core.linalg import Array, is_sparse
from ..core.place import HERE
from ..core.tables.combining import OWN_SCORES, LeftOut, factors, log_sizes, share_of_second, share_of_sizes, shares
from ..core.tables.kernel_ridge import KernelBasis, joined_targets, kernel_basis
from ..core.tables.marginals import normal_marginals, straight_marginals
from ..core.variational.factors import new_weights
from ..core.variational.left_out import RowsToAsk, rows_to_leave_out, without
from ..progress import Step
from ..tall.places import place_to_start
from ..tall.rows import Rows
from ._bayesian_run import BayesianRun
from ._category_columns import HIDDEN_SHARE, MOST_ROWS, Group, hidden_together, units_of
from ._observing import observe
from ._table_groups import learn_group
from ._table_model import ColumnModel, Correction, Reading, TableModel, features, midway, mixed, scores_of
from ._table_trees import grow

LEAST_ROWS, MOST_COLUMNS = 50, 100
"""Rows from which on, and columns up to which, a table is more than one factorisation. Not tuned: what is left out of
fewer rows says little, and the time for corrections grows with the square of the columns."""

MOST_ENCODED = 200
"""The same limit for columns of numbers where categories have several each. Not tuned: the time for the readings grows
with its third power."""

LEAST_OBSERVED = 30
"""Observed entries that every column has at least, and those from which on it gets a correction. Derived: the least of
five folds with two leaves of three."""

MOST_PULL = 0.5
"""Share of its own prediction up to which an entry's pull is taken off. Not tuned: reached in the smallest tables
only."""

MOST_FARTHER = 1.05
"""How many times as far off missing entries may be as those that are left out alone, and how many times as wide the law
of entries in the shape of gaps may be as that of entries at random. Where gaps come in blocks, entries left out alone
say too little about missing ones, and a factorisation that is calibrated on hidden blocks is better. Not tuned."""

SURE = 2.0
"""Standard errors by which entries must be less known in the shape of gaps. Not tuned: the usual ones."""

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
        if not wanted or is_sparse(X) or (is_here(X) and place_to_start(X) is not HERE):
            return False
        return bool(np.count_nonzero(~np.isnan(to_host(X)), axis=0).min() >= LEAST_OBSERVED)

    def learn(
        self,
        X: Array,
        fit: Callable[[Array, Step], BayesianRun],
        seed: int,
        step: Step,
        groups: tuple[Group, ...] = (),
    ) -> TableModel | None:
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
) -> TableModel | None:
    """Ask the readings, fitted to X (n, m), for entries left out, and learn every column from that.

    None where gaps are such that entries left out say too little about missing ones.
    """
    if len(X) > MOST_ROWS:
        X = X[np.sort(np.random.default_rng(seed).permutation(len(X))[:MOST_ROWS])]
    asked = [_rows(reading, X) for reading in readings]
    farther, in_blocks = _farther_in_gaps(readings[-1], asked[-1], X, np.random.default_rng([seed, X.shape[1]]), groups)
    if float(np.mean(np.where(in_blocks, farther, 1.0))) > MOST_FARTHER:
        return None
    categories = {int(j) for group in groups for j in group.columns}
    columns: list[ColumnModel | None] = []
    for j, by in enumerate(farther):
        if j in categories:
            columns.append(None)
            continue
        one = _learn_column(readings, asked, X, j, correct, np.random.default_rng([seed, j]))
        columns.append(one._replace(away=one.away * by))
    found = [
        learn_group(readings, asked, X, group, correct, np.random.default_rng([seed, int(group.columns[0])]))
        for group in groups
    ]
    return TableModel(readings, tuple(columns), calibrate, tuple(found))


def _farther_in_gaps(
    reading: Reading, rows: RowsToAsk, X: Array, rng: np.random.Generator, groups: tuple[Group, ...]
) -> tuple[Array, Array]:
    """How many times as far off entries are, in standard deviations, that are missing as those of other rows are (m,),
    and whether that is because gaps come in blocks (m,).

    An entry that is left out alone has its neighbours to be told by. Where gaps come in blocks, missing entries do not
    have them, and a model that is not quite right is then off by more than it thinks. So entries are hidden in the
    shape of other rows' gaps, and the reading is asked about them both ways. A column with few of them is like the
    others. The columns of a category are hidden and left out together.
    """
    hidden = hidden_together(~np.isnan(X), groups, HIDDEN_SHARE, rng)
    together = [group.columns.tolist() for group in groups]
    together += [[j] for j in range(X.shape[1]) if not any(j in some for some in together)]
    scores, origin = reading.scores(X), reading.run.dictionary.state.origin
    mean, variance = reading.run.dictionary.predict(np.where(hidden, np.nan, scores))
    in_blocks = _less_known_in_blocks(reading, scores, hidden, variance, groups, rng)
    square, alone = np.zeros(X.shape), np.zeros(X.shape)
    square[hidden] = (scores - mean)[hidden] ** 2 / variance[hidden]
    for J in (some for some in together if hidden[:, some[0]].any()):
        left, entries = without(rows, J), np.ix_(hidden[:, J[0]], J)
        alone[entries] = (scores[entries] - left.fills[entries] - origin[J]) ** 2 / left.variance[hidden[:, J[0]]]
    if not alone.any():
        return np.ones(X.shape[1]), in_blocks
    n, all_alike = hidden.sum(axis=0), square.sum() / alone.sum()
    own = n / (n + OWN_SCORES)
    by = own * square.sum(axis=0) / np.maximum(alone.sum(axis=0), np.finfo(float).tiny) + (1.0 - own) * all_alike
    return np.sqrt(np.maximum(by, 1.0)), in_blocks


def _less_known_in_blocks(
    reading: Reading,
    scores: Array,
    hidden: Array,
    variance: Array,
    groups: tuple[Group, ...],
    rng: np.random.Generator,
) -> Array:
    """Columns of which less is known where entries are hidden in the shape of gaps than where as many of a row are
    hidden at random (m,): by the reading's own ``variance`` of ``hidden`` entries, which has no luck in it."""
    units, number = units_of(hidden.shape[1], groups)
    at_random = scattered(hidden[:, units], ~np.isnan(scores[:, units]), rng)[:, number]
    _, other = reading.run.dictionary.predict(np.where(at_random, np.nan, scores))
    count, more, doubt = np.zeros((3, hidden.shape[1]))  # entries, how much wider their law is (log), its variance
    for j, (some, others) in enumerate(zip(hidden.T, at_random.T, strict=True)):
        if min(some.sum(), others.sum()) > 1:
            sides = [0.5 * np.log(variance[some, j]), 0.5 * np.log(other[others, j])]
            count[j], more[j] = some.sum(), sides[0].mean() - sides[1].mean()
            doubt[j] = sum(side.var(ddof=1) / len(side) for side in sides)
    weight = count / max(count.sum(), 1.0)
    in_all = float(weight @ more)
    if in_all <= SURE * np.sqrt(weight**2 @ doubt):
        return np.zeros(len(count), dtype=bool)
    own = count / (count + OWN_SCORES)
    less_known: Array = own * more + (1.0 - own) * in_all > np.log(MOST_FARTHER)
    return less_known


def scattered(hidden: Array, seen: Array, rng: np.random.Generator) -> Array:
    """As many of the entries that are seen (n, m) as are hidden in every row, at random.

    Columns of a category have to be one: one of them alone is told by the others.
    """
    order = np.argsort(np.where(seen, rng.random(seen.shape), 2.0), axis=1)
    some: Array = np.zeros(seen.shape, dtype=bool)
    np.put_along_axis(some, order, np.arange(seen.shape[1]) < hidden.sum(axis=1)[:, None], axis=1)
    return some


def _rows(reading: Reading, X: Array) -> RowsToAsk:
    """The rows of a reading, their gaps filled with what is predicted."""
    state, dictionary, scores = reading.run.dictionary.state, reading.run.dictionary, reading.scores(X)
    data = observe(scores, origin=state.origin)
    data = data._replace(W=new_weights(state.factors, data))
    rows = rows_to_leave_out(data, dictionary.coefficient_posterior(scores), state.factors, state.temper)
    return rows._replace(Y=np.where(np.isnan(scores), rows.fitted, rows.Y))


def _learn_column(
    readings: tuple[Reading, ...], asked: list[RowsToAsk], X: Array, j: int, correct: bool, rng: np.random.Generator
) -> ColumnModel:
    seen = ~np.isnan(X[:, j])
    x = X[seen, j]
    left = [without(rows, [j]) for rows in asked]
    origins = [reading.run.dictionary.state.origin for reading in readings]
    means = np.column_stack(
        [
            reading.marginals.mean(j, one.fills[seen, j] + origin[j], np.sqrt(one.variance[seen, 0]))
            for reading, one, origin in zip(readings, left, origins, strict=True)
        ]
    )
    share = share_of_second(x, means[:, 0], means[:, -1]) if len(readings) > 1 else 1.0
    G = np.where(np.isnan(X), left[-1].fills, asked[-1].Y)[seen]
    G[:, j] = left[-1].fills[seen, j]
    G = G + origins[-1]
    law = readings[-1].marginals
    value, score, truth = mixed(means, share), G[:, j], law.score(j, x)
    found, noise = None, np.zeros(2)
    if correct and len(x) >= LEAST_OBSERVED:  # of the rows that were drawn
        error = np.column_stack([x - value, truth - score])
        found = _learn_correction(features(G, means), error, rng)
        more, noise = found.left_out, found.noise
        value, score = value + more[:, 0], score + more[:, 1]
    by_scores = _told_by_scores(x, value, law.value(j, score), len(readings), law.straight)
    which, off = (-1, law.score_left_out(j, x) - score) if by_scores else (0, x - value)
    steadier = np.sqrt(max(1.0 - noise[which] / np.mean(off**2), LEAST_STEADIER)) if off.any() else 1.0
    pull = np.minimum(left[which].pull[seen, 0], MOST_PULL)
    std = np.sqrt(left[which].variance[seen, 0])
    away = steadier * off / (1.0 - pull) / std
    if found is None or not away.any():
        return ColumnModel(share, by_scores, None if found is None else found.correction, np.sort(away))
    correction, away = _with_sizes(found, away, std)
    return ColumnModel(share, by_scores, correction, np.sort(away))


def _told_by_scores(x: Array, value: Array, median: Array, n_readings: int, straight: bool) -> bool:
    """Whether the median of a law in scores makes fills of left-out entries x better, in absolute errors."""
    if n_readings == 1:
        return not straight
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
