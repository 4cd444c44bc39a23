"""Rows of data under a fixed dictionary: coefficients, predictions with their variances, densities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..core.filter.coefficients import Belief, Coefficients, Sample, covariance_root
from ..core.linalg import Array, SparseRows, cholesky, is_sparse, lifted_cholesky, triangular_solve
from ..core.filter.recursion import belief, normal_equations, with_mean
from ..core.filter.state import FilterState, Model
from . import kernel, local
from .filtering import ONE_BY_ONE, REFRESH
from .threads import within_limit

NARROW = 500_000
"""m r² up to which compiled loops add up the variances of a row more quickly than BLAS."""


class Row(NamedTuple):
    """One row of data and its normal equations."""

    position: int
    sample: Sample
    gone: Array
    """Indices of the missing features; not made for sparse rows."""


def each_row(state: FilterState, model: Model, Y: Array | SparseRows, block_size: int) -> Iterator[Row]:
    """The rows of Y (n × m, NaN = missing, or sparse) as a coefficient step sees them."""
    if is_sparse(Y):
        yield from _each_sparse_row(state, model, Y)
        return
    C = state.C.astype(np.float64, copy=False)  # float32 loses digits in the differences that follow
    G = local.gram(C)
    for start in range(0, len(Y), block_size):
        block = np.subtract(Y[start : start + block_size], state.origin, dtype=np.float64, order="C")
        missing = local.clear_gaps(block)
        K = local.cross(C, block)
        yy = np.einsum("ij,ij->i", block, block, dtype=np.float64)
        for j in range(len(block)):
            gone = np.flatnonzero(missing[j])
            yield Row(start + j, _sample(model, C, G, gone, K[:, j], float(yy[j])), gone)


def _sample(model: Model, C: Array, G: Array, gone: Array, b: Array, yy: float) -> Sample:
    """The normal equations of a row that lacks the features ``gone``, given G = CᵀC, C_Ωᵀy_Ω and ‖y_Ω‖²."""
    return normal_equations(model, local.observed_gram(C, G, gone), b, yy, len(C) - len(gone))


def _each_sparse_row(state: FilterState, model: Model, Y: SparseRows) -> Iterator[Row]:
    """The same for rows whose stored entries are the observed ones; their mask is not made."""
    unknown = np.empty(0, dtype=np.intp)
    for k in range(Y.shape[0]):
        stored = slice(Y.indptr[k], Y.indptr[k + 1])
        seen = Y.indices[stored]
        rows, y = state.C[seen], Y.data[stored] - state.origin[seen]
        b = local.cross(rows, y[None, :])[:, 0]
        yield Row(k, normal_equations(model, local.gram(rows), b, float(y @ y), len(seen)), unknown)


@within_limit
def coefficients(state: FilterState, model: Model, Y: Array | SparseRows, block_size: int) -> Array:
    """X (n × r), each row by the model's coefficient step, around the coefficients' mean."""
    known = belief(state.small, model)
    if not is_sparse(Y) and model.r <= kernel.WIDE and kernel.applies(model, *Y.shape):
        return _compiled(state, model, Y, block_size, everywhere=True) - known.mean
    X = np.zeros((Y.shape[0], model.r))
    for row in each_row(state, model, Y, block_size):
        X[row.position] = model.coefficients(row.sample, known).x - known.mean
    return X


def _compiled(
    state: FilterState, model: Model, Y: Array, block_size: int, variance: Array | None = None, everywhere: bool = False
) -> Array:
    """X (n × r) of all rows, or of those with gaps, by compiled code; into ``variance`` that of their entries."""
    C = state.C.astype(np.float64)  # a copy: writable and in one piece, whatever the state's is
    known, small = belief(state.small, model), state.small._replace(G=local.gram(C))
    X, nothing = np.zeros((len(Y), model.r)), np.empty((0, 0), Y.dtype)
    block_size = max(block_size, min(REFRESH, ONE_BY_ONE // len(C)))
    for start in range(0, len(Y), block_size):
        block = np.subtract(Y[start : start + block_size], state.origin, dtype=np.float64, order="C")
        at = 0
        while at < len(block):
            rows = slice(start + at, start + len(block))
            room = nothing if variance is None else variance[rows]
            at += kernel.project_rows(small, model, C, block[at:], X[rows], room, everywhere)
            if at < len(block):  # handed back
                gone = np.flatnonzero(np.isnan(block[at]))
                y = np.nan_to_num(block[at], nan=0.0)
                b = local.cross(C, y[None, :])[:, 0]
                found = model.coefficients(_sample(model, C, small.G, gone, b, float(y @ y)), known)
                X[start + at] = found.x
                if variance is not None:
                    where = np.arange(len(C)) if everywhere else gone
                    variance[start + at, where] = _variance(state, model, known, found, where)
                at += 1
    return X


def _variance(state: FilterState, model: Model, known: Belief, found: Coefficients, where: Array) -> Array:
    """Predictive variance of the entries ``where`` of a row with the coefficients ``found``: see :func:`predict`."""
    r, F, z = model.r, found.root(), with_mean(model, found.x)
    doubt = known.doubt * (np.sum((z @ known.S) ** 2) + np.sum((F.T @ known.S[:r]) ** 2))
    variance: Array = known.noise + doubt + np.sum((state.C[where, :r] @ F) ** 2, axis=1)
    return variance


def mean(state: FilterState, model: Model) -> Array:
    """What is predicted of a sample before anything of it is seen (m)."""
    if model.q == model.r:
        return state.origin
    center = with_mean(model, state.small.xbar).astype(state.C.dtype)
    mu: Array = state.origin + state.C @ center
    return mu


@within_limit
def predict(
    state: FilterState, model: Model, Y: Array, block_size: int, want_variance: bool, only_missing: bool
) -> tuple[Array, Array]:
    """Predictive mean and variance of every entry, or Y with its gaps filled (variance zero where observed).

    Variance of entry i    σ² + zᵀVz + c_iᵀΣc_i + tr(ṼΣ),  z = x or (x, 1) with a mean,
    with Σ the covariance of x. Cost O(r²) per entry; no array larger than Y is made.
    """
    known, r = belief(state.small, model), model.r
    X, variance = np.zeros((len(Y), r)), np.zeros(Y.shape, Y.dtype)
    narrow = r <= kernel.WIDE and (not want_variance or len(state.C) * r * r <= NARROW)
    if narrow and kernel.applies(model, *Y.shape):
        room = variance if want_variance else None
        X = _compiled(state, model, Y, block_size, room, not only_missing) - known.mean
    else:
        for row in each_row(state, model, Y, block_size):
            where = row.gone if only_missing else np.arange(len(state.C))
            if len(where) == 0:
                continue
            found = model.coefficients(row.sample, known)
            X[row.position] = found.x - known.mean
            if want_variance:
                variance[row.position, where] = _variance(state, model, known, found, where)
    filled, mu = Y.copy(), mean(state, model)
    X = X.astype(state.C.dtype, copy=False)
    for start in range(0, len(Y), block_size):
        rows = slice(start, start + block_size)
        predicted = X[rows] @ state.C[:, :r].T
        predicted += mu
        if only_missing:
            gone = np.flatnonzero(np.isnan(filled[rows]))
            filled[rows].reshape(-1)[gone] = predicted.reshape(-1)[gone]
        else:
            filled[rows] = predicted
    return filled, variance


@within_limit
def draw(state: FilterState, model: Model, Y: Array, block_size: int, n_draws: int, rng: np.random.Generator) -> Array:
    """Joint draws of the missing entries (n_draws × n × m): one dictionary per draw, x and noise per row."""
    known, r = belief(state.small, model), model.r
    out = np.repeat(Y[None], n_draws, axis=0)
    V_root = np.sqrt(known.doubt) * known.S
    C = state.C + rng.standard_normal((n_draws, *state.C.shape)) @ V_root.T
    for row in each_row(state, model, Y, block_size):
        where = row.gone
        if len(where) == 0:
            continue
        found = model.coefficients(row.sample, known)
        x = found.x + rng.standard_normal((n_draws, r)) @ found.root().T
        drawn = np.einsum("dmq,dq->dm", C[:, where, :r], x) + state.origin[where]
        if model.q > r:
            drawn += C[:, where, r]
        out[:, row.position, where] = drawn + np.sqrt(known.noise) * rng.standard_normal(drawn.shape)
    return out


@within_limit
def log_density(state: FilterState, model: Model, Y: Array | SparseRows, block_size: int) -> Array:
    """log p(y_Ω) of every row with the coefficients integrated out (n); zero where nothing is observed.

    Density      y_Ω ~ N(mean, C_Ω T C_Ωᵀ + s I) with N(x̄, T) the coefficients' prior and
                 s = σ² + E[zᵀVz], the noise plus the expected doubt about the dictionary
    As computed  T = BBᵀ, M = I + BᵀGB/s = LLᵀ; no matrix has a dimension |Ω|. Cost O(r³) per row.
    """
    known, r = belief(state.small, model), model.r
    B = covariance_root(known.T)
    center = with_mean(model, known.mean) @ known.S
    s = known.noise + known.doubt * float(np.sum((B.T @ known.S[:r]) ** 2) + np.sum(center**2))
    out = np.zeros(Y.shape[0])
    for row in each_row(state, model, Y, block_size):
        n, G = row.sample.n, row.sample.G
        if n == 0:
            continue
        b = row.sample.b - G @ known.mean
        yy = max(row.sample.yy - float(known.mean @ (row.sample.b + b)), 0.0)
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
