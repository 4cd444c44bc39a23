"""One round of rows with gaps on a device: a row moves the dictionary, and sums are taken for the next one.

A round has one vector of sums, in float64, whose parts follow each other in memory:

    square   the products with each other of the rows of C that the next row misses, or of those that it has
    last     where the mean's column is apart (``in_tiles``): its products with the columns before it, and with itself
    cross    Cᵀy of the next row (q); then ‖y‖²
    heard    how many features of each group the next row has (K); only where K is more than one
    errors   Σ e_i² of the row that moves C by group: of the features that are not in ``square``, then of those in it
    pulls    Σ c_i e_i of the same, from C before the move (2K × q); where K is one, only of the features in ``square``

The first two are of C before the move, so that a device can work on them while the small recursion still looks for the
move: :func:`chosen_products` makes them, and :func:`moved` says what they are afterwards. :func:`go` makes all others.
Both are in operations of the array API here. They are the twins of the kernels in ``triton_rounds``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array, count_by_number, device_of, dtype_of, in_tiles, namespace, picked
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
    whole, several = in_tiles(q), K > 1
    sizes = whole * whole, q if whole < q else 0, q + 1, K * several, 2 * K, (2 * K if several else 1) * q
    return Ends(*(int(end) for end in np.cumsum(sizes)))


class Numbers(NamedTuple):
    """What a row that moves C brings from the small recursion."""

    z: Array
    """Its coefficients, a mean's 1 included (q)."""
    gains: Array
    """How the features of each group move: c_i ← c_i + e_i g (K × q)."""
    weight: float
    """What the row counts."""


def packed(numbers: Numbers, dtype: np.dtype[Any]) -> NDArray[Any]:
    """All of them in one vector of a type; the weight as a sum of two, which keeps its digits."""
    z, gains, weight = numbers
    out = np.empty(2 + z.size + gains.size, dtype)
    out[0] = weight
    out[1] = weight - float(out[0])
    out[2 : 2 + z.size] = z
    out[2 + z.size :] = gains.ravel()
    return out


def make_room(C: Array, q: int, K: int, room: list[Array]) -> None:
    """Put into an empty list the arrays that ``go`` and ``chosen_products`` would otherwise make in every call.

    The kernels have such arrays; here there are none.
    """


def chosen_products(C: Array, q: int, row: Array, by_missing: bool, out: Array, room: Sequence[Array] = ()) -> None:
    """``square`` and ``last`` of a row (m, NaN = missing), into the first part of ``out``; C (m × q or wider)."""
    xp, rows = namespace(C), C[:, :q]
    missing = xp.isnan(row)
    G, whole = gram(picked(rows, xp.nonzero(missing if by_missing else ~missing)[0], axis=0)), in_tiles(q)
    out[: whole * whole] = xp.reshape(G[:whole, :whole], (-1,))
    if whole < q:
        out[whole * whole : whole * whole + q] = G[whole, :]


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
    room: Sequence[Array] = (),
) -> None:
    """A round. C (m × q or wider) and ``seen`` change in place; ``out`` gets all sums but ``square`` and ``last``.

    ``before`` is the row that moves C and ``after`` the next one (m, NaN = missing); one of them may be None, and sums
    are zero then. ``numbers`` are those of the row before, as :func:`packed` has them. ``group`` (m) are the numbers of
    the features' groups, all less than K, and None where K is 1. ``seen`` (m) counts the rows that each feature has
    had; None if nobody counts. ``room``: see :func:`make_room`.
    """
    xp, stops = namespace(C), ends(q, K)
    out[stops.last :] = 0.0
    if before is not None and numbers is not None:
        none = xp.zeros(before.shape, dtype=xp.bool, device=device_of(before))
        chosen = none if after is None else xp.isnan(after) == by_missing
        _move(C, q, K, before, numbers, group, seen, chosen, out)
    if after is None:
        return
    missing = xp.isnan(after)
    values = xp.where(missing, 0.0, after)
    out[stops.last : stops.cross - 1] = cross(C[:, :q], values[None, :])[:, 0]
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
    chosen: Array,
    out: Array,
) -> None:
    """C by the row before; the sums of that."""
    xp, rows, missing, stops = namespace(C), C[:, :q], namespace(C).isnan(before), ends(q, K)
    z, gains = numbers[2 : 2 + q], xp.reshape(numbers[2 + q :], (K, q))
    e = xp.where(missing, 0.0, before - (rows @ z[:, None])[:, 0])
    for part, e_of in enumerate((xp.where(chosen, 0.0, e), xp.where(chosen, e, 0.0))):
        at = stops.heard + part * K
        if group is None:
            out[at] = xp.sum(double(e_of) ** 2)
            out[stops.errors :] = cross(rows, e_of[None, :])[:, 0]
            continue
        out[at : at + K] = count_by_number(group, K, double(e_of) ** 2)
        for k in range(K):
            at = stops.errors + (part * K + k) * q
            out[at : at + q] = cross(rows, xp.where(group == k, e_of, 0.0)[None, :])[:, 0]
    C[:, :q] = rows + e[:, None] * (gains if group is None else picked(gains, group, axis=0))
    if seen is not None:
        weight = double(numbers[0]) + double(numbers[1])
        seen[...] = xp.where(missing, seen, seen + weight)


class Sums(NamedTuple):
    """The sums of a round, in this process."""

    square: Array
    """Of the rows of C that were chosen, before the move (q × q)."""
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
    chosen_errors: Array
    """Σ e_i² over the rows of ``square`` alone (K)."""
    chosen_pulls: Array
    """Σ c_i e_i over these (K × q)."""


def read(sums: Array, q: int, K: int) -> Sums:
    """The sums, from their vector as an array of NumPy."""
    stops, whole = ends(q, K), in_tiles(q)
    square = np.empty((q, q))
    square[:whole, :whole] = sums[: stops.square].reshape(whole, whole)
    if whole < q:
        square[whole] = square[:, whole] = sums[stops.square : stops.last]
    errors = sums[stops.heard : stops.errors].reshape(2, K)
    pulls = sums[stops.errors : stops.pulls].reshape(-1, K, q)
    return Sums(
        square,
        sums[stops.last : stops.cross - 1],
        float(sums[stops.cross - 1]),
        errors[0] + errors[1],
        pulls[0] + pulls[1] if K > 1 else np.empty((0, q)),
        sums[stops.cross : stops.heard],
        errors[1],
        pulls[-1],
    )


def moved(sums: Sums, gains: Array) -> Array:
    """``square`` after every feature has moved by its residual times the gain of its group (K × q).

    Σ (c + e g)(c + e g)ᵀ = Σ c cᵀ + h gᵀ + g hᵀ + (Σ e²) g gᵀ with h = Σ c e, group by group.
    """
    M = (sums.chosen_pulls + 0.5 * sums.chosen_errors[:, None] * gains).T @ gains
    out: Array = sums.square + (M + M.T)
    return out


def is_single(values: Array) -> bool:
    """Whether the numbers are float32, which is what the kernels have."""
    return bool(dtype_of(values) == np.float32)
