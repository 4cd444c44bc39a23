"""Features whose logarithms are modelled, since what moves them grows with their size.

Such a feature is y = exp(z) > 0, and z is what everything else in `dynamics` is about: a season that is added to z
multiplies y. A normal law of z, with mean μ and variance s², is a lognormal one of y: its mean is exp(μ + s²/2), its
quantiles are those of z under exp, and its density at y is that of z over y.

L (m,) says which features these are; None: none of them, and everything is as it was given.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from ..entries import NO_ENTRIES, Entries
from ..linalg import Array

HELD = 0.95
"""Probability of the bounds whose length is told as a standard deviation, and within which the mean stays."""


def not_positive(Y: Array, L: Array | None) -> Entries:
    """The entries of rows Y (T, m) that have no logarithm and need one."""
    if L is None:
        return NO_ENTRIES
    row, column = np.nonzero((Y <= 0.0) & L)
    return Entries(row, column, Y[row, column]) if len(row) else NO_ENTRIES


def into_model(Y: Array, L: Array | None) -> Array:
    """Rows (..., m) in the units of the model; entries that need a logarithm are positive or NaN."""
    if L is None:
        return Y
    Z = np.array(Y, dtype=np.float64)
    Z[..., L] = np.log(Z[..., L])
    return Z


def out_of_model(Z: Array, L: Array | None) -> Array:
    """Values (..., m) of the model in the units of the data; infinite where they have no number."""
    if L is None:
        return Z
    Y = Z.copy()
    with np.errstate(over="ignore"):
        Y[..., L] = np.exp(Z[..., L])
    return Y


def means(mean: Array, std: Array, L: Array | None) -> Array:
    """The means of values (..., m) whose laws in the model have this mean and standard deviation.

    exp(μ + s²/2), but no further out than bounds that hold HELD: where little is known, that is a value which hardly
    ever comes. s is as the model says: what calibrates intervals moves no mean, as it does not without logarithms.
    """
    if L is None:
        return mean
    s = np.where(np.isfinite(std), std, 0.0)
    return out_of_model(mean + np.where(L, np.minimum(0.5 * s**2, _FURTHEST * s), 0.0), L)


def deviations(mean: Array, std: Array, L: Array | None) -> Array:
    """Standard deviations (..., m) in the units of the data: as many of them are the length of bounds that hold HELD as
    in the model."""
    if L is None:
        return std
    lower, upper = (out_of_model(mean + sign * _FURTHEST * std, L) for sign in (-1.0, 1.0))
    length = np.where(np.isfinite(upper), upper, np.inf) - np.where(np.isfinite(upper), lower, 0.0)
    return np.asarray(np.where(L, length / (2.0 * _FURTHEST), std))


def log_slope(Y: Array, L: Array | None) -> Array:
    """What turns the log-density of each row of Y (T, m) in the model into that of the data: -Σ log y. (T,)"""
    if L is None:
        return np.zeros(len(Y))
    return np.asarray(-np.nansum(np.log(Y[:, L].astype(np.float64)), axis=1))


def moved(mean: Array, size: Array, L: Array | None) -> Array:
    """By how much values with this mean in the model are moved, in the units of the data, by moves of the model.

    All (n,), and so is L: of the features in question.
    """
    if L is None:
        return size
    with np.errstate(over="ignore"):
        return np.asarray(np.where(L, np.exp(np.where(L, mean, 0.0)) * np.expm1(np.where(L, size, 0.0)), size))


_FURTHEST = float(ndtri((1.0 + HELD) / 2.0))
