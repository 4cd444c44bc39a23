"""Answers from one posterior per feature."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from math import prod
from typing import NamedTuple

import numpy as np

from ..arrays import Array, beside, copied, empty_beside, is_here, namespace, to_host, total, zeros_beside
from ..core.linalg import is_sparse, with_values
from ..core.place import Place, Tall
from ..core.variational.conformal import half_width, model_half_width, tempered
from ..core.variational.factors import new_weights, normal_variance
from ..core.variational.observed import known_weights
from ..core.variational.packed import size, unpack
from ..core.variational.posterior import BUDGET, CoefficientPosterior, Posterior, second_moment
from ..core.variational.predictive import draw_entries, log_density, predict, predict_entries, predict_variance
from ..core.variational.row_mean import known_loading
from ..cores import PASS, TINY, Tile, each_tile, limited
from ..tall.places import place_of
from ..tall.projecting_products import copied_rows
from ..tall.rows import Rows
from ._observing import observe
from ._pairs import by_row, observed_at
from ._validation import warn_caller
from ._variational import VariationalState

CHUNK, ARRAYS = 256, 6
"""Rows predicted together at least, where there are so many, and how many arrays of their size there are at once.
Memory and speed only."""


class VariationalDictionary(NamedTuple):
    """What a variational state says about rows of data."""

    state: VariationalState
    v: Array | None = None
    """Variances of the known errors of the rows that are asked about (n × m); None: without known errors."""

    @property
    def place(self) -> Place:
        """Where the features are."""
        return place_of(self.state.origin)

    @property
    def components(self) -> Array:
        """The dictionary (r × m)."""
        C = self.place.get(self.state.factors.post.C, 0)
        return (C[:, :-1] / self._loadings).T.astype(self.state.dtype)

    @property
    def _loadings(self) -> Array:
        """What components are divided by, and their coefficients multiplied by (r): a known loading is told as 1."""
        by = np.ones(self.state.factors.r)
        if self.state.factors.prior.row_mean:
            by[-1] = self.place.get(self.place.each(known_loading, self.state.factors.prior.c0), 0)[0]
        return by

    @property
    def mean(self) -> Array:
        """What is predicted of a row before any of it is seen (m)."""
        mean = self.place.each(_plus_mean, self.state.origin, self.state.factors.post.C)
        return self.place.get(mean, 0).astype(self.state.dtype)

    @property
    def noise(self) -> float | Array:
        """The noise variance: a number, or one for each feature (m) where each has its own."""
        s2 = self.place.get(normal_variance(self.state.factors, self.place), 0)
        return self.state.options.variance.reported(s2)

    @property
    def covariance(self) -> Array:
        """Covariance between the components, one matrix for each feature (m × r × r)."""
        r = self.state.factors.r
        return unpack(self.place.get(self.state.factors.post.V, 0), r + 1)[:, :r, :r]

    @property
    def coefficient_covariance(self) -> Array:
        """How the coefficients vary from row to row (r × r)."""
        return np.linalg.inv(self.state.factors.prior.K) * np.outer(self._loadings, self._loadings)

    def _limited(self, X: Rows) -> AbstractContextManager[None]:
        return limited(X.shape[0] * X.shape[1] * (self.state.factors.r + 1))

    def _chunks(self, X: Rows) -> Iterator[slice]:
        """Cut the rows into chunks that are predicted one after another, as large as memory allows."""
        n, m = X.shape
        step = max(CHUNK, BUDGET // (ARRAYS * max(m, size(self.state.factors.r + 1))))
        if not is_here(self.state.origin):
            step = max(CHUNK, self.place.room // (ARRAYS * m))
        return (slice(first, min(first + step, n)) for first in range(0, n, step))

    def _moments(self) -> Tall:
        """What the coefficients of all rows need of the dictionary."""
        return self.place.each(second_moment, self.state.factors.post, self.state.factors.s2)

    def coefficient_posterior(self, X: Rows, M: Tall | None = None, rows: slice = slice(None)) -> CoefficientPosterior:
        """Means and covariances of the coefficients of rows; M is ``_moments()``, if the caller has it.

        X are those ``rows`` of all that are asked about.
        """
        state, place = self.state, self.place
        data = observe(X, place, state.origin)
        W = new_weights(state.factors, data, place)
        if self.v is not None:
            W = known_weights(W, self.v[rows], state.factors.s2)
        least = state.factors.r + 1
        known = place.total(_count_known, state.n_observed, least)
        if (
            0 < known < data.m and not state.factors.prior.row_mean
        ):  # of the others too little is known for their values to say anything
            W = place.each(_only_known, W, state.n_observed, least)
        return tempered(data._replace(W=W), state.factors, state.temper, M, place)

    def coefficients(self, X: Rows) -> Array:
        """Coefficients of every row (n × r)."""
        out = empty_beside(X, X.shape[0], self.state.factors.r)
        with self._limited(X):
            M, by = self._moments(), beside(self._loadings, X)
            for rows in self._chunks(X):
                found = self.coefficient_posterior(X[rows, :], M, rows).X[:, :-1]
                out[rows, :] = by * (to_host(found) if is_here(X) else found)
        return out

    def fill(self, X: Array) -> Array:
        """X (n × m) with its gaps filled in."""
        return self._predict(X, want_variance=False)[0]

    def predict(self, X: Array) -> tuple[Array, Array]:
        """X with its gaps filled in, and the predictive variance of every filled entry; zero where observed."""
        return self._predict(X, want_variance=True)

    def _predict(self, X: Array, *, want_variance: bool) -> tuple[Array, Array]:
        place, post, r, here = self.place, self.state.factors.post, self.state.factors.r, is_here(X)
        with self._limited(X):
            mean, M = copied_rows(X) if here else copied(X), self._moments()
            variance = zeros_beside(X, *X.shape) if want_variance else mean
            s2 = self._noise_of_answers()
            for rows in self._chunks(X):
                coef = self.coefficient_posterior(X[rows, :], M, rows)
                found = place.each(_predicted, coef, post, self.state.origin)
                _set_gaps(mean[rows, :], X[rows, :], place.get(found, 1) if here else found)
                if want_variance:
                    spread = place.each(_spread, coef, post, r, s2)
                    _set_gaps(variance[rows, :], X[rows, :], place.get(spread, 1) if here else spread)
        return mean, variance

    def entries(self, X: Rows, rows: Array, columns: Array) -> tuple[Array, Array]:
        """Values and variances of some entries; sparse rows stay sparse."""
        state, place, post = self.state, self.place, self.state.factors.post
        here = Posterior(*(to_host(place.get(part, 0)) for part in post))
        origin, s2 = (to_host(place.get(part, 0)) for part in (state.origin, self._noise_of_answers()))
        M = self._moments()

        def ask(some: Rows, at: Array, column: Array) -> tuple[Array, Array]:
            coef = CoefficientPosterior(*(to_host(part) for part in self.coefficient_posterior(some, M)))
            mean, variance = predict_entries(coef, here, at, column, state.factors.r)
            seen, value = observed_at(some, at, column)
            return np.where(seen, value, mean + origin[column]), np.where(seen, 0.0, variance + s2[column])

        with limited(len(rows) * len(here.V[0])):
            return by_row(ask, X, rows, columns, max(CHUNK, BUDGET // size(state.factors.r + 1)))

    def _noise_of_answers(self) -> Tall:
        """Noise variances (m), infinite for features of which too little is known."""
        least = self.state.options.variance.least_known
        if not self.state.factors.prior.row_mean:  # the other features say nothing of its level
            least = max(least, 1)
        s2 = normal_variance(self.state.factors, self.place)
        return self.place.each(_unless_unknown, s2, self.state.n_observed, least)

    def half_width(self, level: float) -> Array:
        """Standard deviations on either side of the mean that an interval of this level needs (m)."""
        state, place = self.state, self.place
        freedom = place.get(state.options.variance.freedom(state.n_observed, state.spent, place), 0)
        if state.scores is None:
            self._warn_of_few_entries()
            return model_half_width(freedom, level)
        return half_width(state.scores, freedom, level)

    def _warn_of_few_entries(self) -> None:
        """Say where the model's own intervals are known to hold less than they should."""
        state, m = self.state, len(self.place.get(self.state.origin, 0))
        observed, numbers = float(self.place.total(total, state.n_observed)), m * (state.factors.r + 1)
        if observed < state.options.variance.entries_per_number * numbers:
            warn_caller(
                f"The dictionary and mean, {numbers} numbers, were learned from {observed:.0f} observed entries: "
                "intervals may hold less than they say; lower n_components, or fit more rows."
            )

    def draw(self, X: Array, n_draws: int, rng: np.random.Generator) -> Array:
        """Joint draws of the missing entries of X (n_draws × n × m)."""
        here = to_host(X)
        rows, columns = np.nonzero(np.isnan(here))
        out = np.repeat(here[None], n_draws, axis=0)
        with self._limited(X):
            factors = self.state.factors
            s2 = normal_variance(factors, self.place)
            coef = self.coefficient_posterior(X)
            drawn = draw_entries(
                rows, columns, coef, factors.post, s2, n_draws, rng, self.place, factors.prior.row_mean
            )
        out[:, rows, columns] = drawn + self.place.get(self.state.origin, 0)[columns]
        return beside(out, X)

    def log_density(self, X: Rows) -> Array:
        """Log-density of every row's observed entries (n)."""
        factors, place = self.state.factors, self.place
        with self._limited(X):
            data = observe(X, place, self.state.origin)
            found = log_density(data, factors.post, normal_variance(factors, place), factors.prior, place)
        return to_host(found) if is_here(X) else found


