"""Squared distances of rows with different numbers of known values, made comparable."""

from __future__ import annotations

from .linalg import Array


def normal_score(chi2: float | Array, n: int | Array) -> float | Array:
    """Squared distances of n values each from what is expected of them, as scores that are about N(0, 1).

    Where chi2 is chi-squared with n degrees of freedom, its cube root is nearly normal (Wilson and Hilferty, 1931):
    (chi2 / n)^(1/3) has mean 1 - c and variance c, c = 2 / (9 n). Never NaN for n >= 1; infinite where chi2 is.
    """
    c = 2.0 / (9.0 * n)
    return ((chi2 / n) ** (1.0 / 3.0) - (1.0 - c)) / c**0.5
