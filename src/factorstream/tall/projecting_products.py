"""What projecting does to arrays with a feature axis: plain functions, which a ``Place`` runs (see ``products``)."""

from __future__ import annotations

import numpy as np

from ..core.linalg import Array
from ..cores import MULTIPLICATION, PASS, each_piece
from .products import clear_gaps


def as_float64(C: Array) -> Array:
    """C in double precision."""
    return C.astype(np.float64, copy=False)


def block_without_gaps(Y: Array, origin: Array) -> tuple[Array, Array]:
    """Y − origin in double precision with zeros at the gaps, and where these are (both B × m)."""
    block, missing = np.empty(Y.shape), np.empty(Y.shape, bool)

    def fill(rows: slice) -> None:
        np.subtract(Y[rows], origin, out=block[rows])
        missing[rows] = clear_gaps(block[rows])

    each_piece(fill, len(Y), 4 * PASS * Y.size)
    return block, missing


def row_squares(block: Array) -> Array:
    """‖y‖² of every row (B)."""
    return np.array([row.dot(row) for row in block])


def indices(missing: Array, j: int) -> Array:
    """Where row j is missing."""
    return np.flatnonzero(missing[j])


def line(block: Array, j: int) -> Array:
    """Row j."""
    y: Array = block[j]
    return y


def row_sizes(C: Array, r: int) -> Array:
    """‖c_i‖² of every feature (m), without a mean's column."""
    return np.asarray(np.einsum("ij,ij->i", C[:, :r], C[:, :r], dtype=np.float64))


def noise_of_all(ratio: Array, sizes: Array) -> tuple[float, float]:
    """Σ κ_i²‖c_i‖² and Σ ‖c_i‖²."""
    return float(ratio @ sizes), float(sizes.sum())


def noise_at(ratio: Array, sizes: Array, idx: Array) -> tuple[float, float]:
    """The same over the features ``idx``."""
    return noise_of_all(ratio[idx], sizes[idx])


def set_variances(
    out: Array, j: int, C: Array, idx: Array, F: Array, common: Array, group: Array | None, ratio: Array | None
) -> Array:
    """Into row j of ``out`` (B × m), for the features ``idx``: κ_i² ``common`` of the feature's group + ‖Fᵀc_i‖²."""
    shared = common[0] if group is None else common[group[idx]]
    if ratio is not None:
        shared = ratio[idx] * shared
    out[j, idx] = shared + np.sum((C[idx, : len(F)] @ F) ** 2, axis=1)
    return out


def mean(C: Array, origin: Array, center: Array | None) -> Array:
    """origin + C · center (m); ``center`` None stands for zeros."""
    if center is None:
        return origin
    mu: Array = origin + C @ center.astype(C.dtype)
    return mu


def set_gaps(out: Array, C: Array, mu: Array, X: Array) -> Array:
    """The predictions X Cᵀ + mu into ``out`` (B × m, C-contiguous) where that is NaN; X (B × r)."""
    X, C = X.astype(C.dtype, copy=False), C[:, : X.shape[1]]

    def fill(some: slice) -> None:
        predicted = X @ C[some].T
        predicted += mu[some]
        part = out[:, some]
        gaps = np.isnan(part)
        part[gaps] = predicted[gaps]

    each_piece(fill, len(C), len(X) * (8 * PASS * len(C) + MULTIPLICATION * C.size))
    return out


def drawn_dictionaries(C: Array, normal: Array, V_roots: Array, group: Array | None) -> Array:
    """Draws of the dictionary (d × m × q) from as many standard normal numbers, by the features' groups."""
    if group is None:
        drawn: Array = C + normal @ V_roots[0].T
        return drawn
    return np.asarray(C + np.einsum("dmj,mij->dmi", normal, V_roots[group]))


def drawn_entries(C: Array, origin: Array, idx: Array, x: Array) -> Array:
    """The entries ``idx`` of one row under d dictionaries C (d × m × q) with coefficients x (d × r), without noise."""
    r = x.shape[1]
    drawn: Array = np.einsum("dmq,dq->dm", C[:, idx, :r], x) + origin[idx]
    if C.shape[2] > r:
        drawn += C[:, idx, r]
    return drawn
