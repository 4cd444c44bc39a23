"""Samples that arrive in time: filter, smoother, forecast and alarms as a scikit-learn estimator."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from ..core.absurd import nothing_seen, seen_in
from ..core.dynamics.logarithms import into_model
from ..core.dynamics.lookout import limits_of
from ..core.dynamics.stream import new_stream
from ..core.linalg import Array
from ..cores import limited
from ._absurd import check_size, without_absurd
from ._gaps import warn_of_gaps, warn_of_unknown
from ._reported import Reported
from ._sequence import check_enough, options, plain_parameters
from ._sequence_answers import SequenceAnswers
from ._sequence_events import dated, stamp_of, stored
from ._sequence_known import read_known
from ._sequence_state import FLOAT, SequenceState
from ._sequence_steps import as_given, held, on_common_steps
from ._stored_times import StoredTable, restore_table, store_table
from ._telling import SweepProgress
from ._times import KEPT_TIMES, Label, Table, TableLike, append_times, last_rows
from ._validation import check_same_parameters, unchanged_on_error


class SequenceFilter(Reported, SequenceAnswers):
    """Factorisation of a sequence: rows are time steps, and the coefficients move from one to the next.

    Feature i at time t is ``mean_i + c_iᵀx_t + l_ti + noise_i``. The states x are shared by all features and
    move by ``x_t = A x_{t-1} + N(0, Q)``; each feature may keep a slow level l of its own, so that prices and
    other near-random-walks are filled at least as well as by a straight line. Everything is learned from the data by
    expectation-maximisation. Each feature is standardised inside; answers come in the data's units.

    NaN marks a missing value; a row of NaN is a time step without data. Rows are taken as equally spaced; where time
    stamps leave steps out, a warning asks for rows of NaN there, or ``spacing="time"`` puts them there. Tables of
    pandas may have their time stamps in the index or in one column, as datetimes, periods or ``datetime.date`` objects
    (strings are not read as dates); tables of polars in one column. Answers come with the same columns and time stamps.

    Parameters
    ----------
    n_components : int, default=10
        Upper bound on the number of shared states. Where features have levels, there are usually only as many as the
        features' changes have in common beyond chance, and never more than features. Besides, every cycle that is found
        takes two states. A cycle is at least four rows long, and the rows show two turns of it; the spectrum has
        clearly more of it than of others, and forecasts of the last third are clearly better with it. ``fit`` looks for
        up to three, with ``dynamics`` "auto" or "full", a learned process noise, no numeric drift, and neither seasons,
        trends nor known columns in use.
    dynamics : {"auto", "full", "diagonal", "fixed"}, float or array (n_components, n_components), default="auto"
        A. "full" and "diagonal" are learned, "auto" is "full"; "fixed" keeps the multiple of the identity that
        the data's variograms suggest; a number is that multiple; an array is A, or its diagonal. A never grows.
    process_noise : "auto", float or array (n_components, n_components), default="auto"
        Q, the covariance of the states' steps, learned or given; its smallest eigenvalue must be at least 1e-12, and
        1e-12 of its largest.
    smooth : bool, default=True
        Whether ``impute``, ``denoise``, ``predict_interval`` and ``transform`` use what comes after a row as well as
        what comes before it (a smoother), or only the latter (a filter). With a numeric drift the states are smoothed,
        and read with the dictionary as the rows so far have moved it.
    lag : int or None, default=None
        How many rows ``recent`` looks back in a stream: the last ``lag`` rows and their beliefs are kept.
    robust : "auto", bool or float, default="auto"
        Student-t noise, so that outliers lose their weight: True learns the degrees of freedom, a number above 2 gives
        them (below that the noise has no variance, and no interval could be reported). "auto" has it where more than 1%
        of the entries were further than five deviations from their one-step forecasts, on both sides, and the values
        after them were back. A stream looks at every row (but not one that goes on as random walks), a ``fit`` at its
        last 1024 rows, and then fits once more. An entry is judged by what the others say of it. In a stream, a feature
        that stays where an outlier was is followed: after a few rows where it has a level like a random walk, otherwise
        once most of a window of 128 rows is there.
    drift : {"auto", "level", "none"} or float, default="auto"
        What changes slowly besides the states.

        - "level": each feature has a slow level of its own.
        - "none", or 0: nothing.
        - "auto": what fills hidden observed entries best, "level" or "none" ("level" for fewer than 20 rows). Up to 100
          rows every entry is hidden once, in five fits of each; in longer sequences some runs are, in one. A stream
          keeps both, and may change its mind (see the notes).
        - A positive number: the dictionary, which is followed row by row by the filter, without levels; it is Q_V, the
          variance that each loading of a standardised feature gains per time step.

        With "auto" and "level" ``fit``, on more than 100 rows, also tries random walks and nothing else, which are
        filled by straight lines, and takes them where nothing fills the hidden runs clearly better (not with
        Student-t noise, nor with a matrix of dynamics).
    marginals : {"auto", "linear", "log", "normal"}, default="auto"
        What is modelled: values, their logarithms, or their scores.

        - "linear": one model of the values.
        - "log": one model of the logarithms of all features, whose values must be positive. Seasons then multiply and
          trends are rates; everything still comes in and goes out in the data's units (see the notes).
        - "normal": models of their normal scores, with levels and without, fill gaps in ``impute``,
          ``predict_interval`` and ``denoise``: the value with the share u of the column's others below it has the score
          Φ⁻¹(u).
        - "auto": with ``period`` or ``trend``, logarithms of each feature whose values are positive, whose spread grows
          with their level, and whose last third is clearly foretold better so by what comes before, while hidden runs
          are not filled clearly worse. Without ``period`` and ``trend``, models of values and scores together fill
          gaps, if there are more than 200 rows, at most 100 columns and a million entries, and hidden observed runs are
          filled clearly better so than by one model of the values. One of them, of scores without levels, may have
          twice as many states as ``n_components``. Scores are not tried with Student-t noise, a numeric ``drift`` and
          known columns, nor where random walks were chosen. Otherwise it is one model of the values. See the notes.
    period : None, "auto", int or several ints, default=None
        Seasons: after how many rows something comes back, in whole numbers of rows from 2 on. Hourly rows with days and
        weeks have ``period=(24, 168)``. "auto" tries those that are usual for the steps of the time stamps or, without
        them, those of the autocorrelation, and keeps what fills hidden observed runs clearly better, if any does. Every
        feature gets a slow season for each period, next to nothing where it has none; features whose hidden runs are
        then filled better also get shapes by which whole periods of the shortest kind differ (working days and
        holidays, say; columns that determine each other exactly, such as a total and its parts, are hidden together
        for it). What the seasons leave is modelled as without them. ``fit`` needs two periods of rows at least.
        A stream learns slow seasons, without shapes, from the rows that it keeps, when it has seen two, four and eight
        periods; in between its seasons follow the rows. With "auto" it looks at its rows, not at time stamps, when it
        has 64, 128, ..., 2048 of them, and takes a season once that has foretold rows clearly better. See the notes for
        tables that begin elsewhere.
    trend : bool or "auto", default=False
        Whether features have a trend: a slope that changes slowly, and goes on in forecasts, damped where those made in
        the last third of the rows were better for it. "auto" keeps it where these are clearly better than without, and
        hidden runs not clearly worse; a feature that is modelled in logarithms has one, its rate of growth, which was
        tried together with these. Gaps are filled by levels and states beside it. Forecasts are then means over the
        kinds of models, weighed by how well each forecast; gaps are filled by the best of them. A stream learns trends
        when it has 64, 128, ..., 2048 rows, and follows them after that; the model that fills its gaps forecasts too,
        and "auto" goes by forecasts alone.
    spacing : {"rows", "time"}, default="rows"
        What a step is. "rows": from one row to the next, whatever their time stamps say; a warning tells where these
        leave steps out. "time": time stamps that are not equally spaced are put on steps of the greatest length that
        all of them are whole numbers of, at most ten per row, with steps without data between them. Answers are about
        the rows given, forecasts about the steps that follow; known columns keep their last value in between. Calendars
        (months, working and local days) stay as they are, and a stream goes on at the steps of a ``fit``.
    calibrate : bool, default=True
        Whether ``fit`` sets the width of the intervals by the errors made on hidden observed runs, and that of
        forecasts by those made in the last third: parameters that were learned from few rows are less certain than the
        model knows. Up to 200 rows every observed entry is hidden once, in five fits; in longer sequences a fifth of
        them, in one. Gaps of all features have one factor; in forecasts each has its own, drawn to what they have in
        common. In a stream they follow what was foretold and then seen (see the notes).
    alarm_rate : float, default=1e-4
        False alarms per row that the rules are set for; see ``alarms``. Where noise has heavy tails, outliers are told
        as often again.
    max_iter : int, default=30
        Upper bound on the sweeps of ``fit``.
    tol : float, default=1e-3
        ``fit`` stops when a sweep gains less than this, in nats per observed entry.
    verbose : int, default=0
        1 shows how far ``fit``, ``partial_fit`` or a question has come, once it takes longer than two seconds: a bar in
        a terminal (with rich installed) or a notebook, lines in a log. 2 prints a line per sweep of the last fit as
        well.

    Attributes
    ----------
    components_ : array (n_components_, n_features)
        The dictionary as it was last learned, in the data's units; this and the next are about the logarithm of a
        feature that is modelled so.
    mean_, noise_variance_, level_variance_ : array (n_features,)
        Level variance is what a feature's own level gains per time step, all zero where there are no levels.
    in_logarithms_ : array of bool (n_features,)
        Which features are modelled in logarithms; see ``marginals``.
    dynamics_, process_noise_ : array (n_components_, n_components_)
        A and Q.
    coefficient_covariance_ : array (n_components_, n_components_)
        How the states vary: the mean over the rows so far of what A, Q and the prior say.
    degrees_of_freedom_ : float
        Of the noise; infinite if Gaussian.
    interval_scale_, forecast_scale_ : float
        Factors on the predictive standard deviations of gaps and of forecasts; 1 unless calibrated. Means over
        features, each of which has its own in forecasts, and in a stream in gaps too. See the notes for another, which
        few values of a feature ask for.
    seasons_ : dict of int to array (period, n_features)
        The slow season of every period in use, as it is after the last row, from the first place on; empty without
        ``period``. It is added to a feature, in its units, or to the logarithm of one that is modelled so: 0.1 is then
        about a tenth more. All else that is learned is about what the seasons leave.
    n_components_ : int
        Components in use.
    n_iter_ : int
        Sweeps of ``fit`` (1 in a stream).
    history_ : list of dict
        "bound", the likelihood (without levels: its bound), at every sweep of ``fit``; empty in a stream.
    alarms_ : list of int
        Rows of the stream, counted from 0, at which alarms were raised (the last 1000).
    events_ : list of Event
        What happened in the stream: kind ("shift", "outlier" or "spread"), features, sizes, since when and where it was
        found, as :meth:`alarms` tells of a table (the last 1000).
    n_samples_seen_ : int
        Rows taken in, those without data included.
    n_features_in_ : int
    feature_names_in_ : array of str
        Where X was a table whose columns are named by strings.
    state_ : SequenceState
        Everything that an answer or the next row depends on, the parameters as they were at ``fit`` included.

    Notes
    -----
    Without levels the states and their covariances are exact, given the parameters. With levels, correlations between
    the levels of different features are dropped: intervals of entries stay right, but how much of a value is state and
    how much is level is less certain than the states' covariance says.

    The spread of a feature is learned from its N values, so its intervals are Student's with N - 1 degrees of freedom:
    6.5 times as wide as the model's own with two values, 1.6 times with four, 1.01 times with 100. Standard deviations
    are such that 1.96 of them hold 95%. A feature with one value or none has infinite bounds and standard deviations,
    because nothing says how far others lie; ``fit`` warns of it.

    What intervals of 95% held of rows drawn from the model itself, 30 to 90% of them missing at random, with forecasts
    up to ten steps (``benchmarks/sequence_coverage.py``); with fewer than 40 rows nothing is promised:

    ===================================  =========  ===========
    rows                                 gaps       forecasts
    ===================================  =========  ===========
    160                                  92 to 98%  93 to 99.5%
    40 or 80                             94 to 97%  93 to 99%
    12, 20 or 30                         89 to 97%  92 to 99%
    40, without ``calibrate``            90 to 93%  83 to 93%
    12, 20 or 30, without ``calibrate``  87 to 95%  76 to 97%
    ===================================  =========  ===========

    In the first 256 rows ``partial_fit`` fits the model anew each time that the rows have become a quarter more; later
    it adjusts the model about every 128 rows, with a memory of about 1300 rows. This work is divided into pieces, of
    which every row does one, so that no row takes long: it usually costs half a millisecond, and some four more while
    something is being learned (``benchmarks/sequence_streams.py``). What has been learned counts once it has caught up
    with the rows that came meanwhile. Seasons, trends and coefficients of known columns are learned in pieces as well,
    from the rows named above on, and beside them a model of what they leave of the last 1024 rows: they count some tens
    of rows later, some hundreds where there are many. The result depends on the rows alone, not on their division into
    calls, and a stream that is saved at any row goes on from there bit for bit.

    A stream keeps two models, the first and the last of the kinds that ``drift`` allows: with "auto" one with levels
    and one without. Each is scored by what it says of the next row, and of a fifth of the entries that a second filter
    does not see; what is long ago counts less. From row 40 on the better one answers, by what it said since row 20;
    another takes over when its score says twenty to one. After ``fit`` a stream goes on with the one kind that was
    chosen (where that had fewer than 256 rows, until more are there).

    With ``calibrate`` the widths of intervals follow what was foretold and then seen: in gaps the entries that the
    second filter did not see, in forecasts those up to ten rows ahead. Each feature has a factor of its own, drawn to
    the common one. With Student-t noise they follow what intervals of 80% hold, as outliers are not for them to hold.

    Where ``marginals`` lets several models fill gaps, fills and bounds are means of theirs, in the data's units, with
    weights that are not negative and chosen for each column by hidden runs of at most 2048 rows. Those of a model of
    scores are told by the law that the values then have, so that bounds are not symmetric where a column is skewed;
    columns with fewer than 30 values are as they are. Bounds and standard deviations are widened, each by a factor, by
    what they held of the hidden runs. Fills and bounds stay within what a column shows itself: a least or greatest
    value that is seen again and again, and zero where all values are on one side of it and come within a standard
    deviation. ``denoise`` gives what another value in the same place is expected to be. Everything else is told by the
    one model of the values, and so is everything after ``partial_fit``, which ``marginals="normal"`` refuses.

    What is told of a feature in logarithms is in its units: bounds are those of the logarithm under exp; fills,
    ``denoise`` and forecasts are means of the lognormal law, which lie above its middle (by half the variance that the
    model tells, before intervals are calibrated), and standard deviations are such that the bounds of 95% are as far
    apart as 3.92 of them; ``score_samples`` is a density of the values; sizes of events are by how much the forecast of
    their first row is moved. Values that are not positive are taken as missing, with a warning, and ``alarms`` tells
    them like those out of all proportion. A stream goes on in the logarithms of a ``fit``; one that began without
    ``fit`` has them only with "log".

    A sensor that starts later is scaled by its first eight values, and learned anew whenever the number of its values
    has doubled. If it starts when more than 128 rows have been learned from, the fits anew end there.

    A table given to ``impute``, ``transform``, ``score_samples`` or ``alarms`` is a sequence of its own: it begins at
    the prior, not where the fit ended, and is read with the model last learned. A dictionary that drifts follows that
    table; how it has followed the stream counts in ``forecast`` and ``recent`` only. Parameters that are set after
    ``fit`` act at the next ``fit``; ``partial_fit`` refuses them.

    With ``period``, place 0 of every period is at the first row taken in. A table that is asked about is placed by its
    time stamps, where it and the rows learned from have them, equally spaced or whole months apart; otherwise its first
    row counts as place 0 too. Widths of forecasts are then calibrated for each feature and each doubling of the steps,
    in a stream by what it forecast and then saw (up to 128 steps ahead; beside known columns up to ten), and
    ``forecast_scale_`` is the mean factor. ``components_``, ``transform`` and ``score_samples`` are about what the
    seasons leave. ``trend`` and known columns are a layer
    beside the seasons; where there is a trend, a table that is asked about begins at a height of its own.

    With levels ``score_samples`` is a Gaussian log-density. Without them, where the dictionary's uncertainty counts
    too, and with Student-t noise, it is a lower bound on the log-density.

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

    One feature with a season:

    >>> hour = np.arange(24 * 30)
    >>> load = 50 + 10.0 * (hour % 24 > 7)[:, None] + rng.normal(size=(720, 1))
    >>> ahead = SequenceFilter(period=24).fit(load).forecast(24)
    >>> bool(np.abs(ahead[10] - 60).max() < 1.5 and np.abs(ahead[3] - 50).max() < 1.5)
    True
    """

    _parameters_added: ClassVar[dict[str, Any]] = {"marginals": "linear"}
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
        "robust": [StrOptions({"auto"}), "boolean", Interval(Real, 2, None, closed="neither")],
        "drift": [StrOptions({"auto", "level", "none"}), Interval(Real, 0, None, closed="left")],
        "marginals": [StrOptions({"auto", "linear", "log", "normal"})],
        "period": [None, StrOptions({"auto"}), Interval(Integral, 2, None, closed="left"), "array-like"],
        "trend": ["boolean", StrOptions({"auto"})],
        "spacing": [StrOptions({"rows", "time"})],
        "calibrate": ["boolean"],
        "alarm_rate": [Interval(Real, 0, 1, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_components: int = 10,
        *,
        dynamics: str | float | ArrayLike = "auto",
        process_noise: str | float | ArrayLike = "auto",
        smooth: bool = True,
        lag: int | None = None,
        robust: bool | float | str = "auto",
        drift: str | float = "auto",
        marginals: str = "auto",
        period: str | int | ArrayLike | None = None,
        trend: bool | str = False,
        spacing: str = "rows",
        calibrate: bool = True,
        alarm_rate: float = 1e-4,
        max_iter: int = 30,
        tol: float = 1e-3,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.dynamics = dynamics
        self.process_noise = process_noise
        self.smooth = smooth
        self.lag = lag
        self.robust = robust
        self.drift = drift
        self.marginals = marginals
        self.period = period
        self.trend = trend
        self.spacing = spacing
        self.calibrate = calibrate
        self.alarm_rate = alarm_rate
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose

    # ---------------------------------------------------------------- fitting

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: TableLike, y: object = None, *, known: TableLike | None = None) -> Self:
        """Learn everything from X (n_steps, n_features), NaN = missing, rows in the order of time.

        ``known`` (n_steps, n_known) has columns whose values are known in every row and will be in rows to come, such
        as holidays or a weather forecast, without NaN. Every later question needs them for its rows.
        """
        from ._sequence_blend_fit import check_marginals, planned_trials
        from ._sequence_fit import learned  # only fits need these
        from ._sequence_logs import way_to_read
        from ._sequence_places import calendar_periods
        from ._sequence_seasons import check_long_enough, periods_of, planned_fits
        from ._sequence_stream import still_learning

        with unchanged_on_error(self), limited():
            given = plain_parameters(self)
            check_marginals(given, known=known is not None)
            Y, table = self._read(X, reset=True)
            K, names = (None, ()) if known is None else read_known(known, len(Y), table)
            spread = on_common_steps(Y, table) if given["spacing"] == "time" else as_given(Y, table)
            K = None if K is None else held(K, spread)
            Y, table = spread.values, spread.table
            warn_of_gaps(table, len(Y))
            Y = without_absurd(Y)
            check_size(seen := seen_in(Y), FLOAT)
            opt = options(given, Y.shape[1])
            check_enough(Y, opt.r)
            check_long_enough(periods_of(given), len(Y))
            limits = limits_of(self.alarm_rate, Y.shape[1])
            state = SequenceState(given, opt, new_stream(Y.shape[1]), StoredTable(), Y[-1:].copy(), seen, np.empty(0))
            state = state._replace(limits=limits, known=names, known_row=_last(K))
            with self._progress(1.0) as step:
                plan = planned_fits(Y, opt, given, known=K is not None)
                twice = 2 if given["robust"] == "auto" else 1
                plan = [*plan * twice, *planned_trials(Y.shape, opt, given)]
                tell = SweepProgress(type(self).__name__, step, plan)
                logs, periods, rates = way_to_read(Y, given, opt, calendar_periods(table), tell, known=K)
                Y = into_model(Y, logs)
                state = learned(state._replace(logs=logs), Y, periods, tell, known=K, rates=rates)
                state = still_learning(state, Y if K is None else np.hstack([Y, K]))
            self.state_ = _with_times(state, table)
            for number, bound in enumerate(state.history, 1):
                self._tell({"sweep": float(number), "bound": bound})
            warn_of_unknown(state.counts, getattr(self, "feature_names_in_", None))
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: TableLike, y: object = None, *, known: TableLike | None = None) -> Self:
        """Take in the next row or rows, NaN = missing, and go on from where the last call ended.

        After the warm-up, a shift that is told in ``events_`` is taken out of what has been learned if another kind of
        model would take over because of it, and there are neither trends nor shapes of whole periods.

        ``known``: see :meth:`fit`; a stream has them from its first row on, or not at all.
        """
        from ._sequence_stream import still_learning, take_stream  # only streams need it

        state: SequenceState | None = vars(self).get("state_")
        with unchanged_on_error(self), limited():
            if state is not None:
                check_same_parameters(self, state.parameters)
            if self.marginals == "normal":
                raise ValueError(
                    "With marginals='normal' rows cannot be streamed, because scores need all of them; call fit, or "
                    "use marginals='auto', 'linear' or 'log'."
                )
            if state is None:
                Y, table = self._read(X, reset=True)
                given = plain_parameters(self)
                if given["spacing"] == "time" and table.times is not None:
                    raise ValueError("With spacing='time' a stream goes on at the steps of a fit; call fit first.")
                warn_of_gaps(table, len(Y))
                opt = options(given, Y.shape[1])
                m = Y.shape[1]
                limits, seen, none = limits_of(self.alarm_rate, m), nothing_seen(m), Y[:0].copy()
                state = SequenceState(given, opt, new_stream(m), StoredTable(), none, seen, np.zeros(m), limits=limits)
                K, names = (None, ()) if known is None else read_known(known, len(Y), table)
                logs = np.ones(m, dtype=bool) if given["marginals"] == "log" else None
                state = state._replace(known=names, logs=logs)
                state = still_learning(state, np.empty((0, m + len(names))))
            else:
                before = restore_table(state.table._replace(columns=None))  # X has its own
                Y, table = self._read(X, reset=False)
                K = self._known(known, len(Y), table)
                append_times(before, table)  # refuses what does not follow
                spread = self._on_steps(Y, table, before, follows=True)
                K = None if K is None else held(K, spread, state.known_row)
                Y, table = spread.values, append_times(before, spread.table)
            state = state._replace(known_row=_last(K), blend=None)  # the model goes on learning, its companions do not
            with self._progress(len(Y)) as step:
                rows = Y if K is None else np.hstack([Y, K])
                self.state_ = _with_times(_dated(take_stream(state, rows, step), table), table)
        return self


def _last(K: Array | None) -> Array | None:
    """The last of the known rows."""
    return None if K is None else K[-1].copy()


def _dated(state: SequenceState, table: Table) -> SequenceState:
    """The state whose latest events have time stamps; those of the last rows are in the table."""
    times = table.times
    if times is None or not state.events or state.events[-1].when:
        return state
    first = state.n_rows - len(times)

    def when(row: int) -> Label:
        return stamp_of(times[row - first]) if row >= first else None

    return state._replace(events=tuple(one if one.when else stored(dated(one, when)) for one in state.events))


def _with_times(state: SequenceState, table: Table) -> SequenceState:
    """The state with the columns and the last time stamps of a table."""
    return state._replace(table=store_table(last_rows(table, max(KEPT_TIMES, 1 + state.lag))))
