"""A mean for every row: one more coefficient, whose loading is one known number for all features.

    y_ki = c_iᵀ x_k + u_k c + a_i + e_ki       u_k ~ N(0, 1),  c known,  a_i ~ N(a, v)

``prior.row_mean`` says that there is one. Its coefficient u_k is the last free one of x_k, so that the loading c stands
before the mean a_i in every row of C, and x_k and u_k have one joint posterior. What is known has no covariance: the
rows and columns of V_i for it are zero. Rows and columns are then treated alike: the means a_i have a common prior,
N(a, v), as the row means b_k = c u_k have theirs, N(0, c²). All three numbers are learned: given q(u) and q(a), the
bound is highest at

    c² ← c² (1/n) Σ_k E[u_k²]       a ← (1/m) Σ_i E[a_i]       v ← (Σ_i E[(a_i - a)²] + 1)/(m + 1)

where the prior of v is worth one feature with the variance of the data, 1. The loading is 1 in the data's units, and
c u_k the mean of a row in them: it is meant for tables whose columns have one unit.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...arrays import at_least, full_like, is_here, namespace, picked, to_host, total, zeros_beside
from ..linalg import is_sparse
from ..place import Place, Tall
from .observed import Observations, column_count
from .packed import Array, layout, layout_beside
from .sparse_products import less_means

if TYPE_CHECKING:
    from .noise.law import Prepared
    from .posterior import FactorPrior, Posterior, Statistics
    from .start import Spectrum

ROUNDS = 5
"""Alternations between the means of rows and of columns before the start; the sweeps go on from there. Not tuned: a
round number."""

SHRINKAGE = 5.0
"""Entries that the means of rows and columns are shrunk by before the start, where nothing is known of their variances
yet; the sweeps learn these. Not tuned: a round number."""


def position(q: int) -> int:
    """Where the known loading stands among the q numbers of a feature: before the mean."""
    return q - 2


def known_loading(c0: Array) -> Array:
    """c for every feature, (m,)."""
    return c0[:, position(c0.shape[1])]


def without_row_means(stats: Statistics, prior: FactorPrior) -> tuple[Array, Array]:
    """Σ_k w_ki E[(y_ki - b_k) x_k] (m, q), zero for u_k itself, and Σ_k w_ki E[(y_ki - b_k)²] (m,)."""
    c, q = known_loading(prior.c0), prior.c0.shape[1]
    s, places = position(q), layout_beside(stats.S, q)
    cross = picked(stats.S, places.position[s, :], 1)
    H = stats.H - c[:, None] * cross
    yy = stats.yy - 2.0 * c * stats.H[:, s] + c * c * cross[:, s]
    H[:, s] = 0.0
    return H, at_least(yy, 0.0)


def hold(precisions: Array, h: Array, c: Array) -> None:
    """Cut the known loading out of packed precisions (m, p) and their right-hand sides (m, q), in place.

    What is left of it is the equation 1 · c_s = c, so that the inverse has the others' covariance, and its
    log-determinant is theirs.
    """
    cut(precisions, h)
    with_variance(precisions, h.shape[1], 1.0)
    h[:, position(h.shape[1])] = c


def cut(A: Array, h: Array) -> None:
    """Zeros for the known loading in packed matrices (m, p) and vectors (m, q), in place."""
    s = position(h.shape[1])
    for at in layout(h.shape[1]).position[s].tolist():
        A[:, at] = 0.0
    h[:, s] = 0.0


def with_variance(V: Array, q: int, value: float) -> Array:
    """Packed covariances (m, p) with this variance of the known loading, in place: 1 to invert them, 0 otherwise."""
    V[:, int(layout(q).diagonal[position(q)])] = value
    return V


def invertible(V: Array, q: int, row_mean: bool) -> Array:
    """A copy of packed covariances that can be inverted: a known loading counts as one of variance 1."""
    V = namespace(V).asarray(V, copy=True)
    return with_variance(V, q, 1.0) if row_mean else V


# ------------------------------------------------------------------ what is learned


def centred_moment(moment: Array, post: Posterior, prior: FactorPrior, place: Place, m: int) -> tuple[Array, float]:
    """``dictionary_moment`` with the means counted from their average, and how far that is from their prior's mean."""
    shift = float(place.total(_mean_shift, post.C, prior.c0)) / max(m, 1)
    moment = moment.copy()
    moment[-1, -1] = max(float(moment[-1, -1]) - m * shift * shift, 0.0)
    return moment, shift


def _mean_shift(C: Array, c0: Array) -> Array:
    return total(C[:, -1] - c0[:, -1])


def shifted(prior: FactorPrior, shift: float, place: Place) -> FactorPrior:
    """The prior with another common mean of the features."""
    return prior._replace(c0=place.each(_added_to_mean, prior.c0, shift))


