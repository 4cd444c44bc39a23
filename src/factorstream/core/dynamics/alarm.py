"""Change points: a two-sided CUSUM of the innovations' size, with a known rate of false alarms."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from ..normal_score import normal_score
from .model import Innovation

ALLOWANCE = 0.5
"""k: a lasting shift of the normal score by 2 k = 1 standard deviation is what the sums detect fastest. Not tuned, and
it matters: at 0.25 shifts of half the features are found between 12% sooner and 5% later, at 1 between 12% sooner and
27% later; false alarms, 125 and 168 of them without and with heavy tails, move by -10% to +14%
(``benchmarks/sequence_defaults.py``, as all figures of this kind)."""
MEMORY = 500
"""Rows over which the score's own mean and variance are followed. Not tuned, and it matters: between 200 and 2000 false
alarms become up to 6% more frequent; at 200 the delay of others moves by -1% to +9%, at 2000 not at all
(``benchmarks/sequence_defaults.py``)."""
CLAIM_ROWS = 20
"""Rows that the model's own claim, a score of N(0, 1), counts as when they begin. Not tuned, and it matters: between 5
and 80 the rate of false alarms moves by -2% to +7% and the delay of others by up to 3%
(``benchmarks/sequence_defaults.py``)."""
CUT = 4.0
"""Scores are cut here before they are summed, so that one score alone, however large, raises no alarm at rates below
1%. Not tuned, and it matters: at 3 false alarms are 11% rarer under heavy tails, at 6 3%; delays move by at most 3%
(``benchmarks/sequence_defaults.py``)."""
OVERSHOOT = 1.166
"""2 · 0.583, the mean overshoot of a Gaussian random walk over a boundary (Siegmund 1985, Sequential Analysis)."""
LEAST_VAR = 1e-6
"""Least variance of the score; keeps a division by zero away."""


class Alarm(NamedTuple):
    """What the rule carries from row to row: `up` sums surprises, `down` rows that are too quiet."""

    mean: float = 0.0
    var: float = 1.0
    up: float = 0.0
    down: float = 0.0
    rows: int = 0


class Watched(NamedTuple):
    """What the rule says of one row: the sums are those compared with the threshold, before they start again."""

    fired: bool
    score: float
    up: float
    down: float


def threshold(rate: float, k: float = ALLOWANCE) -> float:
    """h at which a two-sided CUSUM of independent N(0, 1) scores fires `rate` times per row on average.

    One side fires every (exp(2kb) - 2kb - 1) / (2k²) rows, b = h + OVERSHOOT (Siegmund's approximation); both
    together twice as often.
    """

    def excess(b: float) -> float:
        return float((np.expm1(2 * k * b) - 2 * k * b) / (2 * k * k) - 2.0 / rate)

    return max(float(brentq(excess, 1e-6, 700.0 / (2 * k))) - OVERSHOOT, 0.0)


def watch(a: Alarm, info: Innovation, h: float, k: float = ALLOWANCE) -> tuple[Alarm, Watched]:
    """One step of the rule; the sums start again after an alarm. O(1).

    s = normal score of chi2 (Wilson-Hilferty), standardised by its own slow mean and variance, which
    absorb a constant misfit (heavy tails); v = s cut at ±CUT; up ← max(0, up + v - k), down ← max(0, down - v - k);
    alarm when either exceeds h. Rows without data leave everything as it is. What is returned is s, so that rows far
    off can be told from rows further off.
    """
    if info.n_obs == 0:
        return a, Watched(False, float("nan"), a.up, a.down)
    u = float(normal_score(max(info.chi2, 0.0), info.n_obs))
    score = (u - a.mean) / float(np.sqrt(a.var))
    v = float(np.clip(score, -CUT, CUT))
    step = 1.0 / min(a.rows + CLAIM_ROWS, MEMORY)
    mean = a.mean + step * v * float(np.sqrt(a.var))
    var = max(a.var * (1.0 + step * (v * v - 1.0)), LEAST_VAR)
    up, down = max(0.0, a.up + v - k), max(0.0, a.down - v - k)
    fired = max(up, down) > h
    after = Alarm(mean, var, 0.0 if fired else up, 0.0 if fired else down, a.rows + 1)
    return after, Watched(fired, score, up, down)
