"""Lasting shifts of single features: sums of their scores over every window that ends now, with a known rate.

A score is how far an entry lies from its forecast, as a standard normal would. While the model holds, scores of a
feature are independent over time, and |Σ score| / √n over n of them exceeds b seldom; after a shift it soon does for
the window that began with it. The windows are of all lengths up to REACH rows, so shifts of any size are found, and the
best one says since when.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import ndtr

from ..linalg import Array

REACH = 64
"""Rows of the longest window. Not tuned: a shift of one deviation needs about 25."""
LEAST = 3
"""Values of the shortest window: fewer could be outliers."""
CUT = 3.0
"""Scores are cut here before they are summed, so that one or two outliers alone are no shift. Not tuned."""
MEMORY = 500.0
"""Values that the usual score of a feature remembers. As the alarms'."""
MOST_ALIKE = 0.9
"""Most that neighbouring scores may be alike, as a correlation: it keeps a division by zero away."""
LEAST_VAR = 0.01
"""Least factor by which the variance of scores falls at once."""
NEAR = 3.0
"""Deviations from which on features beside the one that raised the alarm count as moved with it. Not tuned."""
SETTLED = 48
"""Scores in the last REACH rows that say what is usual after a shift; some may be missing. Not tuned."""
CLEARLY = 2.0
"""Standard errors by which their variance must differ from what was usual, to take its place. Not tuned."""


class Sums(NamedTuple):
    """What is remembered of the scores of m features."""

    scores: Array  # (k, m) the last rows', at most REACH; NaN where missing
    low: Array  # (m,) usual score, from what is before these rows; after a shift the range that it may have, since a
    high: Array  # (m,) model may follow a shift or not
    var: Array  # (m,) variance of scores
    alike: Array  # (m,) covariance of neighbouring scores
    known: Array  # (m,) values that these, and the model's parameters, come from


class Shift(NamedTuple):
    """A feature that has moved further than chance explains."""

    feature: int
    rows: int  # of the window: the shift came with the first of them


def begin_sums(known: Array) -> Sums:
    """Before the first row; `known` (m,): values that the model's parameters were learned from."""
    m = len(known)
    return Sums(
        np.empty((0, m)), np.zeros(m), np.zeros(m), np.ones(m), np.zeros(m), np.clip(known, 1.0, MEMORY)
    )  # fmt: skip


def overshoot(x: float) -> float:
    """Siegmund's ν(x), by which a discrete sum passes a boundary later than a continuous one."""
    half = x / 2
    density = float(np.exp(-half * half / 2) / np.sqrt(2 * np.pi))
    return float((2 / x) * (ndtr(half) - 0.5) / (half * ndtr(half) + density))


def shift_threshold(rate: float, m: int) -> float:
    """b that some |Σ score| / √n of m independent features exceeds `rate` times per row.

    For one feature, with windows from n0 to n1, the rate is b φ(b) ∫ x ν(x)² dx over x from b/√n1 to b/√n0 (Siegmund
    and Venkatraman 1995, Annals of Statistics 23, 255-271).
    """

    def excess(b: float) -> float:
        mass = quad(lambda x: x * overshoot(x) ** 2, b / np.sqrt(REACH), b / np.sqrt(LEAST))[0]
        return float(np.log(m * b * mass / np.sqrt(2 * np.pi)) - b * b / 2 - np.log(rate))

    return float(brentq(excess, 1.0, 40.0))


def statistics(s: Sums) -> tuple[Array, Array, Array]:
    """For windows of 1, 2, … rows that end now: how far each feature is above and below what is usual, in standard
    deviations, and values in the window. (k, m) each. O(k m).

    A sum over n values has the variance n λ + n² / known: λ = (1 + ρ) / (1 - ρ) allows for neighbours that are alike,
    and the second part for what is usual not being known better than from so many values.
    """
    z, seen = s.scores[::-1], np.isfinite(s.scores[::-1])
    unit = np.sqrt(s.var)
    n = np.cumsum(seen, axis=0)
    spread = _deviation(s, n)
    above = np.cumsum(np.where(seen, np.clip((z - s.high) / unit, -CUT, CUT), 0.0), axis=0) / spread
    below = np.cumsum(np.where(seen, np.clip((s.low - z) / unit, -CUT, CUT), 0.0), axis=0) / spread
    enough = n >= LEAST
    return np.where(enough, above, 0.0), np.where(enough, below, 0.0), n


def _deviation(s: Sums, n: Array) -> Array:
    """The standard deviation of sums over n values."""
    rho = np.clip(s.alike / s.var, 0.0, MOST_ALIKE)
    return np.asarray(np.sqrt(np.maximum(n * (1 + rho) / (1 - rho) + n * n / s.known, 1.0)))


def off_usual(s: Sums, rows: int) -> Array:
    """The scores (n, m) of the last rows, less what is usual: that end of its range which their mean is beyond."""
    z = s.scores[-rows:]
    seen = np.isfinite(z)
    mean = np.where(seen, z, 0.0).sum(0) / np.maximum(seen.sum(0), 1)
    return np.asarray(z - np.clip(mean, s.low, s.high))


