"""Rows of data under a fixed dictionary: coefficients, predictions with their variances, densities.

Coefficients and draws are arrays of this process, wherever the dictionary is; filled rows are where the rows are.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple, Protocol

import numpy as np

from ..arrays import as_type, device_of, is_here, namespace, to_host
from ..core.filter.coefficients import covariance_root
from ..core.filter.column_noise import ColumnNoise
from ..core.filter.groups import covariances
from ..core.filter.model import FilterModel
from ..core.filter.recursion import belief, with_mean
from ..core.filter.state import FilterState
from ..core.linalg import Array, cholesky, is_sparse, lifted_cholesky, triangular_solve
from ..core.place import HERE, Place, Tall
from . import kernel
from . import projecting_products as products
from .gap_products import gap_products
from .places import place_of
from .projecting_compiled import CompiledProjection
from .projecting_noises import noises_of
from .projecting_numpy import NumpyProjection, doubt_of, each_row, write
from .rows import Rows
from .within_limit import within_limit

NARROW = 500_000
"""m r² up to which compiled loops add up the variances of a row more quickly than BLAS.

Not tuned, speed only: at 400,000 the loops take half the time of BLAS (docs/performance.md, 1000 features)."""


class Projection(Protocol):
    """One way to the coefficients of rows under a fixed dictionary: in NumPy, or in compiled loops."""

    def of_all(self, X: Rows) -> Array:
        """The coefficients of all rows (n × r)."""

    def of_gappy(self, Y: Array, variance: Array | None, scale: Array | None = None) -> Array:
        """The coefficients of the rows with gaps, zeros for the others (n × r).

        Into ``variance`` (n × m), where it is given, the predictive variances of the missing entries times ``scale``.
        """


def _projection(
    state: FilterState, model: FilterModel, X: Rows, block_size: int, ratio: Array | None = None
) -> Projection:
    """The way for these rows."""
    known = place_of(state.C) is HERE and not is_sparse(X) and model.r <= kernel.WIDE
    way = CompiledProjection if known and kernel.applies(model, *X.shape) else NumpyProjection
    return way(state, model, block_size, ratio)


@within_limit
def coefficients(state: FilterState, model: FilterModel, X: Rows, block_size: int) -> Array:
    """The coefficients of the rows (n × r), each by the model's step, counted from the coefficients' mean."""
    found = _projection(state, model, X, block_size).of_all(X)
    found -= belief(state.small, model).mean
    return found


def components(state: FilterState, model: FilterModel) -> Array:
    """The dictionary without its mean, one component per row (r × m)."""
    C = place_of(state.C).get(state.C, 0)
    return C[:, : model.r].T


def covariance(state: FilterState, model: FilterModel) -> Array:
    """V between the components (r × r); one for each feature (m × r × r) where each has its own doubt."""
    doubt = doubt_of(state, model)
    V = doubt.prior.dictionary_scale * covariances(doubt.roots)[:, : model.r, : model.r]
    return V[0] if doubt.group is None else V[doubt.place.get(doubt.group, 0)]


def mean(state: FilterState, model: FilterModel) -> Array:
    """What is predicted of a sample before anything of it is seen (m)."""
    place = place_of(state.C)
    return place.get(_mean(place, state, model), 0)


def _mean(place: Place, state: FilterState, model: FilterModel) -> Tall:
    center = with_mean(model, state.small.xbar) if model.has_mean else None
    return place.each(products.mean, state.C, state.origin, center)


class Units(NamedTuple):
    """The data's own units, where they are not those of the rows that the filter has."""

    rows: Array
    """The rows in these units (n × m), as they came."""
    of_columns: Array
    """The units (m)."""


@within_limit
def fill(state: FilterState, model: FilterModel, Y: Array, block_size: int, units: Units | None = None) -> Array:
    """The rows Y (n × m) with their gaps filled in; in the data's own units where ``units`` gives them."""
    X = _projection(state, model, Y, block_size).of_gappy(Y, None)
    return _filled(state, model, Y, block_size, X, units)


@within_limit
def predict(
    state: FilterState,
    model: FilterModel,
    Y: Array,
    block_size: int,
    ratio: Array | None = None,
    units: Units | None = None,
) -> tuple[Array, Array]:
    """Y (n × m) with its gaps filled in, and the predictive variance of what was filled; zero where observed.

    Variance of entry i    κ_i² (σ² + zᵀVz + tr(ṼΣ)) + κ̄² c_iᵀΣc_i,  z = x or (x, 1) with a mean,
    with Σ the covariance of x, κ_i² the ``ratio`` of the column's noise to the common one (m; None: 1 for all), and κ̄²
    that of the columns by which x was found. Both are in the data's ``units``, where these are given. Cost O(r²) per
    entry; no array larger than Y is made.
    """
    xp, scale = namespace(Y), None if units is None else as_type(units.of_columns, np.float64) ** 2
    variance = xp.zeros(Y.shape, dtype=Y.dtype if scale is None else xp.float64, device=device_of(Y))
    narrow = Y.shape[1] * model.r**2 <= NARROW
    way = (
        _projection(state, model, Y, block_size, ratio) if narrow else NumpyProjection(state, model, block_size, ratio)
    )
    X = way.of_gappy(Y, variance, scale)
    return _filled(state, model, Y, block_size, X, units), variance


