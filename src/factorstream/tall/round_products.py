"""One round of rows with gaps on a device: a row moves the dictionary, and sums are taken for the next one.

A round has one vector of sums, in float64, whose parts follow each other in memory:

    square   the products with each other of the rows of C that the next row misses, or of those that it has
    last     where the mean's column is apart (``in_tiles``): its products with the columns before it, and with itself
    cross    Cᵀy of the next row (q); then ‖y‖²
    heard    how many features of each group the next row has (K); only where K is more than one
    errors   Σ e_i² of the row that moves C, by group (K)
    pulls    Σ c_i e_i of the same, by group, from C before the move (K × q); likewise

:func:`go` makes them in operations of the array API. It is the twin of the kernel in ``triton_rounds``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..arrays import Array, beside, count_by_number, dtype_of, in_tiles, namespace, picked
from .array_products import cross, double, gram


class Ends(NamedTuple):
    """Where the parts of the sums end, in the order of memory."""

    square: int
    last: int
    cross: int
    heard: int
    errors: int
    pulls: int


@lru_cache
def ends(q: int, K: int) -> Ends:
    """For q columns and K groups."""
    whole, more = in_tiles(q), K if K > 1 else 0
    sizes = whole * whole, q if whole < q else 0, q + 1, more, K, more * q
    return Ends(*(int(end) for end in np.cumsum(sizes)))


class Numbers(NamedTuple):
    """What a row that moves C brings from the small recursion."""

    z: Array
    """Its coefficients, a mean's 1 included (q)."""
    gains: Array
    """How the features of each group move: c_i ← c_i + e_i g (K × q)."""
    weight: float
    """What the row counts."""


def packed(numbers: Numbers, like: Array) -> Array:
    """All of them in one vector beside an array, in its type; the weight as a sum of two, which keeps its digits."""
    z, gains, weight = numbers
    out = np.empty(2 + z.size + gains.size, dtype_of(like))
    out[0] = weight
    out[1] = weight - float(out[0])
    out[2 : 2 + z.size] = z
    out[2 + z.size :] = gains.ravel()
    return beside(out, like)


def go(
    C: Array,
    q: int,
    K: int,
    before: Array | None,
    numbers: Array | None,
    group: Array | None,
    seen: Array | None,
    after: Array | None,
    by_missing: bool,
    out: Array,
) -> None:
    """A round. C (m × q or wider) and ``seen`` change in place; ``out`` gets the sums, with zeros where there are none.

    ``before`` is the row that moves C and ``after`` the next one (m, NaN = missing); each may be None. ``numbers`` are
    those of the row before, as :func:`packed` has them. ``group`` (m) are the numbers of the features' groups, all less
    than K, and None where K is 1. ``seen`` (m) counts the rows that each feature has had; None if nobody counts.
    """
    xp, stops = namespace(C), ends(q, K)
    out[...] = 0.0
    if before is not None and numbers is not None:
        _move(C, q, K, before, numbers, group, seen, stops, out)
    if after is None:
        return
    rows, missing = C[:, :q], xp.isnan(after)
    values = xp.where(missing, 0.0, after)
    chosen = missing if by_missing else ~missing
    G, whole = gram(picked(rows, xp.nonzero(chosen)[0], axis=0)), in_tiles(q)
    out[: stops.square] = xp.reshape(G[:whole, :whole], (-1,))
    if whole < q:
        out[stops.square : stops.last] = G[whole, :]
    out[stops.last : stops.cross - 1] = cross(rows, values[None, :])[:, 0]
    out[stops.cross - 1] = xp.sum(double(values) ** 2)
    if group is not None:
        out[stops.cross : stops.heard] = count_by_number(picked(group, xp.nonzero(~missing)[0]), K)


def _move(
    C: Array,
    q: int,
    K: int,
    before: Array,
    numbers: Array,
    group: Array | None,
    seen: Array | None,
    stops: Ends,
    out: Array,
) -> None:
    """C by the row before; the sums of that."""
    xp, rows, missing = namespace(C), C[:, :q], namespace(C).isnan(before)
    z, gains = numbers[2 : 2 + q], xp.reshape(numbers[2 + q :], (K, q))
    e = xp.where(missing, 0.0, before - (rows @ z[:, None])[:, 0])
    if group is None:
        out[stops.heard] = xp.sum(double(e) ** 2)
        moves = e[:, None] * gains
    else:
        out[stops.heard : stops.errors] = count_by_number(group, K, double(e) ** 2)
        for k in range(K):
            pulled = cross(rows, xp.where(group == k, e, 0.0)[None, :])[:, 0]
            out[stops.errors + k * q : stops.errors + (k + 1) * q] = pulled
        moves = e[:, None] * picked(gains, group, axis=0)
    C[:, :q] = rows + moves
    if seen is not None:
        weight = double(numbers[0]) + double(numbers[1])
        seen[...] = xp.where(missing, seen, seen + weight)


class Sums(NamedTuple):
    """The sums of a round, in this process."""

    square: Array
    """Of the rows of C that were chosen (q × q)."""
    b: Array
    """C_Ωᵀy_Ω of the next row (q)."""
    yy: float
    """‖y_Ω‖²."""
    errors: Array
    """Σ e_i² by group of the row that moved C (K)."""
    pulls: Array
    """Σ c_i e_i by group (K × q); empty where K is one."""
    heard: Array
    """How many features of each group the next row has (K); likewise."""


def read(sums: Array, q: int, K: int) -> Sums:
    """The sums, from their vector as an array of NumPy."""
    stops, whole = ends(q, K), in_tiles(q)
    square = np.empty((q, q))
    square[:whole, :whole] = sums[: stops.square].reshape(whole, whole)
    if whole < q:
        square[whole] = square[:, whole] = sums[stops.square : stops.last]
    yy = float(sums[stops.cross - 1])
    pulls = sums[stops.errors : stops.pulls].reshape(-1, q)
    return Sums(
        square,
        sums[stops.last : stops.cross - 1],
        yy,
        sums[stops.heard : stops.errors],
        pulls,
        sums[stops.cross : stops.heard],
    )


def is_single(values: Array) -> bool:
    """Whether the numbers are float32, which is what the kernels have."""
    return bool(dtype_of(values) == np.float32)
