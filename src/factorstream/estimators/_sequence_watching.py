"""What a stream makes of every row besides learning from it: alarms, events, and whether its noise has heavy tails."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.dynamics.fit import WALKS
from ..core.dynamics.heavier import with_heavy_tails
from ..core.dynamics.logarithms import out_of_model
from ..core.dynamics.lookout import SHIFT, Happening, Lookout, begin_lookout, look, without_shift
from ..core.dynamics.model import Innovation
from ..core.dynamics.moved import HELD, Told, taken_out
from ..core.dynamics.noise import GaussianSpec, LearnedStudentSpec
from ..core.dynamics.scale import student_factor
from ..core.dynamics.seasons.phases import PhaseLayer
from ..core.dynamics.shifts import REACH
from ..core.dynamics.stream import Stream
from ..core.dynamics.tails import add_errors, begin_tails, heavy
from ..core.entries import Entries
from ..core.linalg import Array
from ._sequence_events import EVENTS_KEPT, Passed, absurd_events, events_of, in_data_units, row_of

if TYPE_CHECKING:
    from ._sequence_state import SequenceState

ALARMS_KEPT = 1000
"""Alarms that a stream remembers, so that its state stays bounded."""


def watched(
    state: SequenceState, before: Stream, rest: Array, innovation: Innovation, absurd: Entries
) -> SequenceState:
    """The state that has looked at its last row: `rest` (m,), what the seasons leave of it, which the stream `before`
    expected as the innovation says. Alarms begin after a fit, or the warm-up. O(m REACH)."""
    one = _passed(state.stream, before, rest, innovation)
    state = _with_tails(state, one)
    expected = innovation.mean if state.seasons is None else innovation.mean + state.seasons[-1, 0]
    if state.logs is not None:
        past = expected[None] if state.foretold is None else np.vstack([state.foretold, expected])
        state = state._replace(foretold=past[-REACH:])
    if state.lookout is None and state.stream.rows <= state.options.warmup and not state.history:
        return state
    limits = state.thresholds
    watching = begin_lookout(state.counts) if state.lookout is None else state.lookout
    found = look(state.alarm, watching, row_of(one, student_factor(np.maximum(state.counts, 2.0))), limits)
    told = state.told if state.told is None or state.told.age < HELD else None
    told = None if told is None else told._replace(rows=told.rows + 1, age=told.age + 1)
    state = state._replace(alarm=found.alarm, lookout=found.lookout, limits=limits, told=told)
    for what in found.happenings:
        if what.kind == SHIFT:
            state = state._replace(told=_told(state, watching, what))
    row = state.n_rows - 1
    if found.fired or len(absurd.row):
        state = state._replace(alarms=(*state.alarms, row)[-ALARMS_KEPT:])
    events = events_of([(row, what) for what in found.happenings])
    if state.logs is not None and state.foretold is not None:
        past, logs = state.foretold, state.logs
        events = [in_data_units(one, past[max(one.since - row - 1, -len(past))], logs) for one in events]
    expected = out_of_model(expected, state.logs)[absurd.column]
    events += absurd_events(absurd._replace(row=np.full(len(absurd.row), row)), expected)
    return state._replace(events=(*state.events, *events)[-EVENTS_KEPT:]) if events else state


def _told(state: SequenceState, before: Lookout, shift: Happening) -> Told | None:
    """What is remembered of shifts of late, after this one, which was told by the lookout `before`.

    In the warm-up everything is learned again and again, and trends and shapes of whole periods follow a shift by
    themselves: there it is nothing.
    """
    follows = any(not isinstance(layer, PhaseLayer) for layer in state.layers)
    if follows or not shift.stays.any() or state.stream.rows <= state.options.warmup:
        return state.told
    told = state.told
    if told is None:
        told = Told(np.zeros(len(state.counts)), shift.rows, 0, before.sums.low, before.sums.high)
    by = told.by.copy()
    by[shift.which[shift.stays]] += shift.size[shift.stays]
    return told._replace(by=by, rows=max(told.rows, shift.rows))


def with_best_answering(state: SequenceState) -> SequenceState:
    """The state whose answers come from the candidate model with the best forecasts so far.

    A shift may make another candidate the best, though none could foretell it: then the shift is taken out, and the
    candidates are compared again. Where the best one stays the same, the shift is left in, as it may be an episode.
    """
    from ..core.dynamics import learning  # only streams need it

    stream = learning.answered_by_the_best(state.stream)
    if stream.leader == state.stream.leader:
        return state
    if state.told is None:
        return state._replace(stream=stream)
    state = _without(state, state.told)
    return state._replace(stream=learning.answered_by_the_best(state.stream))


def _without(state: SequenceState, told: Told) -> SequenceState:
    """The state whose features have been where they are since a shift."""
    assert state.lookout is not None  # for the type checker: it has told of the shift
    by, rows = told.by, told.rows
    state = state._replace(
        stream=taken_out(state.stream, by, rows),
        layers=tuple(
            layer.moved(by[layer.columns], rows) if isinstance(layer, PhaseLayer) else layer for layer in state.layers
        ),
        forecasts=(),  # they were made where the features had been
        lookout=without_shift(state.lookout, told.low, told.high, rows),
        told=None,
    )
    older = len(state.rows) - rows
    if older <= 0:
        return state
    moved = np.zeros(state.rows.shape) if state.moved is None else state.moved.copy()
    moved[:older] += by
    return state._replace(moved=moved)


def _passed(stream: Stream, before: Stream, rest: Array, innovation: Innovation) -> Passed:
    """The row in the units in which it was expected."""
    old, new = before.fitted, stream.fitted
    assert old is not None  # for the type checker: there was an innovation
    assert new is not None
    shift, scale = before.shift, before.scale
    plain = innovation._replace(mean=(innovation.mean - shift) / scale, var=innovation.var / scale**2)
    z = np.where(innovation.seen, (rest - shift) / scale, np.nan)
    return Passed(old.now, old.belief, new.belief, z, plain, shift, scale)


def _with_tails(state: SequenceState, one: Passed) -> SequenceState:
    """The state that has counted outliers, and takes the noise to have heavy tails if there are too many.

    Seasons, trends and what known columns say are then learned from the beginning, if they are being learned.
    """
    if state.parameters["robust"] != "auto" or not isinstance(state.options.noise, GaussianSpec):
        return state
    if _is_walk(state.stream):
        return state
    if state.before is not None and not state.layers and (state.anew is not None or not state.anew_at):
        return state  # seasons and known columns, which are learned first, may explain what is far off
    tails = begin_tails(len(one.z)) if state.tails is None else state.tails
    tails = add_errors(tails, one.z, one.innovation.mean, np.sqrt(one.innovation.var))
    if not heavy(tails):
        return state._replace(tails=tails)
    noise = LearnedStudentSpec()
    others = tuple(
        other
        if _is_walk(other.stream)
        else other._replace(
            options=other.options._replace(noise=noise), stream=with_heavy_tails(other.stream, noise, tails)
        )
        for other in state.others
    )
    return state._replace(
        tails=None,
        stream=with_heavy_tails(state.stream, noise, tails),
        options=state.options._replace(noise=noise),
        others=others,
        anew=None,
        anew_at=state.anew_at if state.anew is None else 0,
    )


def _is_walk(stream: Stream) -> bool:
    """Whether the stream goes on with random walks without noise, which follow whatever comes."""
    return bool(stream.bank) and stream.bank[stream.leader].kind == WALKS