def _plus_mean(origin: Array, C: Array) -> Array:
    return origin + C[:, -1]


def _count_known(n_observed: Array, least: int) -> float:
    return float(namespace(n_observed).count_nonzero(n_observed > least))


def _only_known(W: Rows, n_observed: Array, least: int) -> Rows:
    xp = namespace(n_observed)
    known = xp.astype(n_observed > least, xp.float64)
    return with_values(W, W.data * known[W.indices]) if is_sparse(W) else W * known


def _unless_unknown(s2: Array, n_observed: Array, least: int) -> Array:
    """Noise variances, infinite for features of which too little is known."""
    return namespace(s2).where(n_observed < least, float("inf"), s2)


def _predicted(coef: CoefficientPosterior, post: Posterior, origin: Array) -> Array:
    return _added(predict(coef, post), origin)


def _spread(coef: CoefficientPosterior, post: Posterior, r: int, s2: Array) -> Array:
    return _added(predict_variance(coef, post, r), s2)


def _added(values: Array, row: Array) -> Array:
    """``values`` (n × m) with a row added to all of theirs, in place."""
    if prod(values.shape) < TINY:
        values += row
        return values

    def add(some: Tile) -> None:
        values[some] += row[some[1]]

    each_tile(add, values.shape, PASS * prod(values.shape))
    return values


def _set_gaps(out: Array, X: Array, values: Array) -> None:
    """Into ``out`` the ``values`` where X is missing."""
    if not is_here(X):
        xp = namespace(X)
        out[:, :] = xp.where(xp.isnan(X), xp.astype(values, out.dtype, copy=False), out)
        return
    if X.size < TINY:
        np.copyto(out, values, where=np.isnan(X), casting="same_kind")
        return

    def fill(some: Tile) -> None:
        np.copyto(out[some], values[some], where=np.isnan(X[some]), casting="same_kind")

    each_tile(fill, X.shape, 4 * PASS * X.size)
