"""Entries far from their forecast: the next values say whether something has moved, or an outlier came and went.

The judge is the forecast that was made before the first of these entries, since a filter follows an outlier too, and
what it foretells afterwards is spoiled for a while.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..linalg import Array

VERDICT = 3
"""Values after a suspicious one by which it is judged. Not tuned: the median of three withstands one outlier."""
PATIENCE = 12
"""Rows after which a verdict is given by fewer values."""


SURELY, CHANCE = 3.0, 0.25
"""Standard errors by which the mean of the values since must differ from the forecast, and the part of the way that
their median must be off, if it is less than half of it. Not tuned."""


SURPRISED = 4.0
"""Deviations from the forecast made before, without which a feature does not join others under suspicion: the filter
has followed these, and what it foretells since is spoiled."""


class Suspects(NamedTuple):
    """Features under suspicion."""

    ahead: Array  # (PATIENCE, m) the forecast that was made before the first suspicious row; empty: no suspicion
    std: Array  # (PATIENCE, m) its standard deviations
    age: int  # rows since then, that one included
    since: Array  # (m,) which of these rows is the suspicious one; -1: none
    off: Array  # (m,) by how much it was off
    later: Array  # (VERDICT, m) by how much later values were off; NaN: not yet
    sure: Array  # (VERDICT, m) and how sure their forecasts were


class Verdict(NamedTuple):
    """What became of some features."""

    which: Array  # (n,) numbers of the features
    moved: Array  # (n,) bool: it has moved; otherwise an outlier came and went
    rows: Array  # (n,) how many rows ago it began, this row counting as one
    size: Array  # (n,) by how much the entry was off, or the entries since
    calm: bool  # whether nothing since was off by half as much as the suspicious entries


def no_suspects(m: int) -> Suspects:
    """No feature is under suspicion."""
    none, nan = np.empty((0, m)), np.full((VERDICT, m), np.nan)
    return Suspects(none, none, 0, np.full(m, -1), np.zeros(m), nan, nan)


def suspected(s: Suspects) -> Array:
    """Features under suspicion (m,)."""
    return s.since >= 0


def suspect(s: Suspects, y: Array, far: Array, ahead: tuple[Array, Array]) -> Suspects:
    """After a row y (m,) with entries that are `far` (m,) from what was expected; others are judged by it.

    `ahead`: mean and standard deviation (PATIENCE, m) of the forecast made before this row; used where nothing was
    under suspicion.
    """
    first = not suspected(s).any()
    if first:
        s = no_suspects(len(y))._replace(ahead=ahead[0], std=ahead[1])
    now = min(s.age, len(s.ahead) - 1)
    off = y - s.ahead[now]
    judge = np.flatnonzero(suspected(s) & np.isfinite(y) & np.isnan(s.later).any(0))
    place = np.isnan(s.later).argmax(0)[judge]
    later, sure = s.later.copy(), s.sure.copy()
    later[place, judge], sure[place, judge] = off[judge], s.std[now, judge]
    new = (
        far & ~suspected(s) & (first | (np.abs(off) > SURPRISED * s.std[now]))
    )  # not by what the filter made of an outlier
    return s._replace(
        age=s.age + 1, since=np.where(new, s.age, s.since), off=np.where(new, off, s.off), later=later, sure=sure
    )  # fmt: skip


def verdicts(s: Suspects, last: bool = False) -> tuple[Suspects, Verdict | None]:
    """Features of which enough values have come, or too many rows passed, or this was the `last` row, are judged.

    A feature has moved if the median of the values since is nearer to where the suspicious one was than to the
    forecast; or at least a quarter of the way, and their mean further from the forecast than chance explains. (Noise
    has made the suspicious one look further off than it moved.)
    """
    held = suspected(s)
    out = s.age >= len(s.ahead) or last
    ripe = np.flatnonzero(held & (out | ~np.isnan(s.later).any(0)))
    if not len(ripe):
        return s, None
    part = s.later[:, ripe] / s.off[ripe]
    count = np.isfinite(part).sum(0)
    filled = np.where(count > 0, part, 0.0)  # no value came since: it counts as an outlier
    median = np.nanmedian(filled, axis=0)
    mean = np.nanmean(np.where(count > 0, s.later[:, ripe], 0.0), axis=0)
    noise = np.sqrt(np.nanmean(np.where(count > 0, s.sure[:, ripe] ** 2, 1.0), axis=0) / np.maximum(count, 1))
    surely = (median > CHANCE) & (np.abs(mean) > SURELY * noise)
    moved = (median > 0.5) | surely
    size = np.nanmean(np.vstack([s.off[ripe], s.later[:, ripe]]), axis=0)
    verdict = Verdict(
        ripe, moved, s.age - s.since[ripe], np.where(moved, size, s.off[ripe]), not bool((np.abs(filled) > 0.5).any())
    )  # fmt: skip
    since, later, sure = s.since.copy(), s.later.copy(), s.sure.copy()
    since[ripe], later[:, ripe], sure[:, ripe] = -1, np.nan, np.nan
    return s._replace(since=since, later=later, sure=sure), verdict
