"""Coefficients and predictive variances under a fixed dictionary, in NumPy: for every model and at every place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..core.filter.coefficients import Belief, Coefficients, Sample
from ..core.filter.groups import mean_root, stack
from ..core.filter.masked import observed_gram
from ..core.filter.model import FilterModel
from ..core.filter.recursion import belief, normal_equations, with_mean
from ..core.filter.state import FilterState
from ..core.linalg import Array, gram, is_sparse
from ..core.place import Place, Tall
from . import projecting_products as products
from . import sparse_products
from .counted_products import group_sizes, sizes_among, taken
from .places import place_of
from .products import NONE_MISSING, count_missing, cross
from .rows import Rows


class Doubt(NamedTuple):
    """What is believed before a row is seen, and how uncertain its missing entries are."""

    place: Place
    model: FilterModel
    prior: Belief
    group: Tall | None
    """The groups of the features (m), where every feature has its own doubt."""
    roots: Array
    """Square roots of the groups' covariances (K × q × q)."""

    def before(self, missing_idx: Tall | None, observed: Tall | None = None) -> Belief:
        """The belief for a row with these gaps, or, of a sparse row, these ``observed`` features."""
        if self.group is None:
            return self.prior
        group, gaps = self.group, missing_idx
        if observed is not None:
            group, gaps = self.place.each(taken, group, observed), NONE_MISSING
        counts = self.place.total(group_sizes, group, len(self.roots))
        counts -= self.place.total(sizes_among, group, gaps, len(self.roots))
        return self.prior._replace(S=mean_root(self.roots, counts)) if counts.any() else self.prior

    def spread(self, found: Coefficients) -> tuple[Array, Array]:
        """F with Σ = FFᵀ, and the part of a row's predictive variances that the entries of a group share (K).

        See ``projecting.predict``.
        """
        r, F, z = self.model.r, found.root(), with_mean(self.model, found.x)
        of_z = np.sum((z @ self.roots) ** 2, axis=-1)
        of_x = np.sum((F.T @ self.roots[:, :r]) ** 2, axis=(-2, -1))
        return F, self.prior.noise + self.prior.dictionary_scale * (of_z + of_x)


def doubt_of(state: FilterState, model: FilterModel) -> Doubt:
    """The doubt of a state."""
    prior = belief(state.small, model)
    if state.groups is None:
        return Doubt(place_of(state.C), model, prior, None, prior.S[None])
    return Doubt(place_of(state.C), model, prior, state.groups.group, stack(prior.S, state.groups))


class Row(NamedTuple):
    """One row of data and its normal equations."""

    position: int
    sample: Sample
    missing_idx: Tall | None
    """Indices of the missing features; not made for sparse rows."""
    n_missing: int
    observed: Tall | None = None
    """Indices of the observed features of a sparse row."""


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
    m, n_missing = X.shape[1], place.total(count_missing, missing)
    for j in range(len(X)):
        missing_idx, n = place.each(products.indices, missing, j), int(n_missing[j])
        G_row = observed_gram(place, C, G, missing_idx, n, m)
        yield Row(start + j, normal_equations(model, G_row, K[:, j], float(yy[j]), m - n), missing_idx, n)


def _sparse_rows(state: FilterState, model: FilterModel, X: Rows) -> Iterator[Row]:
    """Rows whose stored entries are the observed ones; their mask is not made."""
    place, m = place_of(state.C), X.shape[1]
    Y = place.put(X, 1)
    for k in range(X.shape[0]):
        seen, rows, y = place.each(sparse_products.gather, state.C, state.origin, Y, k)
        G, b, yy = place.total(sparse_products.normal_equations, rows, y)
        n = int(X.indptr[k + 1] - X.indptr[k])
        yield Row(k, normal_equations(model, G, b, yy, n), None, m - n, seen)


class NumpyProjection(NamedTuple):
    """See ``projecting.Projection``."""

    state: FilterState
    model: FilterModel
    block_size: int

    def of_all(self, X: Rows) -> Array:
        """Row after row."""
        doubt, found = doubt_of(self.state, self.model), np.zeros((X.shape[0], self.model.r))
        for row in each_row(self.state, self.model, X, self.block_size):
            prior = doubt.before(row.missing_idx, row.observed)
            found[row.position] = self.model.step.find(row.sample, prior).x
        return found

    def of_gappy(self, Y: Array, variance: Array | None) -> Array:
        """Row after row; the variances block by block."""
        C, model = self.state.C, self.model
        place, doubt = place_of(C), doubt_of(self.state, model)
        X = np.zeros((len(Y), model.r))
        for some, rows in _blocks(self.state, model, Y, self.block_size):
            target = None if variance is None else variance[some]
            out = None if target is None else place.put(target, 1)
            for row in rows:
                if row.n_missing == 0:
                    continue
                found = model.step.find(row.sample, doubt.before(row.missing_idx))
                X[row.position] = found.x
                if out is not None:
                    j, idx = row.position - some.start, row.missing_idx
                    out = place.each(products.set_variances, out, j, C, idx, *doubt.spread(found), doubt.group)
            if target is not None:
                write(place, target, out)
        return X


def write(place: Place, target: Array, values: Tall) -> None:
    """Bring ``values`` (B × m) back into ``target``, if the place has not worked in ``target`` itself."""
    got = place.get(values, 1)
    if got is not target:
        target[...] = got
