"""What every streaming factoriser shares: rows in, a state carried forward, and what it can answer."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.utils import check_array, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ..core.filter.coefficients import COEFFICIENT_STEPS
from ..core.filter.gains import Gain
from ..core.filter.model import FilterModel
from ..core.filter.state import FilterRecord, FilterState
from ..core.linalg import Array, is_sparse
from ..tall.filtering import filter_rows
from ..tall.products import square_sum
from ..tall.rows import Rows, dense, rows_with_data, stack, with_data
from ..tall.starting import measure, start, warm_up
from ..tall.threads import limited
from ._answers import Answers, SharedAnswers
from ._validation import as_covariance, check_data, check_every_feature_observed, check_init, unchanged_on_error

HISTORY = 1000
"""Records kept in ``history_``; older ones are dropped so that an endless stream stays bounded."""


ENOUGH = 5
"""Observed entries per component below which, with "auto", a row's coefficients get the learned prior. Least
squares is defined from one on, and that is what given numbers mean, but it follows the noise there: on small
tables with gaps the prior takes 15 to 40% off the error of the filled entries."""

GATHERED = 16_384
"""Sparse rows brought into a random order together; the filter copies its dictionary once for each lot."""


class StreamingFactorizer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of the estimators that take samples one after another. Subclasses say how C moves.

    What is "auto" follows from the data's scale. ``fit`` measures it on all of X; a stream has only its
    first ``max(n_components, 10)`` rows for that. Until they have arrived they are kept, and each call to
    ``partial_fit`` starts over from them, so that the division of the rows into calls does not matter.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "coefficients": [StrOptions(set(COEFFICIENT_STEPS))],
        "fit_mean": ["boolean"],
        "init": [StrOptions({"random", "uniform"}), "array-like"],
        "n_passes": [Interval(Integral, 1, None, closed="left")],
        "shuffle": ["boolean"],
        "batch_size": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    # What a subclass fixes or makes a parameter.
    noise_variance: Any = "auto"
    prior_covariance: Any = "auto"
    tol: float = 0.0

    # What fitting sets.
    history_: list[dict[str, float]]
    n_samples_seen_: int
    n_passes_: int
    state_: Any
    _warm_rows: Rows | None
    _dtype: np.dtype[Any]

    @abstractmethod
    def _gain(self) -> Gain:
        """The rule that moves the dictionary."""

    def _process_noise(self) -> Array | None:
        """Q_V with the mean's part, or None for a dictionary that does not drift."""
        return None

    # ---------------------------------------------------------------- fitting

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Any:
        """Learn the dictionary from X (n_samples, n_features), NaN = missing, in ``n_passes`` passes."""
        with unchanged_on_error(self), limited():
            X = check_data(self, X, reset=True, accept_sparse=True)
            check_every_feature_observed(X)
            rng = self._begin(X)
            X = with_data(X)
            self._fit_rows(X, rng)
            self.n_samples_seen_ = X.shape[0]
            self._warm_rows = None
        return self

    def _fit_rows(self, X: Rows, rng: Any) -> None:
        for _ in range(self.n_passes):
            order = rng.permutation(X.shape[0]) if self.shuffle else np.arange(X.shape[0])
            if self.n_passes_ == 0:
                self.state_ = self._start(X if self._is_auto() else X[order[: warm_up(self.n_components)]])
            share = self._take_in(X, order)
            self.n_passes_ += 1
            if share < self.tol:
                break

    def partial_fit(self, X: Any, y: Any = None) -> Any:
        """Take in one row or many, NaN = missing, and go on from where the last call ended."""
        first = not hasattr(self, "state_")
        limit = limited(X.size) if isinstance(X, np.ndarray) else limited()  # set once, not by every step on its own
        with unchanged_on_error(self), limit:
            if first or not self.__dict__.get("_validated"):
                self._validate_params()  # in every call, as in scikit-learn, it is a fifth of the time of one row
                self._validated = True
            X = check_data(self, X, reset=first, accept_sparse=True)
            if first:
                self._begin(X)
            else:
                self._check_sizes()
            seen = rows_with_data(X)
            self._absorb_rows(X, seen)
            self.n_samples_seen_ += len(seen)
        return self

    def set_params(self, **params: Any) -> Any:
        """Set parameters by name; a stream checks them with its next row."""
        self._validated = False
        return super().set_params(**params)

    def _absorb_rows(self, X: Rows, seen: Array) -> None:
        """Go on with X, of which the rows ``seen`` have data; the filter passes over the others."""
        if self._warm_rows is not None:
            self._warm_up(X, seen)
        if len(seen):
            self._take_in(X)

    def _check_sizes(self) -> None:
        """A stream goes on with the sizes it began with."""
        r, q = len(self.state_.small.xbar), len(self.state_.small.S)
        if self.n_components != r or bool(self.fit_mean) != (q > r):
            raise ValueError(
                f"partial_fit cannot go on: the stream began with n_components={r} and fit_mean={q > r}; "
                "set them back, or call fit to start again."
            )

    def _begin(self, X: Rows) -> Any:
        """Forget everything; return the source of randomness."""
        self.__dict__.pop("state_", None)
        self._dtype = X.dtype
        rng = check_random_state(self.random_state)
        self._seed = int(rng.randint(2**31 - 1))
        self._init = self.init if isinstance(self.init, str) else np.array(self.init)  # a start may be repeated
        self._warm_rows = X[:0].copy()
        self.history_ = []
        self.n_samples_seen_ = 0
        self.n_passes_ = 0
        return rng

    def _warm_up(self, X: Rows, seen: Array) -> None:
        """Start, or start again from the rows kept so far, now that X says more about the scale."""
        kept = self._warm_rows
        assert kept is not None  # for the type checker: partial_fit has looked
        wanted = warm_up(self.n_components) if self.fit_mean or self._is_auto() else 0
        more = seen[: max(wanted - kept.shape[0], 0)]
        rows = stack(kept, X[more].astype(self._dtype, copy=False))
        self.state_, _ = filter_rows(self._start(rows), self._model(), kept, self._block_size())
        self._warm_rows = rows if rows.shape[0] < wanted else None

    def _is_auto(self) -> bool:
        return isinstance(self.noise_variance, str) or isinstance(self.prior_covariance, str)

    def _start(self, rows: Rows) -> FilterState:
        r, prior, init, noise = self.n_components, self.prior_covariance, self._init, self.noise_variance
        return start(
            measure(rows, self.fit_mean),
            r=r,
            fit_mean=self.fit_mean,
            noise_variance=None if isinstance(noise, str) else float(noise),
            V0=None if isinstance(prior, str) else as_covariance(prior, r, "prior_covariance", definite=True),
            C0=init if isinstance(init, str) else check_init(init, r, rows.shape[1]),
            seed=self._seed,
            dtype=rows.dtype,
        )

    def _model(self) -> FilterModel:
        """The fixed part of the filter; its sizes are those of the fit, whatever the parameters say now."""
        state = getattr(self, "state_", None)
        r = self._n_fitted()
        learn_noise = isinstance(self.noise_variance, str)
        return FilterModel(
            r=r,
            q=r + bool(self.fit_mean) if state is None else len(state.small.S),
            step=COEFFICIENT_STEPS[self.coefficients],
            gain=self._gain(),
            drift=self._process_noise(),
            learn_noise=learn_noise,
            track_noise=learn_noise and not isinstance(self.prior_covariance, str),
            min_observed=ENOUGH * r if learn_noise else r,
            rcond=float(r * np.finfo(np.float64).eps),
        )

    def _n_fitted(self) -> int:
        """Number of components of the fit, or of the one to come."""
        state = getattr(self, "state_", None)
        return int(self.n_components if state is None else len(state.small.xbar))

    def _block_size(self) -> int:
        """Rows per block. Larger blocks make the products faster and the recursion slower."""
        if self.batch_size == "auto":
            return min(max(2 * self._n_fitted(), 32), 256)
        return int(self.batch_size)

    def _take_in(self, X: Rows, order: Array | None = None) -> float:
        """One pass over X, in the given order; returns how much of the doubt was about the dictionary."""
        model, size, state = self._model(), self._block_size(), self.state_
        at_once = X.shape[0] if order is None else GATHERED if is_sparse(X) else 4 * size
        infos = []
        for first in range(0, X.shape[0], at_once):
            rows = X if order is None else X[order[first : first + at_once]]
            state, info = filter_rows(state, model, rows, size, part_of=X.shape[0])
            infos.append(info)
        self.state_ = state
        return self._record(FilterRecord.join(infos))

    def _record(self, info: FilterRecord) -> float:
        small = self.state_.small
        V_scale = small.noise / small.lam
        record = {
            "n_samples": float(len(info.innovation)),
            "innovation": float(info.innovation.sum() / info.n_observed.sum()),
            "noise": small.noise,
            "trace": square_sum(small.S) * V_scale if self._gain().posterior else 0.0,
            "dictionary_share": float(info.dictionary_share.sum() / len(info.dictionary_share)),
        }
        self._note(**record)
        return float(record["dictionary_share"])

    def _note(self, **record: float) -> None:
        """Add a record to the history, and say it aloud if asked to."""
        history = self.history_[-HISTORY + 1 :]
        history.append(record)
        self.history_ = history
        if self.verbose:
            facts = ", ".join(f"{name} {value:.4g}" for name, value in record.items())
            print(f"[{type(self).__name__}] {facts}")

    # ---------------------------------------------------------------- what was fitted

    @property
    def components_(self) -> Array:
        """The dictionary, one component per row (n_components_, n_features); read-only."""
        return _frozen(self._answers().components)

    @property
    def mean_(self) -> Array:
        """What is predicted of a sample before any of it is seen (n_features,)."""
        return _frozen(self._answers().mean)

    @property
    def noise_variance_(self) -> float | Array:
        """The noise variance σ²: as given, or as learned from the innovations."""
        return self._answers().noise

    @property
    def n_components_(self) -> int:
        """How many components the dictionary has."""
        return int(self._answers().components.shape[0])

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _answers(self) -> Answers:
        """The fitted dictionary, ready for questions."""
        if not hasattr(self, "state_"):
            raise AttributeError(f"This {type(self).__name__} has not been fitted yet; call fit or partial_fit.")
        return SharedAnswers(self.state_, self._model(), self._block_size())

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "state_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    # ---------------------------------------------------------------- answers

    def transform(self, X: Any) -> Array:
        """Coefficients of every row under the fitted dictionary (n_samples, n_components)."""
        X = self._check_rows(X)
        return self._answers().coefficients(X).astype(X.dtype, copy=False)

    def inverse_transform(self, X: Any) -> Array:
        """The rows that these coefficients stand for (n_samples, n_features)."""
        check_is_fitted(self)
        X = check_array(X, dtype=[np.float64, np.float32])
        components = self.components_
        if X.shape[1] != len(components):
            raise ValueError(
                f"X has {X.shape[1]} columns but the dictionary has {len(components)} components; "
                "pass what transform returned."
            )
        rows: Array = X.astype(components.dtype, copy=False) @ components + self.mean_
        return rows

    def impute(self, X: Any, return_std: bool = False) -> Array | tuple[Array, Array]:
        """X with its NaN filled in; observed entries are kept.

        With ``return_std`` also the predictive standard deviation of every filled entry, zero where
        X was observed. Sparse rows come back dense: pass as many at a time as memory has room for.
        """
        X = dense(self._check_rows(X))
        filled, variance = self._answers().predict(X, want_variance=return_std, only_missing=True)
        return (filled, np.sqrt(variance).astype(X.dtype, copy=False)) if return_std else filled

    def predict_interval(self, X: Any, level: float = 0.95) -> tuple[Array, Array]:
        """Lower and upper bounds of the central interval of probability ``level``, for every entry of X.

        An entry that is observed gets the interval the model would give a new measurement of it.
        """
        X = dense(self._check_rows(X))
        if not 0.0 < level < 1.0:
            raise ValueError(f"level must lie strictly between 0 and 1; got {level}.")
        answers = self._answers()
        width = answers.half_width(level)
        mean, variance = answers.predict(X, want_variance=True, only_missing=False)
        reach = (width * np.sqrt(variance)).astype(X.dtype, copy=False)
        return mean - reach, mean + reach

    def sample_imputations(self, X: Any, n_draws: int = 5, random_state: Any = None) -> Array:
        """Draws of X with its gaps filled, for multiple imputation (n_draws, n_samples, n_features).

        Within one draw all entries share one dictionary, and the entries of a row one coefficient
        vector, so that what is computed from a draw varies as it should.
        """
        X = dense(self._check_rows(X))
        if n_draws < 1:
            raise ValueError(f"n_draws must be at least 1; got {n_draws}.")
        seed = check_random_state(random_state).randint(2**31 - 1)
        return self._answers().draw(X, int(n_draws), np.random.default_rng(seed))

    def score_samples(self, X: Any) -> Array:
        """Log-density of every row's observed entries, coefficients integrated out (n_samples,).

        The lowest are the strangest rows. A fit that sweeps over strange rows until they fit learns them as well:
        look for them with one pass of the shared covariance, or with a fit that has not seen them.
        """
        X = self._check_rows(X)
        return self._answers().log_density(X)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean of :meth:`score_samples`; higher is better."""
        return float(self.score_samples(X).mean())

    def _check_rows(self, X: Any) -> Rows:
        check_is_fitted(self)
        return check_data(self, X, reset=False, accept_sparse=True)


def _frozen(values: Array) -> Array:
    """A view that cannot be written through."""
    view = values.view()
    view.flags.writeable = False
    return view