def _added_to_mean(c0: Array, shift: float) -> Array:
    c0 = namespace(c0).asarray(c0, copy=True)
    c0[:, -1] += shift
    return c0


def times_loading(post: Posterior, prior: FactorPrior, by: float, place: Place) -> tuple[Posterior, FactorPrior]:
    """Both with the known loading multiplied."""
    C, c0 = place.each(_times_loading, post.C, prior.c0, by)
    return post._replace(C=C), prior._replace(c0=c0)


def _times_loading(C: Array, c0: Array, by: float) -> tuple[Array, Array]:
    s, xp = position(C.shape[1]), namespace(C)
    C, c0 = xp.asarray(C, copy=True), xp.asarray(c0, copy=True)
    C[:, s] *= by
    c0[:, s] *= by
    return C, c0


# ------------------------------------------------------------------ the start


class TwoWay(NamedTuple):
    """Means of rows and columns before the first sweep."""

    a: Tall  # (m,) of columns
    b: Array  # (n,) of rows
    c: float  # the deviation of the latter


def common_offset(ready: Prepared, data: Observations, place: Place) -> Prepared:
    """The same data centred on one number for all features: the mean of all observed entries."""
    common = common_mean(ready.offset, place.each(column_count, data.W), place)
    F, offset = place.each(_recentred, ready.F, data.W, ready.offset, common, ready.scale)
    return ready._replace(F=F, offset=offset)


def common_mean(mean: Tall, count: Tall, place: Place) -> float:
    """The mean of all observed entries, given those of the features and how many each has."""
    sums, N = place.total(_offset_sums, mean, count)
    return float(sums) / max(float(N), 1.0)


def _offset_sums(mean: Array, count: Array) -> tuple[Array, Array]:
    return total(count * mean), total(count)


def _recentred(F: Any, W: Any, offset: Array, common: float, scale: float) -> tuple[Any, Array]:
    more = (offset - common) / scale
    F = less_means(F, -more) if is_sparse(F) else F + namespace(F).where(W > 0, more, 0.0)
    return F, full_like(offset, common)


def two_way(data: Observations, place: Place) -> TwoWay:
    """Shrunk means of rows and columns of centred data, in ROUNDS alternations."""
    a = place.each(_no_means, data.Y)
    b: Array = None
    for _ in range(ROUNDS):
        sums, counts = place.by_row(_row_sums, data.Y, data.W, a)
        b = sums / (counts + SHRINKAGE)
        a = place.each(_column_means, data.Y, data.W, b)
    c = sqrt(float(to_host(total(b * b + 1.0 / (counts + SHRINKAGE)))) / max(data.n, 1))
    return TwoWay(a, b, c)


def without_means(data: Observations, means: TwoWay, place: Place) -> Observations:
    """Values less both means, zero where missing."""
    return data._replace(Y=place.each(_left, data.Y, data.W, means.a, means.b))


def _no_means(Y: Any) -> Array:
    return np.zeros(Y.shape[1]) if is_here(Y) else zeros_beside(Y, Y.shape[1])


def _row_sums(Y: Any, W: Any, a: Array) -> tuple[Array, Array]:
    """Σ_i (y_ki - a_i) and the number of observed entries of every row."""
    seen = _seen(W)
    sums = Y.sum(axis=1) if is_sparse(Y) else namespace(Y).sum(Y * seen, axis=1)
    ones = full_like(a, 1.0)
    return sums - seen @ a, seen @ ones


def _column_means(Y: Any, W: Any, b: Array) -> Array:
    seen = _seen(W)
    sums = Y.sum(axis=0) if is_sparse(Y) else namespace(Y).sum(Y * seen, axis=0)
    return (sums - seen.T @ b) / (column_count(W) + SHRINKAGE)


def _seen(W: Any) -> Any:
    """1 where something is observed, 0 elsewhere."""
    if is_sparse(W):
        return W
    xp = namespace(W)
    return xp.astype(W > 0, xp.float64)


def _left(Y: Any, W: Any, a: Array, b: Array) -> Any:
    if is_sparse(Y):
        return less_means(Y, a, b)
    return namespace(Y).where(W > 0, Y - a - b[:, None], 0.0)


def with_row_means(start: Spectrum, means: TwoWay, place: Place) -> Spectrum:
    """A start with the row means as its last component."""
    xp = namespace(start.X)
    X = xp.concat([start.X, (means.b / means.c)[:, None]], axis=1)
    return start._replace(X=X, B=place.each(_with_loading, start.B, means.c))


def _with_loading(B: Array, c: float) -> Array:
    return namespace(B).concat([B, zeros_beside(B, 1, B.shape[1]) + c], axis=0)
