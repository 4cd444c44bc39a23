"""The variational factorisation as a scikit-learn estimator."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from ..arrays import is_dask
from ..core.absurd import Seen
from ..core.memory import FORGETFUL, Memory
from ..core.variational.fit import FitOptions
from ..cores import limited
from ..sources.rows.source import Source
from ..tall.rows import Rows, dense, ever_observed, with_data
from . import _bayesian_run
from ._absurd import without_absurd
from ._bayesian_run import ON_THE_WAY, BayesianRun
from ._checkpoint import CheckpointLike, FitMemory, Resumable, refuse_checkpoint, remembering
from ._html import Facts
from ._in_shards import InShards
from ._known_factorizer import KnownErrorsFactorizer, fit_known
from ._reported import Reported
from ._source_rows import (
    Look,
    clean_rows,
    look,
    observed_counts,
    reading,
    refuse_single_pass,
    source_of,
    take_columns_of,
    warn_of_others,
)
from ._types import MatrixLike, Seed, SourceLike
from ._validation import (
    check_data,
    check_same_parameters,
    check_something_observed,
    current_parameters,
    unchanged_on_error,
)
from ._variational import STATE_TYPES, fit_options
from ._variational_answers import VariationalDictionary

if TYPE_CHECKING:
    from ._variational_fits import Sweeps


class BayesianFactorization(Resumable, Reported, KnownErrorsFactorizer):
    """Matrix factorisation by a variational posterior with one covariance per feature.

    A row y is modelled as ``y = x @ components_ + mean_ + noise``. Sweeps over the data find the posterior of every
    row's coefficients given that of the dictionary, and the other way round, until the bound on the evidence settles;
    a revisited row replaces its old contribution, so that nothing is counted twice. Under missing data every feature
    has its own covariance: one seen in few rows is less certain. Components that the data do not support switch off.

    Parameters
    ----------
    n_components : "auto" or int, default="auto"
        Upper bound on the number of components: unneeded ones fade, and switch off where many features say so, see
        ``n_components_``. "auto" lets the data choose.
    noise_variance : "auto", "per_feature" or float, default="auto"
        One noise variance for all features, learned; one for each, learned; or given.
    prior_covariance : "auto" or float, default="auto"
        Prior variance of the dictionary's entries. "auto" learns it, and with it which components are needed.
    robust : bool or float, default=False
        Student-t noise: entries far off the fit lose their weight. True learns the degrees of freedom, a number above 2
        gives them.
    fit_row_mean : bool, default=False
        Whether every row has a mean of its own beside the mean of every feature, as people who rate high or low have.
        Meant for tables whose columns have one unit, because it is added to all of them. The last component is then the
        number 1 for every feature, and its coefficient the mean of the row, counted from ``mean_``. Means of rows and
        of features get normal priors whose variances are learned, so that few values say less about them.
    calibrate : bool, default=False
        Hide some observed entries, in the shape of the gaps in the data, and set the intervals by the
        residuals found there (split conformal). For data that break the model, such as contiguous gaps.
        The fit with hidden entries is where the final one starts from, and the weight of a row's observed entries is
        chosen on them, so that filled values move a little too; standard deviations and draws are not widened.
        A stream is calibrated on the rows that it starts from; ``partial_fit`` after ``fit`` keeps what ``fit`` found.
        The default of :class:`LowRankImputer` is True.
    max_iter : int, default=30
        Upper bound on the sweeps of each fit that ``fit`` makes: one; or, with ``n_components="auto"`` or
        ``calibrate=True``, one or two without the hidden entries, and one of at most 6 sweeps after they came back.
    tol : float, default=1e-3
        ``fit`` stops after a sweep that gained less than this many nats per observed entry, or less than a tenth of it
        with ``fit_row_mean=True``: there components that are noise fade slowly.
    random_state : int, RandomState or None, default=None
        Seeds the choice of the hidden entries; without effect unless ``n_components="auto"`` or ``calibrate=True``.
    verbose : int, default=0
        1 shows how far ``fit`` or ``partial_fit`` has come, once it takes longer than two seconds: a bar in a terminal
        (with rich installed) or a notebook, lines in a log. 2 prints a line per sweep and per call as well.

    Attributes
    ----------
    components_ : array (n_components_, n_features)
    n_components_ : int
        Components that are left.
    covariance_ : array (n_features, n_components_, n_components_)
        Posterior covariance between the components, for every feature.
    coefficient_covariance_ : array (n_components_, n_components_)
        How the coefficients vary from row to row, as it was learned.
    mean_ : array (n_features,)
        What is predicted of a row before any of it is seen; coefficients are counted from there.
    noise_variance_ : float, or array (n_features,) with ``noise_variance="per_feature"``
    n_samples_seen_ : int
        Rows taken in; rows without any observed entry change nothing and are not counted. Of rows with weights the sum
        of these, rounded.
    n_iter_ : int
        Sweeps of ``fit``; of its last fit, where it makes several. 0 in a stream that began with ``partial_fit``.
    n_features_in_ : int
    history_ : list of dict
        One record per sweep of the same fit: the bound on the evidence, in nats of the data as given, and the
        components left. Then one per call of ``partial_fit``: the rows taken in and, once the stream has started, the
        components and the mean noise variance. The last 1000 are kept.
    state_ : BayesianRun
        Everything that an answer or the next row depends on.

    Notes
    -----
    Memory is n_features × n_components²: for very many features use :class:`factorstream.DictionaryFilter`.

    ``partial_fit`` learns from rows in lots of ``2 * max(n_components, 10)``. Answers also count the rows since the
    last whole lot, so that the division of a stream into calls does not matter. A stream starts once its lots have two
    observed entries for every parameter, at the latest after ten lots; until then all rows are kept, and fitted anew
    for every question. Sparse and dense rows may follow each other. A fit on the whole data is better where most
    entries are missing.

    Intervals follow Student-t laws. Their degrees of freedom are the observed entries less the parameters that were
    fitted to them, and at least one: counted for each feature with ``"per_feature"``, over all features otherwise.
    Standard deviations and draws take the noise variance as known. With ``"per_feature"`` a feature with one observed
    value or none has infinite bounds and standard deviations, because nothing says how far its values may lie; with one
    noise variance for all features, the others say it. Where there are fewer than three observed entries for every
    number of the dictionary and mean, ``predict_interval`` warns.

    A robust fit's draws and densities take its noise as normal, with the same central 95%.

    X may be a scipy.sparse matrix: its stored entries, zeros too, are the observed ones, all others missing. Give a
    number of components then, and neither ``robust`` nor ``calibrate``.

    ``fit`` of rows that do not fit into memory reads them several times: once to measure them, once for every sweep,
    and once after the last. It begins with a fit to some of the rows, chosen at random, on which components are chosen
    and intervals calibrated as well. Rows of up to two million values are fitted at once, as if they were an array.

    X may be an array of Dask: sweeps are then made over its chunks, on threads, processes or a cluster, and answers
    about such arrays are lazy (docs/cluster.md).

    Parameters that are changed after fitting change the next ``fit``, and no answer before it.

    Examples
    --------
    >>> import numpy as np
    >>> from factorstream import BayesianFactorization
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 30)) + 0.1 * rng.normal(size=(200, 30))
    >>> gappy = np.where(rng.random(X.shape) < 0.5, np.nan, X)
    >>> model = BayesianFactorization(random_state=0).fit(gappy)
    >>> model.n_components_
    3
    >>> lower, upper = model.predict_interval(gappy, level=0.95)
    >>> gaps = np.isnan(gappy)
    >>> bool(np.mean((lower <= X)[gaps] & (X <= upper)[gaps]) > 0.93)
    True

    Half of the values are means of many measurements, half of few, and this is known:

    >>> errors = np.where(rng.random(X.shape) < 0.5, 0.01, 2.0)
    >>> measured = gappy + errors * rng.normal(size=X.shape)
    >>> knowing = BayesianFactorization(3).fit(measured, variances=errors**2)
    >>> filled = knowing.impute(measured, variances=errors**2)
    >>> without = BayesianFactorization(3).fit(measured).impute(measured)
    >>> bool(np.std((filled - X)[gaps]) < 0.5 * np.std((without - X)[gaps]))
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "noise_variance": [StrOptions({"auto", "per_feature"}), Interval(Real, 0, None, closed="neither")],
        "prior_covariance": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "robust": ["boolean", Interval(Real, 2, None, closed="neither")],
        "fit_row_mean": ["boolean"],
        "calibrate": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }
    _state_types: ClassVar[tuple[type, ...]] = (BayesianRun, Seen, *STATE_TYPES)
    state_: BayesianRun

    _takes_devices: ClassVar[bool] = True

    def __init__(
        self,
        n_components: str | int = "auto",
        *,
        noise_variance: str | float = "auto",
        prior_covariance: str | float = "auto",
        robust: bool | float = False,
        fit_row_mean: bool = False,
        calibrate: bool = False,
        max_iter: int = 30,
        tol: float = 1e-3,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.noise_variance = noise_variance
        self.prior_covariance = prior_covariance
        self.robust = robust
        self.fit_row_mean = fit_row_mean
        self.calibrate = calibrate
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    # ---------------------------------------------------------------- fitting

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: SourceLike,
        y: object = None,
        *,
        sample_weight: ArrayLike | None = None,
        variances: ArrayLike | None = None,
        checkpoint: CheckpointLike = None,
    ) -> Self:
        """Learn the dictionary from X (n_samples, n_features), NaN = missing, in at most ``max_iter`` sweeps.

        X may also be rows that do not fit into memory: a path, or anything else that :func:`factorstream.open_rows`
        takes and that can be read again. See Notes. With ``checkpoint``, a path or a :class:`Checkpoint`, such a fit
        saves how far it has come; the same call goes on from there after a kill, and learns the same, bit for bit.

        With ``sample_weight``, one number for each row, a row of weight w counts as w rows. ``variances``, of the shape
        of X, are those of the errors with which its entries were measured, in the data's units: the noise of an entry
        has its variance and ``noise_variance_``, which is what is left beyond the known errors. Both are for dense rows
        in memory.
        """
        with unchanged_on_error(self), limited():
            if sample_weight is not None or variances is not None:
                self.state_ = fit_known(self, X, sample_weight, variances)
                return self
            if is_dask(X) or isinstance(X, InShards):
                refuse_checkpoint(checkpoint)
                self.state_ = self._fit_shards(X) if isinstance(X, InShards) else self._fit_chunks(X)
                return self
            source = source_of(X)
            memory = remembering(checkpoint, self, source, ON_THE_WAY)
            if source is None:
                self.state_ = self._fit_rows(X)
            else:
                take_columns_of(self, source)
                warn_of_others(source)
                self.state_ = memory.finished(lambda: self._fit_source(source, memory))
        return self

    def _fit_rows(self, X: Any) -> BayesianRun:
        """Learn from rows in memory."""
        return self._fit_checked(check_data(self, X, reset=True, accept_sparse=True))

    def _fit_checked(self, rows: Rows) -> BayesianRun:
        rows = without_absurd(rows)
        check_something_observed(self, ever_observed(rows))
        with self._progress(1.0) as step:
            return _bayesian_run.fit(X=with_data(rows), step=step, **self._wanted())

    def _fit_source(self, source: Source, memory: FitMemory) -> BayesianRun:
        """Learn from rows that are read again for every sweep, unless they are few enough to be fitted at once."""
        refuse_single_pass(source, type(self).__name__)
        read = reading(source, memory=memory)
        found = memory.once("found", lambda: look(read, source.n_columns, source.dtype, memory))
        if found.whole is not None:
            rows = check_data(self, found.whole, reset=True, accept_sparse=True)
            take_columns_of(self, source)  # the rows alone have no names
            return self._fit_checked(rows)
        from ._variational_fits import over_blocks  # few need it

        return self._fit_all(found, over_blocks(partial(clean_rows, read, found.seen), memory), memory)

    def _fit_chunks(self, X: Any) -> BayesianRun:
        """Learn from the chunks of a Dask array, unless they are few enough to be fitted at once."""
        from ._chunked_rows import look_at_chunks

        found, over_all = look_at_chunks(self, X)
        return self._fit_all(found, over_all) if found.whole is None else self._fit_rows(found.whole)

    def _fit_shards(self, X: InShards) -> BayesianRun:
        """Learn from the chunks of a Dask array whose features stay in shards."""
        from ._sharded_rows import look_at_shards

        found, over_all = look_at_shards(self, X)
        if found.whole is None:
            return self._fit_all(found, over_all)
        check_something_observed(self, observed_counts(found))
        with self._progress(1.0) as step:
            return _bayesian_run.fit(X=found.whole, seen=found.seen, step=step, **self._wanted())

    def _fit_all(self, found: Look, over_all: Sweeps, memory: Memory = FORGETFUL) -> BayesianRun:
        """Learn from some rows, and go on with sweeps over all."""
        with self._progress(1.0) as step:
            check_something_observed(self, observed_counts(found))
            return _bayesian_run.fit_all(found=found, over_all=over_all, step=step, memory=memory, **self._wanted())

    def partial_fit(self, X: MatrixLike, y: object = None) -> Self:
        """Take in one row or many, NaN = missing, and go on from where the last call, or ``fit``, ended."""
        run: BayesianRun | None = vars(self).get("state_")
        with unchanged_on_error(self), limited():
            if run is None:
                self._validate_params()
            else:
                check_same_parameters(self, run.parameters)
            rows = with_data(check_data(self, X, reset=run is None, accept_sparse=True))
            with self._progress(int(rows.shape[0])) as step:
                if run is not None:
                    self.state_ = _bayesian_run.go_on(run, rows, self._tell, step)
                else:
                    parameters, options = current_parameters(self), self._options()
                    self.state_ = _bayesian_run.begin(parameters, options, rows, self._seed(), self._tell, step)
        return self

    def _wanted(self) -> dict[str, Any]:
        """What ``_bayesian_run`` has to know about any fit."""
        return {
            "parameters": current_parameters(self),
            "options": self._options(),
            "calibrate": bool(self.calibrate),
            "seed": self._seed(),
            "tell": self._tell,
            "name": type(self).__name__,
        }

    def _options(self) -> FitOptions:
        return fit_options(
            self.n_components,
            noise_variance=self.noise_variance,
            prior_covariance=self.prior_covariance,
            robust=self.robust,
            fit_row_mean=self.fit_row_mean,
            max_iter=self.max_iter,
            tol=self.tol,
        )

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    # ---------------------------------------------------------------- what was fitted

    @property
    def n_samples_seen_(self) -> int:
        """Rows taken in; rows without any observed entry change nothing and are not counted."""
        return int(self._learned().n_samples)

    @property
    def n_iter_(self) -> int:
        """Sweeps of ``fit``; of its last fit, where it makes several."""
        return int(self._learned().n_iter)

    def _facts(self) -> Facts:
        return {**self.state_.facts(self.n_features_in_), "units": "those of the data"}

    def _dictionary(self) -> VariationalDictionary:
        with unchanged_on_error(self):  # a stream that is starting is fitted now
            dictionary: VariationalDictionary = self._learned().dictionary
        return dictionary._replace(v=self._asked_variances)

    def _given(self, X: MatrixLike) -> Rows:
        rows = super()._given(X)
        return rows if self.state_.options.noise.takes_sparse else dense(rows)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.n_components != "auto" and not self.robust and not self.calibrate
        return tags
