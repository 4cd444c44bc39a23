"""What happened to a sequence: which features, by how much, since when, and whether they moved or an outlier came.

Three rules look at every row. The CUSUM of `alarm` adds up the sizes of rows, whichever features they are about; the
windows of `shifts` find features that have moved; and single entries that are rarer than asked for are `suspects`,
until the values after them say whether they were outliers. Each rule has its part of the rate that is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from ..linalg import Array
from .alarm import Alarm, Watched, threshold, watch
from .model import Innovation, SequenceModel
from .rare import Rare, add_tail, rarity
from .response import FOLLOWED, remains
from .shifts import (
    CUT,
    NEAR,
    REACH,
    Shift,
    Sums,
    add_scores,
    after_shift,
    after_spread,
    begin_sums,
    beyond,
    find_shift,
    how_far,
    off_usual,
    reopened,
    shift_threshold,
    widened,
    without_last,
)
from .suspects import Suspects, Verdict, no_suspects, suspect, suspected, verdicts

SPREAD_PART, SHIFT_PART, OUTLIER_PART = 0.25, 0.5, 0.25
"""Parts of the rate for the three rules. Not tuned: a half instead of a quarter moves thresholds by 2% to 7%."""
TRACED = 8
"""Features that may join those under suspicion in a shift, one after another: time only."""
LEAST_SHOWN = 1e-12
"""Least sum of squares that a shift by one deviation shows; keeps a division by zero away."""
TOLD = 6.0
"""Nats that rows must say beyond what has been told, to be another alarm. Not tuned."""
LEAST_SQUARE = 1e-6
"""Least mean square of scores; keeps a logarithm of zero away."""
EXACT = 0.01
"""Part of a feature's deviation within which an entry is foretold exactly, if its forecast claims that too. Derived: it
is the deviation of the one value behind every variance that is learned (`LoadingPrior`), which decides below."""
FREE = 2.0
"""What a feature of its own may cost, in nats, when a mean and a variance are compared as reasons for an alarm."""

SHIFT: Literal["shift"] = "shift"
OUTLIER: Literal["outlier"] = "outlier"
SPREAD: Literal["spread"] = "spread"
Kind = Literal["shift", "outlier", "spread"]


class Limits(NamedTuple):
    """Thresholds of the three rules."""

    spread: float
    shift: float
    outlier: float  # of the surprise of one entry


class Lookout(NamedTuple):
    """What is remembered from row to row, beside the sums of `alarm`."""

    sums: Sums
    suspects: Suspects
    rare: Rare = Rare()
    ups: int = 0  # rows since the sum of rows that are too far off was zero
    downs: int = 0  # the same of rows that are too near
    calm: int = REACH  # rows since something moved: until then scores say nothing about tails
    waits: bool = False  # an alarm of sizes waits for a verdict on suspects


class Row(NamedTuple):
    """One row as a model took it, in any units."""

    y: Array  # (m,) NaN = missing
    innovation: Innovation  # in the same units
    z: Array  # (m,) scores, NaN = missing: how far entries are off, as a standard normal would be
    exact: Array  # (m,) bool: foretold exactly, so that nothing says how noisy they are
    ahead: Callable[[], tuple[Array, Array]]  # (PATIENCE, m) mean and deviation of the forecast made before the row
    shown: Callable[[Array, int], Array]  # (n, m) scores that a shift by so much (m,) shows in each of n rows


NONE = np.zeros(0, dtype=bool)
"""Of a happening that is no shift."""


class Happening(NamedTuple):
    """Something that happened; rows are counted back from the one in which it was found, which is 1."""

    kind: Kind
    rows: int
    which: Array  # (n,) numbers of the features, the one furthest off first
    size: Array  # (n,) by how much they moved, or were off
    stays: Array = NONE  # (n,) bool: surely moved, and the model does not follow it by itself


class Found(NamedTuple):
    """What one row made known."""

    alarm: Alarm
    lookout: Lookout
    watched: Watched
    fired: bool
    happenings: tuple[Happening, ...]


def limits_of(rate: float, m: int) -> Limits:
    """The thresholds at which all rules together find something `rate` times per row of m features by chance."""
    return Limits(
        threshold(rate * SPREAD_PART),
        shift_threshold(rate * SHIFT_PART, m),
        float(np.log(m / (rate * OUTLIER_PART))),
    )  # fmt: skip


def begin_lookout(known: Array) -> Lookout:
    """Before the first row; `known` (m,): values that the model's parameters were learned from."""
    return Lookout(begin_sums(known), no_suspects(len(known)))


