"""A drop-in for scikit-learn's imputers that also says how sure it is.

Over 300 lines, a third of which document the class.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import TransformerMixin, _fit_context
from sklearn.impute import MissingIndicator
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, MissingValues, StrOptions
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from ..core.absurd import seen_in
from ..core.linalg import Array
from ..core.variational.conformal import check_level
from ..cores import limited
from ..tall.rows import with_data
from . import _bayesian_run
from ._absurd import asked, without_absurd
from ._bayesian_run import BayesianRun
from ._columns import like_table, marked, means_nan, moments, robust_moments
from ._factorizer import read_only
from ._html import Facts
from ._imputer_state import ImputerState
from ._reported import Reported
from ._stateful import Stateful
from ._types import MatrixLike, Seed
from ._validation import check_count, check_data, current_parameters, unchanged_on_error, warn_caller
from .bayesian_factorization import BayesianFactorization


class LowRankImputer(Reported, TransformerMixin, Stateful):
    """Fill missing values with a factorisation, with intervals and draws for every filled entry.

    Every feature is standardised by the mean and deviation of its observed values, and a
    :class:`BayesianFactorization` with one noise variance per feature is fitted to the result: the units of the
    columns do not matter. Observed values are returned exactly as they came.

    Parameters
    ----------
    n_components : "auto" or int, default="auto"
        Upper bound on the number of components; those the data do not support switch off.
    missing_values : number, np.nan or pandas.NA, default=np.nan
        What marks a missing value. NaN and pandas.NA mean the same.
    robust : bool or float, default=False
        Student-t noise, so that gross outliers lose their weight: True learns the degrees of freedom, a number above 2
        gives them.
    calibrate : bool, default=True
        Whether to hide some observed entries while fitting, and to set the width of the intervals by the
        errors made on them.
    max_iter : int, default=30
        Upper bound on the sweeps of each fit, see :class:`BayesianFactorization`.
    add_indicator : bool, default=False
        Whether to append the columns of a :class:`sklearn.impute.MissingIndicator`.
    keep_empty_features : bool, default=False
        A feature without any observed value in ``fit`` is dropped with a warning, or, if True, kept and its
        gaps filled with 0.
    random_state : int, RandomState or None, default=None
        Seeds the choice of the hidden entries; without effect unless ``n_components="auto"`` or ``calibrate=True``.
    verbose : int, default=0
        1 shows how far ``fit`` has come, once it takes longer than two seconds: a bar in a terminal (with rich
        installed) or a notebook, lines in a log. 2 prints a line per sweep as well.

    Attributes
    ----------
    factorization_ : BayesianFactorization or None
        Fitted to the standardised features that vary; None where none does.
    n_components_ : int
        Components in use.
    n_iter_ : int
        Sweeps of the last fit, the one to all observed entries.
    statistics_ : array (n_features,)
        Means of the observed values. Of a feature without any: NaN if it is dropped, 0 if it is kept.
    scale_ : array (n_features,)
        Deviations of the observed values; 0 for a feature that does not vary.
    n_observed_ : array (n_features,)
        Number of observed values.
    indicator_ : MissingIndicator or None
    n_features_in_ : int
    feature_names_in_ : array (n_features,)
        Where X has names of columns.
    state_ : ImputerState
        Everything that an answer depends on.

    Notes
    -----
    A feature that never varied is filled with its one value, and takes no part in the factorisation: under
    a noise variance of zero a single new value would decide a row's coefficients alone. Its draws are that value too;
    its intervals are infinite unless it was seen often enough, see ``predict_interval``.

    Any table can be fitted and filled. An interval calibrated at a level needs at least level / (1 - level)
    hidden entries (19 for 95%); ``predict_interval`` says so where there are fewer. With ``calibrate=False`` it answers
    with the model's own interval, however small the table: a Student-t law with as many degrees of freedom as the
    feature has observed values beyond the parameters that were fitted to them, and at least one.

    Examples
    --------
    >>> import numpy as np
    >>> from factorstream import LowRankImputer
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 6)) * [1.0, 1e3, 1e-3, 1.0, 1.0, 1.0] + 5.0
    >>> gappy = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    >>> imputer = LowRankImputer(random_state=0)
    >>> filled = imputer.fit_transform(gappy)
    >>> bool(np.all(np.abs(filled - X) < 0.2 * X.std(axis=0)))
    True
    >>> lower, upper = imputer.predict_interval(gappy, level=0.9)
    >>> gaps = np.isnan(gappy)
    >>> bool(np.mean((lower <= X)[gaps] & (X <= upper)[gaps]) > 0.8)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "missing_values": [MissingValues(numeric_only=True)],
        "robust": ["boolean", Interval(Real, 2, None, closed="neither")],
        "calibrate": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "add_indicator": ["boolean"],
        "keep_empty_features": ["boolean"],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }
    _state_types: ClassVar[tuple[type, ...]] = (ImputerState, *BayesianFactorization._state_types)
    state_: ImputerState

    def __init__(
        self,
        n_components: str | int = "auto",
        *,
        missing_values: object = np.nan,
        robust: bool | float = False,
        calibrate: bool = True,
        max_iter: int = 30,
        add_indicator: bool = False,
        keep_empty_features: bool = False,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.missing_values = missing_values
        self.robust = robust
        self.calibrate = calibrate
        self.max_iter = max_iter
        self.add_indicator = add_indicator
        self.keep_empty_features = keep_empty_features
        self.random_state = random_state
        self.verbose = verbose

    # ---------------------------------------------------------------- fitting

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: MatrixLike, y: object = None) -> Self:
        """Learn from the observed values of X (n_samples, n_features)."""
        with unchanged_on_error(self), limited():
            values = without_absurd(self._check(X, self.missing_values, reset=True))
            n_observed, mean, scale = moments(values)
            if self.robust:
                mean, scale = robust_moments(values, mean, scale)
            empty = n_observed == 0
            statistics = np.where(empty, 0.0 if self.keep_empty_features else np.nan, mean)
            if empty.all() and not self.keep_empty_features:
                raise ValueError("X has no observed entry: every value is missing; pass data with some numbers in it.")
            indicated = np.flatnonzero(np.isnan(values).any(axis=0)) if self.add_indicator else None
            state = ImputerState(
                current_parameters(self), n_observed, statistics, scale, seen_in(values), None, indicated
            )
            if state.varies.any():
                state = state._replace(factorization=self._factorize(state.standardised(values)))
            self.state_ = state
            if empty.any() and not self.keep_empty_features:
                which = marked(empty, getattr(self, "feature_names_in_", None))
                warn_caller(f"Dropping features without any observed value: {which}.")
        return self

    def _factorize(self, Z: Array) -> BayesianRun:
        """What ``BayesianFactorization.fit`` does, without a second look at the data."""
        model = BayesianFactorization(
            self.n_components,
            noise_variance="per_feature",
            robust=self.robust,
            calibrate=self.calibrate,
            max_iter=self.max_iter,
            random_state=self.random_state,
        )
        with self._progress(1.0) as step:
            return _bayesian_run.fit(
                current_parameters(model),
                model._options(),
                with_data(Z),
                calibrate=bool(self.calibrate),
                seed=model._seed(),
                tell=self._tell,
                step=step,
                name=type(self).__name__,
            )

    # ---------------------------------------------------------------- what was fitted

    @property
    def factorization_(self) -> BayesianFactorization | None:
        """The factorisation of the standardised features that vary; None where none does."""
        run = self._learned().factorization
        if run is None:
            return None
        model = BayesianFactorization(**run.parameters)
        model.state_, model.n_features_in_ = run, int(self._learned().varies.sum())
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
        return read_only(self._learned().statistics)

    @property
    def scale_(self) -> Array:
        """Deviations of the observed values; read-only."""
        return read_only(self._learned().scale)

    @property
    def n_observed_(self) -> Array:
        """Number of observed values; read-only."""
        return read_only(self._learned().n_observed)

    @property
    def indicator_(self) -> MissingIndicator | None:
        """The indicator of missing values, as scikit-learn's imputers have it."""
        state = self._learned()
        if state.indicated is None:
            return None
        pattern = np.zeros((1, len(state.statistics)))
        pattern[0, state.indicated] = np.nan
        indicator = MissingIndicator(missing_values=np.nan, error_on_new=False)
        return indicator.set_output(transform="default").fit(pattern)

    def _facts(self) -> Facts:
        return self.state_.facts()

    # ---------------------------------------------------------------- answers

    def transform(self, X: MatrixLike) -> Array:
        """X with its missing values filled in (n_samples, n_features_out); observed values are kept."""
        values, state = self._ask(X)
        run = state.factorization
        completed = None if run is None else run.dictionary.fill(state.standardised(values))
        filled = state.filled(values, completed)
        indicator = self.indicator_
        return filled if indicator is None else np.hstack([filled, indicator.transform(values)])

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
        if run is not None and np.isnan(Z).any():
            dictionary = run.dictionary
            width = dictionary.half_width(level)
            mean, variance = dictionary.predict(Z)
            reach = width * np.sqrt(variance)
            lower, upper = mean - reach, mean + reach
        return (
            like_table(state.widened(values, state.filled(values, lower), level, -np.inf), X, state.kept),
            like_table(state.widened(values, state.filled(values, upper), level, np.inf), X, state.kept),
        )

    def sample_imputations(self, X: MatrixLike, n_draws: int = 5, random_state: Seed = None) -> Array:
        """Multiple imputation: ``n_draws`` filled copies of X (n_draws, n_samples, n_features_out).

        Each is one draw from the joint posterior, noise included; the columns are those of ``transform``
        without the indicators.
        """
        values, state = self._ask(X)
        check_count("n_draws", n_draws)
        run = state.factorization
        if run is None:
            return np.stack([state.filled(values, None)] * int(n_draws))
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
        draws = run.dictionary.draw(state.standardised(values), int(n_draws), rng)
        return np.stack([state.filled(values, draw) for draw in draws])

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the columns that ``transform`` returns: those of X, then those of the indicators."""
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        kept: Array = names[self._learned().kept]
        indicator = self.indicator_
        return kept if indicator is None else np.concatenate([kept, indicator.get_feature_names_out(names)])

    # ---------------------------------------------------------------- rows

    def _ask(self, X: MatrixLike) -> tuple[Array, ImputerState]:
        check_is_fitted(self)
        values = self._check(X, self.state_.parameters["missing_values"], reset=False)
        return asked(self.state_, values), self.state_

    def _check(self, X: MatrixLike, missing_values: Any, *, reset: bool) -> Array:
        """X as floats, with NaN where a value is missing."""
        values: Array = np.ascontiguousarray(check_data(self, X, reset=reset))  # one layout, so one rounding
        if means_nan(missing_values):
            return values
        if np.isnan(values).any():
            raise ValueError(
                f"Input X contains NaN, but missing_values is {missing_values!r}; "
                "mark every missing value the same way."
            )
        number = values.dtype.type
        return np.where(values == number(missing_values), number(np.nan), values)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = means_nan(self.missing_values)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
