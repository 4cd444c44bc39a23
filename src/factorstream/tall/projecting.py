"""Rows of data under a fixed dictionary: coefficients, predictions with their variances, densities.

Answers are arrays of this process, wherever the dictionary is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..core.filter.coefficients import Belief, Coefficients, Sample, covariance_root
from ..core.filter.masked import observed_gram
from ..core.filter.model import FilterModel
from ..core.filter.recursion import belief, normal_equations, with_mean
from ..core.filter.state import FilterState
from ..core.linalg import Array, cholesky, gram, is_sparse, lifted_cholesky, triangular_solve
from ..core.place import HERE, Place, Tall
from . import kernel, sparse_products
from . import projecting_products as products
from .engine import REFRESH, compiled_or_numpy
from .filtering import ONE_BY_ONE
from .places import place_of
from .products import count_missing, cross, row_products
from .rows import Rows
from .threads import within_limit

NARROW = 500_000
"""m r² up to which compiled loops add up the variances of a row more quickly than BLAS.

Measured (docs/performance.md); speed only."""


class Row(NamedTuple):
    """One row of data and its normal equations."""

    position: int
    sample: Sample
    missing_idx: Tall | None
    """Indices of the missing features; not made for sparse rows."""
    n_missing: int


def each_row(state: FilterState, model: FilterModel, X: Rows, block_size: int) -> Iterator[Row]:
    """The rows of X (n × m, NaN = missing, or sparse) as a coefficient step sees them."""
    if is_sparse(X):
        yield from _sparse_rows(state, model, X)
    else:
        for _, rows in _blocks(state, model, X, block_size):
            yield from rows


def _blocks(state: FilterState, model: FilterModel, X: Array, block_size: int) -> Iterator[tuple[slice, Iterator[Row]]]:
    """Dense rows, block by block: which ones they are, and the rows themselves."""
    place = place_of(state.C)
    C = place.each(products.as_float64, state.C)  # float32 loses digits in the differences that follow
    G = place.total(gram, C)
    for start in range(0, len(X), block_size):
        some = slice(start, min(start + block_size, len(X)))
        yield some, _rows_of_block(place, C, G, state.origin, model, X[some], start)


def _rows_of_block(
    place: Place, C: Tall, G: Array, origin: Tall, model: FilterModel, X: Array, start: int
) -> Iterator[Row]:
    block, missing = place.each(products.block_without_gaps, place.put(X, 1), origin)
    K, yy = place.total(cross, C, block), place.total(products.row_squares, block)
    m, n_missing = place.total(len, C), place.total(count_missing, missing)
    for j in range(len(X)):
        missing_idx, n = place.each(products.indices, missing, j), int(n_missing[j])
        G_row = observed_gram(place, C, G, missing_idx)
        yield Row(start + j, normal_equations(model, G_row, K[:, j], float(yy[j]), m - n), missing_idx, n)


def _sparse_rows(state: FilterState, model: FilterModel, X: Rows) -> Iterator[Row]:
    """Rows whose stored entries are the observed ones; their mask is not made."""
    place, m = place_of(state.C), X.shape[1]
    Y = place.put(X, 1)
    for k in range(X.shape[0]):
        _, rows, y = place.each(sparse_products.gather, state.C, state.origin, Y, k)
        G, b, yy = place.total(sparse_products.normal_equations, rows, y)
        n = place.total(len, y)
        yield Row(k, normal_equations(model, G, b, yy, n), None, m - n)


@within_limit
def coefficients(state: FilterState, model: FilterModel, X: Rows, block_size: int) -> Array:
    """The coefficients of the rows (n × r), each by the model's step, counted from the coefficients' mean."""
    prior = belief(state.small, model)
    if not is_sparse(X) and _compile(state, model, X):
        return _compiled(state, model, X, block_size, np.empty((0, 0), X.dtype), complete_too=True) - prior.mean
    found = np.zeros((X.shape[0], model.r))
    for row in each_row(state, model, X, block_size):
        found[row.position] = model.step.find(row.sample, prior).x - prior.mean
    return found


def _compile(state: FilterState, model: FilterModel, X: Array) -> bool:
    """Whether compiled loops find the coefficients of these rows."""
    return place_of(state.C) is HERE and model.r <= kernel.WIDE and kernel.applies(model, *X.shape)


def _compiled(
    state: FilterState,
    model: FilterModel,
    Y: Array,
    block_size: int,
    variance: Array,
    complete_too: bool = False,
) -> Array:
    """The coefficients (n × r) of the rows with gaps, or of all, by compiled code; otherwise as :func:`_projected`."""
    C = state.C.astype(np.float64)  # a copy: writable and in one piece, whatever the state's is
    prior, small = belief(state.small, model), state.small._replace(G=gram(C))
    X = np.zeros((len(Y), model.r))
    block_size = max(block_size, min(REFRESH, ONE_BY_ONE // len(C)))
    for start in range(0, len(Y), block_size):
        block = np.subtract(Y[start : start + block_size], state.origin, dtype=np.float64, order="C")
        X_block, variances = X[start : start + block_size], variance[start : start + block_size]

        def compiled(_: None, some: slice, block=block, X=X_block, out=variances) -> tuple[None, int]:  # type: ignore[no-untyped-def]
            return None, kernel.project_rows(small, model, C, block[some], X[some], out[some], complete_too)

        def numpy(_: None, k: int, block=block, X=X_block, out=variances) -> None:  # type: ignore[no-untyped-def]
            missing_idx = np.flatnonzero(np.isnan(block[k]))
            b, yy = row_products(C, np.nan_to_num(block[k], nan=0.0))
            G = observed_gram(HERE, C, small.G, missing_idx)
            found = model.step.find(normal_equations(model, G, b, yy, len(C) - len(missing_idx)), prior)
            X[k] = found.x
            if len(out):
                F, common = _spread(model, prior, found)
                products.set_variances(out, k, state.C, missing_idx, F, common)

        compiled_or_numpy(len(block), None, compiled, numpy)
    return X


def _spread(model: FilterModel, prior: Belief, found: Coefficients) -> tuple[Array, float]:
    """F with Σ = FFᵀ, and the part of a row's predictive variances that all its entries share: see :func:`predict`."""
    r, F, z = model.r, found.root(), with_mean(model, found.x)
    dictionary = prior.dictionary_scale * (np.sum((z @ prior.S) ** 2) + np.sum((F.T @ prior.S[:r]) ** 2))
    return F, prior.noise + dictionary


