"""Categories among the columns of a model: what is predicted of their zeros and ones becomes probabilities."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from ..arrays import beside, to_host
from ..core.linalg import Array
from ..core.place import Tall
from ..core.tables.categories import CategoryLink, drawn_classes, enough_of_them, learn_link, least_probability, sets
from ..core.variational.conformal import borrowed_gaps
from ._columns import first_rows_and_rare
from ._mixed.kinds import IN_A_SET

HIDDEN_SHARE = 0.15
"""Share of the observed entries that is hidden in the shape of other rows' gaps. Not tuned: as large as in other
fits."""

MOST_ROWS = 2000
"""Rows, drawn at random, that corrections, and how predictions become probabilities, are learned from; rare columns add
a few. Not tuned: what else a fit needs grows with the rows."""

SHORT = 500
"""Rows up to which a table is fitted a second time for this, without what is hidden. Not tuned: takes little time."""

LEAST_VARIANCE = 1e-12
"""Of a prediction, in standardised columns. Derived: far above rounding."""


class CategoryColumns(NamedTuple):
    """Columns of a model, of which some are the classes of categories.

    In every answer these hold numbers of the classes: probabilities where gaps are filled; in both bounds the same, but
    zero for classes that are not in the set; one for a class that is drawn.
    """

    model: Any  # of the columns, see ``ColumnsModel``
    links: tuple[CategoryLink, ...]
    calibrated: bool

    def fill(self, X: Tall) -> Tall:
        """X with its gaps filled in."""
        return self._with_probabilities(X, self.model.fill(X))

    def predict(self, X: Tall) -> tuple[Tall, Tall]:
        """The same, and the variance of every filled entry; zero where observed."""
        mean, variance = self.model.predict(X)
        return self._with_probabilities(X, mean), variance

    def bounds(self, X: Tall, level: float) -> tuple[Tall, Tall, Tall]:
        """What ``fill`` returns, and bounds that hold an entry with probability ``level``, and sets; X where
        observed."""
        predicted, lower, upper = (np.array(to_host(part)) for part in self.model.bounds(X, level))
        every = np.sort(np.concatenate([link.scores for link in self.links]))
        for link, rows, P in self._gaps(X, predicted):
            if self.calibrated:
                inside = sets(P, least_probability(link.scores, every, level))
            else:
                inside = enough_of_them(P, level)
            found = link.standardised(np.where(inside, np.maximum(P, IN_A_SET), 0.0))
            if P.shape[1] == 2:  # one column: the set without the other class is at its end
                alone = inside.sum(axis=1, keepdims=True) == 1
                found = np.where(alone, link.standardised(inside.astype(np.float64)), found)
            lower[np.ix_(rows, link.columns)] = upper[np.ix_(rows, link.columns)] = found
        return self._with_probabilities(X, predicted), beside(lower, X), beside(upper, X)

    def draw(self, X: Tall, n_draws: int, rng: np.random.Generator) -> Tall:
        """Joint draws of the gaps (n_draws × n × m).

        How far the model's draw of a class's column is from its prediction tells whether this class is drawn: so
        categories move with numbers and with each other, and have their probabilities.
        """
        out = np.array(to_host(self.model.draw(X, n_draws, rng)))
        mean, variance = (to_host(part) for part in self.model.predict(X))
        for link, rows, P in self._gaps(X, mean):
            some = (rows[:, None], link.columns)
            away = (out[:, *some] - mean[some]) / np.sqrt(np.maximum(variance[some], LEAST_VARIANCE))
            chosen = drawn_classes(P, ndtr(away))
            out[:, *some] = link.standardised(np.eye(P.shape[1])[chosen])
        return beside(out, X)

    def _with_probabilities(self, X: Tall, predicted: Tall) -> Tall:
        out = np.array(to_host(predicted))
        for link, rows, P in self._gaps(X, out.copy()):
            out[np.ix_(rows, link.columns)] = link.standardised(P)
        return beside(out, X)

    def _gaps(self, X: Tall, predicted: Array) -> Iterator[tuple[CategoryLink, Array, Array]]:
        """Every category with the rows in which it is missing, and the probabilities of its classes there."""
        gaps = np.isnan(to_host(X))
        for link in self.links:
            rows = np.flatnonzero(gaps[:, link.columns[0]])
            if rows.size:
                yield link, rows, link.probabilities(predicted[np.ix_(rows, link.columns)])


class Group(NamedTuple):
    """The columns of one category among the standardised ones."""

    columns: Array
    centre: Array
    unit: Array

    def classes(self, Z: Array) -> Array:
        """The class of every row (n,) of standardised columns Z (n, columns) without gaps."""
        ones = Z * self.unit + self.centre
        found: Array = (ones[:, 0] > 0.5).astype(np.int64) if len(self.columns) == 1 else ones.argmax(axis=1)
        return found

    def link(self, X: Array, Z: Array, rows: Array) -> CategoryLink:
        """Learn from predictions Z (rows, columns) of entries that were left out, and the rows X (n, m) themselves."""
        all_rows = np.flatnonzero(~np.isnan(X[:, self.columns[0]]))
        K = max(len(self.columns), 2)
        shares = np.bincount(self.classes(X[np.ix_(all_rows, self.columns)]), minlength=K) / len(all_rows)
        classes = self.classes(X[np.ix_(rows, self.columns)])
        return learn_link(self.columns, self.centre, self.unit, shares, Z, classes)


def groups_among(columns: list[Array], varies: Array, statistics: Array, scale: Array) -> tuple[Group, ...]:
    """Categories, by their columns among all, as groups of the standardised columns: those that vary."""
    number = np.cumsum(varies) - 1
    return tuple(Group(number[some], statistics[some], scale[some]) for some in columns)


def links_by_hiding(
    model: Any, X: Tall, groups: tuple[Group, ...], seed: int, fit: Callable[[Tall], Any]
) -> tuple[CategoryLink, ...]:
    """Learn how predictions become probabilities where the model is one factorisation of X.

    Entries are hidden in the shape of other rows' gaps, and the model is asked about them. It was fitted to them too:
    in a long table each has moved it little. Of a short one ``fit`` learns another model, without them.
    """
    rng = np.random.default_rng(seed)
    there, X, order = X, np.array(to_host(X)), rng.permutation(X.shape[0])
    X = X[first_rows_and_rare(X, order, MOST_ROWS)]
    seen = ~np.isnan(X)
    hidden = hidden_together(seen, groups, HIDDEN_SHARE, rng)
    asked = beside(np.where(hidden, np.nan, X), there)
    predicted = to_host((fit(asked) if len(X) <= SHORT else model).fill(asked))
    return tuple(
        group.link(X, predicted[np.ix_(rows, group.columns)], rows)
        for group, rows in ((group, np.flatnonzero(hidden[:, group.columns[0]])) for group in groups)
    )


def hidden_together(seen: Array, groups: tuple[Group, ...], share: float, rng: np.random.Generator) -> Array:
    """Entries to hide in the shape of other rows' gaps (n, m), the columns of a category all or none."""
    units, number = units_of(seen.shape[1], groups)
    hidden: Array = borrowed_gaps(seen[:, units], share, rng)[:, number]
    return hidden


def units_of(m: int, groups: tuple[Group, ...]) -> tuple[Array, Array]:
    """Of m columns those that are missing on their own: all numbers, and the first column of each category. And which
    of these every column goes with (m,)."""
    first = np.arange(m)
    for group in groups:
        first[group.columns] = group.columns[0]
    units, number = np.unique(first, return_inverse=True)
    return units, number
