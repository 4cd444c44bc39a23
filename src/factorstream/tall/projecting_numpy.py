"""Coefficients and predictive variances under a fixed dictionary, in NumPy: for every model and at every place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import sqrt
from typing import NamedTuple

import numpy as np

from ..arrays import is_here
from ..core.filter.coefficients import Belief, Coefficients, Sample
from ..core.filter.groups import Counts, Stacked, all_groups, mean_root
from ..core.filter.masked import gram_without, less
from ..core.filter.model import FilterModel
from ..core.filter.recursion import belief, normal_equations, with_mean
from ..core.filter.state import FilterState
from ..core.linalg import Array, gram, is_sparse
from ..core.place import HERE, Place, Tall
from ..cores import each_of
from ..cores.pieces import MOST
from . import projecting_products as products
from . import sparse_products
from .counted_products import taken
from .counted_rows import Equations, Members, Values, found, members_of, observed
from .gap_products import LONG, GapProducts, gap_products
from .places import place_of
from .products import NONE_MISSING, count_missing, cross
from .projecting_noises import Noises, noises_of
from .rows import Rows

AT_ONCE, FEWEST = 2**22, 8
"""How many rows a block has: AT_ONCE numbers, but FEWEST rows where they are so long that these would be fewer, because
all rows of a block use a part of C while it is in cache; and no more than AT_ONCE numbers in their Gram matrices times
the pieces that these are summed from, which comes before FEWEST. Not tuned; memory, speed and rounding only."""


class Row(NamedTuple):
    """One row of data and its normal equations."""

    position: int
    equations: Equations
    n: int
    """Observed entries."""
    n_missing: int
    by_feature: Callable[[], Values]
    """All features, or the observed ones of a sparse row; without groups where all share one covariance.

    Where no feature differs from the others in its covariance or noise, nobody asks, and nothing is made."""


class Doubt(NamedTuple):
    """What is believed before a row is seen, and how uncertain its missing entries are."""

    state: FilterState
    model: FilterModel
    prior: Belief
    stacked: Stacked | None
    """The groups' covariances, where every feature has its own doubt."""
    members: Members | None
    """Which features are in which group, likewise."""

    @property
    def roots(self) -> Array:
        """Square roots of the groups' covariances (K × q × q)."""
        return self.prior.S[None] if self.stacked is None else self.stacked.roots

    @property
    def place(self) -> Place:
        """Where the dictionary is."""
        return place_of(self.state.C)

    @property
    def group(self) -> Tall | None:
        """The groups of the features (m), where every feature has its own doubt."""
        return None if self.state.groups is None else self.state.groups.group

    def _counts(self, row: Row, members: Members) -> Counts:
        """Observed features of each group."""
        if members.counts.only is not None:
            return observed(self.place, members, NONE_MISSING, row.n)
        _, _, group, missing_idx = row.by_feature()
        if group is not members.group:  # of a sparse row, which has its observed features only
            return members_of(self.place, group, len(members.counts.by_group)).counts
        return observed(self.place, members, missing_idx, row.n)

    def before(self, row: Row) -> tuple[Sample, Belief]:
        """The row's normal equations and the belief about the features that it has."""
        sample = normal_equations(self.model, *row.equations, row.n)
        if self.stacked is None or self.members is None or row.n == 0:
            return sample, self.prior
        counts = self._counts(row, self.members)
        return sample, self.prior._replace(S=mean_root(self.stacked.roots, counts.by_group))

    def coefficients(self, row: Row) -> Coefficients:
        """Of a row, found as the filter finds them."""
        if self.stacked is None or self.members is None or row.n == 0:
            return self.model.step.find(*self.before(row))
        counts, given = self._counts(row, self.members), (self.place, self.state.small, self.model, self.stacked)
        return found(*given, counts, row.by_feature, row.equations)

    @property
    def alike(self) -> bool:
        """Whether all features share one covariance, so that a row's normal equations say all that it has to say."""
        return self.members is None or self.members.counts.only is not None

    def spread(self, row: Row, found: Coefficients, noises: Noises | None) -> tuple[Array, Array]:
        """F with Σ = FFᵀ, and the part of a row's predictive variances that the entries of a group share (K).

        See ``projecting.predict``.
        """
        r, F, z = self.model.r, found.root(), with_mean(self.model, found.x)
        of_z = np.sum((z @ self.roots) ** 2, axis=-1)
        of_x = np.sum((F.T @ self.roots[:, :r]) ** 2, axis=(-2, -1))
        if noises is not None:
            F = sqrt(noises.of_coefficients(found, row.by_feature().missing_idx, r)) * F
        return F, self.prior.noise + self.prior.dictionary_scale * (of_z + of_x)


