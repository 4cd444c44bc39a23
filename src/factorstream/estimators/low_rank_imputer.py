"""A drop-in for scikit-learn's imputers that also says how sure it is."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, MissingValues, StrOptions

from ..arrays import counted, namespace, positions
from ..core.absurd import Seen, seen_in
from ..core.place import Tall
from ..cores import limited
from ..sources.rows.source import Source
from ..tall.rows import dense, with_data
from . import _bayesian_run
from ._absurd import without_absurd
from ._bayesian_run import ON_THE_WAY
from ._checkpoint import CheckpointLike, FitMemory, Resumable, remembering
from ._columns import marked, means_nan, moments, robust_moments
from ._imputer_answers import ImputerAnswers, with_gaps
from ._imputer_source import moments_in, standardised_look
from ._imputer_state import ImputerState
from ._reported import Reported
from ._source_rows import clean_rows, look, reading, refuse_single_pass, source_of, take_columns_of
from ._types import MatrixLike, Seed, SourceLike
from ._validation import current_parameters, unchanged_on_error, warn_caller
from ._variational_fits import over_blocks
from .bayesian_factorization import BayesianFactorization


class LowRankImputer(Resumable, Reported, ImputerAnswers):
    """Fill missing values with a factorisation, with intervals and draws for every filled entry.

    Every feature is standardised by the mean and deviation of its observed values, and a
    :class:`BayesianFactorization` with one noise variance per feature is fitted to the result: the units of the
    columns do not matter. Observed values are returned exactly as they came.

    Parameters
    ----------
    n_components : "auto" or int, default="auto"
        Upper bound on the number of components; those the data do not support switch off.
    missing_values : number, np.nan or pandas.NA, default=np.nan
        What marks a missing value. NaN and pandas.NA mean the same. With a number NaN is refused, as scikit-learn's
        imputers do; where both stand for gaps, put NaN in place of the number and leave this out.
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
    def fit(self, X: SourceLike, y: object = None, *, checkpoint: CheckpointLike = None) -> Self:
        """Learn from the observed values of X (n_samples, n_features).

        X may also be rows that do not fit into memory: a path, or anything else that :func:`factorstream.open_rows`
        takes and that can be read again. They are read several times, see :class:`BayesianFactorization`.

        With ``checkpoint``, a path or a :class:`Checkpoint`, such a fit saves how far it has come; the same call goes
        on from there after it was stopped or killed, and learns the same, bit for bit.
        """
        with unchanged_on_error(self), limited():
            source, rows = source_of(X), cast(MatrixLike, X)
            memory = remembering(checkpoint, self, source, ON_THE_WAY)
            if source is None:
                self._keep(self._fit_values(self._check(rows, self.missing_values, reset=True)))
            else:
                take_columns_of(self, source)
                self._keep(memory.finished(lambda: self._fit_source(source, memory)))
        return self

    def _fit_values(self, values: Tall) -> ImputerState:
        """Learn from rows in memory."""
        values = without_absurd(values)
        n_observed, mean, scale = moments(values)
        if self.robust:
            mean, scale = robust_moments(values, mean, scale)
        gaps = namespace(values).any(namespace(values).isnan(values), axis=0)
        state = self._columns_state(n_observed, mean, scale, gaps, seen_in(values))
        run = None
        if counted(state.varies):
            rows = with_data(state.standardised(values))
            with self._progress(1.0) as step:
                run = _bayesian_run.fit(X=rows, step=step, **self._factorization())
        return state._replace(factorization=run)

    def _fit_source(self, source: Source, memory: FitMemory) -> ImputerState:
        """Learn from rows that are read again for every sweep, unless they are few enough to be fitted at once."""
        refuse_single_pass(source, type(self).__name__)
        read = reading(source, lambda rows: with_gaps(dense(rows), self.missing_values), memory)
        found = memory.once("found", lambda: look(read, source.n_columns, source.dtype, memory))
        if found.whole is not None:
            return self._fit_values(found.whole)
        n_observed, mean, scale = moments_in(found, robust=bool(self.robust))
        state = self._columns_state(n_observed, mean, scale, n_observed < found.n_rows, found.seen)
        run = None
        if counted(state.varies):
            with self._progress(1.0) as step:
                run = _bayesian_run.fit_all(
                    found=standardised_look(state, found),
                    over_all=over_blocks(lambda: clean_rows(read, found.seen, state.standardised), memory),
                    step=step,
                    memory=memory,
                    **self._factorization(),
                )
        return state._replace(factorization=run)

    def _columns_state(self, n_observed: Tall, mean: Tall, scale: Tall, gaps: Tall, seen: Seen) -> ImputerState:
        """What is known of the columns, before anything is factorised; ``gaps`` are those that have some."""
        empty, xp = n_observed == 0, namespace(mean)
        if bool(xp.all(empty)) and not self.keep_empty_features:
            raise ValueError("X has no observed entry: every value is missing; pass data with some numbers in it.")
        statistics = xp.where(empty, 0.0 if self.keep_empty_features else np.nan, mean)
        indicated = positions(gaps) if self.add_indicator else None
        return ImputerState(current_parameters(self), n_observed, statistics, scale, seen, None, indicated)

    def _keep(self, state: ImputerState) -> None:
        self.state_ = state
        empty = state.n_observed == 0
        if counted(empty) and not self.keep_empty_features:
            which = marked(empty, getattr(self, "feature_names_in_", None))
            warn_caller(f"Dropping features without any observed value: {which}.")

    def _factorization(self) -> dict[str, Any]:
        """How ``BayesianFactorization`` would fit the standardised columns, without a second look at the data."""
        model = BayesianFactorization(
            self.n_components,
            noise_variance="per_feature",
            robust=self.robust,
            calibrate=self.calibrate,
            max_iter=self.max_iter,
            random_state=self.random_state,
        )
        return {
            "parameters": current_parameters(model),
            "options": model._options(),
            "calibrate": bool(self.calibrate),
            "seed": model._seed(),
            "tell": self._tell,
            "name": type(self).__name__,
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = means_nan(self.missing_values)
        tags.array_api_support = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
