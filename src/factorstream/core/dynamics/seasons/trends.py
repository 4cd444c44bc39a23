"""The layer of trends and known columns: learned, followed row by row, and continued. See ``lines`` for the model."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...linalg import Array
from ..noise import GaussianSpec, NoiseSpec
from ..scale import standards
from ..spikes import off_median
from .lines import LineVariances, Running, coefficients, innovation, passed, predicted, smoothed, start, updated
from .phases import LEAST_NOISE
from .season import Season

WANDERS = np.concatenate([[0.0], 2.0 ** np.arange(-10, 3, 2), [2.0**12]])
"""q / R that are tried: from levels that stay where they are for a thousand rows to those without noise, by fours.
Derived: a coefficient's error hardly changes from one to the next."""
BENDS = np.array([0.0, 2.0**-14, 2.0**-10, 2.0**-6])
"""qb / (q + R) that are tried. The last doubles a slope as large as the noise in 64 rows: what bends faster is the
matter of levels and states, which all features share. Not tuned."""
FREE_SLOPE = 1e6
"""Variance of the first slope in units of that of the noise: as good as free."""
FAR = 10.0
"""Deviations from which on a value is out of all proportion to the level before it. Not tuned: Gaussian noise never
is."""
ALONE = np.array([[0.0, 0.0], [0.0, 1.0]])
"""What is left of a covariance of level and slope where the level begins anew."""
ROUGH_TURNS = 30
"""Turns between coefficients of least absolute deviations and the weights of rows, one over what these are off by."""
MEDIAN_TURNS = 3
"""Turns between these and running medians of what they leave. Without wandering levels one is enough."""
LEAST_OFF = 1e-6
"""Least that a row is taken to be off by, in usual deviations; keeps a division by zero away."""
RELEVANCE_TURNS = 30
"""Turns between coefficients and their prior variances. Not tuned: they settle within ten."""


