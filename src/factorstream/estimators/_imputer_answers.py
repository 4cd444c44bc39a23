"""What a fitted imputer tells about itself, and can be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from ..arrays import as_type, beside, counted, dtype_of, is_here, namespace, read_only, taken, to_host
from ..core.linalg import Array
from ..core.place import Tall
from ..core.tables.categories import CategoryLink
from ..core.variational.conformal import check_level
from ._absurd import asked
from ._columns import like_table, means_nan
from ._elsewhere import beside_model, like
from ._html import Facts
from ._imputer_state import ImputerState
from ._mixed.answers import MixedAnswer, OfCategories, names_out
from ._mixed.encoding import ENCODING_TYPES, is_array
from ._stateful import Stateful
from ._table_model import TABLE_TYPES
from ._table_stream import TableStream
from ._types import MatrixLike, Seed
from ._validation import check_count, check_data, question
from .bayesian_factorization import BayesianFactorization

if TYPE_CHECKING:
    from sklearn.impute import MissingIndicator


class ImputerAnswers(TransformerMixin, Stateful):
    """Base of :class:`LowRankImputer`: its attributes and all its answers, which come from ``state_`` alone."""

    _state_types: ClassVar[tuple[type, ...]] = (
        ImputerState,
        TableStream,
        *TABLE_TYPES,
        *ENCODING_TYPES,
        CategoryLink,
        *BayesianFactorization._state_types,
    )
    _takes_devices: ClassVar[bool] = True
    state_: ImputerState

    # ---------------------------------------------------------------- what was fitted

    @property
    def factorization_(self) -> BayesianFactorization | None:
        """The factorisation of the standardised features that vary; None where none does."""
        run = self._learned().factorization
        if run is None:
            return None
        model = BayesianFactorization(**run.parameters)
        model.state_, model.n_features_in_ = run, counted(self._learned().varies)
        return model

    @property
    def n_components_(self) -> int:
        """Components in use."""
        run = self._learned().factorization
        return 0 if run is None else int(run.dictionary.components.shape[0])

    @property
    def n_iter_(self) -> int:
        """Sweeps of the last fit, the one to all observed entries."""
        run = self._learned().factorization
        return 0 if run is None else run.n_iter

    @property
    def statistics_(self) -> Array:
        """Means of the observed values; read-only."""
        return self._told(self._by_column(self._learned().statistics, np.nan))

    @property
    def scale_(self) -> Array:
        """Deviations of the observed values; read-only."""
        return self._told(self._by_column(self._learned().scale, np.nan))

    @property
    def n_observed_(self) -> Array:
        """Number of observed values; read-only."""
        return self._told(self._by_column(self._learned().n_observed, 0))

    @property
    def categories_(self) -> dict[Any, list[Any]]:
        """The labels of every column that is filled as a category, by its name; empty where there is none."""
        encoding = self._learned().encoding
        return {} if encoding is None else {name: list(one.levels) for name, one in encoding.categories.items()}

    @property
    def indicator_(self) -> MissingIndicator | None:
        """The indicator of missing values, as scikit-learn's imputers have it."""
        state = self._learned()
        if state.indicated is None:
            return None
        from sklearn.impute import MissingIndicator  # it comes with all neighbours, and few need it

        pattern = np.zeros((1, self.n_features_in_))
        pattern[0, state.indicated] = np.nan
        indicator = MissingIndicator(missing_values=np.nan, error_on_new=False)
        return indicator.set_output(transform="default").fit(pattern)

    def _told(self, values: Any) -> Array:
        told: Array = read_only(beside_model(self, values))
        return told

    def _by_column(self, values: Any, otherwise: float) -> Any:
        """Numbers of the features as one for each column, where a table has other columns than floats."""
        encoding = self._learned().encoding
        if encoding is None:
            return values
        return encoding.gathered(to_host(values), otherwise, labels=otherwise == 0)

    def _facts(self) -> Facts:
        return self.state_.facts()

    # ---------------------------------------------------------------- answers

    def fit_transform(
        self, X: MatrixLike, y: object = None, *, variances: ArrayLike | None = None, **fit_params: Any
    ) -> Any:
        """``fit`` with all that it takes, then ``transform`` of the same rows."""
        return self.fit(X, y, variances=variances, **fit_params).transform(X, variances=variances)

    @question
    def transform(self, X: MatrixLike, *, variances: ArrayLike | None = None) -> Any:
        """X with its missing values filled in (n_samples, n_features_out); observed values are kept.

        An array, or what ``set_output`` says. Where X is a table with columns that an array of floats cannot hold, as
        categories, times or whole numbers with gaps, a table of its library, with its types.

        ``variances`` (n_samples, n_features) are those of the known errors of X, if it has any: an imputer that was
        fitted with such variances, or is a factorisation alone, trusts every observed value accordingly.
        """
        values, state = self._ask(X)
        columns = state.columns_knowing(X, values, variances)
        completed = None if columns is None else columns.fill(state.standardised(values))
        filled = state.filled(values, completed)
        if state.encoding is not None and not is_array(X):
            return _about(X, values, state).filled(filled, state.indicated)
        if state.indicated is not None:
            gaps = namespace(values).isnan(taken(values, state.indicated, axis=1))
            filled = namespace(values).concat([filled, as_type(gaps, dtype_of(values))], axis=1)
        answer: Array = like(filled, X)
        return answer

    @question
    def impute(self, X: MatrixLike, return_std: bool = False, *, variances: ArrayLike | None = None) -> Any:
        """What ``transform`` returns, without indicators: X with its missing values filled in. A table if X is one.

        With ``return_std`` also the predictive standard deviation of every filled entry, noise included; zero where X
        was observed, infinite where bounds of 95% are. It is the model's own: ``calibrate`` acts on intervals. As in
        :meth:`BayesianFactorization.impute` it is the scale of a Student-t law. Of a category it is the probability
        that the fill is wrong; of times and durations it is in seconds. ``variances``: see ``transform``.
        """
        values, state = self._ask(X)
        columns = state.columns_knowing(X, values, variances)
        Z = state.standardised(values)
        mean = variance = None
        if columns is not None:
            mean, variance = columns.predict(Z) if return_std else (columns.fill(Z), None)
        if state.encoding is not None:
            found, answer = state.filled(values, mean), _about(X, values, state)
            table = answer.filled(found)
            return (table, answer.doubts(state.deviations(values, variance), found)) if return_std else table
        filled = like_table(state.filled(values, mean), X, state.kept)
        if not return_std:
            return filled
        return filled, like_table(state.deviations(values, variance), X, state.kept)

    @question
    def predict_interval(
        self, X: MatrixLike, level: float = 0.95, *, variances: ArrayLike | None = None
    ) -> tuple[Any, Any]:
        """Bounds that hold the true value of a missing entry with probability ``level``.

        Where X is observed both are X. Both have the columns of ``transform`` without the indicators, and are tables
        where X is one. Where nothing says how far a value may lie they are -inf and inf: in features with one observed
        value or none, and in those whose observed values are all equal but fewer than level / (1 - level), 19 for 95%.
        With known errors, a true value is one with ordinary noise, what is left beyond them. ``variances``: see
        ``transform``.

        In tables with other columns than floats, bounds of whole numbers are rounded outwards, and a bound that does
        not exist is a gap in columns whose type has no infinity. Columns of categories hold sets of labels in both
        tables, the most probable one first: tuples with pandas, lists with polars and Arrow. A set holds the true label
        with probability ``level``; that of an observed entry is the entry.
        """
        values, state = self._ask(X)
        _, lower, upper = self._bounds(X, values, state, level, variances)
        if state.encoding is not None:
            answer = _about(X, values, state)
            return answer.bound(lower, upper=False), answer.bound(upper, upper=True)
        return like_table(lower, X, state.kept), like_table(upper, X, state.kept)

    def _bounds(
        self, X: MatrixLike, values: Array, state: ImputerState, level: float, variances: ArrayLike | None = None
    ) -> tuple[Tall, Tall, Tall]:
        """Fills and both bounds of the features that are kept, as arrays."""
        check_level(level)
        columns = state.columns_knowing(X, values, variances)
        found = (None, None, None) if columns is None else columns.bounds(state.standardised(values), level)
        filled, lower, upper = (state.filled(values, one) for one in found)
        return filled, state.widened(values, lower, level, -np.inf), state.widened(values, upper, level, np.inf)

    @question
    def _fill_between(self, X: Array, level: float) -> tuple[Array, Array, Array]:
        """What ``impute`` and ``predict_interval`` answer of rows of NumPy, in less time than both."""
        values, state = self._ask(X)
        return self._bounds(X, values, state, level)

    @question
    def _fill_columns(self, X: Any, level: float | None) -> list[list[Any]]:
        """Fills of every column of a table, and both bounds where there is a ``level``; numbers are arrays."""
        values, state = self._ask(X)
        if level is None:
            columns = state.columns
            mean = None if columns is None else columns.fill(state.standardised(values))
            return [_about(X, values, state).by_column(state.filled(values, mean), None)]
        found, about = self._bounds(X, values, state, level), _about(X, values, state)
        return [about.by_column(Z, upper) for Z, upper in zip(found, (None, False, True), strict=True)]

    @OfCategories
    @question
    def predict_proba(self, X: MatrixLike) -> dict[Any, Any]:
        """Probabilities of the labels of every column that is filled as a category, by its name.

        Each is a table of the library of X with the rows of X and one column for each of ``categories_``. An observed
        entry has probability 1 at its own label, and zeros where that was never seen in ``fit``. Only a model that was
        fitted to a table with categories has this method.
        """
        values, state = self._ask(X)
        columns = state.columns
        completed = None if columns is None else columns.fill(state.standardised(values))
        return _about(X, values, state).probabilities(state.filled(values, completed))

    @question
    def sample_imputations(
        self, X: MatrixLike, n_draws: int = 5, random_state: Seed = None, *, variances: ArrayLike | None = None
    ) -> Any:
        """Multiple imputation: ``n_draws`` filled copies of X (n_draws, n_samples, n_features_out).

        Each is one draw from the joint posterior, noise included; the columns are those of ``transform``
        without the indicators. ``variances``: see ``transform``.

        After a fit to a table with other columns than floats, a list of tables. Labels are drawn with the probabilities
        of :meth:`predict_proba`, and together with the other entries of their row, if more loosely than numbers are.
        """
        values, state = self._ask(X)
        check_count("n_draws", n_draws)
        columns = state.columns_knowing(X, values, variances)
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
        draws: Any = [None] * int(n_draws)
        if columns is not None:
            found = beside(columns.draw(state.standardised(values), int(n_draws), rng), values)
            draws = [found[k, :, :] for k in range(int(n_draws))]
        if state.encoding is not None:
            about, rng = _about(X, values, state), np.random.default_rng(rng.integers(2**31))
            return [about.drawn(state.filled(values, draw), rng) for draw in draws]
        answer: Array = like(namespace(values).stack([state.filled(values, draw) for draw in draws]), X)
        return answer

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the columns that ``transform`` returns: those of X, then those of the indicators."""
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        encoding, kept = self._learned().encoding, to_host(self._learned().kept)
        kept = names[kept] if encoding is None else names_out(encoding, names, kept)
        indicator = self.indicator_
        return kept if indicator is None else np.concatenate([kept, indicator.get_feature_names_out(names)])

    # ---------------------------------------------------------------- rows

    def _ask(self, X: MatrixLike) -> tuple[Array, ImputerState]:
        check_is_fitted(self)
        state, missing_values = self.state_, self.state_.parameters["missing_values"]
        if state.encoding is not None and state.encoding.is_array(X):
            state = state._replace(encoding=None)
        if state.encoding is None:
            values = self._check(X, missing_values, reset=False)
        else:
            values = state.encoding.rows(self, X, missing_values, reset=False)
        return asked(state, values), state

    def _check(self, X: MatrixLike, missing_values: Any, *, reset: bool) -> Array:
        """X as floats, with NaN where a value is missing."""
        values: Array = check_data(self, X, reset=reset)
        values = np.ascontiguousarray(values) if is_here(values) else values  # one layout, so one rounding
        return with_gaps(values, missing_values)


def _about(X: Any, values: Array, state: ImputerState) -> MixedAnswer:
    assert state.encoding is not None
    return MixedAnswer.about(X, values, state.encoding, state.kept)


def fill_between(model: ImputerAnswers, X: Array, level: float) -> tuple[Array, Array, Array]:
    """What ``impute`` and ``predict_interval`` answer of rows of NumPy, in less time than both."""
    return model._fill_between(X, level)


def fill_columns(model: ImputerAnswers, X: Any, level: float | None) -> list[list[Any]]:
    """Fills of every column of a table of many kinds, and both bounds where there is a ``level``.

    Columns of numbers are arrays, the others are columns of the table's library.
    """
    return model._fill_columns(X, level)


def with_gaps(values: Array, missing_values: Any) -> Array:
    """The values with NaN in the place of what marks a missing one."""
    if means_nan(missing_values):
        return values
    xp = namespace(values)
    if bool(xp.any(xp.isnan(values))):
        raise ValueError(
            f"Input X contains NaN, but missing_values is {missing_values!r}; "
            "put NaN in place of it, as X.replace does for a table of pandas, and leave missing_values out."
        )
    number = float(dtype_of(values).type(missing_values))
    values = xp.where(values == number, np.nan, values)
    return values
