"""What a fitted imputer tells about itself, and can be asked."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.impute import MissingIndicator
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from ..arrays import as_type, beside, counted, dtype_of, is_here, namespace, read_only, taken, to_host
from ..core.linalg import Array
from ..core.variational.conformal import check_level
from ._absurd import asked
from ._columns import like_table, means_nan
from ._elsewhere import beside_model, like
from ._html import Facts
from ._imputer_state import ImputerState
from ._stateful import Stateful
from ._types import MatrixLike, Seed
from ._validation import check_count, check_data, question
from .bayesian_factorization import BayesianFactorization


class ImputerAnswers(TransformerMixin, Stateful):
    """Base of :class:`LowRankImputer`: its attributes and all its answers, which come from ``state_`` alone."""

    _state_types: ClassVar[tuple[type, ...]] = (ImputerState, *BayesianFactorization._state_types)
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
        return self._told(self._learned().statistics)

    @property
    def scale_(self) -> Array:
        """Deviations of the observed values; read-only."""
        return self._told(self._learned().scale)

    @property
    def n_observed_(self) -> Array:
        """Number of observed values; read-only."""
        return self._told(self._learned().n_observed)

    @property
    def indicator_(self) -> MissingIndicator | None:
        """The indicator of missing values, as scikit-learn's imputers have it."""
        state = self._learned()
        if state.indicated is None:
            return None
        pattern = np.zeros((1, state.statistics.shape[0]))
        pattern[0, state.indicated] = np.nan
        indicator = MissingIndicator(missing_values=np.nan, error_on_new=False)
        return indicator.set_output(transform="default").fit(pattern)

    def _told(self, values: Any) -> Array:
        told: Array = read_only(beside_model(self, values))
        return told

    def _facts(self) -> Facts:
        return self.state_.facts()

    # ---------------------------------------------------------------- answers

    @question
    def transform(self, X: MatrixLike) -> Array:
        """X with its missing values filled in (n_samples, n_features_out); observed values are kept."""
        values, state = self._ask(X)
        run = state.factorization
        completed = None if run is None else run.dictionary.fill(state.standardised(values))
        filled = state.filled(values, completed)
        if state.indicated is not None:
            gaps = namespace(values).isnan(taken(values, state.indicated, axis=1))
            filled = namespace(values).concat([filled, as_type(gaps, dtype_of(values))], axis=1)
        answer: Array = like(filled, X)
        return answer

    @question
    def impute(self, X: MatrixLike, return_std: bool = False) -> Any:
        """What ``transform`` returns, without indicators: X with its missing values filled in. A table if X is one.

        With ``return_std`` also the predictive standard deviation of every filled entry, noise included; zero where X
        was observed, infinite where bounds of 95% are. It is the model's own: ``calibrate`` acts on intervals. As in
        :meth:`BayesianFactorization.impute` it is the scale of a Student-t law.
        """
        values, state = self._ask(X)
        run, Z = state.factorization, state.standardised(values)
        mean = variance = None
        if run is not None:
            mean, variance = run.dictionary.predict(Z) if return_std else (run.dictionary.fill(Z), None)
        filled = like_table(state.filled(values, mean), X, state.kept)
        if not return_std:
            return filled
        return filled, like_table(state.deviations(values, variance), X, state.kept)

    @question
    def predict_interval(self, X: MatrixLike, level: float = 0.95) -> tuple[Any, Any]:
        """Bounds that hold the true value of a missing entry with probability ``level``.

        Where X is observed both are X. Both have the columns of ``transform`` without the indicators, and are tables
        where X is one. Where nothing says how far a value may lie they are -inf and inf: in features with one observed
        value or none, and in those whose observed values are all equal but fewer than level / (1 - level), 19 for 95%.
        """
        values, state = self._ask(X)
        check_level(level)
        run, Z = state.factorization, state.standardised(values)
        lower = upper = None if run is None else Z
        if run is not None and counted(namespace(Z).isnan(Z)):
            dictionary = run.dictionary
            width = dictionary.half_width(level)
            mean, variance = dictionary.predict(Z)
            reach = beside(width, variance) * namespace(variance).sqrt(variance)
            lower, upper = mean - reach, mean + reach
        return (
            like_table(state.widened(values, state.filled(values, lower), level, -np.inf), X, state.kept),
            like_table(state.widened(values, state.filled(values, upper), level, np.inf), X, state.kept),
        )

    @question
    def sample_imputations(self, X: MatrixLike, n_draws: int = 5, random_state: Seed = None) -> Array:
        """Multiple imputation: ``n_draws`` filled copies of X (n_draws, n_samples, n_features_out).

        Each is one draw from the joint posterior, noise included; the columns are those of ``transform``
        without the indicators.
        """
        values, state = self._ask(X)
        check_count("n_draws", n_draws)
        run = state.factorization
        draws: Any = [None] * int(n_draws)
        if run is not None:
            rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
            found = beside(run.dictionary.draw(state.standardised(values), int(n_draws), rng), values)
            draws = [found[k, :, :] for k in range(int(n_draws))]
        answer: Array = like(namespace(values).stack([state.filled(values, draw) for draw in draws]), X)
        return answer

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the columns that ``transform`` returns: those of X, then those of the indicators."""
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        kept: Array = names[to_host(self._learned().kept)]
        indicator = self.indicator_
        return kept if indicator is None else np.concatenate([kept, indicator.get_feature_names_out(names)])

    # ---------------------------------------------------------------- rows

    def _ask(self, X: MatrixLike) -> tuple[Array, ImputerState]:
        check_is_fitted(self)
        values = self._check(X, self.state_.parameters["missing_values"], reset=False)
        return asked(self.state_, values), self.state_

    def _check(self, X: MatrixLike, missing_values: Any, *, reset: bool) -> Array:
        """X as floats, with NaN where a value is missing."""
        values: Array = check_data(self, X, reset=reset)
        values = np.ascontiguousarray(values) if is_here(values) else values  # one layout, so one rounding
        return with_gaps(values, missing_values)


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