def doubt_of(state: FilterState, model: FilterModel) -> Doubt:
    """The doubt of a state."""
    prior = belief(state.small, model)
    if state.groups is None:
        return Doubt(state, model, prior, None, None)
    of_groups = all_groups(prior.S, state.groups)
    members = members_of(place_of(state.C), state.groups.group, of_groups.n_groups)
    return Doubt(state, model, prior, of_groups, members)


def each_row(state: FilterState, X: Rows, block_size: int) -> Iterator[Row]:
    """The rows of X (n × m, NaN = missing, or sparse), one by one."""
    if is_sparse(X) and place_of(state.C).keeps_sparse:
        yield from _sparse_rows(state, X)
    else:
        for rows in _blocks(state, X, block_size):
            yield from map(rows.row, range(rows.n))


class _Block(NamedTuple):
    """Consecutive dense rows of m features, and what their normal equations are made of."""

    place: Place
    gaps: GapProducts
    C: Tall
    G: Array
    """CᵀC."""
    group: Tall | None
    start: int
    """The number of the first row."""
    values: Tall
    """Less the origin, zero at the gaps (n × m)."""
    missing: Tall
    K: Array
    """Cᵀy of every row (q × n)."""
    yy: Array
    n_missing: Array
    grams: Array
    """Of the missing rows of C where these are fewer, else of the observed ones (n × q × q)."""
    m: int

    @property
    def n(self) -> int:
        """How many rows there are."""
        return len(self.n_missing)

    def row(self, j: int) -> Row:
        """Row j of the block."""
        n, equations = int(self.n_missing[j]), (self._observed_gram(j), self.K[:, j], float(self.yy[j]))
        return Row(self.start + j, equations, self.m - n, n, partial(self._by_feature, j))

    def _by_feature(self, j: int) -> Values:
        y, missing_idx = self.place.each(products.line, self.values, j), self._missing_idx(j)
        return Values(self.C, y, self.group, missing_idx)

    def _missing_idx(self, j: int) -> Tall:
        return self.place.each(products.indices, self.missing, j)

    def _observed_gram(self, j: int) -> Array:
        """C_ΩᵀC_Ω of row j: see ``masked.observed_gram``."""
        n, of_fewer = int(self.n_missing[j]), np.asarray(self.grams[j])
        if 2 * n >= self.m:
            return of_fewer
        rest = less(self.G, of_fewer) if n else self.G
        return self.place.total(gram_without, self.C, self._missing_idx(j)) if rest is None else rest

    def each_row(self, function: Callable[[Row], None], by_feature: bool) -> None:
        """Call a function for every row, several at a time where they are long and of this process.

        What is not done ``by_feature`` is small: threads would wait for each other there, more than they work.
        """
        if by_feature and self.place is HERE and self.m * len(self.G) >= LONG:
            each_of(lambda j: function(self.row(j)), list(range(self.n)))
        else:
            for j in range(self.n):
                function(self.row(j))


