"""A slow level for every place (phase) of a period: a season whose shape changes slowly.

Long row n of one feature, phase i (P of them):

    f_ni = mean_i + l_ni + trend_ni + N(0, R)     l_1i ~ N(0, p0)     l_ni = l_{n-1,i} + N(0, q)

The phases of a feature share R, q and p0: each has one value per period, too few to say how fast it changes. q = 0 is a
fixed mean per phase, drawn towards `mean` where there are few; a large q / R is the value one period ago. What all
phases of a long row have in common is not season: trend_ni is a line through the middle of the long row, whose height
is free and whose slope is that between the long rows around it. It belongs to what the season leaves.

Given the height, the phases of a long row do not depend on each other; that they do through the height is dropped when
the next one begins, as for levels elsewhere in `dynamics`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...linalg import Array
from ..scale import standards
from .folding import fold, unfold
from .season import Season

STEPS = np.concatenate([[0.0], 2.0 ** np.arange(-14, 5)])
"""q / R that are tried. Derived: from levels that stay for a hundred periods to copies of the last one, in doublings;
a forecast's error hardly changes from one to the next."""
STARTS = 2.0 ** np.arange(-10, 9, 2)
"""p0 / R that are tried: from no season at all to one beside which the noise is nothing."""
LEAST_NOISE = 1e-9
"""Least noise as a part of the variance of a feature: rounding, where a season repeats itself exactly."""


class Variances(NamedTuple):
    """Variances of the levels of every feature, each (k,)."""

    q: Array
    p0: Array
    R: Array


