"""Rows of data as the variational fit takes them: values and weights, dense or sparse."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...arrays import column_products, is_here, namespace
from ...cores import compiling
from ..linalg import is_sparse, rows_at
from ..place import HERE, Place, Tall
from .packed import DONE, Array
from .sparse_products import column_counts, column_squares


class Known(NamedTuple):
    """What is known of rows beside their values, see ``known_errors``."""

    v: Array  # (n, m) variances of the known errors of the entries
    times: Array  # (n,) how often each row counts


class Observations(NamedTuple):
    """Rows of data at their place: what every step of the fit and every answer is given."""

    Y: Tall  # (n, m) values, finite everywhere; where W is 0 they can be anything
    W: Tall  # (n, m) weights: 0 where missing, 1 where observed, or what robust noise makes of that
    n: int
    m: int
    sparse: bool = False  # Y and W are sparse rows, all of whose stored entries are observed
    plain: bool = False  # all weights are 0 or 1, and values are 0 where a weight is: w y is y
    known: Known | None = None  # of dense rows of this process

    @property
    def packed(self) -> int:
        """Packed matrices of one row that a sweep has room for; one more where stored entries are put in order."""
        return 4 if self.sparse else 3

    @property
    def width(self) -> int:
        """Numbers of one row in a temporary that has its gaps too: sparse rows have none."""
        return 0 if self.sparse else self.m


def observations(Y: Any, W: Any, place: Place = HERE) -> Observations:
    """Bring values and weights, arrays or sparse rows of this process, to the place."""
    n, m = Y.shape
    if not is_sparse(W):
        W = np.ascontiguousarray(W, dtype=np.float64)
    Y_there = place.put(Y, 1)
    return Observations(Y_there, place.put(W, 1), n, m, stays_sparse(Y, Y_there))


def stays_sparse(X: Any, there: Tall) -> bool:
    """Whether rows X are sparse, and still are at the place that has them as ``there``."""
    return is_sparse(X) and is_here(there)


def together(values: Tall, axis: int, place: Place) -> Array:
    """All features in one array: there, if the place keeps them so on a device; otherwise in this process."""
    return place.get(values, axis) if is_here(values) else values


def total_count(W: Any) -> float:
    """Number of nonzero weights; W dense or sparse rows. Adds up over features."""
    if is_sparse(W):
        W = W.data
    return float(namespace(W).count_nonzero(W))


def column_count(W: Any) -> Array:
    """Number of nonzero weights of each feature; W dense or sparse rows."""
    if is_sparse(W):
        return column_counts(W)
    xp = namespace(W)
    return xp.astype(xp.count_nonzero(W, axis=0), xp.float64)


def entry_counts(data: Observations, place: Place = HERE) -> Tall:
    """Observed entries of each feature (m), each as often as its row counts."""
    if data.known is None:
        return place.each(column_count, data.W)
    return np.asarray(data.known.times @ (data.W > 0))


def known_weights(W: Array, v: Array, s2: Array) -> Array:
    """w_ki (n, m): what an entry says, as a share of what it would say without a known error; 0 where missing."""
    return np.where(W > 0, s2 / (s2 + v), 0.0)


def weighted_columns(W: Array, Y: Array, features: slice, loops: bool) -> tuple[Array, Array, Array]:
    """w y of some features of dense rows, and for each of them the sum of w y² and the number of nonzero weights.

    ``loops``: in one pass over memory, by a compiled loop, where that can be used.
    """
    if loops:
        from .compiled_moments import weighted_columns as loop

        width = features.stop - features.start
        wy, square, count = np.empty((len(W), width)), np.zeros(width), np.zeros(width)
        if compiling.call(loop, features.start, features.stop, W, Y, wy, square, count) == DONE:
            return wy, square, count
    w, y = W[:, features], Y[:, features]
    wy = w * y
    return wy, (wy * y).sum(axis=0), column_count(w)


def are_plain(W: Tall, place: Place) -> bool:
    """Whether all weights are 0 or 1."""
    return float(place.total(_count_others, W)) == 0.0


def _count_others(W: Any) -> float:
    if is_sparse(W):
        W = W.data
    return float(namespace(W).count_nonzero((W != 0) & (W != 1)))


def plain_sums(Y: Any, W: Any) -> tuple[Array, Array]:
    """Σ_k w_ki y_ki² and the number of nonzero weights of every feature (m), of plain rows."""
    squares = column_squares(Y) if is_sparse(Y) else column_products(Y, Y)
    return squares, column_count(W)


def take_rows(data: Observations, rows: Any, place: Place) -> Observations:
    """Some of the rows: a slice or their numbers."""
    Y, W = place.each(_both, data.Y, data.W, rows)
    n = len(range(data.n)[rows]) if isinstance(rows, slice) else len(rows)
    known = None if data.known is None else Known(data.known.v[rows], data.known.times[rows])
    return data._replace(Y=Y, W=W, n=n, known=known)


def _both(Y: Any, W: Any, rows: Any) -> tuple[Any, Any]:
    if isinstance(rows, slice):
        return rows_at(Y, rows), rows_at(W, rows)
    if is_here(Y):
        return Y[rows, :], W[rows, :]
    xp = namespace(Y)
    return xp.take(Y, rows, axis=0), xp.take(W, rows, axis=0)


def is_seen(W: Any) -> Any:
    """Where something is observed (n, m), boolean; W dense rows."""
    return W > 0
