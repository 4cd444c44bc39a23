"""A stream whose features have moved: the shift is taken out, and what has been learned holds where they are now.

A filter that does not know of a shift takes it for a change of the states, which other features share, and is wrong
about all of them for as long as it remembers. Once a shift is known, the units move with it: rows before it count as
if they had been there already, and from the beliefs since is taken what the shift has done to them (`response`).
"""

from __future__ import annotations

from typing import NamedTuple

from ..linalg import Array
from .response import response
from .stream import Candidate, Job, Stream, Task

HELD = 4
"""Rows for which a shift that was told is remembered. A compromise, chosen by three masks of London's air and by cycles
of 24 rows: with 0, 4, 8 and 64 the air, whose episodes end, was filled 1, 2, 2 and 5% worse; with 0 one of six shifts
by ten deviations was missed, and with 64 shifts by five were found, too."""


class Told(NamedTuple):
    """A shift that was told of late, and is in the stream: it is taken out if it is about to cost the model."""

    by: Array  # (m,) in the units of the stream; of all that were told since the first
    rows: int  # since the first of them came
    age: int  # rows since it was told
    low: Array  # (m,) and
    high: Array  # (m,): what was usual before it, see `Sums`


def taken_out(stream: Stream, by: Array, rows: int) -> Stream:
    """The stream whose features have been elsewhere, by so much (m,) in raw units, in its last rows.

    The candidates are compared as if the rows since then had not come: what they cost is about the shift, which none of
    them could foretell. What is being learned goes on, and what had caught up does so again. O(FOLLOWED m r²) for each.
    """
    before = max(len(stream.window) - rows, 0)
    window = stream.window.copy()
    window[:before] += by
    return stream._replace(
        shift=stream.shift + by,
        moved=by if stream.moved is None else stream.moved + by,
        window=window,
        bank=tuple(_candidate(c, by / stream.scale, rows, len(window)) for c in stream.bank),
        job=None if stream.job is None else _job(stream.job, by),
    )


def _candidate(c: Candidate, by: Array, rows: int, window: int) -> Candidate:
    """The candidate without the shift by so much (m,), standardised; a forecast made with it is let go.

    The filter from which entries are hidden has seen another part of the shift, and goes on from what the other knows.
    """
    found, last = response(c.fitted.now, c.fitted.belief, by, rows), rows - 1
    belief, first = found.without(c.fitted.belief, last), rows - len(c.recent)
    learning = c.learning
    if learning is not None:
        learning = learning._replace(anchor=found.without(learning.anchor, last - window))
    return c._replace(
        fitted=c.fitted._replace(belief=belief),
        shadow=belief,
        recent=tuple(found.without(s, row) for row, s in enumerate(c.recent, first)),
        learning=learning,
        score=c.calm,
        foretold=None,
    )


def _job(job: Job, by: Array) -> Job:
    """The job in the new units."""
    return job._replace(shift=job.shift + by, tasks=tuple(_again(task) for task in job.tasks))


def _again(task: Task) -> Task:
    return task if task.caught is None else task._replace(at=0, caught=None)
