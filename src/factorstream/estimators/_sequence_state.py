"""Everything that the answers of a sequence estimator, and its next row, depend on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..core.absurd import Seen, seen_in
from ..core.absurd_rows import absurd_entries
from ..core.dynamics.alarm import Alarm
from ..core.dynamics.choose import HORIZON
from ..core.dynamics.em import DynamicsSpec, LoadingPrior
from ..core.dynamics.filter import forecast
from ..core.dynamics.logarithms import into_model, not_positive, out_of_model
from ..core.dynamics.lookout import Limits, Lookout, limits_of, relearned
from ..core.dynamics.model import Belief, Dynamics, Emission, LevelBelief, Levels, SequenceModel
from ..core.dynamics.moments import LevelMoments, Moments
from ..core.dynamics.moved import Told
from ..core.dynamics.noise import GaussianNoise, GaussianSpec, GivenStudentSpec, LearnedStudentSpec, StudentNoise
from ..core.dynamics.rare import Rare
from ..core.dynamics.scale import LEAST_KNOWN, student_factor
from ..core.dynamics.seasons.ahead import mixed
from ..core.dynamics.seasons.anew import Anew, Damped, Lines
from ..core.dynamics.seasons.layers import SeasonLayer, ahead, take
from ..core.dynamics.seasons.lines import LineVariances, Running
from ..core.dynamics.seasons.phases import PhaseLayer, Variances
from ..core.dynamics.seasons.shapes import ShapeLayer
from ..core.dynamics.seasons.tracking import EVERY, Forecast, compared
from ..core.dynamics.seasons.trends import Search, TrendLayer
from ..core.dynamics.shifts import Sums
from ..core.dynamics.stream import Candidate, Fitted, Job, Learning, Outcome, Stream, StreamOptions, Task
from ..core.dynamics.suspects import Suspects, suspected
from ..core.dynamics.tails import Tails
from ..core.dynamics.widths import Foretold, Width
from ..core.entries import Entries, together, without
from ..core.linalg import Array
from ..core.tables.marginals import Marginals
from ._absurd import judged, warn_of
from ._sequence import Parameter
from ._sequence_blend import BLEND_TYPES, Blend
from ._sequence_events import Event
from ._sequence_units import warn_of_unfit
from ._sequence_watching import watched, with_best_answering
from ._stored_times import StoredIndex, StoredOffset, StoredStamp, StoredTable

FURTHEST_COMPARED = 128
"""Steps ahead up to which forecasts of a stream with seasons are compared with what comes. Speed only: a forecast costs
20 microseconds a step, and is made at one row."""


FLOAT = np.dtype(np.float64)
"""What a sequence is computed in, whatever its rows are."""


class Other(NamedTuple):
    """A model of what the seasons leave that only forecasts."""

    options: StreamOptions  # with its kind as the only candidate
    stream: Stream


class SequenceState(NamedTuple):
    """The state of a :class:`SequenceFilter`: plain data only, O(m r² + lag (m r + r²) + 256 m) numbers.

    Beside seasons it is O(P m) numbers more for each period of P rows, and while a stream is still to learn seasons,
    trends or known columns, all of its rows with these columns: at most 2048, or eight of the longest period. Alarms
    and events are the last thousand. It is a tree of NamedTuples, tuples, dicts, arrays, numbers, strings and None, so
    it can be written to a file.
    """

    parameters: dict[str, Parameter]  # as they were when ``fit``, or the first ``partial_fit``, was called
    options: StreamOptions  # the same in the words of the core
    stream: Stream  # model, belief after the last row, rows that learning still needs
    table: StoredTable  # columns and time stamps of the last rows
    rows: Array  # (k, m) the last rows, at most lag + 1, in the units of the data
    seen: Seen  # what tells absurd values, in the units of the data
    counts: Array  # (m,) values of each feature that its spread was learned from; infinite if the noise is wider for it
    n_rows: int = 0  # taken in
    alarm: Alarm = Alarm()
    alarms: tuple[int, ...] = ()  # numbers of the rows at which alarms were raised
    interval_scale: float = 1.0
    forecast_scale: Array | float = 1.0  # (m,), or one of all features
    history: tuple[float, ...] = ()  # bound at every sweep of ``fit``
    n_iter: int = 1
    layers: tuple[SeasonLayer, ...] = ()  # of seasons; the stream is that of what they leave
    ahead_scale: Array | None = None  # (b, m) what stands for `forecast_scale` where there are seasons: see `width_at`
    forecasts: tuple[Forecast, ...] = ()  # of a stream with seasons, by which `ahead_scale` is adjusted
    before: Array | None = None  # rows, in the model's units, of which seasons are to be learned; None: no more
    anew: Anew | None = None  # what is being learned from these; None: nothing at the moment
    anew_at: int = 0  # rows when that was begun last
    others: tuple[Other, ...] = ()  # that forecast beside the model of gaps
    weights: Array | None = None  # (1 + others, m) of their forecasts; None: there are no others
    known: tuple[str, ...] = ()  # names of the known columns; `before` has these beside the features
    known_row: Array | None = None  # (p,) known columns of the last row taken in; None: there are none, or no row yet
    seasons: Array | None = None  # (k, 2, m) mean and variance of the season of the last rows, in the model; None: none
    moved: Array | None = None  # (k, m) by how much features moved since each of the last rows, in the model
    told: Told | None = None  # a shift of late, which may have to be taken out; None: there was none
    blend: Blend | None = None  # that fills gaps after a fit, together with the model; None: this alone
    limits: Limits | None = None  # of all rules that find events, from ``alarm_rate``; None: not asked for yet
    lookout: Lookout | None = None  # what these remember of the last rows, beside `alarm`; None: no row yet
    events: tuple[Event, ...] = ()  # with numbers of features
    tails: Tails | None = None  # of the errors, while nothing says whether the noise has heavy ones; None: no row yet
    logs: Array | None = None  # (m,) bool, which features are modelled in logarithms; None: no feature is
    foretold: Array | None = None  # (k, m) what the last rows were expected to be, in the model; None: without `logs`

    @property
    def fitted(self) -> Fitted:
        """The model and the belief after the last row."""
        assert self.stream.fitted is not None  # for the type checker: a stream has a model from its first row
        return self.stream.fitted

    @property
    def beliefs(self) -> tuple[Belief, ...]:
        """Filtered, of the last rows, at most lag + 1."""
        return self.stream.bank[self.stream.leader].recent

    @property
    def gap_scales(self) -> Array:
        """Factors (m,) on the standard deviations of gaps."""
        return self.interval_scale * self.stream.bank[self.stream.leader].gaps.factors

    @property
    def forecast_scales(self) -> Array:
        """Factors (m,) on the standard deviations of forecasts, where there are no seasons."""
        return np.asarray(self.forecast_scale * self.stream.bank[self.stream.leader].ahead.factors)

    @property
    def ahead_scales(self) -> Array:
        """Factors (b, m) on the standard deviations of forecasts, where there are seasons."""
        assert self.ahead_scale is not None  # for the type checker
        return (
            self.ahead_scale if self.others else self.ahead_scale * self.stream.bank[self.stream.leader].ahead.factors
        )

    @property
    def thresholds(self) -> Limits:
        """Of all rules that find events; files of earlier versions may lack them."""
        rate = self.parameters["alarm_rate"]
        assert isinstance(rate, float)  # for the type checker: scikit-learn has checked it
        return limits_of(rate, len(self.counts)) if self.limits is None else self.limits

    @property
    def model(self) -> SequenceModel:
        """The model from which passes over a table start: the one last learned, without what drifted since."""
        return self.fitted.model

    @property
    def lag(self) -> int:
        """Rows that are kept besides the last one."""
        lag = self.parameters["lag"]
        return lag if isinstance(lag, int) else 0


STATE_TYPES: tuple[type, ...] = (
    SequenceState, Other, StreamOptions,
    Stream, Fitted, Learning, Alarm, DynamicsSpec, LoadingPrior, SequenceModel, Dynamics,
    Emission, Levels, Belief, LevelBelief, Moments, LevelMoments, GaussianNoise, StudentNoise, GaussianSpec,
    GivenStudentSpec, LearnedStudentSpec, StoredTable, StoredIndex, StoredOffset, StoredStamp, Seen,
    PhaseLayer, Variances, ShapeLayer, TrendLayer, LineVariances, Running, Forecast, Candidate, Job, Task, Width,
    Foretold, *BLEND_TYPES, Marginals, Anew, Lines, Damped, Search, Limits, Lookout, Sums, Suspects, Rare, Tails, Told,
    Event,
)  # fmt: skip
"""Every NamedTuple that can occur in a state."""


class Taken(NamedTuple):
    """What taking in one row came to."""

    state: SequenceState
    absurd: Entries  # whose rows are counted from this one
    outcome: Outcome
    unfit: Entries  # the same of values that need a logarithm and have none


def take_row(state: SequenceState, w: Array) -> Taken:
    """Pass the row w = [y, k], features and known columns, through the stream; alarms are watched for after the
    warm-up."""
    from ..core.dynamics import learning  # only streams need it

    Y, K = parts(state, w[None])
    seen, absurd = judged(state.seen, Y, FLOAT)
    unfit = not_positive(without(Y, absurd), state.logs)
    now = together([absurd, unfit])
    row = without(Y, now)
    y = into_model(row[0], state.logs)
    state, rest, var = _less_season(state, y, None if K is None else K[0])
    before = state.stream
    held = _suspicious(state) or state.told is not None
    stream, outcome = learning.advance(before, rest, state.options, _wide(state), var, held)
    if state.others:
        others = tuple(Other(own, learning.advance(stream, rest, own)[0]) for own, stream in state.others)
        state = state._replace(others=others)
    if outcome.judged is not None and not state.layers:  # rows of the warm-up, together
        late = absurd_entries(outcome.judged)
        if len(late.row):
            absurd = together([absurd, late._replace(row=late.row + 1 - len(outcome.judged))])
            seen = seen_in(out_of_model(without(outcome.judged, late), state.logs))
    rows = np.vstack([state.rows, row])[-(state.lag + 1) :]
    if state.moved is not None:
        moved = np.vstack([state.moved, np.zeros_like(row)])[-(state.lag + 1) :]
        state = state._replace(moved=moved if moved.any() else None)
    state = state._replace(stream=stream, rows=rows, n_rows=state.n_rows + 1, seen=seen)
    if outcome.counts is not None:
        state = _with_counts(state, outcome)
    state = _with_widths(state, y)
    if outcome.innovation is not None:
        state = watched(state, before, rest, outcome.innovation, now)
    if not _suspicious(state):
        state = with_best_answering(state)
    return Taken(state, absurd, outcome, unfit)


def _suspicious(state: SequenceState) -> bool:
    """Whether entries of the last rows may be of a shift, which no candidate could foretell."""
    return state.lookout is not None and bool(suspected(state.lookout.suspects).any())


def parts(state: SequenceState, W: Array) -> tuple[Array, Array | None]:
    """The features of rows W, and their known columns, if there are any."""
    p = len(state.known)
    return (W[:, :-p], W[:, -p:]) if p else (W, None)


def _wide(state: SequenceState) -> Array | None:
    """Factors on intervals besides those that errors teach; None where they are to teach none.

    With seasons that of forecasts is the mean one of those that are not learned in another way (`_with_widths`).
    """
    if not state.parameters["calibrate"]:
        return None
    scales = state.ahead_scale
    ahead = state.forecast_scale if scales is None else scales[: max(_tracked(state), 1)].mean(0)
    both = np.broadcast_arrays(state.interval_scale, ahead, state.counts)[:2]
    return np.asarray(student_factor(state.counts) * np.stack(both))


def counts_after(counts: Array, outcome: Outcome) -> Array:
    """Values (m,) of each feature that a model was learned from: in addition to others or, where models before knew
    less than all of these rows, anew."""
    assert outcome.counts is not None  # for the type checker: something was learned
    if outcome.known < 1.0:
        return outcome.counts
    counts = counts + outcome.counts
    return np.where(counts < LEAST_KNOWN, counts, np.inf)  # `widened`


def _with_counts(state: SequenceState, outcome: Outcome) -> SequenceState:
    """The state whose model has been learned once more."""
    if state.lookout is not None:
        state = state._replace(lookout=relearned(state.lookout))
    if outcome.known < 1.0 and not state.layers:  # widths that a fit found count as those that errors taught: `faded`
        scales = state.interval_scale**outcome.known, state.forecast_scale**outcome.known
        state = state._replace(interval_scale=scales[0], forecast_scale=scales[1])
    return state._replace(counts=counts_after(state.counts, outcome))


def _less_season(state: SequenceState, y: Array, known: Array | None) -> tuple[SequenceState, Array, Array | None]:
    """The state whose seasons have taken in the row y (m,); what they, before they saw it, leave of it; and the
    variance (m,) of what they said."""
    if not state.layers or state.seasons is None:
        return state, y, None
    layers, signal, var = take(state.layers, y.astype(np.float64), known)
    seasons = np.concatenate([state.seasons, [[signal, var]]])[-(state.lag + 1) :]
    return state._replace(layers=layers, seasons=seasons), y - signal, var


def coming(state: SequenceState, steps: int, known: Array | None = None) -> tuple[Array, Array]:
    """Means and standard deviations (steps, m) of the rows to come, with seasons: as the model says and, where it is
    the only one that forecasts, its errors up to HORIZON steps ahead teach."""
    season = ahead(state.layers, state.stream.shift.size, steps, known)
    means, variances = [], []
    for stream in (state.stream, *(other.stream for other in state.others)):
        fitted, shift, scale = stream.fitted, stream.shift, stream.scale
        assert fitted is not None  # for the type checker: it was fitted
        mean, var = forecast(fitted.now, fitted.belief, steps)
        means.append(season.signal + shift + scale * mean)
        variances.append(season.var + scale**2 * var)
    mean, var = mixed(means, variances, np.ones((1, 1)) if state.weights is None else state.weights)
    return mean, np.sqrt(var) * (1.0 if state.others else state.stream.bank[state.stream.leader].ahead.factors)


def _tracked(state: SequenceState) -> int:
    """The first doubling of steps ahead whose widths are learned from whole forecasts: those beyond HORIZON, which the
    errors of every row teach, unless several models forecast."""
    return 0 if state.others else HORIZON.bit_length()


def steps_of(layers: Sequence[SeasonLayer]) -> int:
    """How far forecasts are compared with what comes: the longest period, but no further than a row can pay for."""
    return min(layers[0].period, FURTHEST_COMPARED) if layers[0].period > 1 else HORIZON


def _with_widths(state: SequenceState, y: Array) -> SequenceState:
    """The state whose widths of forecasts have learned from the row y (m,); it forecasts anew when it is time.

    Not beside known columns: forecasts need those of the rows to come.
    """
    if state.ahead_scale is None or not state.parameters["calibrate"] or state.known:
        return state
    widths, forecasts = compared(state.ahead_scale, state.forecasts, y, _tracked(state))
    steps = steps_of(state.layers)
    if state.n_rows % max(steps // EVERY, 1) == 0 and _tracked(state) < len(widths):
        forecasts = (*forecasts, Forecast(*coming(state, steps)))
    return state._replace(ahead_scale=widths, forecasts=forecasts)


def warn_once(entries: Entries, unfit: Entries, n_rows: int) -> None:
    """One warning for all absurd entries of a call of ``n_rows``; those of rows before it have negative numbers. And
    one for those that are not positive and should be."""
    now = entries.row >= 0
    warn_of(Entries(*(part[now] for part in entries)), n_rows, earlier=int(np.count_nonzero(~now)))
    warn_of_unfit(unfit, n_rows)
