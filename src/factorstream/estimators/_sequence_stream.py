"""Streams that learn seasons, trends and what known columns say, in pieces."""

from __future__ import annotations

import numpy as np

from ..core.absurd_rows import absurd_entries
from ..core.dynamics.alarm import Alarm
from ..core.dynamics.bank import ODDS, SCORE_MEMORY
from ..core.dynamics.few import FEWEST_ROWS
from ..core.dynamics.logarithms import into_model
from ..core.dynamics.lookout import relearned, without_suspects
from ..core.dynamics.seasons.anew import Anew, Trends
from ..core.dynamics.seasons.finding import MOST_PERIODS, candidates_in
from ..core.dynamics.seasons.layers import long_enough
from ..core.dynamics.seasons.relearning import begun, further
from ..core.dynamics.seasons.shapes import ShapeLayer
from ..core.dynamics.seasons.tracking import Forecast
from ..core.dynamics.stream import Outcome, StreamOptions
from ..core.entries import together, without
from ..core.linalg import Array
from ..progress import Step
from ._sequence import Parameter
from ._sequence_seasons import is_auto, periods_of
from ._sequence_state import SequenceState, Taken, counts_after, parts, steps_of, take_row, warn_once

LEARNED_AT = (2, 4, 8)
"""Periods after which a stream learns its seasons from all rows so far, for each period; then it follows them. Not
tuned: doublings, from the first time that something could have come back."""


LOOKED_AT = tuple(2**k for k in range(6, 12))
"""Rows, from 64 to 2048, after which a stream looks for periods that nobody has named, and learns their seasons; or
trends, and what known columns say. Not tuned: doublings; the last is what is kept in memory until then."""


def take_stream(state: SequenceState, W: Array, step: Step) -> SequenceState:
    """Pass the rows W, with known columns beside them, through a stream; the seasons asked for are learned from rows
    that the parameters alone decide, a piece with every row."""
    absurd, unfit = [], []
    for k, w in enumerate(W):
        step(k)
        taken = take_row(state, w)
        absurd.append(taken.absurd._replace(row=taken.absurd.row + k))
        unfit.append(taken.unfit._replace(row=taken.unfit.row + k))
        state = taken.state if taken.state.before is None else _learning(taken, w)
    warn_once(together(absurd), together(unfit), len(W))
    return state


def learning_rows(state: SequenceState) -> tuple[int, ...]:
    """The numbers of rows at which a stream learns its seasons, trends and what known columns say; none without."""
    looked = is_auto(state.parameters) or state.parameters["trend"] is not False or state.known
    periods = {times * P for times in LEARNED_AT for P in periods_of(state.parameters)}
    return tuple(sorted(periods | set(LOOKED_AT if looked else ())))


def still_learning(state: SequenceState, Y: Array) -> SequenceState:
    """The state that keeps the rows Y so far, if a stream would still learn its seasons from more of them."""
    schedule = learning_rows(state)
    before = Y.astype(np.float64) if schedule and len(Y) < max(schedule) else None
    return state._replace(before=before, anew_at=len(Y))


def _learning(taken: Taken, w: Array) -> SequenceState:
    """The state that has kept the row w, one row's work further with what it learns, if there is anything."""
    state = taken.state
    assert state.before is not None  # for the type checker
    y = into_model(state.rows[-1], state.logs)  # without absurd values
    row = np.concatenate([y, w[len(y) :]])
    rows = np.vstack([state.before, row])
    state = state._replace(before=rows)
    if state.anew is None:
        return _begun(state)
    anew, outcome = further(state.anew, rows, len(state.rows[-1]), _without_cycles(state.options), state.lag + 1)
    if outcome.counts is not None:
        known = np.zeros(len(outcome.counts)) if anew.counts is None else anew.counts
        anew = anew._replace(counts=counts_after(known, outcome))
    if anew.learned and not anew.layers and not state.layers:  # there is no trend after all
        return state._replace(anew=None)
    state = state._replace(anew=anew)
    if not anew.ready:
        return state
    if is_auto(state.parameters) and set(anew.periods) != _periods(state):
        return _compared(state, taken, outcome)
    return _adopted(state, anew)


