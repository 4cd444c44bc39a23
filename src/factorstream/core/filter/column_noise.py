"""How noisy each column is beside the others, from the residuals of some rows.

The filter learns one noise variance σ² for all columns. That of column i is taken to be σ²κ_i², where κ_i² has an
inverse gamma prior whose width is learned from all columns: with few residuals a column has nearly the common noise.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import digamma, ndtr

from ...cores import PASS, each_piece
from ..linalg import Array
from .units import NORMAL_QUARTILE


class ColumnNoise(NamedTuple):
    """The noise of every column beside the common one."""

    ratio: Array
    """κ², the column's noise variance over the common one (m)."""
    freedom: Array
    """Degrees of freedom with which κ² is known (m)."""

    def drawn(self, n_draws: int, rng: np.random.Generator) -> Array:
        """Random values of κ² (n_draws × m) from its posterior, an inverse gamma law."""
        return np.asarray(self.ratio * self.freedom / rng.chisquare(self.freedom, (n_draws, len(self.freedom))))


class ResidualSums(NamedTuple):
    """Sums over some rows, for every column (m each), of its squared residuals and of what these are made of."""

    squares: Array
    """Σ e_i²."""
    own: Array
    """What the variance of the column's own noise is multiplied by in the mean of that sum."""
    others: Array
    """The same for the noise of the other columns, by which the coefficients were found."""


FARTHEST_BELOW = 3.0
"""Standard deviations of the logarithms, from their median distance. Not tuned: beyond it are 0.1% of normal ones."""

MOST_FREEDOM = 1000.0
"""Degrees of freedom d₀ where the columns differ no more than by chance. Not tuned: noises are then alike to 4%."""

LOWEST = 0.03
"""The least κ²: a column that did not move in the kept rows may do so. Not tuned."""

OWN_SHARE = 0.1
"""The least part of its residuals that is taken to be a column's own noise, of what it would be if all columns were
alike. Not tuned: a difference of two sums of few squares may come out as nothing, which no noise is."""

NEWTON_STEPS = 4
"""Of ``inverse_trigamma``. Derived: for y from 1e-7 to 1e6 three leave an error of rounding."""


def column_noise(sums: ResidualSums, expected: float | Array = 0.0, unsure: float | Array = 0.0) -> ColumnNoise | None:
    """From the residuals of some rows; None where they say nothing.

    ``expected`` and ``unsure`` (m each) are the mean and the variance of log κ² as the columns' units say it.

    What the others' noise, on average σ², has added to the squares is taken off, which leaves an estimate s_i of σ_i²
    with fewer degrees of freedom d. Its logarithm has the mean log σ_i² + ψ(d/2) − log(d/2) and the variance ψ₁(d/2).
    What the columns' logarithms vary beyond that is ψ₁(d₀/2) for variances that are inverse gamma with d₀ degrees of
    freedom, and each column's variance is (d₀s₀ + d s_i)/(d₀ + d) (Smyth 2004, doi:10.2202/1544-6115.1027). A column
    that hardly ever moves has next to no noise, which says nothing of others: in the moments of the logarithms no
    column is farther below their median than FARTHEST_BELOW. If p columns are expected to be as far from the others as
    this one is, by chance, and p < 1, then p d₀ stands for d₀: the prior does not hold for a column that is so
    different. All this is done with logarithms from which ``expected`` was subtracted; ``unsure`` adds to ψ₁(d₀/2). On
    average over the residuals κ² is 1; after that, less than LOWEST, or no residuals but zeros, becomes LOWEST.
    """
    both, tiny = sums.own + sums.others, np.finfo(float).tiny
    total, m = float(both.sum()), len(both)
    if not total > 0.0:
        return None
    common = float(sums.squares.sum()) / total
    alike = sums.squares * sums.own / np.maximum(both, tiny)
    squares = np.maximum(sums.squares - common * sums.others, OWN_SHARE * alike)
    variance, freedom = squares / np.maximum(sums.own, tiny), sums.own**2 / np.maximum(both, tiny)
    known = (freedom >= 1.0) & (squares > 0.0)
    if np.count_nonzero(known) < 2:
        return None
    d = 0.5 * freedom[known]
    expected, unsure = (np.broadcast_to(part, m) for part in (expected, unsure))
    logs = np.log(variance[known]) - digamma(d) + np.log(d) - expected[known]
    middle, chance = float(np.median(logs)), trigamma(d)[0]
    spread = max(float(np.median(np.abs(logs - middle))) / NORMAL_QUARTILE, float(chance.mean()) ** 0.5)
    usual = np.maximum(logs, middle - FARTHEST_BELOW * spread)
    beyond = max(float(np.var(usual, ddof=1) - np.mean(chance + unsure[known])), 2.0 / MOST_FREEDOM)
    half = inverse_trigamma(beyond + unsure)
    s0 = np.exp(usual.mean() + expected + digamma(half) - np.log(half))
    as_far = np.abs(logs - usual.mean()) / np.sqrt(chance + beyond + unsure[known])
    as_far = 2.0 * np.count_nonzero(known) * ndtr(-as_far)
    freedom, prior = np.where(known, freedom, 0.0), 2.0 * half
    prior[known] *= np.minimum(as_far, 1.0)
    shrunk = (prior * s0 + freedom * np.where(known, variance, 0.0)) / (prior + freedom)
    mean = float(sums.own @ shrunk / sums.own.sum())
    ratio = np.where((sums.squares > 0.0) | (sums.own < 1.0), np.maximum(shrunk / mean, LOWEST), LOWEST)
    return ColumnNoise(ratio, prior + freedom)


def inverse_trigamma(y: Array) -> Array:
    """x with ψ₁(x) = y > 0: Newton's method on 1/ψ₁, which is nearly a line, from x with 1/x + 1/x² = y."""
    x = (1.0 + np.sqrt(1.0 + 4.0 * y)) / (2.0 * y)
    for _ in range(NEWTON_STEPS):
        value, slope = trigamma(x)
        x = x + value * (1.0 - value / y) / slope
    return np.asarray(x)


def trigamma(x: Array) -> tuple[Array, Array]:
    """ψ₁(x) and its derivative, x > 0, several hundred times as quick as SciPy's and nearly as exact.

    ψ₁(x) = Σ_{k<8} 1/(x + k)² + ψ₁(x + 8), and the last has an asymptotic series (Abramowitz and Stegun 6.4.6, 6.4.12)
    whose first term that is left out is below 1e-11.
    """
    values, slopes = np.empty(np.shape(x)), np.empty(np.shape(x))

    def fill(some: slice) -> None:
        values[some], slopes[some] = _trigamma(x[some])

    each_piece(fill, len(x), 20 * PASS * len(x))
    return values, slopes


def _trigamma(x: Array) -> tuple[Array, Array]:
    value, slope, z = np.zeros_like(x), np.zeros_like(x), np.asarray(x, dtype=np.float64)
    for _ in range(8):
        v = 1.0 / z
        w = v * v  # products: powers take ten times as long
        value += w
        slope -= 2.0 * (v * w)
        z = z + 1.0
    v = 1.0 / z
    w = v * v
    value += v + w / 2.0 + v * w * (1.0 / 6.0 - w * (1.0 / 30.0 - w * (1.0 / 42.0 - w / 30.0)))
    slope -= w + v * w + w**2 * (0.5 - w * (1.0 / 6.0 - w * (1.0 / 6.0 - 0.3 * w)))
    return value, slope
