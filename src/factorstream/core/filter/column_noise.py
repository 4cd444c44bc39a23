"""How noisy each column is beside the others, from the residuals of some rows.

The filter learns one noise variance σ² for all columns. That of column i is taken to be σ²κ_i², where κ_i² has an
inverse gamma prior whose width is learned from all columns: with few residuals a column has nearly the common noise.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import digamma, polygamma

from ..linalg import Array
from .units import NORMAL_QUARTILE


class ColumnNoise(NamedTuple):
    """The noise of every column beside the common one."""

    ratio: Array
    """κ², the column's noise variance over the common one (m)."""
    freedom: Array
    """Degrees of freedom with which κ² is known (m); infinite where the columns are alike."""


def column_noise(squares: Array, freedom: Array) -> ColumnNoise | None:
    """From each column's Σe² and the degrees of freedom of that sum (m); None where they say nothing.

    With d degrees of freedom, log(Σe²/d) has the mean log σ_i² + ψ(d/2) − log(d/2) and the variance ψ₁(d/2). What the
    columns' logarithms vary beyond that is ψ₁(d₀/2) for variances that are inverse gamma with d₀ degrees of freedom,
    and each column's variance is (d₀s₀ + Σe²)/(d₀ + d) (Smyth 2004, doi:10.2202/1544-6115.1027). Their middle and
    spread are taken from medians: a column that hardly ever moves has next to no noise, and says nothing of others.
    """
    known = (freedom >= 1.0) & (squares > 0.0)
    if np.count_nonzero(known) < 2:
        return None
    d = 0.5 * freedom[known]
    logs = np.log(squares[known] / freedom[known]) - digamma(d) + np.log(d)
    middle = float(np.median(logs))
    beyond = float((np.median(np.abs(logs - middle)) / NORMAL_QUARTILE) ** 2 - np.median(polygamma(1, d)))
    m = len(squares)
    if beyond <= 0.0:
        return ColumnNoise(np.ones(m), np.full(m, np.inf))
    half = inverse_trigamma(beyond)
    s0 = float(np.exp(middle + digamma(half) - np.log(half)))
    squares, freedom = np.where(known, squares, 0.0), np.where(known, freedom, 0.0)
    variance = (2.0 * half * s0 + squares) / (2.0 * half + freedom)
    return ColumnNoise(variance * (freedom.sum() / squares.sum()), 2.0 * half + freedom)


def inverse_trigamma(y: float) -> float:
    """x with ψ₁(x) = y > 0, which lies between 1/√y and (1 + √(1 + 4y))/2y because 1/x² < ψ₁(x) < 1/x + 1/x²."""
    low, high = 1.0 / np.sqrt(y), (1.0 + np.sqrt(1.0 + 4.0 * y)) / (2.0 * y)
    return float(brentq(lambda x: float(polygamma(1, x)) - y, low, high))