def components(state: FilterState, model: FilterModel) -> Array:
    """The dictionary without its mean, one component per row (r × m)."""
    C = place_of(state.C).get(state.C, 0)
    return C[:, : model.r].T


def mean(state: FilterState, model: FilterModel) -> Array:
    """What is predicted of a sample before anything of it is seen (m)."""
    place = place_of(state.C)
    return place.get(_mean(place, state, model), 0)


def _mean(place: Place, state: FilterState, model: FilterModel) -> Tall:
    center = None if model.q == model.r else with_mean(model, state.small.xbar)
    return place.each(products.mean, state.C, state.origin, center)


@within_limit
def fill(state: FilterState, model: FilterModel, Y: Array, block_size: int) -> Array:
    """Y (n × m) with its gaps filled in."""
    narrow = _compile(state, model, Y)
    X = (_compiled if narrow else _projected)(state, model, Y, block_size, np.empty((0, 0), Y.dtype))
    return _filled(state, model, Y, block_size, X)


@within_limit
def predict(state: FilterState, model: FilterModel, Y: Array, block_size: int) -> tuple[Array, Array]:
    """Y (n × m) with its gaps filled in, and the predictive variance of what was filled; zero where observed.

    Variance of entry i    σ² + zᵀVz + c_iᵀΣc_i + tr(ṼΣ),  z = x or (x, 1) with a mean,
    with Σ the covariance of x. Cost O(r²) per entry; no array larger than Y is made.
    """
    narrow = Y.shape[1] * model.r**2 <= NARROW and _compile(state, model, Y)
    variance = np.zeros(Y.shape, Y.dtype)
    X = (_compiled if narrow else _projected)(state, model, Y, block_size, variance)
    return _filled(state, model, Y, block_size, X), variance


