"""The functions of ``column_products`` and ``starting_products`` for arrays of other libraries than NumPy.

See ``array_products``.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..arrays import Array, device_of, namespace, picked
from ..core.filter.column_noise import ResidualSums
from . import column_products, starting_products
from .array_products import clear_gaps, double, instead_of
from .starting_products import Sums

PIECE = 2**26
"""Numbers of a temporary array beyond which features are handled in pieces: half a gigabyte. Not tuned; speed and
memory only."""

# ------------------------------------------------------------------ measuring the scale


@instead_of(starting_products.values_and_gaps)
def values_and_gaps(rows: Array, origin: Array) -> tuple[Array, Array]:
    """The rows less the origin in double precision, zero where missing, and where that is (both B × m)."""
    values = double(rows) - origin
    return values, clear_gaps(values)


@instead_of(starting_products.added)
def added(sums: Sums, values: Array, missing: Array) -> Sums:
    """The sums with some more rows. A sum that overflows says nothing: ``check_range`` refuses such values."""
    xp = namespace(values)
    n = xp.astype(values.shape[0] - xp.count_nonzero(missing, axis=0), xp.float64)
    largest = xp.maximum(sums.largest, xp.max(xp.abs(values), axis=0))
    with np.errstate(over="ignore", invalid="ignore"):
        return Sums(sums.count + n, sums.total + xp.sum(values, axis=0), largest)


@instead_of(starting_products.added_squares)
def added_squares(squares: Array, values: Array) -> Array:
    """The sum of squares of every feature with some more rows."""
    with np.errstate(over="ignore", invalid="ignore"):
        return squares + namespace(values).sum(values * values, axis=0)


# ------------------------------------------------------------------ columns beside the dictionary


def pieces(n: int, width: int) -> Iterator[slice]:
    """All of n features in pieces, for arrays with ``width`` numbers per feature."""
    step = max(PIECE // max(width, 1), 1)
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


@instead_of(column_products.residuals)
def residuals(C: Array, Y: Array, missing: Array, Z: Array) -> Array:
    """Y − ZCᵀ (B × m) where Y is observed, zero elsewhere; Z (B × q), or one row for all."""
    return namespace(C).where(missing, 0.0, Y - Z @ C.T)


@instead_of(column_products.feature_weights)
def feature_weights(C: Array, weights: Array, group: Array | None) -> Array:
    """w_i of every feature, which is that of its group."""
    xp = namespace(C)
    if group is not None:
        return xp.take(weights, group)
    return xp.ones(C.shape[0], dtype=xp.float64, device=device_of(C)) * weights[0]


@instead_of(column_products.weighted_gram)
def weighted_gram(C: Array, W: Array, r: int) -> Array:
    """CᵀWC without a mean's column."""
    return (W[:, None] * C[:, :r]).T @ C[:, :r]


@instead_of(column_products.right_sides)
def right_sides(C: Array, W: Array, E: Array, r: int) -> Array:
    """C_ΩᵀWe of every row (B × r), where E is zero at the missing entries."""
    return (E * W) @ C[:, :r]


@instead_of(column_products.lost_grams)
def lost_grams(C: Array, W: Array, missing: Array, r: int) -> Array:
    """What the missing entries of every row leave out of CᵀWC (B × r × r)."""
    xp, B = namespace(C), missing.shape[0]
    if B <= column_products.FEW_ROWS:
        gone = [xp.nonzero(missing[j, :])[0] for j in range(B)]
        return xp.stack([weighted_gram(picked(C, idx), picked(W, idx), r) for idx in gone])
    lost = xp.zeros((B, r * r), dtype=xp.float64, device=device_of(C))
    for some in pieces(C.shape[0], r * r):
        part = C[some, :r]
        pairs = xp.reshape((W[some, None] * part)[:, :, None] * part[:, None, :], (-1, r * r))
        lost += xp.astype(missing[:, some], xp.float64) @ pairs
    return xp.reshape(lost, (B, r, r))


@instead_of(column_products.added_residuals)
def added_residuals(
    sums: ResidualSums, C: Array, E: Array, missing: Array, F: Array, weights: Array, taken: Array, group: Array | None
) -> ResidualSums:
    """The sums with these rows too; ``weights`` are w/σ² (K), ``taken`` zᵀVz/λ (B × K)."""
    xp, (B, r, _) = namespace(C), F.shape
    F_side_by_side = xp.reshape(xp.permute_dims(F, (1, 0, 2)), (r, B * r))
    if group is None:
        group = xp.zeros(C.shape[0], dtype=xp.int64, device=device_of(C))
    own, others = [], []
    for some in pieces(C.shape[0], B * r):
        CF = xp.reshape(C[some, :r] @ F_side_by_side, (-1, B, r))
        h = xp.minimum(xp.take(weights, group[some]) * xp.sum(CF * CF, axis=2).T, 1.0)
        left = xp.maximum(1.0 - xp.take(taken, group[some], axis=1), 0.0)
        left = xp.where(missing[:, some], 0.0, left)
        own.append(xp.sum((1.0 - h) ** 2 * left, axis=0))
        others.append(xp.sum(h * (1.0 - h) * left, axis=0))
    squares = sums.squares + xp.sum(E * E, axis=0)
    return ResidualSums(squares, sums.own + xp.concat(own), sums.others + xp.concat(others))


@instead_of(column_products.quadratic_forms)
def quadratic_forms(C: Array, T: Array) -> Array:
    """c_iᵀTc_i of every feature, without a mean's column."""
    xp, r = namespace(C), T.shape[0]
    parts = (double(C[some, :r]) for some in pieces(C.shape[0], r))
    return xp.concat([xp.sum((part @ T) * part, axis=1) for part in parts])


@instead_of(column_products.multiplied)
def multiplied(values: Array, factor: Array) -> Array:
    """Every feature's part of ``values`` (m, or m × q) times its factor."""
    factor = namespace(values).astype(factor, values.dtype)
    return values * (factor if values.ndim == 1 else factor[:, None])
