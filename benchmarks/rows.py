"""What the cases return: rows of the table and points of the plots."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from .floors import Work
from .timing import Machine, race


class Peak(NamedTuple):
    """Peak memory of one call, in bytes."""

    rows: int
    extra: int
    """Beyond what was there before the call."""
    dictionary: int
    """One copy of C."""
    block: int
    """One block of rows."""

    @property
    def copies(self) -> float:
        """Copies of C, after one block is taken off."""
        return (self.extra - self.block) / self.dictionary


class Row(NamedTuple):
    """One line of the table."""

    case: str
    method: str
    role: str
    """"ours", "yardstick" (a textbook's algorithm in plain NumPy) or "peer" (another package)."""
    seconds: float | None = None
    """Median per repeat; None where it did not run, or where something else is measured."""
    floor: float | None = None
    """Least seconds that this machine's rates allow for the operations that cannot be avoided (``floors``)."""
    ratio: float | None = None
    """Its seconds over those of this package, the first row of the case: 2 means that it takes twice as long."""
    quality: float | None = None
    """SNR in dB over the removed entries."""
    note: str = ""
    peak: Peak | None = None
    """Where memory is measured."""
    data: str = ""
    """Where the data came from."""


class Point(NamedTuple):
    """One point of a plot of time per sample."""

    size: float
    microseconds: float
    floor: float


class Found(NamedTuple):
    """What a case measured."""

    rows: Sequence[Row] = ()
    per_sample: Mapping[str, Sequence[Point]] = MappingProxyType({})
    """Times per sample; the keys name what was varied."""


class Contestant(NamedTuple):
    """What is timed."""

    call: Callable[[], object]
    role: str = "ours"
    work: Work | None = None
    scale: float = 1.0
    """Multiplies the time of a call, where it does a part of the work, or does it many times."""


def compete(
    case: str, contestants: Mapping[str, Contestant], here: Machine, repeats: int = 5, limit: float = 20.0
) -> list[Row]:
    """Race the contestants; the first of them is the one that the ratios refer to."""
    times = race({name: contestant.call for name, contestant in contestants.items()}, repeats, limit)
    rows = []
    for name, (_, role, work, scale) in contestants.items():
        floor = work.seconds(here) if work else None
        note = "" if times[name].repeats > 1 else "one run"
        rows.append(Row(case, name, role, scale * times[name].median, floor, note=note))
    return with_ratios(rows)


def with_ratios(rows: Sequence[Row]) -> list[Row]:
    """The rows with their ratios to the first."""
    base = rows[0].seconds
    return [row._replace(ratio=row.seconds / base if row.seconds and base else None) for row in rows]


def joined(*notes: str) -> str:
    """Several notes as one; empty ones are left out.

    >>> joined("one run", "", "scaled")
    'one run; scaled'
    """
    return "; ".join(filter(None, notes))


def readable(seconds: float | None) -> str:
    """Seconds in the unit that suits them.

    >>> readable(0.0123), readable(4e-6), readable(None)
    ('12.3 ms', '4 µs', '–')
    """
    if seconds is None:
        return "–"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"
