"""How well the noise variance is known, and so which Student-t law predicts a new entry.

A learned s2 comes from N observed entries, and fitting C and X spends some of them. Of feature i,

    Σ_k w_ki E[(y_ki - c_iᵀx_k)²] = Σ_k w_ki (residual_ki)² + s2_i p_i,     p_i = Σ_k w_ki Var[c_iᵀx_k] / s2_i

where p_i is the number of parameters that were spent: in linear regression exactly the number of regressors. The s2
that maximises the bound is the left side over N, which is Σ residual² / (N - p): corrected for them already. Known with
N - p degrees of freedom it predicts by a Student-t law with as many, where a known s2 would predict by a normal one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit

from ...arrays import at_least, column_products, is_here, zeros_beside
from ...cores import accumulate
from ..linalg import is_sparse
from ..place import HERE, Place, Tall
from .factors import Factors
from .observed import Observations, take_rows
from .packed import ROOM, Array, size
from .packed_moments import CACHE, moment_traces
from .posterior import (
    CoefficientPosterior,
    Posterior,
    blocks,
    coefficients,
    moments,
    moments_for_sweep,
    room,
)
from .sparse_products import add_transposed, column_sums, entry_products


class SpentSums(NamedTuple):
    """What p_i is made of, summed over rows. Additive."""

    S: Tall  # (m, p) packed Σ_k w_ki E[x_k x_kᵀ]
    fitted: Tall  # (m,) ``fitted_square``


def spent_parameters(data: Observations, weights: Tall, factors: Factors, place: Place = HERE) -> Tall:
    """p_i of every feature (m,), with the coefficients that these factors give the rows. Cost 4 n m p."""
    M = moments_for_sweep(data, factors.post, factors.s2, place)
    sums = add_spent(nothing_spent(factors, place), data, weights, factors, M, place)
    return place.each(spent_by_sums, *sums, factors.post, factors.s2)


def nothing_spent(factors: Factors, place: Place = HERE) -> SpentSums:
    """Before any row."""
    return SpentSums(*place.each(_nothing, factors.post.C))


def add_spent(
    sums: SpentSums, data: Observations, weights: Tall, factors: Factors, M: Tall | None, place: Place = HERE
) -> SpentSums:
    """The sums with these rows as well, added IN PLACE. M = ``moments_for_sweep``."""
    post, prior, s2, _ = factors
    S, fitted = sums
    for b in blocks(data.n, data.packed * size(len(prior.P0)) + 2 * data.width, room(place)):
        rows = take_rows(data._replace(W=weights), b, place)
        coef = coefficients(rows, post, s2, prior, M, place)
        Z = place.rows(moments, coef, factors.r)
        S, fitted = place.each(_add_rows, S, fitted, rows.W, coef, Z, post.C)
    return SpentSums(S, fitted)


def merge_spent(a: SpentSums, b: SpentSums, place: Place = HERE) -> SpentSums:
    """The sums of both sets of rows, found under the same factors."""
    return SpentSums(*place.each(_both, *a, *b))


def _both(S: Array, fitted: Array, more: Array, others: Array) -> tuple[Array, Array]:
    return S + more, fitted + others


def _nothing(C: Array) -> tuple[Array, Array]:
    m, q = C.shape
    return zeros_beside(C, m, size(q)), zeros_beside(C, m)


def _add_rows(S: Array, fitted: Array, W: Any, coef: CoefficientPosterior, Z: Array, C: Array) -> tuple[Array, Array]:
    if is_sparse(W):
        add_transposed(W, (S, W.data, Z))
    else:
        accumulate(S, W.T, Z)
    return S, fitted + fitted_square(W, coef, C)


def fitted_square(W: Any, coef: CoefficientPosterior, C: Array) -> Array:
    """Σ_k w_ki (c_iᵀx_k)² at the means, (m,)."""
    if not is_sparse(W):
        fit = coef.X @ C.T
        fit *= fit
        return column_products(W, fit)
    fit = entry_products(W, coef.X, C)
    return column_sums(W, lambda some: W.data[some] * fit[some] ** 2)


def spent_by_sums(S: Array, fitted: Array, post: Posterior, s2: Array, before: Array | None = None) -> Array:
    """p_i from the packed sums S_i = Σ_k w_ki E[x_k x_kᵀ] (m, p), less those ``before``, and ``fitted_square`` (m,)."""
    if before is None:
        total = moment_traces(post.C, post.V, S)
    else:
        total = zeros_beside(S, S.shape[0])
        for b in blocks(S.shape[0], S.shape[1], CACHE if is_here(S) else ROOM):
            total[b] = moment_traces(post.C[b, :], post.V[b, :], S[b, :] - before[b, :])
    return at_least(total - fitted, 0.0) / s2


def student_half_width(freedom: Array, level: float) -> Array:
    """Standard deviations on either side of the mean that hold ``level`` of a Student-t law (∞ degrees: normal)."""
    known = np.isinf(freedom)
    width = stdtrit(np.where(known, 1.0, freedom), 0.5 + 0.5 * level)
    return np.asarray(np.where(known, ndtri(0.5 + 0.5 * level), width))