def relearned(k: Lookout) -> Lookout:
    """The lookout after the model has been learned anew, perhaps with the shifts that have been told."""
    return k._replace(sums=reopened(k.sums))


def without_shift(k: Lookout, low: Array, high: Array, rows: int) -> Lookout:
    """The lookout, if the model goes on without a shift that came in the last rows: scores since then say nothing, and
    what was usual before, `low` to `high`, still is, but for what may be left of the shift (CUT)."""
    low, high = np.maximum(k.sums.low, low - CUT), np.minimum(k.sums.high, high + CUT)
    return k._replace(sums=without_last(k.sums._replace(low=low, high=high), np.arange(len(low)), rows))


def without_suspects(k: Lookout) -> Lookout:
    """The lookout with nothing under suspicion, since values come in other units from now on."""
    return k._replace(suspects=no_suspects(len(k.suspects.since)), waits=False)


def scores_of(model: SequenceModel, y: Array, innovation: Innovation, wider: Array) -> Array:
    """How far the entries of a standardised row are off, as a standard normal would be; NaN where missing. O(m)."""
    e = np.where(innovation.seen, y - innovation.mean, 0.0)
    size = model.noise.normal_size(e, innovation.var - model.noise.variance, model.noise.R)
    return np.where(innovation.seen, np.copysign(size, e) / wider, np.nan)


def look(a: Alarm, k: Lookout, row: Row, limits: Limits) -> Found:
    """One step of all rules. O(REACH m)."""
    a, watched = _watched(a, row, limits.spread)
    z = beyond(k.sums, row.z)
    k = k._replace(
        sums=add_scores(k.sums, row.z),
        calm=k.calm + 1,
        ups=k.ups + 1 if watched.up > 0.0 else 0,
        downs=k.downs + 1 if watched.down > 0.0 else 0,
    )  # fmt: skip
    happenings: list[Happening] = []
    due = watched.fired
    k, verdict = _suspected(k, row, z, limits)
    if verdict is not None:
        happenings += _grouped(verdict)
        due = due or (k.waits and not verdict.calm)
        k = _spared(k, verdict)._replace(waits=False)
        if not verdict.moved.any():  # the sizes of the rows since are about the outlier, too
            a = a._replace(up=0.0, down=0.0)
    waiting = suspected(k.suspects).any()
    if not waiting and (shift := find_shift(k.sums, limits.shift)) is not None:
        happenings = _joined(happenings, shift)
    if due and waiting:
        k = k._replace(waits=True)
    elif due and not any(one.kind == SHIFT for one in happenings):
        one = _spread(k, row, quiet=watched.down > watched.up)
        happenings += [] if one is None else [one]
    k, happenings = _explained(k, happenings, row, limits.shift)
    for one in happenings:
        if one.kind == SPREAD:
            square = one.size**2 / (row.innovation.var * k.sums.var)[one.which]
            k = k._replace(sums=after_spread(k.sums, one.which, square))
    fired = any(one.kind != OUTLIER for one in happenings)
    if fired:
        a, k = a._replace(up=0.0, down=0.0), k._replace(ups=0, downs=0, calm=0)
    return Found(a, k, watched, fired, tuple(happenings))


def _watched(a: Alarm, row: Row, h: float) -> tuple[Alarm, Watched]:
    """One step of the rule for sizes, which are of entries that are not foretold exactly."""
    info, n = row.innovation, int(row.exact.sum())
    if not n:
        return watch(a, info, h)
    if n == info.n_obs:
        return a, Watched(False, 0.0, a.up, a.down)
    off = np.where(row.exact, row.y - info.mean, 0.0)
    return watch(a, info._replace(n_obs=info.n_obs - n, chi2=info.chi2 - float((off * off / info.var).sum())), h)