class TrendLayer(NamedTuple):
    """m features and the p known columns beside them, and where they stand before the next row."""

    period: int  # 1: every row is like the others
    columns: Array  # (m + p,) numbers of the features and then of the known columns
    damping: Array  # (m,) by which the slope shrinks from step to step of a forecast; NaN: no trend
    variances: LineVariances
    slope: Array  # (m,) usual slope: another sequence begins with it
    spread: Array  # (m,) its variance
    shift: Array  # (p,) of the known columns
    scale: Array  # (p,)
    origin: Array  # (m,) where the trend of these rows began
    height: Array  # (m,) where it is at the next row
    running: Running

    @property
    def trended(self) -> Array:
        """Which features have a trend."""
        return np.isfinite(self.damping)

    def smoothed(self, W: Array, place: int = 0) -> Season:
        """What all rows W = [Y, K] (T, m + p) say of trend and known columns. A sequence begins at a level of its own.

        Variances are those of the coefficients' part: between two values a wrong slope is the level's to make good.
        """
        Y, X = self._parts(W)
        rows, _ = passed(self.variances, self._fresh(), Y, X)
        known = self.running  # as it was learned: these rows may be those it was learned from
        rows[-1] = rows[-1]._replace(A=known.A, c=known.c)
        return self._season(rows, X)[0]

    def restarted(self, place: int = 0) -> TrendLayer:
        """The layer before the first row of another sequence: coefficients stay, the trend begins anew."""
        return self._replace(height=self.origin, running=self._fresh())

    def with_coefficients_of(self, other: TrendLayer) -> TrendLayer:
        """The layer with what another one knows of the coefficients."""
        return self._replace(running=self.running._replace(A=other.running.A, c=other.running.c))

    def now(self, w: Array) -> tuple[Array, Array]:
        """Mean and variance (m + p,) of trend and known columns at the next row w, whose features do not count.

        But for the first value of a sequence with a trend: nothing is expected of it, and the trend begins there.
        """
        y, x = self._parts(w)
        signal, var = self._known(x)
        first = self.trended & ~self.running.begun & np.isfinite(y)
        return self._with_known_columns(np.where(first, y, self.height + signal), var)

    def taken(self, w: Array) -> TrendLayer:
        """The layer after the row w = [y, k] (m + p,)."""
        y, x = self._parts(w)
        first = self.trended & ~self.running.begun & np.isfinite(y)
        height = np.where(first, y - self._known(x)[0], self.height)
        running = updated(self._begun_anew(w), self.variances.R, y, x)
        layer = self._replace(running=running)
        running = predicted(running, self.variances.q, self.variances.qb)
        return layer._replace(height=height + np.where(self.trended, layer.line(w[None])[1], 0.0), running=running)

    def _begun_anew(self, w: Array) -> Running:
        """Where the filter stands for the row w: a level that it is out of all proportion to begins anew at it, so that
        a spike or a jump moves neither slope nor coefficients."""
        y, _ = self._parts(w)
        level, _, known = self.line(w[None])
        s = self.running
        size = (y - level - known[0]) ** 2 / (s.P[:, 0, 0] + self.variances.R)
        far = s.begun & (np.where(np.isfinite(y), size, 0.0) > FAR**2)
        return s._replace(begun=s.begun & ~far, P=np.where(far[:, None, None], s.P * ALONE, s.P))

    def ahead(self, W: Array) -> Season:
        """Mean and variance (steps, m + p) of trend and known columns in the rows to come; their features are NaN.

        The height at the next row has the slope of the last one in it; a damped slope adds φ^j b at the j-th row after
        that. So the sum has the variance (1 + Σφ^j)² Var b, what every change of the slope adds to it counts with the
        part of the sum that comes after it, and what is not known of β comes by the rows and by the slope.
        """
        _, X = self._parts(W)
        phi = np.where(self.trended, self.damping, 0.0)
        powers = phi ** np.arange(len(W))[:, None]
        powers[0] = 0.0
        sums = np.cumsum(powers, axis=0)
        _, cov = coefficients(self.running, self.variances.v)
        last = np.maximum(self.running.P[:, 1, 1] - self.variances.qb, 0.0)
        across = X[:, None, :] - (1.0 + sums)[:, :, None] * self.running.M[:, 1, 1:]
        var = (1.0 + sums) ** 2 * last + np.cumsum(sums**2, axis=0) * self.variances.qb
        var = var + np.einsum("tki,kij,tkj->tk", across, cov, across)
        _, slope, known = self.line(W)
        signal = self.height + sums * slope + known
        return Season(*self._with_known_columns(signal, np.where(self.trended, var, self._variance(X, cov))))

    def line(self, W: Array) -> tuple[Array, Array, Array]:
        """Level and slope (m,) before the next of the rows W (h, m + p), and what known columns add to these rows."""
        _, X = self._parts(W)
        beta, _ = coefficients(self.running, self.variances.v)
        M = self.running.M
        level, slope = (M[:, i, 0] - np.einsum("ki,ki->k", M[:, i, 1:], beta) for i in (0, 1))
        return level, slope, X @ beta.T

    def _parts(self, W: Array) -> tuple[Array, Array]:
        """The features, and the known columns standardised."""
        m = len(self.damping)
        return W[..., :m], (W[..., m:] - self.shift) / self.scale

    def _fresh(self) -> Running:
        """Before another sequence, with what the rows so far say of the coefficients."""
        s = start(self.slope, self.spread, len(self.shift))
        return s._replace(A=self.running.A, c=self.running.c)

    def _known(self, x: Array) -> tuple[Array, Array]:
        """What the known columns x (..., p) give every feature, and its variance."""
        beta, cov = coefficients(self.running, self.variances.v)
        return x @ beta.T, self._variance(x, cov)

    @staticmethod
    def _variance(x: Array, cov: Array) -> Array:
        return np.asarray(np.einsum("...i,kij,...j->...k", x, cov, x))

    def _with_known_columns(self, signal: Array, var: Array) -> tuple[Array, Array]:
        """The known columns have nothing taken off."""
        none = np.zeros((*signal.shape[:-1], len(self.shift)))
        return np.concatenate([signal, none], axis=-1), np.concatenate([var, none], axis=-1)

    def _season(self, rows: list[Running], X: Array) -> tuple[Season, Array, Array]:
        """What filtered rows say all together; the heights (T, m), and slopes with variances (2, T, m) beside it."""
        s = smoothed(self.variances, rows)
        beta, cov = coefficients(rows[-1], self.variances.v)
        level, slope = (s.M[:, :, i, 0] - np.einsum("tkj,kj->tk", s.M[:, :, i, 1:], beta) for i in (0, 1))
        risen = np.vstack([np.zeros((1, len(beta))), np.cumsum(slope, axis=0)[:-1]])
        height = np.where(self.trended & rows[-1].begun, level[0] + risen, 0.0)
        signal = self._with_known_columns(height + X @ beta.T, self._variance(X, cov))
        return Season(*signal), height, np.stack([slope, s.P[:, :, 1, 1]])


