"""A dictionary on a device that follows the rows with gaps some rows later: C = C₀ + EᵀΓ.

Of the rows that C₀ does not know yet, E has the residuals (j × m, zero at the gaps) and Γ the gains (j × q). What the
next row needs then follows from products with C₀ that do not wait for the rows before, and from small ones:

    Cᵀy = C₀ᵀy + Γᵀ(Ey),    C_MᵀC_M = C₀ᵀ_M C₀_M + PᵀΓ + ΓᵀP + ΓᵀQΓ,    P = E_M C₀_M,  Q = E_M E_Mᵀ
    e = y − C₀x − Eᵀ(Γx)

with M the missing features, or the observed ones where these are fewer. One pass over C₀ is left for each row, that for
e; C changes once for all. The product of the next row's C₀_M with itself is asked of the device before the small
recursion begins in this process, so that both work at the same time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from ..arrays import Array, beside, device_of, dtype_of, namespace, picked
from ..core.filter.counted import condition, learned, step_of, weighted_root
from ..core.filter.groups import Counts, Stacked
from ..core.filter.masked import CANCELLATION
from ..core.filter.model import FilterModel
from ..core.filter.recursion import absorb, belief, move_gram, normal_equations
from ..core.filter.state import FilterRecord, FilterState, SmallState
from ..core.place import Place
from .array_place import brought
from .array_products import Some, cross, gram, is_float32
from .engine import Filtered, RowBlock, record_of, refreshed
from .rows_numpy import ObservedRow, observed_rows

Rows = Sequence[ObservedRow]

PIECE = 4096
"""Features over which products of float32 with themselves are summed in float32; the sums of these are float64. Not
tuned: rounding, and some speed."""


class Fewer(NamedTuple):
    """The rows of C₀ of those features that a row of data misses, or of those that it has, if these are fewer."""

    idx: Array
    rows: Array
    squares: Array
    """Their product with themselves (q × q)."""
    missing: bool


class Lagging:
    """A dictionary during a lot of rows: C₀ as it was before, the rows, and what those taken in have changed."""

    def __init__(self, C: Array, rows: Rows, m: int) -> None:
        xp = namespace(C)
        self.C, self.rows, self.m, self.at = C, rows, m, 0
        Y = xp.stack([row.y for row in rows])
        self.K, self.yy = brought((cross_in_pieces(Y, C), xp.sum(Y * Y, axis=1, dtype=xp.float64)))
        self.E = xp.empty((len(rows), m), dtype=C.dtype, device=device_of(C))
        self.gains = np.zeros((len(rows), C.shape[1]))
        self.ahead = self._fewer(0)

    def settled(self) -> Array:
        """C."""
        if self.at == 0:
            return self.C
        C = self.E[: self.at, :].T @ self._there(self.gains[: self.at])
        C += self.C
        return C

    def equations(self, G: Array) -> tuple[Array, Array, float]:
        """C_ΩᵀC_Ω, C_Ωᵀy_Ω and ‖y_Ω‖² of the next row, given CᵀC."""
        row = self.rows[self.at]
        return *self._equations(G, row), float(self.yy[self.at])

    def move(self, x: Array, g: Array) -> None:
        """Take in that row, given its coefficients and the gain."""
        self._add_residuals(self.rows[self.at], x)
        self.gains[self.at] = g
        self.at += 1

    def squares(self) -> float:
        """‖e‖² of the row that was taken in last: a sum of squares keeps the digits that a difference of sums loses."""
        xp, e = namespace(self.E), self.E[self.at - 1, :]
        return float(brought(xp.sum(e * e, dtype=xp.float64)))

    def _fewer(self, j: int) -> Fewer | None:
        """Of row j; None where nothing is missing, and after the last row."""
        if j == len(self.rows) or self.rows[j].n == self.m:
            return None
        xp, gaps, missing = namespace(self.C), self.rows[j].missing_idx, 2 * self.rows[j].n > self.m
        idx = gaps.idx if missing else xp.nonzero(~gaps.mask)[0]
        rows = picked(self.C, idx, axis=0)
        return Fewer(idx, rows, product(rows), missing)

    def _equations(self, G: Array, row: ObservedRow) -> tuple[Array, Array]:
        """The first two of them."""
        j, fewer, xp = self.at, self.ahead, namespace(self.C)
        E, gains = self.E[:j, :], self.gains[:j]
        parts = () if j == 0 else (xp.sum(E * row.y[None, :], axis=1, dtype=xp.float64),)
        if fewer is not None:
            parts += (fewer.squares,)
            if j:
                of_fewer = picked(E, fewer.idx, axis=1)
                parts += (of_fewer @ fewer.rows, of_fewer @ of_fewer.T)
        here = list(brought(parts))
        self.ahead = self._fewer(j + 1)  # after what this row has waited for, before the small recursion
        b = self.K[j] if j == 0 else self.K[j] + here.pop(0) @ gains
        if fewer is None:
            return G, b
        of_fewer = here[0]
        if j:
            half = here[1].T @ gains + 0.5 * (gains.T @ here[2] @ gains)
            of_fewer = of_fewer + half + half.T
        if not fewer.missing:
            return of_fewer, b
        observed = G - of_fewer
        if not (observed.diagonal() > CANCELLATION * G.diagonal()).all():
            observed = brought((gram(self.settled()[~row.missing_idx.mask]),))[0]
        return observed, b

    def _there(self, values: Array) -> Array:
        """Small numbers on the device, in C's type."""
        return beside(values.astype(dtype_of(self.C)), self.C)

    def _add_residuals(self, row: ObservedRow, x: Array) -> None:
        j, xp = self.at, namespace(self.C)
        q = len(x)
        both = self._there(np.concatenate([x, self.gains[:j] @ x]))
        e = row.y - (self.C @ both[:q, None])[:, 0]
        if j:
            e -= (both[None, q:] @ self.E[:j, :])[0, :]
        self.E[j, :] = xp.where(row.missing_idx.mask, 0.0, e) if isinstance(row.missing_idx, Some) else e


