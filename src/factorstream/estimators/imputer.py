"""A drop-in for scikit-learn's imputers that also says how sure it is."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, _fit_context
from sklearn.impute import MissingIndicator
from sklearn.utils._param_validation import Interval, MissingValues, StrOptions
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from ..core.linalg import Array
from ._columns import listed, means_nan, moments, robust_moments
from ._validation import check_data, unchanged_on_error, warn_caller
from .dictionary_filter import DictionaryFilter


class FilterImputer(TransformerMixin, BaseEstimator):
    """Fill missing values with a factorisation, with intervals and draws for every filled entry.

    Every feature is standardised by the mean and deviation of its observed values, and a
    :class:`DictionaryFilter` with one posterior and one noise variance per feature is fitted to the result:
    the units of the columns do not matter. Observed values are returned exactly as they came.

    Parameters
    ----------
    n_components : "auto" or int, default="auto"
        Upper bound on the number of components; those the data do not support switch off.
    missing_values : number, np.nan or pandas.NA, default=np.nan
        What marks a missing value. NaN and pandas.NA mean the same.
    robust : bool, float or "learn", default=False
        Student-t noise, so that gross outliers lose their weight: True, the degrees of freedom, or "learn".
    calibrate : bool, default=True
        Whether to hide some observed entries while fitting, and to set the width of the intervals by the
        errors made on them.
    max_iter : int, default=30
        Upper bound on the sweeps over the data.
    add_indicator : bool, default=False
        Whether to append the columns of a :class:`sklearn.impute.MissingIndicator`.
    keep_empty_features : bool, default=False
        A feature without any observed value in ``fit`` is dropped with a warning, or, if True, kept and its
        gaps filled with 0.
    random_state : int, RandomState or None, default=None
        Seeds the start and the choice of the hidden entries.
    verbose : int, default=0
        Whether to print a line per sweep.

    Attributes
    ----------
    filter_ : DictionaryFilter or None
        Fitted to the standardised features that vary; None where none does.
    n_components_ : int
        Components in use.
    n_iter_ : int
        Sweeps that were made.
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

    Notes
    -----
    A feature that never varied is filled with its one value, and takes no part in the factorisation: under
    a noise variance of zero a single new value would decide a row's coefficients alone.

    Any table can be fitted and filled. An interval calibrated at a level needs at least level / (1 - level)
    hidden entries (19 for 95%), and as many observed values in a feature that never varied;
    ``predict_interval`` says so where there are fewer. With ``calibrate=False`` it answers with the model's
    own interval, however small the table.

    Examples
    --------
    >>> import numpy as np
    >>> from factorstream import FilterImputer
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 6)) * [1.0, 1e3, 1e-3, 1.0, 1.0, 1.0] + 5.0
    >>> gappy = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    >>> imputer = FilterImputer(random_state=0)
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
        "robust": ["boolean", Interval(Real, 0, None, closed="neither"), StrOptions({"learn"})],
        "calibrate": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "add_indicator": ["boolean"],
        "keep_empty_features": ["boolean"],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_components: Any = "auto",
        *,
        missing_values: Any = np.nan,
        robust: Any = False,
        calibrate: bool = True,
        max_iter: int = 30,
        add_indicator: bool = False,
        keep_empty_features: bool = False,
        random_state: Any = None,
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
    def fit(self, X: Any, y: Any = None) -> Any:
        """Learn from the observed values of X (n_samples, n_features)."""
        with unchanged_on_error(self):
            X = self._check(X, reset=True)
            self.n_observed_, mean, self.scale_ = moments(X)
            if self.robust:
                mean, self.scale_ = robust_moments(X, mean, self.scale_)
            empty = self.n_observed_ == 0
            self.statistics_ = np.where(empty, 0.0 if self.keep_empty_features else np.nan, mean)
            if empty.all() and not self.keep_empty_features:
                raise ValueError("X has no observed entry: every value is missing; pass data with some numbers in it.")
            self.indicator_ = self._fit_indicator(X) if self.add_indicator else None
            self.filter_ = self._fit_filter(X)
            self.n_iter_ = 0 if self.filter_ is None else self.filter_.n_passes_
            if empty.any() and not self.keep_empty_features:
                which = listed(empty, getattr(self, "feature_names_in_", None))
                warn_caller(f"Dropping features without any observed value: {which}.")
        return self

    def _fit_filter(self, X: Array) -> DictionaryFilter | None:
        if not (self.scale_ > 0).any():
            return None
        model = DictionaryFilter(
            n_components=self.n_components,
            covariance="featurewise",
            noise_variance="featurewise",
            robust=self.robust,
            calibrate=self.calibrate,
            random_state=self.random_state,
            verbose=self.verbose,
        )
        model._most_sweeps = self.max_iter
        model.fit(self._standardised(X))
        return model

    def _fit_indicator(self, X: Array) -> MissingIndicator:
        indicator = MissingIndicator(missing_values=np.nan, error_on_new=False)
        return indicator.set_output(transform="default").fit(X)

    # ---------------------------------------------------------------- answers

    def transform(self, X: Any) -> Any:
        """X with its missing values filled in (n_samples, n_features_out); observed values are kept."""
        check_is_fitted(self)
        X = self._check(X, reset=False)
        completed: Any = None if self.filter_ is None else self.filter_.impute(self._standardised(X))
        filled = self._fill(X, completed)
        return filled if self.indicator_ is None else np.hstack([filled, self.indicator_.transform(X)])

    def predict_interval(self, X: Any, level: float = 0.95) -> tuple[Array, Array]:
        """Bounds that hold the true value of a missing entry with probability ``level``.

        Both have the columns of ``transform`` without the indicators. Where X is observed both are X; in a
        kept feature without any observed value both are 0.
        """
        check_is_fitted(self)
        if not 0.0 < level < 1.0:
            raise ValueError(f"level must lie strictly between 0 and 1; got {level}.")
        X = self._check(X, reset=False)
        self._check_constant(X, level)
        if self.filter_ is None:
            return self._fill(X, None), self._fill(X, None)
        lower, upper = self.filter_.predict_interval(self._standardised(X), level=level)
        return self._fill(X, lower), self._fill(X, upper)

    def sample_imputations(self, X: Any, n_draws: int = 5, random_state: Any = None) -> Array:
        """Multiple imputation: ``n_draws`` filled copies of X (n_draws, n_samples, n_features_out).

        Each is one draw from the joint posterior, noise included; the columns are those of ``transform``
        without the indicators.
        """
        check_is_fitted(self)
        if not isinstance(n_draws, Integral) or n_draws < 1:
            raise ValueError(f"n_draws must be a whole number of at least 1; got {n_draws!r}.")
        X = self._check(X, reset=False)
        if self.filter_ is None:
            return np.stack([self._fill(X, None)] * int(n_draws))
        draws = self.filter_.sample_imputations(self._standardised(X), n_draws, random_state)
        return np.stack([self._fill(X, draw) for draw in draws])

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the columns that ``transform`` returns: those of X, then those of the indicators."""
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        kept: Array = names[self._kept]
        if self.indicator_ is None:
            return kept
        return np.concatenate([kept, self.indicator_.get_feature_names_out(names)])

    # ---------------------------------------------------------------- between X and the filter

    @property
    def n_components_(self) -> int:
        """Components in use."""
        if not hasattr(self, "filter_"):
            raise AttributeError("This FilterImputer has not been fitted yet; call fit.")
        return 0 if self.filter_ is None else int(self.filter_.n_components_)

    @property
    def _kept(self) -> Array:
        """Which features ``transform`` returns."""
        return ~np.isnan(self.statistics_)

    def _check(self, X: Any, *, reset: bool) -> Array:
        """X as floats, with NaN where a value is missing."""
        values: Array = np.ascontiguousarray(check_data(self, X, reset=reset))  # one layout, so one rounding
        if means_nan(self.missing_values):
            return values
        if np.isnan(values).any():
            raise ValueError(
                f"Input X contains NaN, but missing_values is {self.missing_values!r}; "
                "mark every missing value the same way."
            )
        number = values.dtype.type
        return np.where(values == number(self.missing_values), number(np.nan), values)

    def _standardised(self, X: Array) -> Array:
        """The features that vary, in units of their deviations (float64)."""
        varies = self.scale_ > 0
        half = 0.5 * X[:, varies].astype(np.float64) - 0.5 * self.statistics_[varies]  # a difference can overflow
        return np.asarray(half / (0.5 * self.scale_[varies]))

    def _fill(self, X: Array, standardised: Array | None) -> Array:
        """X in its own dtype, its gaps filled from the standardised features, constants and empty features."""
        fill = np.broadcast_to(self.statistics_, X.shape).copy()
        if standardised is not None:
            varies = self.scale_ > 0
            with np.errstate(over="ignore"):
                fill[:, varies] += standardised * self.scale_[varies]
        most = np.finfo(X.dtype).max
        return np.where(np.isnan(X), np.clip(fill, -most, most).astype(X.dtype), X)[:, self._kept]

    def _check_constant(self, X: Array, level: float) -> None:
        """N equal values hold a further one with probability N / (N + 1), and not more."""
        enough = np.ceil((self.n_observed_ + 1) * level) <= self.n_observed_
        doubtful = np.isnan(X).any(axis=0) & (self.scale_ == 0) & (self.n_observed_ > 0) & ~enough
        if self.calibrate and doubtful.any():
            raise ValueError(
                f"Features {listed(doubtful)} have too few observed values, all of them equal, to calibrate "
                f"level {level}; lower the level, or fit with calibrate=False."
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = means_nan(self.missing_values)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