def learn_trends(W: Array, damping: Array, *, m: int) -> tuple[TrendLayer, Season]:
    """The layer of raw rows W = [Y, K] (T, m + p), and what it says of them. O(grid T m p²).

    Variances are the likeliest of a grid, with levels, slopes and coefficients free; those of the coefficients' prior
    are then MacKay's v = β² / (share of β that the rows determine), which lets go of columns that say nothing.
    """
    Y, K = W[:, :m], W[:, m:]
    shift, scale = units_of(K)
    X, trended = (K - shift) / scale, np.isfinite(damping)
    unit = standards(Y)[1]
    flat, s = opened(searched(search(trended, K.shape[1]), trended, Y, X), trended, unit)
    rows, last = passed(flat, s, Y, X)
    layer = layer_of(damping, flat, last, unit, shift, scale)
    season, height, (slope, var) = layer._season(rows, X)
    usual = slope.mean(0)
    spread = np.where(trended, ((slope - usual) ** 2 + var).mean(0), 0.0)
    at = np.where(trended, height[-1] + slope[-1], 0.0)
    return layer._replace(slope=usual, spread=spread, origin=height[0], height=at), season


def units_of(K: Array) -> tuple[Array, Array]:
    """Means and deviations (p,) of known columns (T, p); the deviation of one that never changes is 1."""
    shift, scale = standards(K) if K.shape[1] else (np.zeros(0), np.ones(0))
    return shift, np.where(K.max(0, initial=-np.inf) > K.min(0, initial=np.inf), scale, 1.0)


def opened(found: Search, trended: Array, unit: Array) -> tuple[LineVariances, Running]:
    """The variances that a search has found, coefficients being free, and the filter before the first row."""
    R, q, qb = likeliest(found, trended, unit)
    free, p = np.where(trended, FREE_SLOPE * (R + q), 0.0), found.running.c.shape[1]
    return LineVariances(R, q, qb, np.zeros((len(R), p))), start(np.zeros(len(R)), free, p)


def layer_of(damping: Array, flat: LineVariances, s: Running, unit: Array, shift: Array, scale: Array) -> TrendLayer:
    """The layer of features whose filter stands at s; where a sequence begins is still to be said."""
    variances, zero = flat._replace(v=_relevance(s, unit**2)), np.zeros(len(damping))
    columns = np.arange(len(damping) + len(shift))
    return TrendLayer(1, columns, damping, variances, zero, zero, shift, scale, zero, zero, s)


def followed_on(layer: TrendLayer, rows: int) -> TrendLayer:
    """The layer of a stream that was learned from so many rows: another sequence begins with its slope, which was as
    far from that as a slope that moves is at the rows before, on average."""
    slope = layer.line(np.zeros((1, len(layer.columns))))[1]
    spread = np.maximum(layer.running.P[:, 1, 1], 0.0) + 0.5 * rows * layer.variances.qb
    return layer._replace(slope=np.where(layer.trended, slope, 0.0), spread=np.where(layer.trended, spread, 0.0))


def without_outliers_beside(W: Array, noise: NoiseSpec, m: int) -> Array:
    """Rows W = [Y, K] (T, m + p) whose features are without outliers, as judged beside what known columns say of them.

    What a holiday does is no outlier, however rare holidays are; nor is the holiday itself. O(turns T m p²).
    """
    if isinstance(noise, GaussianSpec) or W.shape[1] == m:
        return noise.without_outliers(W)
    Y, K = W[:, :m], W[:, m:]
    rest, off = Y, off_median(K)
    for _ in range(MEDIAN_TURNS):
        rest = rest - K @ _roughly(off_median(rest), off, np.isfinite(Y)).T
    return np.hstack([np.where(np.isfinite(noise.without_outliers(rest)), Y, np.nan), K])