def _filled(state: FilterState, model: FilterModel, Y: Array, block_size: int, X: Array, units: Units | None) -> Array:
    """Y, or the rows of ``units``, with their gaps filled in from the coefficients X (n × r)."""
    place, (given, unit) = place_of(state.C), (Y, None) if units is None else units
    filled = products.copied_rows(given) if is_here(given) else namespace(given).asarray(given, copy=True)
    tall_unit = None if unit is None else place.put(unit, 0)
    X = X - belief(state.small, model).mean
    mu, set_gaps = _mean(place, state, model), gap_products(place, Y.shape[0], Y.shape[1], model.q).set_gaps
    for start in range(0, Y.shape[0], block_size):
        stop = min(start + block_size, Y.shape[0])
        target, x = filled[start:stop, :], X[start:stop]
        write(place, target, place.each(set_gaps, place.put(target, 1), state.C, mu, x, tall_unit))
    return filled


@within_limit
def draw(
    state: FilterState,
    model: FilterModel,
    Y: Array,
    block_size: int,
    n_draws: int,
    rng: np.random.Generator,
    freedom: float = np.inf,
    noise: ColumnNoise | None = None,
) -> Array:
    """Joint draws of the missing entries (n_draws × n × m): one σ² and one dictionary per draw, x and noise per row.

    σ² is known with so many degrees of freedom, and all covariances are in proportion to it. With a ``noise`` of the
    columns also one of these per draw: see :func:`predict`.
    """
    place, doubt, Y = place_of(state.C), doubt_of(state, model), to_host(Y)
    prior = doubt.prior
    out = np.repeat(Y[None], n_draws, axis=0)
    V_roots = np.sqrt(prior.dictionary_scale) * doubt.roots
    wider = np.ones(n_draws) if np.isinf(freedom) else np.sqrt(freedom / rng.chisquare(freedom, n_draws))
    deviations = np.repeat(wider[:, None], Y.shape[1], axis=1)  # of the noise of every column in every draw
    if noise is not None:
        deviations *= np.sqrt(noise.drawn(n_draws, rng))
    noises = None if noise is None else noises_of(state, model, noise.ratio)
    normal = place.put(deviations[:, :, None] * rng.standard_normal((n_draws, Y.shape[1], model.q)), 1)
    C = place.each(products.drawn_dictionaries, state.C, normal, V_roots, doubt.group)
    for row in each_row(state, Y, block_size):
        if row.n_missing == 0:
            continue
        found = doubt.coefficients(row)
        missing_idx = row.by_feature().missing_idx
        of_x = 1.0 if noises is None else sqrt(noises.of_coefficients(found, missing_idx, model.r))
        x = found.x + of_x * wider[:, None] * (rng.standard_normal((n_draws, model.r)) @ found.root().T)
        drawn = place.get(place.each(products.drawn_entries, C, state.origin, missing_idx, x), 1)
        where = np.flatnonzero(np.isnan(Y[row.position]))
        errors = np.sqrt(prior.noise) * deviations[:, where] * rng.standard_normal(drawn.shape)
        out[:, row.position, where] = drawn + errors
    return out


@within_limit
def log_density(state: FilterState, model: FilterModel, X: Rows, block_size: int) -> Array:
    """log p(y_Ω) of every row with the coefficients integrated out (n); zero where nothing is observed.

    Density      y_Ω ~ N(mean, C_Ω T C_Ωᵀ + s I) with N(x̄, T) the coefficients' prior and
                 s = σ² + E[zᵀVz], the noise plus what is expected from not knowing the dictionary
                 (on average over the observed features, where each has its own V)
    As computed  T = BBᵀ, M = I + BᵀGB/s = LLᵀ; no matrix has a dimension |Ω|. Cost O(r³) per row.
    """
    doubt, r = doubt_of(state, model), model.r
    prior = doubt.prior
    B, center = covariance_root(prior.T), with_mean(model, prior.mean)
    out = np.zeros(X.shape[0])
    for row in each_row(state, X, block_size):
        sample, known = doubt.before(row)
        G, b, yy, n = sample
        if n == 0:
            continue
        S = known.S
        s = prior.noise + prior.dictionary_scale * float(np.sum((B.T @ S[:r]) ** 2) + np.sum((center @ S) ** 2))
        centered = b - G @ prior.mean
        yy = max(yy - float(prior.mean @ (b + centered)), 0.0)
        M = B.T @ G @ B / s
        M.flat[:: r + 1] += 1.0
        L = cholesky(M, 0.0)
        if L is None:
            L = lifted_cholesky(M, r)
        u = triangular_solve(L, B.T @ (centered / np.sqrt(s)))
        log_det = n * np.log(s) + 2.0 * np.sum(np.log(L.diagonal()))
        quadratic = max(yy - float(u @ u), 0.0) / s
        out[row.position] = -0.5 * (n * np.log(2.0 * np.pi) + log_det + quadratic)
    return out
