"""What happened to a sequence in a file: events with the lines, times and columns of the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..estimators._sequence_events import in_words
from ..sources.table import NewColumn

if TYPE_CHECKING:
    from .detection import Detection

__all__ = ["Happened", "events_table", "happened"]


class Happened(NamedTuple):
    """An event as people find it in their file."""

    kind: str
    """"shift", "outlier" or "spread"."""
    since: int
    """The line or row with which it began, see `Detection.places`."""
    found: int
    """That in which it was found."""
    since_when: str
    """What the column of time says of the former; empty where there is none."""
    found_when: str
    """And of the latter."""
    columns: list[tuple[str, float]]
    """Columns, and by how much they moved or were off, in the units of the file."""

    def told(self, word: str) -> str:
        """A line about it; `word`: what lines or rows are called.

        >>> Happened("shift", 12, 15, "2024-05-09", "2024-05-12", [("load", -3.25)]).told("line")
        'shift of load by -3.25 since line 12 (2024-05-09), found at line 15 (2024-05-12)'
        >>> Happened("outlier", 12, 12, "", "", [("load", 8.0), ("wind", -2.0)]).told("row")
        'outlier in load by +8, wind by -2 at row 12'
        """
        places = ((self.since, self.since_when), (self.found, self.found_when))
        begun, found = (f"{word} {row}" + (f" ({when})" if when else "") for row, when in places)
        return in_words(self.kind, self.columns, begun, found)


def happened(found: Detection) -> list[Happened]:
    """The events of time steps; none of rows without an order."""
    if found.sums is None:
        return []
    given = found.given
    when = None if given.when is None else given.table.cells(given.when.column)
    out = []
    for event in found.sums.events:
        rows = [min(int(np.searchsorted(found.at, step)), found.n_rows - 1) for step in (event.since, event.row)]
        places = [found.places.numbers[row] for row in rows]
        times = ["" if when is None else str(when[row]) for row in rows]
        columns = [
            (name if isinstance(name, str) else given.names[name], size)
            for name, size in zip(event.features, event.sizes, strict=True)
        ]
        out.append(Happened(event.kind, places[0], places[1], times[0], times[1], columns))
    return out


def events_table(found: Detection) -> list[NewColumn]:
    """The events as a table: kind, where it began and was found, when, and columns with sizes."""
    events, word = happened(found), found.places.word
    columns = [
        NewColumn("event", [one.kind for one in events]),
        NewColumn(f"since {word}", [float(one.since) for one in events]),
        NewColumn(f"found at {word}", [float(one.found) for one in events]),
    ]
    if found.given.when is not None:
        columns.append(NewColumn("since", [one.since_when for one in events]))
    told = ["; ".join(f"{name} ({size:+.3g})" for name, size in one.columns) for one in events]
    return [*columns, NewColumn("columns", told)]