def _roughly(D: Array, X: Array, seen: Array) -> Array:
    """Coefficients (m, p) of least absolute deviations of the columns of D on X: few outliers do not move them."""
    out = np.zeros((D.shape[1], X.shape[1]))
    tiny = LEAST_NOISE * np.eye(X.shape[1])
    for j, own in enumerate(seen.T):
        d, x = D[own, j], X[own]
        w = np.ones(len(d))
        least = LEAST_OFF * max(float(np.median(np.abs(d))) if len(d) else 0.0, float(np.finfo(float).tiny))
        for _ in range(ROUGH_TURNS):
            G = (x.T * w) @ x
            out[j] = np.linalg.solve(G + max(float(np.trace(G)), 1.0) * tiny, (x.T * w) @ d)
            w = 1.0 / np.maximum(np.abs(d - x @ out[j]), least)
    return out


class Search(NamedTuple):
    """The grid of variances on its way through rows: as so many features more (k of them)."""

    running: Running
    seen: Array  # (k,) values so far
    squares: Array  # (k,) of innovations, over their variances
    logs: Array  # (k,) of these variances


def _grid(trended: Array) -> tuple[Array, Array, Array]:
    """q / R and qb / R of every feature in turn (k,), and whether it has a trend."""
    wander, bend = (grid.ravel() for grid in np.meshgrid(WANDERS, BENDS, indexing="ij"))
    q, which = np.tile(wander, len(trended)), np.repeat(trended, len(wander))
    return q, np.where(which, np.tile(bend, len(trended)) * (1.0 + q), 0.0), which


def search(trended: Array, p: int) -> Search:
    """The search before the first row, with p known columns."""
    q, _, which = _grid(trended)
    k = len(q)
    s = start(np.zeros(k), np.where(which, FREE_SLOPE * (1.0 + q), 0.0), p)
    return Search(s, *(np.zeros(k) for _ in range(3)))


def searched(found: Search, trended: Array, Y: Array, X: Array) -> Search:
    """The search after the rows Y (T, m) with X (T, p)."""
    q, qb, which = _grid(trended)
    s, count, squares, logs = found
    need, one = np.where(which, 2, 1), np.ones(len(q))  # values that say where level and slope begin, and no more
    for y, x in zip(np.repeat(Y, len(q) // max(len(trended), 1), axis=1), X, strict=True):
        E, S = innovation(s, one, y, x)
        told = np.isfinite(y) & (count >= need)
        squares = squares + np.where(told, E[:, 0] ** 2 / S, 0.0)
        logs = logs + np.where(told, np.log(S), 0.0)
        count = count + np.isfinite(y)
        s = predicted(updated(s, one, y, x), q, qb)
    return Search(s, count, squares, logs)


def likeliest(found: Search, trended: Array, unit: Array) -> tuple[Array, Array, Array]:
    """R, q and qb of every feature (m,), whose values have deviations `unit`."""
    s, count, squares, logs = found
    q, qb, which = _grid(trended)
    m, p, need = len(trended), s.c.shape[1], np.where(which, 2, 1)
    G = len(q) // max(m, 1)
    inner = s.A + LEAST_NOISE * np.maximum(np.trace(s.A, axis1=1, axis2=2), 1.0)[:, None, None] * np.eye(p)
    explained = np.einsum("ki,ki->k", s.c, np.linalg.solve(inner, s.c[:, :, None])[:, :, 0])
    dof = np.maximum(count - need - p, 1.0)
    least = np.repeat(LEAST_NOISE * unit**2, G)
    R = np.maximum((squares - explained) / dof, least / (1.0 + q))
    cost = (dof * np.log(R) + logs + np.linalg.slogdet(inner)[1]).reshape(m, G)
    best = np.arange(m) * G + np.argmin(cost, axis=1)
    return R[best], (R * q)[best], (R * qb)[best]


def _relevance(s: Running, first: Array) -> Array:
    """Prior variances (m, p) of the coefficients, from `first` (m,) on."""
    v = np.repeat(first[:, None], s.c.shape[1], axis=1)
    if not v.size:
        return v
    for _ in range(RELEVANCE_TURNS):
        beta, cov = coefficients(s, v)
        spread = np.diagonal(cov, axis1=1, axis2=2)
        known = np.where(v > 0, 1.0 - spread / np.where(v > 0, v, 1.0), 0.0)
        v = np.where(known > LEAST_NOISE, beta**2 / np.maximum(known, LEAST_NOISE), 0.0)
    return v