def _suspected(k: Lookout, row: Row, z: Array, limits: Limits) -> tuple[Lookout, Verdict | None]:
    """The lookout whose suspects have been judged by a row with scores z beyond what is usual, or joined by others."""
    far = rarity(k.rare, z) > limits.outlier
    doubtful = far | suspected(k.suspects) | (k.calm < REACH)
    k = k._replace(rare=add_tail(k.rare, np.where(doubtful, np.nan, z)))
    held = suspected(k.suspects).any()
    if not held and not far.any():
        return k, None
    ahead = k.suspects.ahead, k.suspects.std
    if not held:
        mean, std = row.ahead()
        usual = np.where(row.z < k.sums.low, k.sums.low, k.sums.high) * np.sqrt(row.innovation.var)
        ahead = mean + usual, std
    suspects, verdict = verdicts(suspect(k.suspects, row.y, far, ahead))
    if verdict is not None:
        outliers = verdict.size / np.sqrt(row.innovation.var[verdict.which])
        k = k._replace(rare=add_tail(k.rare, np.where(verdict.moved, np.nan, outliers)))
    return k._replace(suspects=suspects), verdict


def last_verdicts(k: Lookout) -> tuple[Happening, ...]:
    """What is said of features that were still under suspicion when the last row came."""
    _, verdict = verdicts(k.suspects, last=True)
    return () if verdict is None else tuple(_grouped(verdict))


def _explained(k: Lookout, happenings: list[Happening], row: Row, b: float) -> tuple[Lookout, list[Happening]]:
    """What happened, shifts with all features that have moved; a second one only if the first does not explain it."""
    out: list[Happening] = []
    for one in happenings:
        if one.kind == SHIFT:
            if np.isnan(one.size).all() and any(other.kind == SHIFT for other in out):
                again = find_shift(k.sums, b)
                if again is None:
                    continue
                one = _joined([], again)[0]
            one = _with_others(k, one, row, b)
            k = k._replace(sums=_after(k.sums, one, row))
        out.append(one)
    return k, out


def _joined(happenings: list[Happening], shift: Shift) -> list[Happening]:
    """What happened, and this shift, which says since when features moved better than a verdict on one of them."""
    same = [one for one in happenings if one.kind == SHIFT and shift.feature in one.which]
    first = same[0] if same else Happening(SHIFT, 0, np.array([shift.feature]), np.array([np.nan]))
    return [*(one for one in happenings if one is not first), first._replace(rows=shift.rows)]


def _with_others(k: Lookout, shift: Happening, row: Row, b: float) -> Happening:
    """The shift with other features that are off since then beside what it shows in them, surely if by more than b;
    sizes that are not known (NaN) are those by which it explains the scores best, by least squares."""
    off, std = off_usual(k.sums, shift.rows), np.sqrt(row.innovation.var)
    known = np.isfinite(shift.size)
    by = np.zeros(len(std))
    by[shift.which[known]] = shift.size[known]
    which, rest, sure = shift.which[known].tolist(), shift.which[~known].tolist(), set(shift.which.tolist())
    shown = row.shown(by, len(off)) if which else np.zeros(off.shape)
    while len(which) < len(shift.which) + TRACED:
        far = how_far(k.sums, off - shown)
        far[which] = 0.0
        far[suspected(k.suspects)] = 0.0  # they have a verdict of their own
        i = rest[0] if rest else int(np.argmax(far))
        if not rest and far[i] < NEAR:
            break
        rest = rest[1:]
        if far[i] > b:
            sure.add(i)
        unit = np.where(np.arange(len(std)) == i, std, 0.0)
        alone, left = row.shown(unit, len(off)), np.where(np.isfinite(off), off - shown, 0.0)
        alone = np.where(np.isfinite(off), alone, 0.0)
        by[i] = std[i] * float((alone * left).sum()) / max(float((alone * alone).sum()), LEAST_SHOWN)
        which.append(i)
        shown = row.shown(by, len(off))
    which.sort(key=lambda i: -abs(by[i]) / std[i])
    stays = np.array([i in sure for i in which]) & remains(off, shown)
    return Happening(SHIFT, shift.rows, np.array(which), by[which], stays)


