"""What blocks of rows with gaps need, in NumPy or in compiled loops: plain functions (see ``products``).

The loops are those of ``compiled_gaps``. Where they cannot be compiled, NumPy does the work after all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..core.linalg import Array
from ..core.place import HERE, Place
from ..cores import MULTIPLICATION, PASS, compiling, each_piece
from . import projecting_products as by_numpy
from .kernel import WORTH_LOADING

LOOPS = "factorstream.tall.compiled_gaps"
"""Where the compiled loops are."""

LONG = 2**20
"""Entries of C from which on the loops are used, and several rows of a block are worked on at once: NumPy's calls for a
row then take milliseconds, nearly all of them without Python's lock. Not tuned; speed only."""

NONE = np.empty(0)
"""What the loops take for an array of numbers that is not there."""


class GapProducts(NamedTuple):
    """Functions of ``projecting_products``, or what does the same."""

    block_without_gaps: Callable[..., tuple[Array, Array]]
    grams: Callable[..., Array]
    set_variances: Callable[..., Array]
    set_gaps: Callable[..., Array]


def gap_products(place: Place, n: int, m: int, q: int) -> GapProducts:
    """Those for n rows of m features with q numbers each."""
    worth = m * q >= LONG and n * m >= WORTH_LOADING
    return _COMPILED if place is HERE and compiling.applies(worth, LOOPS) else _BY_NUMPY


def block_without_gaps(Y: Array, origin: Array) -> tuple[Array, Array]:
    """See ``projecting_products``."""
    from . import compiled_gaps

    block, missing, Y = np.empty(Y.shape), np.empty(Y.shape, bool), compiling.plain(Y)
    given = Y, compiling.plain(origin), block, missing
    if _in_pieces(compiled_gaps.without_gaps, given, Y.shape[1], 2 * PASS * Y.size):
        return block, missing
    return by_numpy.block_without_gaps(Y, origin)


def grams(C: Array, missing: Array, of_missing: Array) -> Array:
    """See ``projecting_products``."""
    from . import compiled_gaps

    done, plain = [], compiling.plain(C)

    def add(some: slice, sums: Array) -> None:
        given = plain, missing, of_missing, sums, some.start, some.stop
        done.append(compiling.call(compiled_gaps.grams, *given))

    found = by_numpy.sum_of_grams(add, C, missing)
    return found if all(done) else by_numpy.grams(C, missing, of_missing)


def set_variances(
    out: Array,
    missing: Array,
    C: Array,
    F: Array,
    common: Array,
    group: Array | None,
    ratio: Array | None,
    scale: Array | None,
) -> Array:
    """See ``projecting_products``."""
    from . import compiled_gaps

    groups = np.empty(0, np.intp) if group is None else compiling.plain(group.astype(np.intp, copy=False))
    numbers = (NONE if of is None else compiling.plain(of.astype(np.float64, copy=False)) for of in (ratio, scale))
    given = out, missing, compiling.plain(C), F, common, groups, *numbers
    cost = len(F) * C.size * (PASS + MULTIPLICATION * F.shape[1]) / 4
    if out.flags.c_contiguous and _in_pieces(compiled_gaps.set_variances, given, len(C), cost):
        return out
    return by_numpy.set_variances(out, missing, C, F, common, group, ratio, scale)


def set_gaps(out: Array, C: Array, mu: Array, X: Array, unit: Array | None) -> Array:
    """See ``projecting_products``."""
    from . import compiled_gaps

    wide = np.zeros((len(X), C.shape[1]), C.dtype)
    wide[:, : X.shape[1]] = X
    units = NONE if unit is None else compiling.plain(unit.astype(np.float64, copy=False))
    given = out, compiling.plain(C), compiling.plain(mu.astype(np.float64, copy=False)), wide, units
    cost = len(X) * (2 * PASS * len(C) + MULTIPLICATION * C.size)
    if out.flags.c_contiguous and _in_pieces(compiled_gaps.set_gaps, given, len(C), cost):
        return out
    return by_numpy.set_gaps(out, C, mu, X, unit)


def _in_pieces(function: Callable[..., int], given: tuple[Array, ...], m: int, cost: float) -> bool:
    """Whether a function of the loops has been called for all pieces of the m features."""
    return all(each_piece(lambda some: compiling.call(function, *given, some.start, some.stop), m, cost))


_BY_NUMPY = GapProducts(by_numpy.block_without_gaps, by_numpy.grams, by_numpy.set_variances, by_numpy.set_gaps)
_COMPILED = GapProducts(block_without_gaps, grams, set_variances, set_gaps)
