"""Cycles of any length that the features share: two states that turn, and hardly fade.

EM reaches a cycle that goes on for ever too slowly: while the states fade, the smoother explains the cycle by their
steps, and the next sweep gives them nearly the same steps again. So cycles are looked for in the spectrum, and EM
begins with states that already turn at their frequencies without fading. How fast they fade is learned from there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..linalg import Array
from .model import Dynamics, SequenceModel

LEAST_TURNS = 2
"""Turns that must have been seen of a cycle: what comes back must have come twice."""
SHORTEST_CYCLE = 4
"""Rows of the shortest cycle: what turns faster is told by a few rows. Not tuned."""
MOST_CYCLES = 3
"""Cycles that are looked for. Not tuned: a day, its half, and a year."""
BESIDE = (3, 7)
"""Frequencies at both sides, in units of one turn over all rows, that a peak is compared with: next to what the taper
spreads of it, and few enough to be as the peak would be without a cycle. Not tuned."""
LEAST_BESIDE = 3
"""Frequencies beside a peak without which nothing is compared."""
ABOVE_BESIDE = 20.0
"""Power of a peak in units of the mean beside it, both times the frequency, from which on it is a cycle. Not tuned: few
single series of noise or of walks have a higher peak, fewer still of several features, and forecasts have the last
word; a cycle of which three turns were seen has one."""
STEP = 1e-6
"""Variance of the first steps of states that turn, beside their own variance of 1: as good as none."""
FINER, REFINED = 8, 3
"""How much finer each look at the frequencies around a peak is, and how many there are: the last errs by less than a
thousandth of a turn over all rows."""


class Spectrum(NamedTuple):
    """The power of standardised rows, summed over features, at 0, 1, 2, ... turns over all rows."""

    power: Array

    def highest(self) -> int:
        """Turns over all rows of the highest peak above those beside it, or 0."""
        slope = self.power * np.arange(len(self.power))  # that of a walk, and of noise, tilted by as much
        last = min(2 * (len(slope) - 1) // SHORTEST_CYCLE, len(slope) - 2)
        best, where = ABOVE_BESIDE, 0
        for k in range(LEAST_TURNS, last + 1):
            near, far = BESIDE
            beside = np.concatenate([slope[max(k - far + 1, 1) : max(k - near + 1, 1)], slope[k + near : k + far]])
            peak = slope[k] >= max(slope[k - 1], slope[k + 1])
            if peak and len(beside) >= LEAST_BESIDE and slope[k] > best * beside.mean():
                best, where = float(slope[k] / beside.mean()), k
        return where


def spectrum(Y: Array) -> Spectrum:
    """That of rows Y (T, m) less a line through each feature, tapered so that peaks do not spread far."""
    T = len(Y)
    rest = _less(Y, _waves(T, np.zeros(0)))
    taper = 0.5 - 0.5 * np.cos(2.0 * np.pi * (np.arange(T) + 0.5) / T)
    power = np.abs(np.fft.rfft(np.where(np.isfinite(rest), rest, 0.0) * taper[:, None], axis=0)) ** 2
    total = power.sum(0)
    return Spectrum(np.asarray((power[:, total > 0] / total[total > 0]).sum(1)))


def cycles_in(Y: Array, most: int = MOST_CYCLES) -> Array:
    """Frequencies, in turns per row, of at most so many cycles of standardised rows Y (T, m). O(T m log T)."""
    found = np.zeros(0)
    while len(found) < most:
        k = spectrum(_less(Y, _waves(len(Y), found))).highest()
        if not k:
            break
        found = np.append(found, _refined(Y, k / len(Y), found))
    return found


def beside_cycles(Y: Array, near: Array, start: Callable[[Array], SequenceModel]) -> SequenceModel:
    """A first model of standardised Y (T, m) whose first states turn, two for every frequency near one of these.

    Their loadings are those of a regression; `start` makes the rest of the model of what that leaves.
    """
    f = near.copy()
    for j in range(len(f)):
        f[j] = _refined(Y, f[j], np.delete(f, j))
    waves = np.delete(_waves(len(Y), f), 1, axis=1)
    B = np.delete(_coefficients(Y, _waves(len(Y), f)), 1, axis=0)  # beside a line, which is no part of the model
    rest = start(Y - waves @ B)
    k, n = 2 * len(f), 2 * len(f) + len(rest.dynamics.A)
    turning = Dynamics(np.zeros((n, n)), STEP * np.eye(n), np.eye(n))
    for j, w in enumerate(2.0 * np.pi * f):
        turning.A[2 * j : 2 * j + 2, 2 * j : 2 * j + 2] = [[np.cos(w), -np.sin(w)], [np.sin(w), np.cos(w)]]
    for whole, own in zip(turning, rest.dynamics, strict=True):
        whole[k:, k:] = own
    emission = rest.emission._replace(C=np.hstack([B[1:].T, rest.emission.C]), mean=rest.emission.mean + B[0])
    return rest._replace(dynamics=turning, emission=emission)


def _waves(T: int, f: Array) -> Array:
    """One, a line, and cosine and sine of every frequency (T, 2 + 2 k)."""
    t = np.arange(T)
    angle = 2.0 * np.pi * t[:, None] * f
    turning = np.stack([np.cos(angle), np.sin(angle)], axis=2).reshape(T, 2 * len(f))
    return np.column_stack([np.ones(T), (2.0 * t - (T - 1)) / max(T - 1, 1), turning])


def _coefficients(Y: Array, D: Array) -> Array:
    """Least squares (p, m) of every feature's values on the columns of D (T, p). O(T m p²)."""
    T, p = D.shape
    seen = np.isfinite(Y)
    products = (D[:, :, None] * D[:, None, :]).reshape(T, p * p)
    G = (seen.T.astype(float) @ products).reshape(-1, p, p)
    c = np.where(seen, Y, 0.0).T @ D
    return np.asarray(np.linalg.solve(G + 1e-9 * T * np.eye(p), c[:, :, None])[:, :, 0].T)


def _less(Y: Array, D: Array) -> Array:
    return np.asarray(Y - D @ _coefficients(Y, D))


def _refined(Y: Array, f: float, others: Array) -> float:
    """The frequency near f with which, beside the others, least squares leave least."""
    width = 1.0 / len(Y)
    for _ in range(REFINED):
        near = f + width * np.linspace(-1.0, 1.0, 2 * FINER + 1)
        near = near[near > 0]
        left = [float(np.nansum(_less(Y, _waves(len(Y), np.append(others, g))) ** 2)) for g in near]
        f, width = float(near[int(np.argmin(left))]), width / FINER
    return f