def _after(sums: Sums, shift: Happening, row: Row) -> Sums:
    """The sums after a shift: its features begin anew, and others may be off by what it does to them."""
    sums = after_shift(sums, shift.which, shift.rows)
    by = np.zeros(sums.scores.shape[1])
    by[shift.which] = shift.size
    return widened(sums, row.shown(by, max(shift.rows, FOLLOWED))[-1])


def _spared(k: Lookout, verdict: Verdict) -> Lookout:
    """The lookout whose sums do not contain the rows that an outlier has spoiled."""
    if verdict.moved.all():
        return k
    rows = int(verdict.rows[~verdict.moved].max())
    every = np.arange(len(k.suspects.since))
    every = np.setdiff1d(every, verdict.which[verdict.moved])
    return k._replace(sums=without_last(k.sums, every, rows))


def _grouped(verdict: Verdict) -> list[Happening]:
    """One happening for features that have the same verdict since the same row."""
    out: list[Happening] = []
    for moved in (False, True):
        for rows in sorted(set(verdict.rows[verdict.moved == moved].tolist()), reverse=True):
            same = np.flatnonzero((verdict.moved == moved) & (verdict.rows == rows))
            out.append(Happening(SHIFT if moved else OUTLIER, int(rows), verdict.which[same], verdict.size[same]))
    return out


def _spread(k: Lookout, row: Row, *, quiet: bool) -> Happening | None:
    """What the sum of sizes has found: features that are noisier or quieter, or moved where that says more; None where
    it is what has been told before.

    For every feature a mean and a variance of its own, over the rows that added up, are compared by how much they raise
    the log-density of its scores.
    """
    rows = max(min(k.downs if quiet else k.ups, len(k.sums.scores), REACH), 1)
    z = beyond(k.sums, k.sums.scores[-rows:])
    if quiet:  # of features that may be anywhere in a wide range nothing says that they are quiet
        middle, unit = (k.sums.low + k.sums.high) / 2, np.sqrt(k.sums.var)
        z = np.where(k.sums.high - k.sums.low < unit, (k.sums.scores[-rows:] - middle) / unit, np.nan)
    z[:, row.exact] = np.nan
    n = np.isfinite(z).sum(0)
    z = np.where(np.isfinite(z), z, 0.0)
    count = np.maximum(n, 1)
    square, mean = (z * z).sum(0) / count, z.sum(0) / count
    unit = np.sqrt(row.innovation.var * k.sums.var)
    moved = np.maximum(n * mean * mean / 2 - FREE, 0.0)
    spread = np.maximum(_gain(n, square, quiet=quiet) - FREE, 0.0)
    pooled = float(_gain(n.sum(), (z * z).sum() / max(n.sum(), 1), quiet=quiet))
    if max(0.0 if quiet else moved.sum(), spread.sum(), pooled) < TOLD:
        return None
    gain = moved if not quiet and moved.sum() > spread.sum() else spread
    order = np.lexsort((square if quiet else -square, -gain))  # where no feature gains by itself, the furthest one
    which = order[: max(int((gain > FREE).sum()), 1)]
    if gain is moved:
        return Happening(SHIFT, rows, which[:1], np.array([np.nan]))
    return Happening(SPREAD, rows, which, unit[which] * np.sqrt(square[which]))


def _gain(n: Array, square: Array, *, quiet: bool) -> Array:
    """By how much a variance of their own raises the log-density of n scores with this mean square; 0 if it
    is not less, or more, than 1."""
    own = np.clip(square, LEAST_SQUARE, 1.0) if quiet else np.maximum(square, 1.0)
    return np.asarray(n * (own - 1.0 - np.log(own)) / 2)
