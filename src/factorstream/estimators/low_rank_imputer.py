"""A drop-in for scikit-learn's imputers that also says how sure it is."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, MissingValues, StrOptions

from ..arrays import counted, to_host
from ..cores import limited
from ._bayesian_run import ON_THE_WAY
from ._checkpoint import CheckpointLike, Resumable, remembering
from ._columns import marked, means_nan
from ._imputer_fits import ImputerFits
from ._imputer_state import ImputerState
from ._mixed.encoding import encoding_of
from ._reported import Reported
from ._source_rows import source_of, take_columns_of, warn_of_others
from ._types import MatrixLike, Seed, SourceLike
from ._validation import unchanged_on_error, warn_caller


class LowRankImputer(Resumable, Reported, ImputerFits):
    """Fill missing values with a factorisation, with intervals and draws for every filled entry.

    Every feature is standardised by the mean and deviation of its observed values, and a
    :class:`BayesianFactorization` with one noise variance per feature is fitted to the result: the units of the
    columns do not matter. Tables of up to 100 columns are also factorised by the normal scores of their values, and
    what both leave is corrected by nonlinear functions of the other columns, as far as that helps with entries left
    out. Observed values are returned exactly as they came. Of many rows in memory only some are learned from, drawn at
    random: so many that every column has 500 values for each column of the table, and at least 10,000, or all that it
    has.

    Tables of pandas and polars and Arrow tables may have columns of every kind: categories, text, booleans, integers,
    dates, times and durations go in as they are and come out with their types. Labels are filled by the most probable
    one. Identifiers, free text and columns with one label only are carried through, and a warning names them. Where all
    columns are floats, ``transform`` returns an array, as for arrays.

    Parameters
    ----------
    n_components : "auto" or int, default="auto"
        Upper bound on the number of components; those the data do not support switch off.
    missing_values : number, np.nan or pandas.NA, default=np.nan
        What marks a missing value. NaN and pandas.NA mean the same. With a number NaN is refused, as scikit-learn's
        imputers do; where both stand for gaps, put NaN in place of the number and leave this out.
    marginals : {"auto", "linear", "normal"}, default="auto"
        What is factorised: the values as they are ("linear"); their normal scores, which suit columns that are skewed,
        bounded or heavy-tailed ("normal"); or both ("auto"), mixed for each column by entries left out.
    residual : "auto" or None, default="auto"
        "auto" corrects every fill by a smooth function and by trees of the other columns of its row, as far as they
        help with entries left out. None leaves it at the factorisation. Both this and ``marginals`` are for tables in
        memory with 50 rows or more and 2 to 100 columns that vary, and others are factorised as they are. Of rows on a
        device such a table is learned and told by the host.
    robust : bool or float, default=False
        Student-t noise, so that gross outliers lose their weight: True learns the degrees of freedom, a number above 2
        gives them. ``marginals="auto"`` is then "linear", and fills are not corrected: outliers would decide both.
    calibrate : bool, default=True
        Whether to set the width of the intervals by the errors made on observed entries: those that are left out
        where a table is read by ``marginals`` and ``residual``, and others that are hidden while fitting. If False,
        intervals are those of the model's law.
    min_value, max_value : float or array (n_features,), default=None
        What fills and bounds stay within, one number for all columns or one for each; -inf and inf say nothing. On a
        side without one, columns show limits themselves, unless ``marginals="linear"``: columns with ten values or
        more, none of them negative, stay so, and a least or greatest value that is seen again and again (the zeros of a
        count, full marks) is one.
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
        1 shows how far ``fit`` or ``partial_fit`` has come, once it takes longer than two seconds: a bar in a terminal
        (with rich installed) or a notebook, lines in a log. 2 prints a line per sweep as well.

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
        Number of observed values; in a stream, of the rows that the last model was learned from. Of a table, the three
        have one number for each column: the first two NaN for those that are no numbers, this one 0 for those that are
        carried through.
    categories_ : dict
        The labels of every column that is filled as a category, by its name.
    n_samples_seen_ : int
        Rows taken in; rows without any observed entry change nothing and are not counted. Of rows with weights the sum
        of these, rounded.
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

    A table with a category:

    >>> import pandas as pd
    >>> table = pd.DataFrame(X[:, :4], columns=list("abcd")).assign(size=np.where(X[:, 4] > 5, "large", "small"))
    >>> table.loc[::10, "size"] = None
    >>> imputer = LowRankImputer(random_state=0).fit(table)
    >>> imputer.categories_
    {'size': ['large', 'small']}
    >>> bool((imputer.transform(table)["size"] == np.where(X[:, 4] > 5, "large", "small")).mean() > 0.98)
    True
    >>> imputer.predict_proba(table)["size"].shape
    (200, 2)

    Rows that arrive in pieces:

    >>> stream = LowRankImputer(random_state=0)
    >>> for row in gappy:
    ...     stream = stream.partial_fit(row[None])
    >>> stream.n_samples_seen_
    200
    >>> bool(np.all(np.abs(stream.transform(gappy) - X) < 0.2 * X.std(axis=0)))
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "missing_values": [MissingValues(numeric_only=True)],
        "marginals": [StrOptions({"auto", "linear", "normal"})],
        "residual": [StrOptions({"auto"}), None],
        "robust": ["boolean", Interval(Real, 2, None, closed="neither")],
        "calibrate": ["boolean"],
        "min_value": ["array-like", Real, None],
        "max_value": ["array-like", Real, None],
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
        marginals: str = "auto",
        residual: str | None = "auto",
        robust: bool | float = False,
        calibrate: bool = True,
        min_value: object = None,
        max_value: object = None,
        max_iter: int = 30,
        add_indicator: bool = False,
        keep_empty_features: bool = False,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.missing_values = missing_values
        self.marginals = marginals
        self.residual = residual
        self.robust = robust
        self.calibrate = calibrate
        self.min_value = min_value
        self.max_value = max_value
        self.max_iter = max_iter
        self.add_indicator = add_indicator
        self.keep_empty_features = keep_empty_features
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
        """Learn from the observed values of X (n_samples, n_features).

        X may also be rows that do not fit into memory: a path, or anything else that :func:`factorstream.open_rows`
        takes and that can be read again. They are read several times, see :class:`BayesianFactorization`.

        With ``checkpoint``, a path or a :class:`Checkpoint`, such a fit saves how far it has come; the same call goes
        on from there after it was stopped or killed, and learns the same, bit for bit.

        With ``sample_weight``, one number for each row, a row of weight w counts as w rows. ``variances``, of the shape
        of X, are those of the errors with which its entries were measured, in the data's units: the noise of an entry
        has its variance and what is left beyond it, which is learned. Both are for tables in memory, which are then
        factorised as they are, without ``marginals`` and ``residual``.
        """
        with unchanged_on_error(self), limited():
            if sample_weight is not None or variances is not None:
                from ._known_imputer import fit_known_table  # few need it

                self._keep(fit_known_table(self, X, sample_weight, variances))
                return self
            encoding = encoding_of(X)
            source, rows = source_of(X) if encoding is None else None, cast(MatrixLike, X)
            memory = remembering(checkpoint, self, source, ON_THE_WAY)
            if encoding is not None:
                self._keep(self._fit_values(encoding.rows(self, X, self.missing_values, reset=True), encoding))
            elif source is None:
                self._keep(self._fit_values(self._check(rows, self.missing_values, reset=True)))
            else:
                take_columns_of(self, source)
                warn_of_others(source)
                self._keep(memory.finished(lambda: self._fit_source(source, memory)))
        return self

    def _keep(self, state: ImputerState) -> None:
        self.state_ = state
        empty, encoding = state.n_observed == 0, state.encoding
        if encoding is not None:
            encoding.warn_of_carried()
            empty = encoding.gathered(to_host(empty), False, labels=False)
        if counted(empty) and not self.keep_empty_features:
            which = marked(empty, getattr(self, "feature_names_in_", None))
            warn_caller(f"Dropping features without any observed value: {which}.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = means_nan(self.missing_values)
        tags.array_api_support = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