def _filled(state: FilterState, model: FilterModel, Y: Array, block_size: int, X: Array) -> Array:
    """Y with its gaps filled in from the coefficients X (n × r)."""
    place, filled = place_of(state.C), Y.copy()
    X = X - belief(state.small, model).mean
    mu = _mean(place, state, model)
    for start in range(0, len(Y), block_size):
        some = slice(start, start + block_size)
        _write(place, filled[some], place.each(products.set_gaps, place.put(filled[some], 1), state.C, mu, X[some]))
    return filled


def _projected(state: FilterState, model: FilterModel, Y: Array, block_size: int, variance: Array) -> Array:
    """The coefficients (n × r) of the rows with gaps.

    Into ``variance`` (n × m, or without rows if it is not wanted) that of their missing entries.
    """
    place, prior = place_of(state.C), belief(state.small, model)
    X = np.zeros((len(Y), model.r))
    for some, rows in _blocks(state, model, Y, block_size):
        out = place.put(variance[some], 1) if len(variance) else None
        for row in rows:
            if row.n_missing == 0:
                continue
            found = model.step.find(row.sample, prior)
            X[row.position] = found.x
            if out is not None:
                j, idx = row.position - some.start, row.missing_idx
                out = place.each(products.set_variances, out, j, state.C, idx, *_spread(model, prior, found))
        if out is not None:
            _write(place, variance[some], out)
    return X


def _write(place: Place, target: Array, values: Tall) -> None:
    """Bring ``values`` (B × m) back into ``target``; where the features are here that has happened already."""
    if place is not HERE:
        target[...] = place.get(values, 1)


@within_limit
def draw(
    state: FilterState, model: FilterModel, Y: Array, block_size: int, n_draws: int, rng: np.random.Generator
) -> Array:
    """Joint draws of the missing entries (n_draws × n × m): one dictionary per draw, x and noise per row."""
    place, prior = place_of(state.C), belief(state.small, model)
    out = np.repeat(Y[None], n_draws, axis=0)
    V_root = np.sqrt(prior.dictionary_scale) * prior.S
    normal = place.put(rng.standard_normal((n_draws, Y.shape[1], model.q)), 1)
    C = place.each(products.drawn_dictionaries, state.C, normal, V_root)
    for row in each_row(state, model, Y, block_size):
        if row.n_missing == 0:
            continue
        found = model.step.find(row.sample, prior)
        x = found.x + rng.standard_normal((n_draws, model.r)) @ found.root().T
        drawn = place.get(place.each(products.drawn_entries, C, state.origin, row.missing_idx, x), 1)
        where = np.flatnonzero(np.isnan(Y[row.position]))
        out[:, row.position, where] = drawn + np.sqrt(prior.noise) * rng.standard_normal(drawn.shape)
    return out


@within_limit
def log_density(state: FilterState, model: FilterModel, X: Rows, block_size: int) -> Array:
    """log p(y_Ω) of every row with the coefficients integrated out (n); zero where nothing is observed.

    Density      y_Ω ~ N(mean, C_Ω T C_Ωᵀ + s I) with N(x̄, T) the coefficients' prior and
                 s = σ² + E[zᵀVz], the noise plus what is expected from not knowing the dictionary
    As computed  T = BBᵀ, M = I + BᵀGB/s = LLᵀ; no matrix has a dimension |Ω|. Cost O(r³) per row.
    """
    prior, r = belief(state.small, model), model.r
    B = covariance_root(prior.T)
    center = with_mean(model, prior.mean) @ prior.S
    s = prior.noise + prior.dictionary_scale * float(np.sum((B.T @ prior.S[:r]) ** 2) + np.sum(center**2))
    out = np.zeros(X.shape[0])
    for row in each_row(state, model, X, block_size):
        n, G = row.sample.n, row.sample.G
        if n == 0:
            continue
        b = row.sample.b - G @ prior.mean
        yy = max(row.sample.yy - float(prior.mean @ (row.sample.b + b)), 0.0)
        M = B.T @ G @ B / s
        M.flat[:: r + 1] += 1.0
        L = cholesky(M, 0.0)
        if L is None:
            L = lifted_cholesky(M, r)
        u = triangular_solve(L, B.T @ b)
        log_det = n * np.log(s) + 2.0 * np.sum(np.log(L.diagonal()))
        quadratic = max(yy - float(u @ u) / s, 0.0) / s
        out[row.position] = -0.5 * (n * np.log(2.0 * np.pi) + log_det + quadratic)
    return out
