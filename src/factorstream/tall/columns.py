"""The columns of some rows beside the dictionary: how far they are from what it says, and other units for them."""

from __future__ import annotations

import numpy as np

from ..core import linalg
from ..core.filter.coefficients import covariance_root
from ..core.filter.column_noise import ResidualSums
from ..core.filter.counted import expected_doubts
from ..core.filter.model import FilterModel
from ..core.filter.recursion import with_mean
from ..core.filter.state import FilterState
from ..core.linalg import Array
from ..core.place import Tall
from . import column_products as products
from .places import place_of
from .projecting_products import as_float64, block_without_gaps
from .rows import divided
from .within_limit import within_limit

AT_ONCE = 50_000
"""Values handled together, but at least one row; all rows where every sum has to be waited for. Not tuned; speed and
memory only."""


@within_limit
def residual_sums(state: FilterState, model: FilterModel, rows: Array, unit: Array | None = None) -> ResidualSums:
    """Σe² of every column over ``rows`` (n × m), which the filter has taken in, and what went into it (m each).

    ``unit`` (m) is what the columns are to be divided by.

    Every row has the posterior mean of its coefficients, in which column i has the weight w_i = λ/(λ + E[zᵀV_i z]):

        F = B L⁻ᵀ,  LLᵀ = I + BᵀC_ΩᵀWC_ΩB/σ²,  T = BBᵀ;    x = x̄ + FFᵀC_ΩᵀW(y_Ω − C_Ωx̄)/σ²

    With h_i = w_i‖Fᵀc_i‖²/σ², the share of column i in its own prediction, and d_i = zᵀV_i z/λ, which its loadings have
    taken up, E e_i² = ((1 − h_i)² σ_i² + h_i(1 − h_i) σ²)(1 − d_i) with the mean σ² for the noise of the others.
    """
    from .projecting_numpy import doubt_of  # only fits need it

    place, doubt = place_of(state.C), doubt_of(state, model)
    noise, lam, r = doubt.prior.noise, state.small.lam, model.r
    weights = lam / (lam + expected_doubts(state.small, model, doubt.roots))
    B, mean = covariance_root(doubt.prior.T), with_mean(model, doubt.prior.mean)
    C: Tall = place.each(as_float64, state.C)
    W: Tall = place.each(products.feature_weights, C, weights, doubt.group)
    gram = place.total(products.weighted_gram, C, W, r)
    zeros = place.put(np.zeros(rows.shape[1]), 0)
    sums = ResidualSums(zeros, zeros, zeros)
    step = max(AT_ONCE // max(rows.shape[1], 1), 1) if not place.far else max(int(rows.shape[0]), 1)
    for start in range(0, rows.shape[0], step):
        some = divided(rows[start : min(start + step, rows.shape[0]), :], unit)
        Y, missing = place.each(block_without_gaps, place.put(some, 1), state.origin)
        E = place.each(products.residuals, C, Y, missing, mean[None])
        b = place.total(products.right_sides, C, W, E, r)
        M = B.T @ (gram - place.total(products.lost_grams, C, W, missing, r)) @ B / noise
        M[:, np.arange(r), np.arange(r)] += 1.0
        F = B @ np.linalg.inv(np.linalg.cholesky(M)).transpose(0, 2, 1)
        Z = np.repeat(mean[None], len(b), axis=0)
        Z[:, :r] += (F @ (F.transpose(0, 2, 1) @ b[:, :, None]))[:, :, 0] / noise
        taken = np.sum((Z[:, None, None, :] @ doubt.roots) ** 2, axis=(-2, -1)) / lam
        E = place.each(products.residuals, C, Y, missing, Z)
        sums = place.each(products.added_residuals, sums, C, E, missing, F, weights / noise, taken, doubt.group)
    return ResidualSums(*(place.get(part, 0) for part in sums))


def column_variances(state: FilterState) -> Array:
    """How much each column varies as the filter has it: c_iᵀTc_i + σ² (m)."""
    place, T = place_of(state.C), state.small.T
    return np.asarray(place.get(place.each(products.quadratic_forms, state.C, T), 0) + state.small.noise)


def rescaled(state: FilterState, factor: Array) -> FilterState:
    """The filter as if every column had been multiplied by its factor (m).

    V_i is relative to the noise and depends on the coefficients only: it stays as it is.
    """
    place = place_of(state.C)
    tall = place.put(factor, 0)
    C, origin = place.each(products.multiplied, state.C, tall), place.each(products.multiplied, state.origin, tall)
    small = state.small._replace(G=np.asfortranarray(place.total(linalg.gram, C)), age=0)
    return state._replace(C=C, origin=origin, small=small)