def _without_cycles(opt: StreamOptions) -> StreamOptions:
    """The options of a model beside new layers: cycles that a fit found without them may be theirs."""
    return opt._replace(dynamics=opt.dynamics._replace(cycles=None))


_TRENDS: dict[Parameter, Trends] = {False: "none", True: "asked", "auto": "auto"}


def _begun(state: SequenceState) -> SequenceState:
    """The state that begins to learn, if it is time; the rows are let go once there will be nothing more to learn.

    A fit that found shapes of whole periods, or several models for forecasts, knows more than a stream learns.
    """
    rows = state.before
    assert rows is not None  # for the type checker
    schedule = learning_rows(state)
    if state.others or any(isinstance(layer, ShapeLayer) for layer in state.layers):
        return state._replace(before=None)
    if not any(state.anew_at < n <= len(rows) for n in schedule):
        return state if len(rows) < max(schedule) else state._replace(before=None)
    state = state._replace(anew_at=len(rows))
    Y, known = parts(state, rows)
    Y = without(Y, absurd_entries(Y))
    periods = _periods_in(state, Y)
    trends = _TRENDS[state.parameters["trend"]]
    if not (periods or known is not None or trends != "none") or not np.isfinite(Y).any():
        return state
    rows = Y if known is None else np.hstack([Y, known])
    return state._replace(before=rows, anew=begun(rows, periods, trends))


def _periods_in(state: SequenceState, Y: Array) -> tuple[int, ...]:
    """The periods asked for, or those in use with those that the autocorrelation of the rows shows."""
    if not is_auto(state.parameters):
        return long_enough(periods_of(state.parameters), len(Y))
    more = _periods(state) | set(candidates_in(Y))
    return long_enough(tuple(more if len(more) <= MOST_PERIODS else _periods(state)), len(Y))


def _periods(state: SequenceState) -> set[int]:
    """The periods in use."""
    return {layer.period for layer in state.layers if layer.period > 1}


def _compared(state: SequenceState, taken: Taken, outcome: Outcome) -> SequenceState:
    """The state whose new layers, which nobody asked for by their period, are held against the ones in use: by what
    both said of rows before they came."""
    anew, old, new = state.anew, taken.outcome.innovation, outcome.innovation
    assert anew is not None  # for the type checker
    if old is None or new is None or not np.array_equal(old.seen, new.seen):
        return state
    score = (1.0 - 1.0 / SCORE_MEMORY) * anew.score + new.logp - old.logp
    anew = anew._replace(score=score, compared=anew.compared + 1)
    if anew.compared >= FEWEST_ROWS and score > ODDS:
        return _adopted(state, anew)
    return state._replace(anew=None if score < -ODDS or anew.compared >= SCORE_MEMORY else anew)


def _adopted(state: SequenceState, anew: Anew) -> SequenceState:
    """The state that goes on by what was learned.

    The sizes of rows add up from zero, as rows are as strange as this model says; what has been told is not told again.
    Widths of forecasts that have been adjusted beside the same periods go on.
    """
    assert anew.stream is not None  # for the type checker: it is ready
    assert anew.counts is not None
    widths, seasons = None, None
    forecasts: tuple[Forecast, ...] = ()
    if anew.layers:
        steps, m = steps_of(anew.layers), len(anew.stream.shift)
        widths, seasons, old = np.ones((int(steps).bit_length(), m)), anew.seasons, state.ahead_scale
        if old is not None and not state.others and state.layers[0].period == anew.layers[0].period:
            widths, forecasts = old, state.forecasts
    lookout = None if state.lookout is None else without_suspects(relearned(state.lookout))
    return state._replace(
        options=_without_cycles(state.options),
        stream=anew.stream, layers=anew.layers, seasons=seasons, moved=None, told=None, counts=anew.counts,
        ahead_scale=widths, forecasts=forecasts, others=(), weights=None, interval_scale=1.0, forecast_scale=1.0,
        history=(), n_iter=1, alarm=Alarm(), lookout=lookout, tails=None, anew=None,
    )  # fmt: skip