def how_far(s: Sums, off: Array) -> Array:
    """How far features (m,) are off by scores less what is usual (n, m), as the `statistics` say of the whole of it."""
    seen = np.isfinite(off)
    n = seen.sum(0)
    total = np.where(seen, np.clip(off / np.sqrt(s.var), -CUT, CUT), 0.0).sum(0)
    return np.where(n >= LEAST, np.abs(total) / _deviation(s, n), 0.0)


def add_scores(s: Sums, z: Array) -> Sums:
    """The sums after a row with scores z (m,), NaN where missing. A row that is REACH rows old says what is usual."""
    scores = np.vstack([s.scores, z])
    if len(scores) <= REACH:
        return s._replace(scores=scores)
    old, after = scores[0], scores[1]
    seen = np.isfinite(old)
    step = np.where(seen, 1.0 / np.minimum(s.known + 1.0, MEMORY), 0.0)
    old = np.where(seen, old, 0.0)
    low, high = (part + step * np.clip(old - part, -CUT, CUT) for part in (s.low, s.high))
    middle = (low + high) / 2
    off = np.clip(old - middle, -CUT, CUT)
    pair = np.where(np.isfinite(after), off * np.clip(after - middle, -CUT, CUT), 0.0)
    step = np.where(is_open(s), 0.0, step)  # deviations from the middle of a wide range say nothing
    var = s.var + step * (off * off - s.var)
    known = np.minimum(s.known + seen, MEMORY)
    return _settled(Sums(scores[1:], low, high, var, s.alike + step * (pair - s.alike), known))


def is_open(s: Sums) -> Array:
    """Features (m,) whose usual score is not known within one deviation, since a model may follow a shift or not."""
    return np.asarray(s.high - s.low > np.sqrt(np.maximum(s.var, 1.0)))


def _settled(s: Sums) -> Sums:
    """The sums where what is usual after a shift is the mean of the scores since, once there are enough of them; and
    their variance, as a model that has learned a shift may take it for noise."""
    n = np.isfinite(s.scores).sum(0)
    mean = np.where(np.isfinite(s.scores), s.scores, 0.0).sum(0) / np.maximum(n, 1)
    enough = is_open(s) & (n >= SETTLED) & (mean >= s.low - 1.0) & (mean <= s.high + 1.0)
    low, high = np.where(enough, mean, s.low), np.where(enough, mean, s.high)
    off = np.where(np.isfinite(s.scores), np.clip(s.scores - mean, -CUT, CUT), 0.0)
    square = (off * off).sum(0) / np.maximum(n - 1, 1)
    other = enough & (np.abs(square / s.var - 1.0) > CLEARLY * np.sqrt(2.0 / np.maximum(n, 1)))
    var = np.where(other, np.maximum(square, LEAST_VAR), s.var)
    known = np.where(enough, np.minimum(s.known, n), s.known)
    return s._replace(low=low, high=high, var=var, alike=s.alike * var / s.var, known=known)


def reopened(s: Sums) -> Sums:
    """The sums after the model has been learned anew: it may have learned the shifts that have been told, and then
    scores are about zero again."""
    s = s._replace(low=np.minimum(s.low, 0.0), high=np.maximum(s.high, 0.0))
    return s._replace(scores=np.where(is_open(s), np.nan, s.scores))


def beyond(s: Sums, z: Array) -> Array:
    """By how much scores z (…, m) are outside what is usual, in its standard deviations."""
    return np.asarray((z - np.clip(z, s.low, s.high)) / np.sqrt(s.var))


def find_shift(s: Sums, b: float) -> Shift | None:
    """The shift that the scores show, if one exceeds b."""
    if not len(s.scores):
        return None
    above, below, _ = statistics(s)
    size = np.maximum(above, below)
    k, i = np.unravel_index(int(np.argmax(size)), size.shape)
    return Shift(int(i), int(k) + 1) if size[k, i] > b else None


def after_shift(s: Sums, which: Array, rows: int) -> Sums:
    """The sums of features that have moved: they begin anew, and what is usual lies between before and since."""
    scores, low, high = s.scores.copy(), s.low.copy(), s.high.copy()
    for i in which:
        last = scores[-rows:, i]
        last = last[np.isfinite(last)]
        if len(last):
            low[i], high[i] = min(low[i], float(last.mean())), max(high[i], float(last.mean()))
    scores[:, which] = np.nan
    return s._replace(scores=scores, low=low, high=high)


def widened(s: Sums, by: Array) -> Sums:
    """The sums of features whose scores may be off by this much (m,) from now on, since others have moved."""
    return s._replace(low=np.minimum(s.low, s.low + by), high=np.maximum(s.high, s.high + by))


def after_spread(s: Sums, which: Array, square: Array) -> Sums:
    """The sums of features whose scores have so many times the variance now."""
    var = s.var.copy()
    var[which] *= np.maximum(square, LEAST_VAR)
    return s._replace(var=var, alike=s.alike * var / s.var)


def without_last(s: Sums, which: Array, rows: int) -> Sums:
    """The sums without the last rows of some features, which an outlier has spoiled."""
    scores = s.scores.copy()
    scores[-rows:, which] = np.nan
    return s._replace(scores=scores)
