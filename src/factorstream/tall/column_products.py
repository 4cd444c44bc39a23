"""What ``columns`` does to arrays with a feature axis: plain functions, which a ``Place`` runs (see ``products``)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..core.filter.column_noise import ResidualSums
from ..core.linalg import Array
from ..cores import MULTIPLICATION, PASS, each_piece, sum_of_pieces

PIECE = 100_000
"""Numbers of a temporary array beyond which features are handled in pieces. Not tuned; speed and memory only."""

FEW_ROWS = 16
"""Rows up to which each has a matrix product of its own. Not tuned; speed only."""


def pieces(features: slice, width: int) -> Iterator[slice]:
    """Some features in small pieces, for arrays with ``width`` numbers per feature."""
    step = max(PIECE // max(width, 1), 1)
    stop = features.stop
    return (slice(start, min(start + step, stop)) for start in range(features.start, stop, step))


def residuals(C: Array, Y: Array, missing: Array, Z: Array) -> Array:
    """Y − ZCᵀ (B × m) where Y is observed, zero elsewhere; Z (B × q), or one row for all."""
    E = np.empty(Y.shape)

    def fill(some: slice) -> None:
        part = np.subtract(Y[:, some], Z @ C[some].T, out=E[:, some])
        part[missing[:, some]] = 0.0

    each_piece(fill, len(C), len(Y) * (3 * PASS * len(C) + MULTIPLICATION * C.size))
    return E


def feature_weights(C: Array, weights: Array, group: Array | None) -> Array:
    """w_i of every feature, which is that of its group."""
    return np.full(len(C), weights[0]) if group is None else np.asarray(weights[group])


def weighted_gram(C: Array, W: Array, r: int) -> Array:
    """CᵀWC without a mean's column."""

    def part(features: slice) -> Array:
        G = np.zeros((r, r))
        for some in pieces(features, r):
            G += (W[some, None] * C[some, :r]).T @ C[some, :r]
        return G

    return np.asarray(sum_of_pieces(part, len(C), len(C) * r * (PASS + MULTIPLICATION * r)))


def right_sides(C: Array, W: Array, E: Array, r: int) -> Array:
    """C_ΩᵀWe of every row (B × r), where E is zero at the missing entries."""

    def part(some: slice) -> Array:
        return (E[:, some] * W[some]) @ C[some, :r]

    return np.asarray(sum_of_pieces(part, len(C), len(E) * len(C) * (PASS + MULTIPLICATION * r)))


def lost_grams(C: Array, W: Array, missing: Array, r: int) -> Array:
    """What the missing entries of every row leave out of CᵀWC (B × r × r)."""
    C = C[:, :r]
    if len(missing) <= FEW_ROWS:
        each = [np.flatnonzero(row) for row in missing]
        return np.stack([weighted_gram(C[gone], W[gone], r) for gone in each])

    def part(features: slice) -> Array:
        lost = np.zeros((len(missing), r * r))
        for some in pieces(features, r * r):
            pairs = ((W[some, None] * C[some])[:, :, None] * C[some, None, :]).reshape(-1, r * r)
            lost += missing[:, some].astype(np.float64) @ pairs
        return lost

    work = len(C) * r * r * (3 * PASS + MULTIPLICATION * len(missing))
    return np.asarray(sum_of_pieces(part, len(C), work)).reshape(-1, r, r)


def added_residuals(
    sums: ResidualSums, C: Array, E: Array, missing: Array, F: Array, weights: Array, taken: Array, group: Array | None
) -> ResidualSums:
    """The sums of ``columns.residual_sums`` with these rows too; ``weights`` are w/σ² (K), ``taken`` zᵀVz/λ (B × K)."""
    (B, r, _), groups = F.shape, np.zeros(len(C), dtype=np.intp) if group is None else group
    F_side_by_side, new = F.transpose(1, 0, 2).reshape(r, B * r), ResidualSums(*(part.copy() for part in sums))

    def add(features: slice) -> None:
        for some in pieces(features, B * r):
            CF = (C[some, :r] @ F_side_by_side).reshape(-1, B, r)
            h = np.minimum(weights[groups[some]] * np.sum(CF * CF, axis=2).T, 1.0)
            left = np.where(missing[:, some], 0.0, np.maximum(1.0 - taken[:, groups[some]], 0.0))
            new.squares[some] += np.sum(E[:, some] ** 2, axis=0)
            new.own[some] += np.sum((1.0 - h) ** 2 * left, axis=0)
            new.others[some] += np.sum(h * (1.0 - h) * left, axis=0)

    each_piece(add, len(C), B * len(C) * (10 * PASS + (PASS + MULTIPLICATION * r) * r))
    return new


def quadratic_forms(C: Array, T: Array) -> Array:
    """c_iᵀTc_i of every feature, without a mean's column."""
    r, out = len(T), np.empty(len(C))

    def fill(features: slice) -> None:
        for some in pieces(features, r):
            part = C[some, :r].astype(np.float64, copy=False)
            out[some] = np.sum((part @ T) * part, axis=1)

    each_piece(fill, len(C), len(C) * r * (PASS + MULTIPLICATION * r))
    return out


def multiplied(values: Array, factor: Array) -> Array:
    """Every feature's part of ``values`` (m, or m × q) times its factor."""
    out: Array = values * factor.reshape(-1, *[1] * (values.ndim - 1)).astype(values.dtype)
    return out
