"""What happened to a sequence, in the words of users: rows, time stamps, names of features, the data's units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ..core.dynamics.alarm import Alarm, Watched
from ..core.dynamics.filter import entry, forecast, initial
from ..core.dynamics.logarithms import moved
from ..core.dynamics.lookout import (
    OUTLIER,
    Happening,
    Limits,
    Row,
    Trace,
    begin_lookout,
    last_verdicts,
    look,
    scores_of,
    trace_of,
)
from ..core.dynamics.model import Belief, Innovation, SequenceModel
from ..core.dynamics.suspects import PATIENCE
from ..core.entries import Entries
from ..core.linalg import Array

EVENTS_KEPT = 1000
"""Events that a stream remembers, so that its state stays bounded."""


class Event(NamedTuple):
    """Something that happened to a sequence.

    Examples
    --------
    >>> Event("shift", 603, 600, ("load",), (4.1,), "2024-01-26 03:00:00", "2024-01-26 00:00:00")
    shift of load by +4.1 since 2024-01-26 00:00:00, found at 2024-01-26 03:00:00
    >>> Event("outlier", 203, 200, (7,), (-30.0,))
    outlier in 7 by -30 at row 200, found at row 203
    """

    kind: str
    """"shift": features have moved, and stay there. "outlier": an entry was far off, and the next values were back.
    "spread": rows are further off than expected, or nearer, without a feature that has moved."""
    row: int
    """In which it was found."""
    since: int
    """The row with which it began, or that of the outlier."""
    features: tuple[str | int, ...]
    """Names of the features, or their numbers, the one furthest off first."""
    sizes: tuple[float, ...]
    """For each of them, in the units of the data: by how much it has moved; by how much the outlier was off; of
    "spread" the root of the mean squared deviation from the forecasts. Where logarithms are modelled they are by how
    much what was forecast for ``since`` is so moved."""
    when: str = ""
    """The time stamp of ``row``; empty without time stamps."""
    since_when: str = ""
    """That of ``since``."""

    def __repr__(self) -> str:
        """What, by how much, since when."""
        sign = "" if self.kind == "spread" else "+"
        parts = [f"{name} by {size:{sign}.3g}" for name, size in zip(self.features, self.sizes, strict=True)]
        some = ", ".join(parts[:4]) + (f" and {len(parts) - 4} more" if len(parts) > 4 else "")
        begun, found = self.since_when or f"row {self.since}", self.when or f"row {self.row}"
        words = ("in", "at") if self.kind == OUTLIER else ("of", "since")
        return f"{self.kind} {words[0]} {some} {words[1]} {begun}, found at {found}"


class Passed(NamedTuple):
    """One row as the filter took it, in standardised units."""

    model: SequenceModel
    before: Belief | None  # after the row before; None: there is none
    after: Belief
    z: Array  # (m,) NaN = missing
    innovation: Innovation
    now: SequenceModel  # of `after`; another one where something was learned from this row
    shift: Array  # (m,) what the data's units make of standardised ones
    scale: Array  # (m,)
    now_scale: Array  # (m,) of `now`


def row_of(one: Passed, wider: Array) -> Row:
    """What the rules look at, in the data's units, as a stream may change the others; `wider`: see `student_factor`."""
    model, before, shift, scale = one.model, one.before, one.shift, one.scale

    def ahead() -> tuple[Array, Array]:
        if before is None:  # what is expected without any row
            mean, var = entry(model, initial(model))
            mean, var = (np.tile(part, (PATIENCE, 1)) for part in (mean, var + model.noise.variance))
        else:
            mean, var = forecast(model, before, PATIENCE)
        return shift + scale * mean, scale * np.sqrt(var)

    def trace(i: int, rows: int) -> Trace:
        found = trace_of(one.now, one.after, i, rows)
        return found._replace(after=found.after * one.now_scale / one.now_scale[i])

    z, plain = one.z, one.innovation
    innovation = plain._replace(mean=shift + scale * plain.mean, var=scale**2 * plain.var)
    return Row(shift + scale * z, innovation, scores_of(model, z, plain, wider), ahead, trace)


class Events:
    """Looks at the rows of a table, one after another, and remembers what happened."""

    def __init__(self, counts: Array, wider: Array, limits: Limits) -> None:
        self._alarm, self._lookout = Alarm(), begin_lookout(counts)
        self._wider, self._limits = wider, limits
        self._events: list[tuple[int, Happening]] = []
        self.rows: list[tuple[bool, Watched]] = []
        """Whether an alarm was raised at each row, and the sums of sizes there."""

    def take(self, one: Passed) -> None:
        """The next row."""
        found = look(self._alarm, self._lookout, row_of(one, self._wider), self._limits)
        self._alarm, self._lookout = found.alarm, found.lookout
        self._events += [(len(self.rows), what) for what in found.happenings]
        self.rows.append((found.fired, found.watched))

    def ended(self) -> list[tuple[int, Happening]]:
        """What happened, with what is said of the last rows."""
        return [*self._events, *((len(self.rows) - 1, what) for what in last_verdicts(self._lookout))]


def events_of(happenings: Sequence[tuple[int, Happening]], place: Callable[[int], int] = int) -> list[Event]:
    """Events with numbers of features; `place` turns rows that the rules looked at into those of the table."""
    out = []
    for row, what in happenings:
        sizes = tuple(float(size) for size in what.size)
        since = place(max(row - what.rows + 1, 0))
        out.append(Event(what.kind, place(row), since, tuple(what.which.tolist()), sizes))
    return out


def in_data_units(event: Event, expected: Array, logs: Array | None) -> Event:
    """The event with sizes in the data's units, of features that were `expected` (m,), in those of the model, in the
    row with which it began."""
    which = np.array(event.features, dtype=int)
    sizes = moved(expected[which], np.array(event.sizes), None if logs is None else logs[which])
    return event._replace(sizes=tuple(sizes.tolist()))


def absurd_events(entries: Entries, mean: Array, first: int = 0) -> list[Event]:
    """Values out of all proportion are outliers, by what was expected of them (n,)."""
    out = []
    for row, column, value, expected in zip(entries.row, entries.column, entries.value, mean, strict=True):
        at = int(row) + first
        out.append(Event(OUTLIER, at, at, (int(column),), (float(value - expected),)))
    return out


def named(event: Event, names: Sequence[str] | None) -> Event:
    """The event with names of its features, where they have some."""
    if names is None:
        return event
    return event._replace(features=tuple(str(names[int(i)]) for i in event.features))


def dated(event: Event, when: Callable[[int], str]) -> Event:
    """The event with time stamps, of rows that have one and did not before."""
    return event._replace(when=event.when or when(event.row), since_when=event.since_when or when(event.since))
