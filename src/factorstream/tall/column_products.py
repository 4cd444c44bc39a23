"""What ``columns`` does to arrays with a feature axis: plain functions, which a ``Place`` runs (see ``products``)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..core.filter.column_noise import ResidualSums
from ..core.linalg import Array

PIECE = 100_000
"""Numbers of a temporary array beyond which features are handled in pieces. Not tuned; speed and memory only."""

FEW_ROWS = 16
"""Rows up to which each has a matrix product of its own. Not tuned; speed only."""


def pieces(m: int, width: int) -> Iterator[slice]:
    """m features in pieces, for arrays with ``width`` numbers per feature."""
    step = max(PIECE // max(width, 1), 1)
    return (slice(start, start + step) for start in range(0, m, step))


def residuals(C: Array, Y: Array, missing: Array, Z: Array) -> Array:
    """Y − ZCᵀ (B × m) where Y is observed, zero elsewhere; Z (B × q), or one row for all."""
    E: Array = Y - Z @ C.T
    E[missing] = 0.0
    return E


def feature_weights(C: Array, weights: Array, group: Array | None) -> Array:
    """w_i of every feature, which is that of its group."""
    return np.full(len(C), weights[0]) if group is None else np.asarray(weights[group])


def weighted_gram(C: Array, W: Array, r: int) -> Array:
    """CᵀWC without a mean's column."""
    G = np.zeros((r, r))
    for some in pieces(len(C), r):
        G += (W[some, None] * C[some, :r]).T @ C[some, :r]
    return G


def right_sides(C: Array, W: Array, E: Array, r: int) -> Array:
    """C_ΩᵀWe of every row (B × r), where E is zero at the missing entries."""
    return (E * W) @ C[:, :r]


def lost_grams(C: Array, W: Array, missing: Array, r: int) -> Array:
    """What the missing entries of every row leave out of CᵀWC (B × r × r)."""
    C, lost = C[:, :r], np.zeros((len(missing), r * r))
    if len(missing) <= FEW_ROWS:
        each = [np.flatnonzero(row) for row in missing]
        return np.stack([weighted_gram(C[gone], W[gone], r) for gone in each])
    for some in pieces(len(C), r * r):
        pairs = ((W[some, None] * C[some])[:, :, None] * C[some, None, :]).reshape(-1, r * r)
        lost += missing[:, some].astype(np.float64) @ pairs
    return lost.reshape(-1, r, r)


def added_residuals(
    sums: ResidualSums, C: Array, E: Array, missing: Array, F: Array, weights: Array, taken: Array, group: Array | None
) -> ResidualSums:
    """The sums of ``columns.residual_sums`` with these rows too; ``weights`` are w/σ² (K), ``taken`` zᵀVz/λ (B × K)."""
    (B, r, _), groups = F.shape, np.zeros(len(C), dtype=np.intp) if group is None else group
    into_x, F_side_by_side = np.empty(E.shape), F.transpose(1, 0, 2).reshape(r, B * r)
    for some in pieces(len(C), B * r):
        CF = (C[some, :r] @ F_side_by_side).reshape(-1, B, r)
        into_x[:, some] = np.einsum("mbi,mbi->bm", CF, CF)
    h = np.minimum(weights[groups] * into_x, 1.0)
    left = np.where(missing, 0.0, np.maximum(1.0 - taken[:, groups], 0.0))
    return ResidualSums(
        sums.squares + np.sum(E**2, axis=0),
        sums.own + np.sum((1.0 - h) ** 2 * left, axis=0),
        sums.others + np.sum(h * (1.0 - h) * left, axis=0),
    )


def quadratic_forms(C: Array, T: Array) -> Array:
    """c_iᵀTc_i of every feature, without a mean's column."""
    r, out = len(T), np.empty(len(C))
    for some in pieces(len(C), r):
        part = C[some, :r].astype(np.float64, copy=False)
        out[some] = np.einsum("ij,ij->i", part @ T, part)
    return out


def multiplied(values: Array, factor: Array) -> Array:
    """Every feature's part of ``values`` (m, or m × q) times its factor."""
    out: Array = values * factor.reshape(-1, *[1] * (values.ndim - 1)).astype(values.dtype)
    return out
