"""Samples that arrive in time: filter, smoother, forecast and alarms as a scikit-learn estimator."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from ..core.dynamics.choose import ROWS, Choice, choose, forecast_stretch
from ..core.dynamics.fit import CHOSEN, WALKS, fit, steps
from ..core.dynamics.stream import ENOUGH, Options, new_stream, resumed, standards
from ..core.linalg import Array
from ..tall.threads import limited
from ._columns import listed
from ._sequence import begin, options, same, take_in
from ._sequence_answers import SequenceAnswers
from ._times import TAIL, tail
from ._validation import unchanged_on_error, warn_caller


class SequenceFilter(SequenceAnswers):
    """Factorisation of a sequence: rows are time steps, and the coefficients move from one to the next.

    Feature i at time t is ``mean_i + c_i'x_t + l_ti + noise_i``. The states x are shared by all features and
    move by ``x_t = A x_{t-1} + N(0, Q)``; each feature may keep a slow level l of its own, so that prices and
    other near-random-walks are filled at least as well as by a straight line. Everything is learned from the data by
    expectation-maximisation. Each feature is standardised inside; answers come in the data's units.

    NaN marks a missing value; a row of NaN is a time step without data. Rows are taken as equally spaced; where time
    stamps leave steps out, a warning asks for rows of NaN there. Tables of pandas may have their time stamps in
    the index or in one column, as datetimes, periods or ``datetime.date`` objects (strings are not read as dates);
    tables of polars in one column. Answers come with the same columns and time stamps.

    Parameters
    ----------
    n_components : int, default=10
        Upper bound on the number of shared states: never more than features, nor, where features have levels,
        than common changes can be told from chance. A cycle takes two of them, so a single feature cannot hold one.
    dynamics : {"auto", "full", "diagonal", "fixed"}, float or array (n_components, n_components), default="auto"
        A. "full" and "diagonal" are learned, "auto" is "full"; "fixed" keeps the multiple of the identity that
        the data's variograms suggest; a number is that multiple; an array is A, or its diagonal. A never grows.
    process_noise : "auto", float or array (n_components, n_components), default="auto"
        Q, learned or given; no less than rounding, 2.2e-16.
    smooth : bool, default=True
        Whether ``impute``, ``denoise``, ``predict_interval`` and ``transform`` use what comes after a row as well as
        what comes before it (a smoother), or only the latter (a filter).
    lag : int or None, default=None
        How many rows ``recent`` looks back in a stream: the last ``lag`` rows and their beliefs are kept.
    robust : bool or float, default=False
        Student-t noise, so that outliers lose their weight: True learns the degrees of freedom, a number above 2
        gives them (below that the noise has no variance, and no interval could be reported). An entry is
        judged by what the others say of it. In a stream, a feature that stays where an outlier was is followed:
        after a few rows where it has a level like a random walk, otherwise once most of a window of 128 rows is there.
    level : "auto" or bool, default="auto"
        Whether each feature has a level of its own. "auto" hides some observed runs and takes what fills
        them best (True for 100 rows or fewer). Then ``fit`` also tries random walks and nothing else, which are
        filled by straight lines, and takes them where nothing fills the hidden runs clearly better (not with
        ``robust``, nor with a matrix of dynamics).
    dictionary_drift : float, default=0.0
        Q_V, the variance that each loading of a standardised feature gains per time step. If positive, the dictionary
        is followed row by row, features have no levels, and all answers are those of the filter.
    calibrate : bool, default=True
        Whether ``fit``, on more than 100 rows, sets the width of the intervals by the errors made on hidden observed
        runs, and that of forecasts by those made in the last third: parameters that were learned from few rows are
        less certain than the model knows. Not where the dictionary drifts; intervals are wide there.
    alarm_rate : float, default=1e-4
        False alarms per row that the alarm rule is set for; see ``alarms``.
    max_iter : int, default=30
        Upper bound on the sweeps of ``fit``.
    tol : float, default=1e-3
        ``fit`` stops when a sweep gains less than this, in nats per observed entry.
    random_state : int, RandomState or None, default=None
        Accepted for uniformity; nothing here is random.
    verbose : int, default=0
        Whether to print a line at the end of ``fit``.

    Attributes
    ----------
    components_ : array (n_components_, n_features)
        The dictionary, in the data's units.
    mean_, noise_variance_, level_variance_ : array (n_features,)
        Level variance is what a feature's own level gains per time step, all zero where there are no levels.
    dynamics_, process_noise_ : array (n_components_, n_components_)
    degrees_of_freedom_ : float
        Of the noise; infinite if Gaussian.
    interval_scale_, forecast_scale_ : float
        Factors on the predictive standard deviations of gaps and of forecasts; 1 unless calibrated.
    n_components_ : int
    n_iter_ : int
        Sweeps of ``fit`` (1 in a stream).
    history_ : list of dict
        The likelihood (without levels: its bound) at every sweep of ``fit``.
    alarms_ : list of int
        Rows of the stream, counted from 0, at which alarms were raised (the last 1000).
    n_samples_seen_ : int
    n_features_in_ : int
    state_ : Stream
        All that is carried from one row to the next.

    Notes
    -----
    Without levels the states and their covariances are exact. With levels the belief keeps the means, the variances and
    the covariances of states with levels, but drops correlations between levels; intervals of entries
    stay right, while the split between states and levels is less certain than the states' covariance says.

    ``partial_fit`` fits rows 1 to 256 anew at every power of two and then learns every 128 rows, with a memory of about
    1300 rows; its result depends on the rows alone, not on their division into calls.

    A sensor that starts after the warm-up is measured by its first eight values and then learned, anew at every
    doubling of their number.

    ``score_samples`` is a Gaussian log-density with levels; without them, where the doubt about the dictionary counts,
    and with ``robust`` it is a lower bound on the log-density. Outliers that Student-t noise explains do not count
    towards the alarms. The kind of model and the number of components are settled on the first 256 rows of a stream.
    Small matrices gain nothing from several BLAS threads: set ``OPENBLAS_NUM_THREADS=1`` for three times the speed.

    Two of scikit-learn's checks do not apply, because the order of the rows means something here: results are not
    invariant under a permutation of the rows, nor can rows be taken one by one.

    Examples
    --------
    >>> import numpy as np
    >>> from factorstream import SequenceFilter
    >>> rng = np.random.default_rng(0)
    >>> time = np.arange(300)[:, None]
    >>> X = 20 + 5 * np.sin(time / 15 + np.arange(8)) + 0.3 * rng.normal(size=(300, 8))
    >>> gappy = X.copy()
    >>> gappy[100:120, :4] = np.nan
    >>> model = SequenceFilter(n_components=3).fit(gappy)
    >>> filled, std = model.impute(gappy, return_std=True)
    >>> bool(np.abs(filled - X).max() < 2.0)
    True
    >>> model.forecast(5).shape
    (5, 8)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "dynamics": [
            StrOptions({"auto", "full", "diagonal", "fixed"}),
            Interval(Real, -1, 1, closed="both"),
            "array-like",
        ],
        "process_noise": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither"), "array-like"],
        "smooth": ["boolean"],
        "lag": [None, Interval(Integral, 0, None, closed="left")],
        "robust": ["boolean", Interval(Real, 2, None, closed="neither")],
        "level": [StrOptions({"auto"}), "boolean"],
        "dictionary_drift": [Interval(Real, 0, None, closed="left")],
        "calibrate": ["boolean"],
        "alarm_rate": [Interval(Real, 0, 1, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    history_: list[dict[str, float]]
    n_iter_: int
    _options: Options

    def __init__(
        self,
        n_components: int = 10,
        *,
        dynamics: Any = "auto",
        process_noise: Any = "auto",
        smooth: bool = True,
        lag: int | None = None,
        robust: Any = False,
        level: Any = "auto",
        dictionary_drift: float = 0.0,
        calibrate: bool = True,
        alarm_rate: float = 1e-4,
        max_iter: int = 30,
        tol: float = 1e-3,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.dynamics = dynamics
        self.process_noise = process_noise
        self.smooth = smooth
        self.lag = lag
        self.robust = robust
        self.level = level
        self.dictionary_drift = dictionary_drift
        self.calibrate = calibrate
        self.alarm_rate = alarm_rate
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    # ---------------------------------------------------------------- fitting

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Any:
        """Learn everything from X (n_steps, n_features), NaN = missing, rows in the order of time."""
        with unchanged_on_error(self), limited():
            Y, frame = self._read(X, reset=True)
            opt = options(self, Y.shape[1])
            _check_enough(Y, opt.r)
            shift, scale = standards(Y, opt.noise)
            Z = (Y - shift) / scale
            kind, stretch = self._choose(Z, opt)
            given: dict[str, Any] = {"law": opt.law, "noise": opt.noise}
            found = fit(Z, opt.r, sweeps=self.max_iter, tol=self.tol, **given, **kind._asdict())
            stream = resumed(found, shift, scale, Y.astype(np.float64), opt)
            self.interval_scale_ = self.forecast_scale_ = stretch
            if self.calibrate and len(Y) > ENOUGH and not opt.drift:
                self.forecast_scale_ = forecast_stretch(Z, opt.r, kind, **given)
            self._before_drift = None
            if opt.drift:
                *_, (model, end, _) = steps(found.model, Z, opt.drift)
                stream = stream._replace(model=model, state=end, anchor=None if stream.anchor is None else end)
                self._before_drift = found.model
            self._progress = begin(stream, stream.state, Y[-1:].copy(), len(Y))
            self._frame = tail(frame, max(TAIL, 1 + (self.lag or 0)))
            self._options = opt
            self.history_ = [{"bound": bound} for bound in found.history]
            self.n_iter_ = len(found.history)
            if self.verbose:
                print(f"[SequenceFilter] {self.n_iter_} sweeps, bound {found.history[-1]:.6g}, levels {kind.level}")
            unseen = np.asarray(np.isnan(Y).all(axis=0))
            if unseen.any():
                which = listed(unseen, getattr(self, "feature_names_in_", None))
                warn_caller(
                    "Features without any observed value keep the prior's interval, "
                    f"the usual mean and spread of the others: {which}."
                )
        return self

    def _choose(self, Z: Array, opt: Options) -> Choice:
        """Levels, number of components and the width of the intervals, on hidden observed runs of standardised rows."""
        given: dict[str, Any] = {"law": opt.law, "noise": opt.noise}
        best, candidates = Choice(opt.candidates[0]), opt.candidates
        if len(Z) <= ENOUGH or opt.drift:  # a static model's errors say nothing about a drifting one
            return best
        if len(candidates) > 1:
            if CHOSEN in candidates and np.isinf(opt.noise.nu):
                candidates = (*candidates, WALKS)
            best = choose(Z, opt.r, candidates, **given)
        if self.calibrate and (len(candidates) == 1 or len(Z) > ROWS):  # what few rows teach is less certain
            best = choose(Z, opt.r, [best.kind], rows=len(Z), **given)
        return best if self.calibrate else best._replace(stretch=1.0)

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None) -> Any:
        """Take in the next row or rows, NaN = missing, and go on from where the last call ended."""
        first = not hasattr(self, "_progress")
        with unchanged_on_error(self), limited():
            Y, frame = self._read(X, reset=first, after=None if first else self._frame)
            opt = options(self, Y.shape[1])
            if first:
                self._progress = begin(new_stream(Y.shape[1]), None, Y[:0].copy(), 0)
                self._options = opt
                self.history_, self.n_iter_ = [], 1
                self.interval_scale_ = self.forecast_scale_ = 1.0
            elif not same(opt, self._options):
                raise ValueError(
                    "partial_fit cannot go on with other parameters than it began with "
                    f"(n_components={self._options.r} and the rest); set them back, or call fit to start again."
                )
            epoch = self._progress.stream.epoch
            self._before_drift = None
            self._progress = take_in(self._progress, Y, opt, self.lag or 0, self.alarm_rate)
            if self._progress.stream.epoch > epoch:  # what a short fit had found was fitted anew
                self.interval_scale_ = self.forecast_scale_ = 1.0
            self._frame = tail(frame, max(TAIL, 1 + (self.lag or 0)))
        return self


def _check_enough(Y: Array, r: int) -> None:
    if len(Y) < r:
        raise ValueError(
            f"X has n_samples={len(Y)} time steps, fewer than n_components={r}; lower n_components, or stream the "
            "rows with partial_fit, which begins with one."
        )
    if np.isnan(Y).all():
        raise ValueError("X has no observed entry: every value is NaN; pass data with some numbers in it.")
