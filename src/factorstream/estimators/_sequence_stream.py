"""Streams with seasons: rows are kept until the seasons have been learned from some periods of them."""

from __future__ import annotations

import numpy as np

from ..core.absurd_rows import absurd_entries
from ..core.dynamics.alarm import Alarm
from ..core.dynamics.seasons.layers import long_enough
from ..core.entries import together, without
from ..core.linalg import Array
from ..progress import Step
from ._sequence_fit import learned, periods_in
from ._sequence_seasons import is_auto, periods_of
from ._sequence_state import SequenceState, parts, take_rows, warn_once

LEARNED_AT = (2, 4, 8)
"""Periods after which a stream learns its seasons from all rows so far, for each period; then it follows them. Not
tuned: doublings, from the first time that something could have come back."""


LOOKED_AT = tuple(2**k for k in range(6, 12))
"""Rows, from 64 to 2048, after which a stream looks for periods that nobody has named, and learns their seasons; or
trends, and what known columns say. Not tuned: doublings; the last is what is kept in memory until then."""


def take_stream(state: SequenceState, Y: Array, step: Step) -> SequenceState:
    """Pass the rows Y, with known columns beside them, through a stream; the seasons asked for are learned at rows that
    the parameters alone decide."""
    schedule = learning_rows(state)
    done, absurd = 0, []
    while done < len(Y):
        due = next((n for n in schedule if n > state.n_rows), None)
        part = Y[done:] if due is None else Y[done : done + due - state.n_rows]
        before = state.before
        state, entries = take_rows(state, part, step, done)
        absurd.append(entries)
        done += len(part)
        if before is not None:
            before = np.vstack([before, part])
            if state.n_rows in schedule and np.isfinite(parts(state, before)[0]).any():
                state = _learned_anew(state, before)
            state = state._replace(before=before if state.n_rows < max(schedule) else None)
    warn_once(together(absurd), len(Y))
    return state


def learning_rows(state: SequenceState) -> tuple[int, ...]:
    """The numbers of rows at which a stream learns its seasons, trends and what known columns say; none without."""
    looked = is_auto(state.parameters) or state.parameters["trend"] is not False or state.known
    periods = {times * P for times in LEARNED_AT for P in periods_of(state.parameters)}
    return tuple(sorted(periods | set(LOOKED_AT if looked else ())))


def still_learning(state: SequenceState, Y: Array) -> SequenceState:
    """The state that keeps the rows Y so far, if a stream would still learn its seasons from more of them."""
    schedule = learning_rows(state)
    return state._replace(before=Y.astype(np.float64) if schedule and len(Y) < max(schedule) else None)


def _learned_anew(state: SequenceState, W: Array) -> SequenceState:
    """The state after a fit of all rows so far; as it is where no season is found in them.

    Alarms are watched for anew, as rows are as strange as this model says. Widths of forecasts that have been adjusted
    beside the same periods go on.
    """
    Y, known = parts(state, W)
    Y = without(Y, absurd_entries(Y))
    periods = long_enough(periods_in(state, Y), len(Y))
    if not periods and not state.layers and not state.known and state.parameters["trend"] is False:
        return state
    new = learned(state, Y, periods, known=known, streamed=True)
    if not new.layers and not state.layers:
        return state
    old, widths = state.ahead_scale, new.ahead_scale
    if old is not None and widths is not None and new.layers and state.layers[0].period == new.layers[0].period:
        new = new._replace(ahead_scale=np.vstack([old, *[old[-1:]] * (len(widths) - len(old))]))
    forecasts = state.forecasts if new.layers else ()  # without seasons nothing is compared with them
    return new._replace(history=(), n_iter=1, alarm=Alarm(), forecasts=forecasts)
