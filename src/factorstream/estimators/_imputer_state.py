"""What a fitted imputer knows: the columns' centres and scales, and the factorisation of the standardised columns."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from ..arrays import (
    as_type,
    beside,
    counted,
    device_of,
    dtype_of,
    is_here,
    namespace,
    positions,
    taken,
    to_host,
    within,
)
from ..core.absurd import Seen
from ..core.linalg import Array
from ..core.place import Place, Tall
from ..core.tables.categories import CategoryLink
from ..tall.places import place_of
from ._bayesian_run import BayesianRun
from ._category_columns import CategoryColumns
from ._html import STANDARDISED, Facts, noise_words
from ._known_errors import known_variances
from ._mixed.encoding import Encoding
from ._table_elsewhere import TableElsewhere
from ._table_model import TableModel
from ._table_stream import TableStream
from ._variational_answers import VariationalDictionary

FARTHEST = float(np.finfo(np.float64).max) ** 0.25
"""Deviations from the mean from which on a value is refused: its fourth power is no longer a number. Derived."""


LEVEL = 0.95
"""Standard deviations are infinite where intervals of this level are: the level that intervals have by default."""


class ColumnsModel(Protocol):
    """What can be asked about standardised columns X (n × m) with gaps."""

    def fill(self, X: Tall) -> Tall:
        """X with its gaps filled in."""

    def predict(self, X: Tall) -> tuple[Tall, Tall]:
        """The same, and the variance of every filled entry; zero where observed."""

    def bounds(self, X: Tall, level: float) -> tuple[Tall, Tall, Tall]:
        """What ``fill`` returns, and bounds that hold an entry with probability ``level``; X where observed."""

    def draw(self, X: Tall, n_draws: int, rng: np.random.Generator) -> Tall:
        """Joint draws of the gaps (n_draws × n × m)."""


class FactorizedColumns(NamedTuple):
    """Columns of which one factorisation says everything."""

    run: BayesianRun
    v: Array | None = None
    """Variances of the known errors of the rows that are asked about; None: without known errors."""

    @property
    def _dictionary(self) -> VariationalDictionary:
        return self.run.dictionary._replace(v=self.v)

    def fill(self, X: Tall) -> Tall:
        """X with its gaps filled in."""
        return self._dictionary.fill(X)

    def predict(self, X: Tall) -> tuple[Tall, Tall]:
        """The same, and the variance of every filled entry; zero where observed."""
        return self._dictionary.predict(X)

    def bounds(self, X: Tall, level: float) -> tuple[Tall, Tall, Tall]:
        """What ``fill`` returns, and bounds that hold an entry with probability ``level``; X where observed."""
        if not counted(namespace(X).isnan(X)):
            return X, X, X
        dictionary = self._dictionary
        width = dictionary.half_width(level)
        mean, variance = dictionary.predict(X)
        reach = beside(width, variance) * namespace(variance).sqrt(variance)
        return mean, mean - reach, mean + reach

    def draw(self, X: Tall, n_draws: int, rng: np.random.Generator) -> Tall:
        """Joint draws of the gaps (n_draws × n × m)."""
        return self._dictionary.draw(X, n_draws, rng)


class ImputerState(NamedTuple):
    """Everything that an answer depends on."""

    parameters: dict[str, Any]
    """Those of the estimator when it was fitted."""
    n_observed: Tall
    """Observed values of each feature (m)."""
    statistics: Tall
    """What a feature is centred on (m): NaN if it is dropped."""
    scale: Tall
    """Its deviation (m): 0 if it does not vary."""
    seen: Seen
    """What tells absurd values."""
    factorization: BayesianRun | None
    """Of the standardised features that vary; None where none does."""
    indicated: Array | None
    """Features that get an indicator of missing values; None without indicators."""
    limits: tuple[Array, Array] | None = None
    """What fills and bounds of each feature stay within (m); None where nothing is known of that."""
    table: TableModel | None = None
    """What is known of the features that vary beyond their factorisation; None where that is all."""
    encoding: Encoding | None = None
    """How a table with other columns than floats becomes features; None where they are its columns."""
    links: tuple[CategoryLink, ...] = ()
    """How predictions become probabilities, for each category."""
    stream: TableStream | None = None
    """What further rows go on from; None after a fit that they cannot go on from."""
    reach: tuple[Tall, Tall] | None = None
    """Of each feature what its values are taken to lie within, where others are predicted from them (m); None after a
    fit, which has seen all rows."""

    @property
    def home(self) -> Place:
        """Where rows are brought to."""
        return place_of(self.statistics)

    @property
    def varies(self) -> Tall:
        """Which features take part in the factorisation (m)."""
        return self.scale > 0

    @property
    def columns(self) -> ColumnsModel | None:
        """What is asked about the standardised features that vary; None where none does."""
        found: ColumnsModel | None = None if self.factorization is None else FactorizedColumns(self.factorization)
        if self.table is not None:
            found = self.table if is_here(self.scale) else TableElsewhere(self.table)
        if self.links and found is not None:
            return CategoryColumns(found, self.links, bool(self.parameters["calibrate"]))
        return found

    def columns_knowing(self, X: Any, values: Tall, variances: Any) -> ColumnsModel | None:
        """The same about the rows X, of which ``values`` are the features, whose known errors have these ``variances``
        (n × m, in the data's units); None: without known errors."""
        if variances is None:
            return self.columns
        if self.encoding is not None:
            self.encoding.refuse_others("variances are")
        if self.table is not None:
            raise ValueError(
                "variances can be given to an imputer that was fitted with them, or with marginals='linear' and "
                "residual=None."
            )
        v = known_variances(X, values, variances)
        if self.factorization is None:
            return self.columns
        return FactorizedColumns(self.factorization, v[:, self.varies] / self.scale[self.varies] ** 2)

    @property
    def kept(self) -> Tall:
        """Which features ``transform`` returns (m)."""
        return ~namespace(self.statistics).isnan(self.statistics)

    def facts(self) -> Facts:
        """What was learned, in words."""
        features = {"features": f"{self.scale.shape[0]:,}", "units": STANDARDISED}
        if self.encoding is not None and self.encoding.categories:
            features["categories"] = f"{len(self.encoding.categories):,} of {len(self.encoding.columns):,} columns"
        if self.stream is not None:
            features = {"rows": f"{self.stream.n_rows:,}", **features}
        if self.factorization is None:
            return {**features, "components": "none, no feature varies"}
        noise = noise_words(to_host(self.scale[self.varies]) ** 2 * to_host(self.factorization.dictionary.noise))
        facts = {**self.factorization.facts(self.scale.shape[0]), **features, "noise": noise}
        if self.table is not None and self.table.calibrated:
            facts["intervals"] = "calibrated on entries left out"
        return facts

    def standardised(self, X: Tall) -> Tall:
        """The features that vary, in units of their deviations (float64); values whose squares overflow are refused."""
        xp, varies = namespace(X), self.varies
        values = as_type(_columns(X, varies), np.float64)
        if self.reach is not None:
            low, high = self.reach
            values = xp.minimum(xp.maximum(values, low[varies]), high[varies])
        half = 0.5 * values - 0.5 * self.statistics[varies]  # a difference can overflow
        half_scale = 0.5 * self.scale[varies]
        far = xp.abs(half) / FARTHEST >= half_scale  # in this order no quotient overflows
        if bool(xp.any(far)):
            row = int(positions(xp.any(far, axis=1))[0])
            column = int(positions(varies)[positions(far[row, :])[0]])
            raise ValueError(
                f"X has {float(X[row, column]):.3g} in row {row}, column {column}, a feature whose values had a "
                f"deviation of {float(self.scale[column]):.3g} in fit; put NaN there, or fit and ask in the same units."
            )
        return half / half_scale

    def filled(self, X: Tall, standardised: Tall | None) -> Tall:
        """X in its own dtype, its gaps filled from the standardised features, constants and empty features."""
        xp, fill, most = namespace(X), self.statistics, float(np.finfo(dtype_of(X)).max)
        if standardised is not None:
            with np.errstate(over="ignore"):
                fill = fill + self._all_features(standardised * self.scale[self.varies])
        if self.limits is not None:
            low, high = (beside(limit, fill) for limit in self.limits)
            fill = xp.minimum(xp.maximum(fill, low), high)
        return _columns(xp.where(xp.isnan(X), as_type(within(fill, most), dtype_of(X)), X), self.kept)

    def deviations(self, X: Tall, variance: Tall | None) -> Tall:
        """Standard deviations of the gaps of X from the variances of the standardised features; zero where observed."""
        xp = namespace(X)
        deviation = xp.zeros(X.shape, dtype=xp.float64, device=device_of(X))
        if variance is not None:
            with np.errstate(over="ignore"):
                deviation = self._all_features(xp.sqrt(variance) * self.scale[self.varies])
        deviation = _columns(as_type(xp.where(xp.isnan(X), deviation, 0.0), dtype_of(X)), self.kept)
        return self.widened(X, deviation, LEVEL, np.inf)

    def _all_features(self, values: Tall) -> Tall:
        """Values of the features that vary (n × fewer) as values of all, with zeros for the others (n × m)."""
        xp, varies = namespace(values), self.varies
        if values.shape[1] == varies.shape[0]:
            return values
        number = xp.cumulative_sum(as_type(varies, np.int64)) - 1
        return xp.where(varies, taken(values, xp.where(varies, number, 0), axis=1), 0.0)

    def bounded(self, level: float) -> Tall:
        """Which features have finite intervals of this level (m): those that vary, and constants seen often enough.

        Of N + 1 values in random order the last is the only one that differs with probability 1 / (N + 1) at most, so
        that N equal values hold N / (N + 1), not more. One value is not equal to anything.
        """
        n = as_type(self.n_observed, np.float64)
        often = namespace(n).ceil((n + 1.0) * level) <= n
        return self.varies | (often & (n > 1))

    def widened(self, X: Tall, bound: Tall, level: float, infinity: float) -> Tall:
        """A bound as ``filled`` makes it, infinite in the gaps of features that have no finite one."""
        xp = namespace(X)
        unknown = xp.isnan(X) & ~self.bounded(level)
        return xp.where(_columns(unknown, self.kept), infinity, bound)


def _columns(X: Tall, which: Tall) -> Tall:
    """The columns of X that are marked; X itself where all are."""
    return X if bool(namespace(X).all(which)) else taken(X, positions(which), axis=1)