def product(rows: Array) -> Array:
    """The rows' product with themselves (q × q), in float64."""
    xp, (n, q) = namespace(rows), rows.shape
    if not is_float32(rows) or n < 2 * PIECE:
        return gram(rows)
    whole = n - n % PIECE
    pieces = xp.reshape(rows[:whole, :], (-1, PIECE, q))
    squares = xp.sum(xp.permute_dims(pieces, (0, 2, 1)) @ pieces, axis=0, dtype=xp.float64)
    return squares + gram(rows[whole:, :])


def cross_in_pieces(Y: Array, C: Array) -> Array:
    """YC (B × q), in float64: ‖e‖² is a small difference of large sums, which have to keep their digits."""
    xp, (m, q) = namespace(C), C.shape
    if not is_float32(C) or m < 2 * PIECE:
        return cross(C, Y).T
    whole = m - m % PIECE
    pieces = xp.permute_dims(xp.reshape(Y[:, :whole], (Y.shape[0], -1, PIECE)), (1, 0, 2))
    found = xp.sum(pieces @ xp.reshape(C[:whole, :], (-1, PIECE, q)), axis=0, dtype=xp.float64)
    return found + cross(C[whole:, :], Y[:, whole:]).T


class LaggingRows(NamedTuple):
    """The engine that takes one row after another where the dictionary lags behind them."""

    place: Place
    model: FilterModel

    def run(self, state: FilterState, blocks: Iterable[RowBlock]) -> Filtered:
        """See ``engine.Engine``; the given C is left as it was, and the matrices of the small state change in place."""
        C, small, records = state.C, state.small, []
        m = self.place.total(len, C)
        for rows in blocks:
            for some in in_lots(self.place, rows, m):
                small = refreshed(self.place, small, C)
                for j in range(len(some)):
                    small, C, record, _ = filter_row(small, self.model, C, some, j, m)
                    records.append(record)
                C = settled(C)
        return Filtered(state._replace(C=C, small=small), records)


def in_lots(place: Place, rows: RowBlock, m: int) -> Iterator[Rows]:
    """Rows of m features that are taken in before the dictionary changes; those with nothing observed left out."""
    observed = observed_rows(place, rows, m)
    while some := list(islice(observed, place.lag)):
        yield some


def filter_row(
    small: SmallState,
    model: FilterModel,
    C: Array | Lagging,
    rows: Rows,
    j: int,
    m: int,
    of_groups: Stacked | None = None,
    only: int = 0,
) -> tuple[SmallState, Lagging, FilterRecord, float]:
    """Take in row j of a lot, where the dictionary is brought up to date after the whole lot.

    The result is that of ``rows_numpy.filter_row``. Where there are several groups of features, and all features are in
    the group with the number ``only``, it is that of ``counted_rows.taken_in``.
    """
    lagging = C if isinstance(C, Lagging) else Lagging(C, rows[j:], m)
    n, (G, b, yy) = rows[j].n, lagging.equations(small.G)
    if of_groups is None or of_groups.n_groups == 1:
        small, absorbed = absorb(small, model, G, b, yy, n)
        lagging.move(absorbed.x, absorbed.g)
        return small, lagging, record_of(absorbed.ee, n, absorbed.share), absorbed.weight
    by_group = np.zeros(of_groups.n_groups)
    by_group[only] = n
    counts = Counts(by_group, n, only)
    prior = belief(small, model, weighted_root(of_groups, counts, None))
    step = step_of(small, model, of_groups, counts, model.step.find(normal_equations(model, G, b, yy, n), prior))
    h = b - G @ step.z
    lagging.move(step.z, step.gains[only])
    ee = lagging.squares()
    move_gram(small.G, h, ee, step.gains[only])
    condition(of_groups, step, counts)
    record = record_of(ee, n, step.doubt / (small.lam + step.doubt))
    return learned(small, model, step, counts, ee), lagging, record, small.lam / step.lam


def settled(C: Array | Lagging) -> Array:
    """The dictionary after all rows that have been taken."""
    return C.settled() if isinstance(C, Lagging) else C
