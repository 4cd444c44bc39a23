"""What projecting does to arrays with a feature axis: plain functions, which a ``Place`` runs (see ``products``)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..core.filter.masked import gram_of
from ..core.linalg import Array
from ..cores import MULTIPLICATION, PASS, TINY, Tile, each_of, each_piece, each_tile, pieces
from .products import clear_gaps


def as_float64(C: Array) -> Array:
    """C in double precision."""
    return C.astype(np.float64, copy=False)


def block_without_gaps(Y: Array, origin: Array) -> tuple[Array, Array]:
    """Y − origin in double precision with zeros at the gaps, and where these are (both B × m)."""
    if Y.size < TINY:
        block = np.subtract(Y, origin, out=np.empty(Y.shape))
        return block, clear_gaps(block)
    block, missing = np.empty(Y.shape), np.empty(Y.shape, bool)

    def fill(some: Tile) -> None:
        np.subtract(Y[some], origin[some[1]], out=block[some])
        missing[some] = gaps = np.isnan(block[some])
        rows, columns = np.nonzero(gaps)  # by index: a copy under a mask takes three times as long
        block[some][rows, columns] = 0.0

    each_tile(fill, Y.shape, 4 * PASS * Y.size)
    return block, missing


def row_squares(block: Array) -> Array:
    """‖y‖² of every row (B)."""
    if block.size < TINY:
        return np.array([row.dot(row) for row in block])
    parts = each_piece(lambda rows: [row.dot(row) for row in block[rows]], len(block), PASS * block.size)
    return np.array([square for part in parts for square in part])


def grams(C: Array, missing: Array, of_missing: Array) -> Array:
    """For every row of ``missing`` (B × m) the Gram matrix of the rows of C where it is ``of_missing`` (B × q × q).

    Where that is true of a row it is the one of the missing features, else the one of the observed ones.
    """

    out = np.zeros((len(missing), C.shape[1], C.shape[1]))

    def fill(rows: slice) -> None:
        for j in range(len(out))[rows]:
            if len(index := (missing[j] == of_missing[j]).nonzero()[0]):
                out[j] = gram_of(C, index)

    if len(out) * C.size < TINY:
        fill(slice(None))
    else:
        each_piece(fill, len(out), _cost_of_gaps(missing, C))
    return out


def _cost_of_gaps(missing: Array, C: Array) -> float:
    """What products of the rows of C at the gaps cost, roughly."""
    return 0.25 * len(missing) * C.size * (PASS + MULTIPLICATION * int(C.shape[1]))


def sum_of_grams(add: Callable[[slice, Array], None], C: Array, missing: Array) -> Array:
    """The sum over all features of B matrices q × q, which ``add`` adds to some for a piece of the features."""
    n, q = len(missing), C.shape[1]
    parts = pieces(len(C), _cost_of_gaps(missing, C))
    sums = np.zeros((len(parts), n, q, q))
    each_of(lambda i: add(parts[i], sums[i]), list(range(len(parts))))
    if len(parts) == 1:
        return np.asarray(sums[0])
    out = np.empty((n, q, q))
    each_piece(lambda rows: np.add.reduce(sums[:, rows], axis=0, out=out[rows]), n, PASS * sums.size)
    return out


def indices(missing: Array, j: int) -> Array:
    """Where row j is missing."""
    found: Array = missing[j].nonzero()[0]  # quicker than np.flatnonzero
    return found


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
    return noise_of_all(ratio.take(idx), sizes.take(idx))


def set_variances(
    out: Array,
    missing: Array,
    C: Array,
    F: Array,
    common: Array,
    group: Array | None,
    ratio: Array | None,
    scale: Array | None,
) -> Array:
    """Into ``out`` (B × m) where ``missing``: κ_i² ``common`` of the feature's group + ‖Fᵀc_i‖², times ``scale`` (m).

    ``F`` (B × r × r) and ``common`` (B × K) are those of the rows.
    """
    r = F.shape[1]

    def fill(j: int, some: slice) -> None:
        index = missing[j, some].nonzero()[0] + some.start
        squares = C.take(index, axis=0)[:, :r] @ F[j]
        np.multiply(squares, squares, out=squares)
        variance = squares @ np.ones(r)
        shared = common[j, 0] if group is None else common[j].take(group.take(index))
        variance += shared if ratio is None else ratio.take(index) * shared
        if scale is not None:
            variance *= scale.take(index)
        out[j, index] = variance

    def of_rows(rows: slice) -> None:
        for j in range(len(F))[rows]:
            each_piece(lambda some, j=j: fill(j, some), len(C), cost / len(F))  # type: ignore[misc]

    if len(F) * C.size < TINY:
        for j in range(len(F)):
            fill(j, slice(0, len(C)))
        return out
    cost = _cost_of_gaps(missing, C)
    each_piece(of_rows, len(F), cost)
    return out


def mean(C: Array, origin: Array, center: Array | None) -> Array:
    """origin + C · center (m); ``center`` None stands for zeros."""
    if center is None:
        return origin
    center = center.astype(C.dtype)
    if C.size < TINY:
        return np.asarray(origin + C @ center)
    mu = np.empty(len(C), np.result_type(origin, C))

    def fill(some: slice) -> None:
        np.add(origin[some], C[some] @ center, out=mu[some])

    each_piece(fill, len(C), PASS * C.size)
    return mu


def copied_rows(Y: Array) -> Array:
    """A copy of Y, row after row, whatever the order of Y."""
    if Y.size < TINY:
        return Y.copy()
    out = np.empty(Y.shape, Y.dtype)

    def fill(some: Tile) -> None:
        out[some] = Y[some]

    each_tile(fill, Y.shape, PASS * Y.size)
    return out


def set_gaps(out: Array, C: Array, mu: Array, X: Array, unit: Array | None) -> Array:
    """The predictions (X Cᵀ + mu) · unit into ``out`` (B × m) where that is NaN; X (B × r)."""
    X, C = X.astype(C.dtype, copy=False), C[:, : X.shape[1]]

    def fill(some: slice) -> None:
        predicted = X @ C[some].T
        predicted += mu[some]
        part = out[:, some]
        rows, columns = np.nonzero(np.isnan(part))
        values = predicted[rows, columns]
        part[rows, columns] = values if unit is None else values * unit[some].take(columns)

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
