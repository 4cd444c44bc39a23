"""What readings of a table say of entries that are left out, as if they had been missing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core.linalg import Array
from ..core.tables.gaps import as_where_missing, come_together
from ..core.variational.factors import new_weights
from ..core.variational.left_out import RowsToAsk, Without, rows_to_leave_out, without
from ._category_columns import Group, units_of
from ._observing import observe
from ._table_model import Reading


class LeftOutColumn(NamedTuple):
    """What is said of a column, or of a category's columns J, in the rows that have it: k of them."""

    rows: Array  # (k,) their numbers
    fills: list[Array]  # (k, m) for every reading: the scores that the rest of a row tells
    variances: list[Array]  # (k, J) of the entries left out, noise included
    pulls: list[Array]  # (k, J) share of its own prediction that an entry has through the dictionary
    G: Array  # (k, m) scores of the last reading: as observed, and where not, or left out, as told


class TableToAsk:
    """Rows X (n, m) that readings were fitted to, ready to be asked about entries left out."""

    def __init__(self, readings: tuple[Reading, ...], X: Array, groups: tuple[Group, ...]) -> None:
        self.readings, self.seen = readings, ~np.isnan(X)
        self._scores = [reading.scores(X) for reading in readings]
        self._asked = [_asked(*pair) for pair in zip(readings, self._scores, strict=True)]
        self._units, self._number = units_of(X.shape[1], groups)
        self._together = come_together(self.seen[:, self._units])

    def left_out(self, J: list[int], rng: np.random.Generator) -> LeftOutColumn:
        """Leave the columns J out of every row that has them: alone, or with gaps of other rows where gaps come
        together."""
        rows, missing = np.flatnonzero(self.seen[:, J[0]]), ~self.seen
        if self._together and len(rows) < len(missing):
            one = int(self._number[J[0]])
            missing = as_where_missing(self.seen[:, self._units], one, rng)[:, self._number]
            left = [self._with_gaps(k, J, missing, rows) for k in range(len(self.readings))]
        else:
            left = [Without(*(part[rows] for part in without(asked, J))) for asked in self._asked]
        origins = [reading.run.dictionary.state.origin for reading in self.readings]
        fills = [one.fills + origin for one, origin in zip(left, origins, strict=True)]
        G = np.where(missing[rows], fills[-1], self._scores[-1][rows])
        G[:, J] = fills[-1][:, J]
        return LeftOutColumn(rows, fills, [one.variance for one in left], [one.pull for one in left], G)

    def _with_gaps(self, k: int, J: list[int], missing: Array, rows: Array) -> Without:
        """The same for reading k where more than J is taken as missing; pulls are those of the rows as they are."""
        dictionary, asked = self.readings[k].run.dictionary, self._asked[k]
        scores = np.where(missing, np.nan, self._scores[k])[rows]
        scores[:, J] = np.nan
        fills, variance = dictionary.predict(scores)
        own = np.einsum("nq,jqp,np->nj", asked.X[rows], asked.V[J], asked.X[rows], optimize=True)
        return Without(fills - dictionary.state.origin, variance[:, J], own / asked.s2[J])


def _asked(reading: Reading, scores: Array) -> RowsToAsk:
    dictionary = reading.run.dictionary
    state = dictionary.state
    data = observe(scores, origin=state.origin)
    data = data._replace(W=new_weights(state.factors, data))
    return rows_to_leave_out(data, dictionary.coefficient_posterior(scores), state.factors, state.temper)