class PhaseLayer(NamedTuple):
    """The levels of k features, and where they stand after the last row. Long rows are (P, k) here."""

    period: int
    columns: Array  # (k,) numbers of the features among all
    mean: Array  # (P, k)
    variances: Variances
    level: Array  # (P, k) of the long row under way, given the complete ones
    d: Array  # (P, k) its variance
    height: Array  # (k,) of the last complete long row; NaN: unknown
    row: Array  # (P, k) the long row under way, NaN where nothing came yet
    place: int  # rows of it that have come

    def smoothed(self, Y: Array, place: int) -> Season:
        """What all of Y (T, k) says of its season, the first row at this place of the period."""
        E = _long(Y, self.period, place) - self.mean
        return _smooth(E, _slopes(E), self.variances).season(self.mean, len(Y), place)

    def restarted(self, place: int) -> PhaseLayer:
        """The layer before the first row of another sequence, which begins at this place."""
        d = np.broadcast_to(self.variances.p0, self.mean.shape).copy()
        nothing = np.full(self.mean.shape, np.nan)
        return self._replace(level=np.zeros_like(d), d=d, height=nothing[0], row=nothing, place=place)

    def now(self) -> tuple[Array, Array]:
        """Mean and variance (k,) of the next row's season, before it is seen."""
        return self.mean[self.place] + self.level[self.place], self.d[self.place]

    def taken(self, y: Array) -> PhaseLayer:
        """The layer after the next row y (k,)."""
        row = self.row.copy()
        row[self.place] = y
        layer = self._replace(row=row, place=self.place + 1)
        return layer._completed() if layer.place == self.period else layer

    def moved(self, by: Array, rows: int) -> PhaseLayer:
        """The layer whose features have been elsewhere, by so much (k,), in the last rows: what came before moves.

        The height is the mean of the last long row, of which a part may have come since.
        """
        row = self.row.copy()
        row[: max(self.place - rows, 0)] += by
        before = 1.0 - min(max(rows - self.place, 0), self.period) / self.period
        return self._replace(row=row, height=self.height + before * by)

    def _completed(self) -> PhaseLayer:
        """The layer at the beginning of the next long row."""
        E = self.row - self.mean
        enough = 2 * np.isfinite(E).sum(0) >= self.period  # as in `_slopes`
        slope = (_mean(E, 0) - self.height) / self.period
        slope = np.where(enough & np.isfinite(slope), slope, 0.0)
        level, d, height = _update(E, self.level, self.d, self.variances.R, slope)
        height = np.where(np.isfinite(height), height, self.height)
        row = np.full(self.mean.shape, np.nan)
        return self._replace(level=level, d=d + self.variances.q, height=height, row=row, place=0)

    def ahead(self, steps: int) -> Season:
        """Mean and variance (steps, k) of the season of the rows to come."""
        following = self._completed()
        n = -(-steps // self.period)
        signal = np.vstack([self.mean + self.level] + [self.mean + following.level] * n)
        var = np.vstack([self.d] + [following.d + j * self.variances.q for j in range(n)])
        rows = slice(self.place, self.place + steps)
        return Season(signal[rows], var[rows])


def learn_phases(Y: Array, period: int, columns: Array, shorter: int | None) -> tuple[PhaseLayer, Season]:
    """The levels of raw rows Y (T, k), which begin at place 0, and what they say of these rows. O(grid T k).

    The likeliest q / R and p0 / R of a grid, R being found for each. `shorter`: a period that divides this one; a phase
    is drawn towards the mean of all that stand alike in it.
    """
    T, k = Y.shape
    F = _long(Y, period, 0)
    profile = _profile(F)
    slopes = _slopes(F - profile)
    mean = _profile(_long(Y, shorter, 0)) if shorter else _mean(F, (0, 1))[None]
    mean = np.tile(mean, (period // len(mean), 1))
    E = F - mean - slopes[:, None] * _middle(period)[:, None]
    least = LEAST_NOISE * standards(Y)[1] ** 2
    found = [_likeliest(E[:, :, j], float(least[j])) for j in range(k)]
    variances = Variances(*(np.array(part) for part in zip(*found, strict=True)))
    passed = _smooth(F - mean, slopes, variances)
    season = passed.season(mean, T, 0)
    usual = passed.level.mean(0)  # another sequence begins there, and may be as far from it as this one was at times
    spread = ((passed.level - usual) ** 2 + passed.d).mean((0, 1))
    place = T % period
    row = np.full(mean.shape, np.nan)
    row[:place] = Y[T - place :]
    level, d, height = passed.now(complete=place == 0)
    layer = PhaseLayer(
        period, columns, mean + usual, variances._replace(p0=spread), level - usual, d, height, row, place
    )
    return layer, season


def put_together(parts: Sequence[PhaseLayer]) -> PhaseLayer:
    """The layer of all features from layers of one feature each, which stand at the same row."""
    columns, mean, level, d, height, row = (
        np.hstack([getattr(one, name) for one in parts]) for name in ("columns", "mean", "level", "d", "height", "row")
    )
    variances = Variances(*map(np.hstack, zip(*(one.variances for one in parts), strict=True)))
    return PhaseLayer(parts[0].period, columns, mean, variances, level, d, height, row, parts[0].place)


def _long(Y: Array, period: int, place: int) -> Array:
    """Long rows (n, P, k)."""
    F = fold(Y, period, place)
    return F.reshape(len(F), period, Y.shape[1])


def _profile(F: Array) -> Array:
    """Means (P, k) of the phases of long rows F (n, P, k) about the heights of these, which differ."""
    total = _mean(F, (0, 1))
    profile = np.zeros(F.shape[1:])
    for _ in range(TURNS):
        E = F - total - profile
        lines = _mean(E, 1)[:, None] + _slopes(E)[:, None] * _middle(F.shape[1])[:, None]
        profile = profile + _mean(E - lines, 0)
        profile = profile - profile.mean(0)
    return np.asarray(total + profile)


TURNS = 4
"""Turns between phases and heights, each found given the other. Without gaps one is enough."""


def _mean(F: Array, axis: int | tuple[int, ...]) -> Array:
    seen = np.isfinite(F)
    return np.asarray(np.where(seen, F, 0.0).sum(axis) / np.maximum(seen.sum(axis), 1))


def _slopes(E: Array) -> Array:
    """The slope of every long row (n, k), from the mean heights of the long rows before and after it; E is (n, P, k).

    Long rows of which less than half is seen have no height, and where one is missing the slope is taken as zero.
    """
    P = E.shape[1]
    if len(E) < 2:
        return np.zeros((len(E), E.shape[2]))
    heights = np.where(2 * np.isfinite(E).sum(1) >= P, _mean(E, 1), np.nan)
    slopes = np.gradient(heights, axis=0) / P
    return np.where(np.isfinite(slopes), slopes, 0.0)


def _middle(period: int) -> Array:
    """Rows from the middle of a long row, (P,)."""
    return np.arange(period) - (period - 1) / 2


def _likeliest(E: Array, least: float) -> tuple[float, float, float]:
    """q, p0 and R of the phases of one feature, from long rows E (n, P) without mean and trend; heights stay free.

    R is at least `least`.
    """
    step, start = (grid.ravel()[:, None] for grid in np.meshgrid(STEPS, STARTS, indexing="ij"))
    level, d = np.zeros((len(step), E.shape[1])), np.broadcast_to(start, (len(step), E.shape[1])).copy()
    squares, logs, count = np.zeros(len(step)), np.zeros(len(step)), 0
    for n, f in enumerate(E):
        d = d + step if n else d
        seen = np.isfinite(f)
        if seen.sum() < 2:  # one value says nothing beside a free height
            continue
        e, s = f[seen] - level[:, seen], d[:, seen] + 1.0
        w = 1.0 / s
        total = w.sum(1, keepdims=True)
        e = e - (w * e).sum(1, keepdims=True) / total
        gain = d[:, seen] * w
        squares += (e * e * w).sum(1)
        logs += np.log(s).sum(1) + np.log(total[:, 0])
        count += int(seen.sum()) - 1
        level[:, seen] += gain * e
        d[:, seen] = d[:, seen] * (1.0 - gain) + gain * gain / total
    if not count:
        return 0.0, least, least
    R = np.maximum(squares / count, least)
    best = int(np.argmin(count * np.log(R) + logs))
    return float(R[best] * step[best, 0]), float(R[best] * start[best, 0]), float(R[best])


def _update(E: Array, level: Array, d: Array, R: Array, slope: Array) -> tuple[Array, Array, Array]:
    """Levels and their variances (P, k) after the long row E (P, k) without its mean, and its height (k,).

    With w = 1 / (d + R) and the height h = sum w e / sum w, whose variance is 1 / sum w:

        l <- l + g (e - h),     d <- d (1 - g) + g² / sum w,     g = d w
    """
    seen = np.isfinite(E)
    w = seen / (d + R)
    total = w.sum(0)
    known = np.where(total > 0, total, 1.0)
    e = np.where(seen, E - level - slope * _middle(len(E))[:, None], 0.0)
    height = (w * e).sum(0) / known
    gain = d * w
    level = level + gain * np.where(seen, e - height, 0.0)
    d = d * (1.0 - gain) + gain * gain / known
    return level, d, np.where(total > 0, height, np.nan)


class _Passed(NamedTuple):
    """Levels and variances (n, P, k) of all long rows given all of them; and before and after the last one."""

    level: Array
    d: Array
    before: tuple[Array, Array, Array]  # level, variance and the height of the long row before
    after: tuple[Array, Array, Array]

    def now(self, *, complete: bool) -> tuple[Array, Array, Array]:
        """What `PhaseLayer` begins with after these rows."""
        return self.after if complete else self.before

    def season(self, mean: Array, T: int, place: int) -> Season:
        n, P, k = self.level.shape
        signal, var = (part.reshape(n, P * k) for part in (mean + self.level, self.d))
        return Season(unfold(signal, P, T, place), unfold(var, P, T, place))


def _smooth(E: Array, slopes: Array, variances: Variances) -> _Passed:
    """Filter and Rauch-Tung-Striebel smoother of the levels of long rows E (n, P, k) without their mean. O(n P k)."""
    q = variances.q
    level, d = np.zeros(E.shape[1:]), np.broadcast_to(variances.p0, E.shape[1:]).copy()
    levels, ds = np.empty(E.shape), np.empty(E.shape)
    last = np.full(E.shape[2], np.nan)
    before = (level, d, last)
    for n, row in enumerate(E):
        before = (level, d, last)
        level, d, height = _update(row, level, d, variances.R, slopes[n])
        levels[n], ds[n] = level, d
        last = np.where(np.isfinite(height), height, last)
        d = d + q
    after = (level, d, last)
    for n in range(len(E) - 2, -1, -1):
        J = ds[n] / (ds[n] + q)
        levels[n] += J * (levels[n + 1] - levels[n])
        ds[n] += J * J * (ds[n + 1] - ds[n] - q)
    return _Passed(levels, ds, before, after)