def _blocks(state: FilterState, X: Rows, block_size: int) -> Iterator[_Block]:
    """Rows that are dense, or become so at their place, block by block."""
    place, (n, m) = place_of(state.C), X.shape
    C = place.each(products.as_float64, state.C)  # float32 loses digits in the differences that follow
    G, group = place.total(gram, C), None if state.groups is None else state.groups.group
    gaps = gap_products(place, n, m, len(G))
    size = max(1, min(block_size, max(AT_ONCE // max(m, 1), FEWEST), AT_ONCE // (MOST * G.size)))
    for start in range(0, n, size):
        Y = place.put(X[start : min(start + size, n), :], 1)
        values, missing = place.each(gaps.block_without_gaps, Y, state.origin)
        K, yy = place.total(cross, C, values), place.total(products.row_squares, values)
        n_missing = place.total(count_missing, missing)
        grams = place.total(gaps.grams, C, missing, 2 * n_missing < m)
        yield _Block(place, gaps, C, G, group, start, values, missing, K, yy, n_missing, grams, m)


def _sparse_rows(state: FilterState, X: Rows) -> Iterator[Row]:
    """Rows whose stored entries are the observed ones; their mask is not made."""
    place, m = place_of(state.C), X.shape[1]
    Y = place.put(X, 1)
    for k in range(X.shape[0]):
        observed, rows, y = place.each(sparse_products.gather, state.C, state.origin, Y, k)
        group = None if state.groups is None else place.each(taken, state.groups.group, observed)
        n = int(X.indptr[k + 1] - X.indptr[k])
        equations = place.total(sparse_products.normal_equations, rows, y)
        yield Row(k, equations, n, m - n, partial(Values, rows, y, group, NONE_MISSING))


class NumpyProjection(NamedTuple):
    """See ``projecting.Projection``."""

    state: FilterState
    model: FilterModel
    block_size: int
    ratio: Array | None = None

    def of_all(self, X: Rows) -> Array:
        """Row after row."""
        doubt, found = doubt_of(self.state, self.model), np.zeros((X.shape[0], self.model.r))

        def take(row: Row) -> None:
            found[row.position] = doubt.coefficients(row).x

        if is_sparse(X) and place_of(self.state.C).keeps_sparse:
            for row in _sparse_rows(self.state, X):
                take(row)
        else:
            for block in _blocks(self.state, X, self.block_size):
                block.each_row(take, not doubt.alike)
        return found

    def of_gappy(self, Y: Array, variance: Array | None, scale: Array | None = None) -> Array:
        """Row after row; the variances block by block."""
        C, model = self.state.C, self.model
        place, doubt = place_of(C), doubt_of(self.state, model)
        noises = None if self.ratio is None or variance is None else noises_of(self.state, model, self.ratio)
        X, ratio = np.zeros((Y.shape[0], model.r)), None if noises is None else noises.ratio
        times = None if scale is None else place.put(scale, 0)
        for block in _blocks(self.state, Y, self.block_size):
            F, common = np.zeros((block.n, model.r, model.r)), np.zeros((block.n, len(doubt.roots)))

            def take(row: Row, first: int = block.start, F: Array = F, common: Array = common) -> None:
                if row.n_missing == 0:
                    return
                found = doubt.coefficients(row)
                X[row.position] = found.x
                if variance is not None:
                    j = row.position - first
                    F[j], common[j] = doubt.spread(row, found, noises)

            block.each_row(take, not doubt.alike or noises is not None)
            if variance is not None:
                target = variance[block.start : block.start + block.n, :]
                given = block.missing, block.C, F, common, doubt.group, ratio, times
                write(place, target, place.each(block.gaps.set_variances, place.put(target, 1), *given))
        return X


def write(place: Place, target: Array, values: Tall) -> None:
    """Bring ``values`` (B × m) into ``target``, some rows of a larger array, unless they have been made there."""
    got = place.get(values, 1) if is_here(target) else values
    if got is not target:
        target[...] = got
