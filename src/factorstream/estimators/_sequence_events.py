"""What happened to a sequence, in the words of users: rows, time stamps, names of features, the data's units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from typing import NamedTuple

import numpy as np

from ..core.dynamics.alarm import Alarm, Watched
from ..core.dynamics.filter import entry, forecast, initial
from ..core.dynamics.logarithms import moved
from ..core.dynamics.lookout import (
    EXACT,
    OUTLIER,
    SPREAD,
    Happening,
    Limits,
    Row,
    begin_lookout,
    last_verdicts,
    look,
    scores_of,
)
from ..core.dynamics.model import Belief, Innovation, SequenceModel
from ..core.dynamics.response import in_rows, response
from ..core.dynamics.suspects import PATIENCE
from ..core.entries import Entries
from ..core.linalg import Array
from ._stored_times import restore_label, store_label
from ._times import Label

EVENTS_KEPT = 1000
"""Events that a stream remembers, so that its state stays bounded."""


NAMED = 4
"""Features that the words of an event name."""


def in_words(kind: str, columns: Sequence[tuple[str | int, float]], begun: str, found: str) -> str:
    """An event in one line: columns with their sizes, since when it is so, and where it was found."""
    sign = "" if kind == SPREAD else "+"
    parts = [f"{name} by {size:{sign}.3g}" for name, size in columns]
    some = ", ".join(parts[:NAMED]) + (f" and {len(parts) - NAMED} more" if len(parts) > NAMED else "")
    words = ("in", "at") if kind == OUTLIER else ("of", "since")
    later = "" if found == begun else f", found at {found}"
    return f"{kind} {words[0]} {some} {words[1]} {begun}{later}"


class Event(NamedTuple):
    """Something that happened to a sequence.

    Examples
    --------
    >>> from datetime import datetime
    >>> Event("shift", 603, 600, ("load",), (4.1,), datetime(2024, 1, 26, 3), datetime(2024, 1, 26))
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
    when: Label = None
    """The time stamp of ``row``, as the table has it: a Timestamp of pandas, a datetime or date of polars; of periods
    and durations their text. None without time stamps."""
    since_when: Label = None
    """That of ``since``; None too where a stream no longer knew it."""

    def __repr__(self) -> str:
        """What, by how much, since when."""
        begun, found = (
            f"row {row}" if when is None else str(when)
            for row, when in ((self.since, self.since_when), (self.row, self.when))
        )
        return in_words(self.kind, list(zip(self.features, self.sizes, strict=True)), begun, found)


class Passed(NamedTuple):
    """One row as the filter took it, in standardised units."""

    model: SequenceModel
    before: Belief | None  # after the row before; None: there is none
    after: Belief
    z: Array  # (m,) NaN = missing
    innovation: Innovation
    shift: Array  # (m,) what the data's units make of standardised ones
    scale: Array  # (m,)


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

    def shown(by: Array, rows: int) -> Array:
        found = in_rows(response(model, one.after if before is None else before, by / scale, rows).innovations, rows)
        return np.array([scores_of(model, everything.mean + e, everything, wider) for e in found])

    z, plain = one.z, one.innovation
    everything = plain._replace(seen=np.ones(len(z), dtype=bool))
    innovation = plain._replace(mean=shift + scale * plain.mean, var=scale**2 * plain.var)
    exact = plain.seen & (np.sqrt(plain.var) <= EXACT) & (np.abs(np.where(plain.seen, z - plain.mean, 0.0)) <= EXACT)
    return Row(shift + scale * z, innovation, scores_of(model, z, plain, wider), exact, ahead, shown)


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


def dated(event: Event, when: Callable[[int], Label]) -> Event:
    """The event with the time stamps that `when` has of its rows."""
    return event._replace(when=when(event.row), since_when=when(event.since))


def stamp_of(time: Label) -> Label:
    """A time stamp as an event has it: a date or time, or the text of anything else."""
    return time if isinstance(time, date) else str(time)


def stored(event: Event) -> Event:
    """The event with plain data for its time stamps, as states have it."""
    return event._replace(when=store_label(event.when), since_when=store_label(event.since_when))


def restored(event: Event) -> Event:
    """The event with time stamps, of one with plain data; files of earlier versions have texts, empty for none."""
    return event._replace(when=restore_label(event.when or None), since_when=restore_label(event.since_when or None))
